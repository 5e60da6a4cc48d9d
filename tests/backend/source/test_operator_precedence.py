"""Comparisons that Python reads otherwise than they look, and who hears of them."""

from __future__ import annotations

import ast
import re
import textwrap
import warnings
from pathlib import Path

import pytest
import torch
import triton
import triton.language as tl
from triton.compiler.errors import CompilationError

import triton_lab as lab
from tests.wordings import Wording
from triton_lab.backend.source import operator_precedence
from triton_lab.backend.source.operator_precedence import misread
from triton_lab.interpreter.kernel_errors import KernelError
from triton_lab.notebook.cell.error_display import rendering


@triton.jit
def joined(x_ptr, n, BLOCK: tl.constexpr):
    o = tl.arange(0, BLOCK)
    inside = o >= 0
    mask = inside & o < n
    tl.store(x_ptr + o, 1.0, mask=mask)


@triton.jit
def chained(x_ptr, n, BLOCK: tl.constexpr):
    o = tl.arange(0, BLOCK)
    tl.store(x_ptr + o, 1.0, mask=o >= 0 & o < n)


@triton.jit
def _within(o, n):
    return (o >= 0) & o < n


@triton.jit
def helped(x_ptr, n, BLOCK: tl.constexpr):
    o = tl.arange(0, BLOCK)
    tl.store(x_ptr + o, 1.0, mask=_within(o, n))


@triton.jit
def proper(x_ptr, n, BLOCK: tl.constexpr):
    o = tl.arange(0, BLOCK)
    tl.store(x_ptr + o, 1.0, mask=(o >= 0) & (o < n) & ((o & 1) == 0))


def found(body: str) -> list[tuple[str, str]]:
    """What is read and what was meant, in a kernel with this body."""
    text = f"def kernel(x_ptr, n, m, x, flag, C: tl.constexpr):\n{textwrap.indent(body, '    ')}\n"
    return [(one.read, one.meant) for one in misread(ast.parse(text), text)]


BEFORE = "o = tl.arange(0, C)\nr, c = o // 4, o % 4\ninside = o > 1\n"
WRONG = {
    "o >= 0 & o < n": ("o >= (0 & o) < n", "(o >= 0) & (o < n)"),
    "o < 0 | o >= n": ("o < (0 | o) >= n", "(o < 0) | (o >= n)"),
    "r < n & c < m": ("r < (n & c) < m", "(r < n) & (c < m)"),
    "o == 1 & r == 2": ("o == (1 & r) == 2", "(o == 1) & (r == 2)"),
    "o[:, None] < n & o[None, :] < m": (
        "o[:, None] < (n & o[None, :]) < m",
        "(o[:, None] < n) & (o[None, :] < m)",
    ),
    "o < n & (r < m)": ("o < (n & (r < m))", "(o < n) & (r < m)"),
    "(o >= 0) & o < n": ("((o >= 0) & o) < n", "(o >= 0) & (o < n)"),
    "o < n & inside": ("o < (n & inside)", "(o < n) & inside"),
    "inside[:, None] & o < n": ("(inside[:, None] & o) < n", "inside[:, None] & (o < n)"),
    "o >= 0 & inside": ("o >= (0 & inside)", "(o >= 0) & inside"),
    "inside & o == n": ("(inside & o) == n", "inside & (o == n)"),
    "o >= 0 & o < n & r < m": ("o >= (0 & o) < (n & r) < m", "(o >= 0) & (o < n) & (r < m)"),
    "o < 0 | r < 0 & c < m": ("o < (0 | r) < (0 & c) < m", "(o < 0) | (r < 0) & (c < m)"),
    "é < n & o < m": ("é < (n & o) < m", "(é < n) & (o < m)"),
    "(\n    o >= 0\n    & o < n)": ("o >= (0 & o) < n", "(o >= 0) & (o < n)"),
}


@pytest.mark.parametrize("code", WRONG)
def test_what_cannot_have_been_meant_is_told_with_what_was(code: str) -> None:
    assert found(f"{BEFORE}y = {code}") == [WRONG[code]]


@pytest.mark.parametrize(
    "code",
    [
        "(o >= 0) & (o < n)",
        "0 <= o < n",
        "o >= (0 & o) < n",  # whoever writes these parentheses means them
        "o < (n & inside)",
        "0 <= x & 7 < n",
        "0 <= x & C < n",
        "0 <= x & MASK < n",
        "x & 1 == 0",
        "inside & 1 > 0",
        "(x > 3) & flag & 1 > 0",
        "x & n == m",
        "x & n < m",
        "inside & (o < n) == flag",  # both sides are true or false
        "flag & inside == x",
        "x in flag & inside",
        "not o & n",
        "inside and o < n",
        "o < n and o >= 0",
        "tl.where(o < n, x & flag, 0) > 1",
    ],
)
def test_what_may_be_meant_is_left_alone(code: str) -> None:
    assert found(f"{BEFORE}y = {code}") == []


def test_a_name_is_true_or_false_only_where_all_that_is_assigned_to_it_is() -> None:
    assert found("if n:\n    inside = x > 1\nelse:\n    inside = x\ny = x < n & inside") == []
    assert found("inside = x > 1\ninside &= x > 2\ninside = inside & (x < 9)\ny = x < n & inside") != []
    assert found("inside, other = x > 1, x\ny = x < n & inside") == []
    assert found("for inside in range(n):\n    y = x < n & inside") == []
    assert found("y = x < n & flag") == []  # an argument may be anything


def test_the_kernels_of_the_house_and_of_triton_have_none() -> None:
    """No false alarms: all of it has been run and held to references."""
    read = 0
    for package in (triton, lab):
        for file in Path(package.__path__[0]).rglob("*.py"):
            text = file.read_text()
            if "@triton.jit" in text or "@jit" in text:
                read += 1
                assert misread(ast.parse(text), text) == [], file
    assert read > 20


def heard(run: object) -> list[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        run()  # type: ignore[operator]
    ours = [one for one in caught if one.category is SyntaxWarning]
    return [f"{Path(one.filename).name}:{one.lineno} {one.message}" for one in ours]


def test_a_launch_that_nobody_records_warns_at_the_line_once() -> None:
    joined.device_caches.clear()
    vars(joined.fn).pop(operator_precedence._TOLD, None)

    def twice() -> None:
        for _ in range(2):
            joined[(1,)](torch.zeros(16), 10, BLOCK=16)
        warnings.simplefilter("default")  # Python forgets what it has told
        joined[(1,)](torch.zeros(32), 10, BLOCK=32)  # another compilation of it

    (said,) = heard(twice)
    line = joined.starting_line_number + 4
    assert said.startswith(f"{Path(__file__).name}:{line} Python reads `inside & o < n` as `(inside & o) <")
    assert "`inside & (o < n)`" in said
    assert heard(lambda: proper[(1,)](torch.zeros(16), 10, BLOCK=16)) == []


def test_a_recorded_launch_has_a_finding_instead_at_the_line_of_the_helper(wording: Wording) -> None:
    helped.device_caches.clear()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with lab.record() as launches:
            helped[(1,)](torch.zeros(16), 10, BLOCK=16)
    (one,) = [each for each in launches[0].findings if each.kind == "precedence"]
    assert one.severity == "warning" and one.line == _within.starting_line_number + 2
    assert one.message == "Python reads `(o >= 0) & o < n` as `((o >= 0) & o) < n`"
    wording(one.hint, right="(o >= 0) & (o < n)", sign="`&`")
    assert one.excerpt[1].strip() == "^" * len("(o >= 0) & o < n")
    assert not [each for each in launches[0].unchecked if "comparisons" in each.what]


def test_a_launch_in_parts_has_it_once() -> None:
    with lab.record(parts=2) as launches:
        joined[(4,)](torch.zeros(16), 10, BLOCK=16)
    assert [each.kind for each in launches[0].findings].count("precedence") == 1


def test_an_access_that_strays_through_such_a_mask_says_so_and_nobody_says_it_again() -> None:
    joined.device_caches.clear()
    x = torch.zeros(10)

    def stopped() -> None:
        with pytest.raises(KernelError, match=r"`inside & o < n`"):
            joined[(1,)](x, 10, BLOCK=16)

    assert heard(stopped) == []
    with lab.record() as launches, pytest.raises(KernelError):
        joined[(1,)](x, 10, BLOCK=16)
    assert [str(launches[0].findings).count("Python reads")] == [1]


def test_where_triton_refuses_the_chain_the_same_is_said() -> None:
    try:
        (said,) = heard(lambda: chained[(1,)](torch.zeros(16), 10, BLOCK=16))
    except CompilationError as error:  # until Triton 3.8
        said = re.sub(r"\x1b\[[0-9;]*m", "", "\n".join(rendering(error, __file__)))
    assert "Python reads `o >= 0 & o < n` as `o >= (0 & o) < n`" in said
    assert "Write `(o >= 0) & (o < n)`: `&` binds more tightly" in said
