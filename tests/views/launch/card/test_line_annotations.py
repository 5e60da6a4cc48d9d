"""What an output says beside its scene: what each line of a kernel moved, how often it ran, and what is wrong there."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
import triton
import triton.language as tl

import triton_lab as lab
from tests.views.contract import wrongs
from tests.wordings import Wording
from triton_lab.examples import softmax
from triton_lab.launch.launch import Launch
from triton_lab.views.launch.card.line_annotations import MOST_CHARACTERS, annotated, place
from triton_lab.views.notebook_output import saved
from triton_lab.views.scenes import NotedSource


@triton.jit
def half_of(x_ptr, i):
    return tl.load(x_ptr + i) / 2


@triton.jit
def sums(x_ptr, y_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, columns, BLOCK):
        at = start + tl.arange(0, BLOCK)
        total += tl.load(x_ptr + row * columns + at, mask=at < columns, other=0.0)
    if row > 3:
        tl.store(y_ptr + row, tl.sum(total))


@triton.jit
def halves(x_ptr, y_ptr, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(y_ptr + i, half_of(x_ptr, i))


def recorded(kernel: Any, *arguments: Any, grid: int = 1, **constants: Any) -> Launch:
    with lab.target("cpu"), lab.record() as launches, contextlib.suppress(lab.KernelError):
        kernel[(grid,)](*arguments, **constants)
    return launches[0]


def beside(launch: Launch) -> dict[str, tuple[str, float, str]]:
    """By the words of its line: what stands beside it, its share, and what is told of it."""
    (source, *_) = launch.plot().annotations()
    first, lines = source["first"], [line.strip().split("(")[0] for line in source["lines"]]
    return {lines[note["line"] - first]: (note["text"], note["share"], note["told"]) for note in source["notes"]}


def test_lines_have_their_share_of_bytes_and_their_times(wording: Wording) -> None:
    launch = recorded(sums, torch.ones(8, 20), torch.empty(8), 20, grid=8, BLOCK=8)
    found = beside(launch)
    moved = 8 * 20 * 4, 4 * 4
    assert found["total += tl.load"][:2] == ("98% ×3", moved[0] / sum(moved))
    said = found["total += tl.load"][2]
    wording(said, share="98%", kernel="sums", bytes="640 bytes", times="3 times")
    assert found["tl.store"][:2] == ("2% ×0.5", moved[1] / sum(moved))
    wording(found["tl.store"][2], share="2%", kernel="sums", bytes="16 bytes", times="0.5 times")
    assert found["at = start + tl.arange"][:2] == ("×3", 0.0)
    assert "row = tl.program_id" not in found


def test_they_are_as_many_as_the_accesses_tell() -> None:
    launch = recorded(sums, torch.ones(8, 20), torch.empty(8), 20, grid=8, BLOCK=8)
    for access in launch.accesses:
        assert access.asked == sum(int(access.mask(k).sum()) for k in range(access.iterations)) * access.itemsize


def test_a_finding_is_at_its_line_with_its_remedy() -> None:
    launch = recorded(sums, torch.ones(7, 20), torch.empty(8), 20, grid=8, BLOCK=8)
    (source,) = launch.plot().annotations()
    (finding,) = [one for one in source["findings"] if one["severity"] == "error"]
    assert "tl.load" in source["lines"][finding["line"] - source["first"]]
    assert finding["message"].startswith("load out of")
    assert finding["hint"] == launch.findings[0].hint
    assert (source["cell"], source["path"]) == (None, "tests/views/launch/card/test_line_annotations.py")


def test_a_finding_of_a_helper_in_another_place_has_a_source_of_its_own() -> None:
    launch = recorded(halves, torch.ones(4), torch.empty(8), B=8)
    (error,) = [one for one in launch.findings if one.severity == "error"]
    finding = replace(error, file=torch.__file__)
    own, other = annotated(launch, launch.accesses, [finding])
    assert own["findings"] == []
    assert (other["path"], other["first"], len(other["lines"]), len(other["findings"])) == (
        "torch/__init__.py",
        finding.line,
        1,
        1,
    )


@pytest.mark.parametrize(
    ("file", "here", "told"),
    [
        ("course/k.py", "course", "k.py"),
        ("course/parts/k.py", "course", "parts/k.py"),
        ("src/k.py", "course/first", "../../src/k.py"),
        ("src/k.py", "course/first/deep", "k.py"),
        ("env/lib/python3.11/site-packages/pkg/sub/k.py", "course", "pkg/sub/k.py"),
        ("lib/python3/dist-packages/k.py", ".", "k.py"),
    ],
)
def test_a_file_is_named_from_the_notebook_and_no_machine_by_it(
    file: str, here: str, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / here).mkdir(parents=True, exist_ok=True)
    monkeypatch.chdir(tmp_path / here)
    assert place(str(tmp_path / file)) == {"cell": None, "path": told}


def test_a_file_of_the_package_is_named_alike_on_every_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for folder in (tmp_path, Path(softmax.__file__).parent):
        monkeypatch.chdir(folder)
        assert place(softmax.__file__)["path"] == "triton_lab/examples/softmax.py"


def test_it_is_what_was_declared_and_bounded() -> None:
    launch = recorded(sums, torch.ones(8, 20), torch.empty(8), 20, grid=8, BLOCK=8)
    card = launch.plot()
    (source,) = saved(card)["annotations"]
    assert wrongs(source, NotedSource) == []
    launch.source += "\n" + "#" * MOST_CHARACTERS
    assert launch.plot().annotations() == []
    assert "annotations" not in saved(launch.plot())


@pytest.mark.parametrize(("program", "first"), [(0, "8 float32, 1 everywhere"), (3, "8 float32, 1 everywhere")])
def test_variables_are_told_by_line_and_iteration(program: int, first: str) -> None:
    launch = recorded(sums, torch.ones(8, 20), torch.empty(8), 20, grid=8, BLOCK=8)
    scene: Any = launch.plot().part(f"assigned@{program}")
    values = {(one["name"], one["count"]): one for one in scene["values"]}
    assert values["total", 3]["texts"][0] == first
    assert values["total", 3]["texts"][-1] == values["total", 3]["last"] == "8 float32, 2 to 3"
    assert values["row", 1]["last"] == f"{program} (int32)"
    assert values["BLOCK", 1]["last"].startswith("8")
