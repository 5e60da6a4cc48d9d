"""The marks of a cell's kernels are those of the text as it is typed, and nothing of the cell is executed."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
import torch
import triton
import triton.language as tl

import triton_lab as lab
from triton_lab.notebook.cell.session_launches import LaunchSession
from triton_lab.notebook.extension.cell_proofs import proofs
from triton_lab.notebook.extension.extension_rpc import Desk

TEXT = """%%triton cpu
@triton.jit
def add_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    y = tl.load(y_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, x + y, mask=mask)

add_kernel[(triton.cdiv(x.numel(), 128),)](x, y, out, x.numel(), BLOCK=128)
print("executed")"""
NAMES = {"triton": triton, "tl": tl}
SESSION = {**NAMES, "x": torch.zeros(1000), "y": torch.zeros(1000), "out": torch.zeros(1000)}


def outcomes(text: str, names: dict[str, Any] = SESSION, refute: bool = False, **newest: lab.Launch) -> dict[int, str]:
    found = proofs("proofs", text, names, newest, refute)
    assert all(text.split("\n")[one["line"] - 1] == one["text"] for one in found["marks"])
    return {one["line"]: one["outcome"] for one in found["marks"]}


@triton.jit
def add_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets) + tl.load(y_ptr + offsets))


def launched() -> lab.Launch:
    with lab.record() as launches:
        add_kernel[(8,)](torch.zeros(1000 + 24), torch.zeros(1024), torch.zeros(1024), 1024, BLOCK=128)
    return launches[0]


def test_each_access_of_a_call_in_the_text_is_proved(capsys: pytest.CaptureFixture[str]) -> None:
    with lab.record() as outside:
        assert outcomes(TEXT) == {6: "proved", 7: "proved", 8: "proved"}
    assert not outside
    assert not capsys.readouterr().out


def test_an_access_without_its_mask_is_not_proved_and_refuted_at_rest() -> None:
    wrong = TEXT.replace("x = tl.load(x_ptr + offsets, mask=mask)", "x = tl.load(x_ptr + offsets)")
    assert outcomes(wrong) == {6: "unknown", 7: "proved", 8: "proved"}
    found = proofs("proofs", wrong, SESSION, {}, refute=True)
    assert [one["outcome"] for one in found["marks"]] == ["refuted", "proved", "proved"]
    assert found["refuted"]


def test_what_a_kernel_takes_is_known_from_its_launch() -> None:
    launch = launched()
    assert outcomes(TEXT, NAMES, add_kernel=launch) == {6: "proved", 7: "proved", 8: "proved"}
    other = TEXT.replace("out_ptr, n, BLOCK", "out_ptr, m, BLOCK").replace("offsets < n", "offsets < m")
    assert outcomes(other, NAMES, add_kernel=launch) == {}, "its parameters are others"


def test_nothing_of_the_cell_is_executed() -> None:
    done: list[int] = []
    names = {**SESSION, "note": done.append}
    trapped = TEXT.replace("BLOCK: tl.constexpr", "BLOCK: (note(1) or tl.constexpr) = note(2)").replace(
        "@triton.jit", "@note\n@triton.jit\n@note"
    )
    outcomes(trapped + "\nnote(3)\n", names)
    called = TEXT.replace("x.numel(), BLOCK", "note(4), BLOCK")
    assert outcomes(called, names) == {}
    assert done == []


@pytest.mark.parametrize(
    "text",
    [
        "",
        "x = 1",
        TEXT.replace("%%triton cpu", ""),
        TEXT.replace("tl.load(x_ptr", "tl.load(x_ptr +"),
        TEXT.replace("tl.load(x_ptr", "tl.lod(x_ptr"),
        TEXT.replace("x.numel(), BLOCK", "unknown, BLOCK"),
        TEXT.replace("(triton.cdiv(x.numel(), 128),)", "(1 // 0,)"),
        TEXT + "(" * 500,
        "%%triton\n" + "#" * 60_000,
    ],
    ids=["empty", "plain", "no magic", "half typed", "no such name", "unknown number", "division", "deep", "long"],
)
def test_what_cannot_be_read_has_no_marks(text: str) -> None:
    assert outcomes(text) == {}


def test_a_helper_is_the_one_of_the_text() -> None:
    helped = TEXT.replace(
        "@triton.jit\n",
        "@triton.jit\ndef at(BLOCK: tl.constexpr):\n"
        "    return tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)\n\n@triton.jit\n",
    ).replace("tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)\n    mask", "at(BLOCK)\n    mask")
    assert set(outcomes(helped).values()) == {"proved"}


def test_the_time_is_bounded() -> None:
    outcomes(TEXT)
    began = time.process_time()
    outcomes(TEXT)
    assert time.process_time() - began < 2.0


def test_the_desk_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    session = LaunchSession()
    kept = launched()
    session.note([kept], "cell", 1)
    desk = Desk(session)
    found: Any = desk.part("proofs " + json.dumps({"source": TEXT, "refute": False}))
    assert json.loads(json.dumps(found)) == found
    assert session.newest() == {"add_kernel": kept}
    with pytest.raises(json.JSONDecodeError):
        desk.part("proofs {")
    assert desk.part("proofs []") == {"name": "proofs []", "marks": [], "refuted": False}
