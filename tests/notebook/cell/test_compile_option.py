"""``%%triton --compile``: what GPUs' compilers make of the kernels of a cell, in the cards of its launches."""

from __future__ import annotations

import re
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from IPython.core.interactiveshell import InteractiveShell

from tests.wordings import Wording
from triton_lab.notebook.cell.progress_line import Sign

CELL = """\
import torch, triton
import triton.language as tl
@triton.jit
def assembled(x, code: tl.constexpr, constraints: tl.constexpr):
    k = tl.arange(0, 32)
    value = tl.load(x + k)
    tl.store(x + k, value * 2)
    if code is not None:
        tl.store(x + k, tl.inline_asm_elementwise(code, constraints, [value], dtype=tl.int32, is_pure=True, pack=1))
x = torch.ones(32, dtype=torch.int32)
"""


@pytest.fixture
def shell(monkeypatch: pytest.MonkeyPatch) -> Iterator[SimpleNamespace]:
    ipython = InteractiveShell.instance()
    shown = SimpleNamespace(views=[], errors=[], cell=ipython.run_cell)
    monkeypatch.setattr(ipython, "_showtraceback", lambda kind, value, text: shown.errors.append("\n".join(text)))

    def display(view: Any, **how: Any) -> None:
        shown.views.append(view)

    monkeypatch.setattr("IPython.display.display", display)
    assert ipython.run_cell("%load_ext triton_lab").success
    yield shown
    ipython.run_line_magic("unload_ext", "triton_lab")
    InteractiveShell.clear_instance()


def test_the_kernels_of_a_cell_are_compiled_each_once(shell: SimpleNamespace) -> None:
    twice = "assembled[(1,)](x, None, None)\n" * 2
    assert shell.cell(f"%%triton cpu --compile sm_90,gfx942\n{CELL}{twice}").success, shell.errors
    assert len(shell.views) == 2, "two cards, and what was compiled is in them"
    for card in shell.views:
        assert [one.target for one in card.compiled] == ["sm_90", "gfx942"]
        assert card.first == "compiled"
        assert "shared memory" in card.text()
    first, second = (view.compiled for view in shell.views)
    assert [one.outcome for one in first] == [one.outcome for one in second], "compiled once"
    assert shell.cell("%%triton cpu --compile sm_90\nassembled[(1,)](x, None, None)").success
    assert [one.target for one in shell.views[-1].compiled] == ["sm_90"]
    assert shell.cell("%%triton cpu\nassembled[(1,)](x, None, None)").success
    assert "compiled" not in [tab["name"] for tab in shell.views[-1].scene()["tabs"]]


def test_what_does_not_compile_is_told_at_the_line_of_the_cell(
    shell: SimpleNamespace, monkeypatch: pytest.MonkeyPatch, wording: Wording
) -> None:
    # The CPU target takes no assembly at all: the launch is the one without it, the constants are others.
    from triton_lab.compiled import launch_compilation

    source_of = launch_compilation._source

    def with_assembly(*given: Any) -> Any:
        source = source_of(*given)
        source.constants |= {(1,): "mov.b32 $0, $1;", (2,): "=r"}
        return source

    monkeypatch.setattr(launch_compilation, "_source", with_assembly)
    shell.cell(f"%%triton cpu --compile sm_90\n{CELL}assembled[(1,)](x, None, None)")
    (error,) = shell.errors
    text = re.sub(r"\x1b\[[0-9;]*m", "", error)
    assert text.startswith("CompileError: ") and "SIGABRT" in text
    wording(text, kernel="assembled", target="sm_90", line=10)
    assert "Traceback" not in text
    assert "worker" not in text
    assert len(shell.views) == 1, "the launch has its card all the same"
    assert shell.cell("1 + 1").result == 2


def test_the_sign_of_work_says_what_is_compiled() -> None:
    said: list[str] = []
    sign = Sign(lambda data, *_, **__: said.append(data["text/plain"]), lambda: "Running", lambda: 0.0)
    with sign.doing("Compiling add"):
        sign.say()
    sign.say()
    assert said == ["Compiling add …", "Running …"]
