"""How errors of a cell are shown: Python's own places, and the lines around."""

from __future__ import annotations

import linecache
import re
import traceback
from collections.abc import Callable
from typing import Any

import pytest
import torch
import triton
import triton.language as tl

from tests.wordings import Wording
from triton_lab.backend.plugin.grid_extents import checked_grid
from triton_lab.interpreter.kernel_errors import KernelError
from triton_lab.notebook.cell.error_display import CellSyntaxError, clear, own_frames, rendering, text_of
from triton_lab.notebook.cell.internal_error import fault_text
from triton_lab.notebook.cell.show_launches import not_yet_checked
from triton_lab.notebook.mistakes.error_hints import hint_for

CELL = "/cells/ipykernel_1/1234.py"

WRONG = [
    "x = (1", "for i in range(n)\n    pass", "if a:\nx = 1", "x = 1 +", "a = 3 3", "x = 'a", "a b c", "1 = x",
    "a = 1\nb = 2\nif c = 3:\n    d = 4\ne = 5", "f(x for x in y, 1)",
    "ö = 'ü' ö", "x = f(a=1, 2)", "print 'a long text in quotes'",
]  # fmt: skip


@pytest.fixture
def cell(monkeypatch: pytest.MonkeyPatch):  # type: ignore[no-untyped-def]
    def shown_of(text: str) -> str:
        lines = text.splitlines(keepends=True)
        monkeypatch.setitem(linecache.cache, CELL, (len(text), None, lines, CELL))
        return CELL

    return shown_of


@pytest.mark.parametrize("text", WRONG)
def test_the_carets_stand_where_python_puts_them(text: str, cell) -> None:  # type: ignore[no-untyped-def]
    name = cell(text)
    with pytest.raises(SyntaxError) as caught:
        compile(text, name, "exec")
    theirs = traceback.format_exception_only(caught.value)
    carets = next(line for line in theirs if set(line.strip()) == {"^"}).rstrip("\n")
    under = theirs[theirs.index(next(line for line in theirs if set(line.strip()) == {"^"})) - 1].rstrip("\n")
    indent = len(under) - len(under.lstrip())
    ours = text_of(clear(caught.value, name)).splitlines()
    place = next(number for number, line in enumerate(ours) if line.startswith("-->"))
    line = text.splitlines()[(caught.value.lineno or 1) - 1]
    assert ours[place] == f"--> {caught.value.lineno:4d} {line}"
    marker = ours[place + 1]
    stripped = len(line) - len(line.lstrip())
    assert marker.index("^") - 9 - stripped == carets.index("^") - indent
    assert marker.count("^") == carets.count("^") and set(marker) <= {" ", "^"}
    assert ours[-1] == f"{type(caught.value).__name__}: {caught.value.msg}"


def test_a_syntax_error_is_cleared_to_one_that_ipython_does_not_print_itself() -> None:
    with pytest.raises(SyntaxError) as caught:
        compile("x = (", CELL, "exec")
    error = caught.value
    clear(error, CELL)
    assert not isinstance(CellSyntaxError(error.msg), SyntaxError)


@pytest.mark.parametrize("count", [1, 2, 3, 5])
@pytest.mark.parametrize("inside", [False, True])
def test_the_line_is_shown_with_the_one_before_and_the_one_after(
    count: int, inside: bool, cell: Callable[[str], str], wording: Wording
) -> None:
    for wrong in range(1, count + 1):
        body = [f"a{number} = 1 // {int(number != wrong)}" for number in range(1, count + 1)]
        head = ["def f():"] if inside else []
        text = "\n".join([*head, *(("    " if inside else "") + line for line in body), *(["f()"] if inside else [])])
        name = cell(text)
        with pytest.raises(ZeroDivisionError) as caught:
            exec(compile(text, name, "exec"), {})
        shown = "\n".join(rendering(caught.value, name))
        at = wrong + len(head)
        lines = text.splitlines()
        *_, last = re.split(r"\x1b\[32m", shown)
        wording(last.partition("\x1b")[0], "in f" if inside else "", line=at)
        numbers = re.findall(r"^(-->|   ) +(\d+) (.*)$", last, re.M)
        expected = [number for number in (at - 1, at, at + 1) if 1 <= number <= len(lines)]
        assert [(mark == "-->", int(number), said) for mark, number, said in numbers] == [
            (number == at, number, lines[number - 1]) for number in expected
        ]
        assert shown.count("-->") == 1 + inside
        assert shown.endswith("by zero")


def test_a_fault_of_ours_keeps_its_traceback() -> None:
    def broken() -> None:
        try:
            {}["lost"]
        except KeyError as fault:
            raise KernelError("tt.load: KeyError: 'lost'") from fault

    with pytest.raises(KernelError) as raised:
        broken()
    text = "\n".join(rendering(raised.value, "a cell"))
    assert "triton-lab" in text and '{}["lost"]' in text and text.endswith("KeyError: 'lost'")


def test_an_error_that_we_did_not_mean_is_told_with_its_place() -> None:
    with pytest.raises(AttributeError) as raised:
        not_yet_checked(object())  # type: ignore[arg-type]
    text = fault_text(raised.value)
    assert "triton-lab" in text[0] and "in not_yet_checked" in "\n".join(text)


@pytest.mark.parametrize("grid", [(-1,), (1.5,)])
def test_what_we_mean_to_refuse_is_no_fault(grid: tuple[float, ...]) -> None:
    with pytest.raises((ValueError, TypeError)) as raised:
        checked_grid(*grid, 1, 1)
    assert fault_text(raised.value) == []


def test_the_users_faults_are_theirs() -> None:
    with pytest.raises(ZeroDivisionError) as raised:
        _ = 1 / 0
    assert fault_text(raised.value) == []


def test_code_without_a_file_is_left_out_of_what_was_called(cell) -> None:  # type: ignore[no-untyped-def]
    name = cell("exec(compile('1 // 0', '<string>', 'exec'))")
    with pytest.raises(ZeroDivisionError) as caught:
        exec(compile("exec(compile('1 // 0', '<string>', 'exec'))", name, "exec"), {})
    assert [frame.f_code.co_filename for frame, _ in own_frames(caught.value.__traceback__, name)] == [name]


def test_a_kernel_from_elsewhere_whose_global_has_changed_is_told_what_to_do(wording: Wording) -> None:
    error = RuntimeError("Global variable SIZE has changed since we compiled this kernel, from 1 to 2")
    wording(hint_for(error))
    assert hint_for(ValueError(str(error))) == hint_for(RuntimeError("Something else")) == ""


@triton.jit
def filled(x_ptr, BLOCK: tl.constexpr):
    tl.store(x_ptr + tl.arange(0, BLOCK), 1.0)


tuned = triton.autotune([triton.Config({"BLOCK": 4}), triton.Config({"BLOCK": 8})], key=[])(filled)
misnamed = triton.heuristics({"BLOCK": lambda args: args["SIZE"]})(filled)


def _of_nothing() -> tuple[int]:
    return (1,)


def _of_the_launch(meta: dict[str, Any]) -> tuple[int]:
    return (meta["SIZE"],)


def _of_the_user(meta: dict[str, Any]) -> tuple[int]:
    known: dict[str, int] = {}
    return (known["SIZE"],)


def _plain(x_ptr: torch.Tensor, BLOCK: int) -> None:
    """What somebody forgot to decorate."""


@pytest.mark.parametrize(
    ("launch", "names"),
    [
        (lambda x: filled[_of_the_launch](x, BLOCK=4), {"arguments": "x_ptr, BLOCK"}),
        (lambda x: filled[_of_the_user](x, BLOCK=4), None),
        (lambda x: filled[(1,)](x, SIZE=4), {"kernel": "filled(x_ptr, BLOCK)", "unknown": "SIZE"}),
        (lambda x: filled[(1,)](x, BLOCKS=4), {"kernel": "filled(x_ptr, BLOCK)", "unknown": "BLOCKS"}),
        (lambda x: filled[(1,)](x, num_warps=4), {"kernel": "filled(x_ptr, BLOCK)"}),
        (lambda x: filled[_of_nothing](x, BLOCK=4), {}),
        (lambda x: filled[()](x, BLOCK=4), {}),
        (lambda x: filled[lambda meta: triton.cdiv(32, meta["BLOCK"])](x, BLOCK=4), {"grid": 8}),
        (lambda x: tuned[(1,)](x, BLOCK=4), {"argument": "BLOCK"}),
        (lambda x: misnamed[(1,)](x), {"arguments": "x_ptr, BLOCK"}),
        (lambda x: triton.autotune([triton.Config({"BLOCK": 4})], key=[])(_plain), {}),
        (lambda x: _plain[(4,)](x, BLOCK=4), {"name": "_plain"}),
        (lambda x: x[(8,)](x, BLOCK=4), {"name": "x"}),
        (lambda x: x.storage_offset[(8,)](x), None),
    ],
)  # fmt: skip
def test_what_keeps_a_launch_from_beginning_is_told_with_a_remedy(
    launch: Any, names: dict[str, str] | None, request: pytest.FixtureRequest, wording: Wording
) -> None:
    with pytest.raises((KeyError, TypeError, IndexError, ValueError, AttributeError)) as raised:
        launch(torch.zeros(4))
    hint = hint_for(raised.value)
    assert bool(hint) == (names is not None)
    if names is not None:
        wording(hint, request.node.callspec.id, **names)


@pytest.mark.parametrize(
    ("file", "facts"),
    [("<string>", {}), ("<stdin>", {}), ("<template>", {"file": "<template>"})],
)
def test_a_kernel_without_a_text_is_told_where_to_write_it(file: str, facts: dict[str, str], wording: Wording) -> None:
    source = "@triton.jit\ndef made(x_ptr):\n    tl.store(x_ptr, 1.0)\n"
    with pytest.raises(ValueError, match="Python file") as raised:
        exec(compile(source, file, "exec"), {"triton": triton, "tl": tl})
    wording(hint_for(raised.value), file, kernel="made,", **facts)
    assert hint_for(ValueError(str(raised.value))) == "", "it was not Triton that said so"


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_where_there_is_no_gpu_a_tensor_of_one_is_told_to_be_left_out(wording: Wording) -> None:
    with pytest.raises((AssertionError, RuntimeError)) as raised:
        torch.zeros(4, device="cuda")
    wording(hint_for(raised.value))
