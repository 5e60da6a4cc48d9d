"""What explains a wrong result comes first, and notes that explain none stand aside."""

from __future__ import annotations

import contextlib

import pytest
import torch
import triton
import triton.language as tl

import triton_lab as lab
from triton_lab.interpreter.kernel_errors import KernelError
from triton_lab.launch.checks.check_run import in_order, one_note_a_line
from triton_lab.launch.checks.rule import rules
from triton_lab.launch.diagnosis.finding import Finding
from triton_lab.launch.launch import Launch

STRIDE = 40_000_000


@triton.jit
def row_kernel(x_ptr, out_ptr, n, stride, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    offsets = row * stride + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n, other=0.0)
    tl.store(out_ptr + row, tl.sum(x))


def launched(n: int, parts: int = 1) -> Launch:
    with lab.record(parts=parts) as launches, contextlib.suppress(KernelError):
        row_kernel[(60,)](torch.zeros(64), torch.zeros(60), n, STRIDE, BLOCK=16)
    return launches[0]


@pytest.mark.parametrize("parts", [1, 4])
def test_a_fault_says_the_product_that_wrapped_first(parts: int) -> None:
    fault, overflow = launched(64, parts).findings
    assert (fault.kind, overflow.kind, overflow.line) == ("out-of-bounds", "overflow", fault.line - 1)
    assert str(54 * STRIDE) in fault.message.partition("out of bounds")[0]
    assert fault.hint == overflow.hint and fault.fix is None


def test_a_fault_of_programs_that_do_not_wrap_stands_alone() -> None:
    """Program 1 leaves the storage without wrapping."""
    fault = launched(2**31 - 1).findings[0]
    assert fault.kind == "out-of-bounds" and int(fault.programs[0]) == 1
    assert str(54 * STRIDE) not in fault.message


def found(kind: str, line: int | None) -> Finding:
    return Finding(kind, "m", "h", line=line)


def test_a_note_that_explains_nothing_stands_alone_on_its_line_or_not_at_all() -> None:
    given = [("always-true-mask", 3), ("outside-view", 3), ("outside-view", 3), ("race", 4), ("alias", 4)]
    given += [("always-true-mask", 4), ("idle-program", None), ("always-true-mask", 5), ("unused-ignore", 5)]
    left = [(one.kind, one.line) for one in one_note_a_line([found(kind, line) for kind, line in given])]
    assert left == [
        *[("outside-view", 3), ("outside-view", 3), ("race", 4), ("alias", 4)],
        *[("idle-program", None), ("always-true-mask", 5)],
    ]


def test_notes_that_may_explain_a_wrong_result_come_first() -> None:
    given = [found("always-true-mask", 3), found("idle-program", None), found("unwritten", 9), found("race", 20)]
    assert [one.kind for one in in_order(given)] == ["race", "unwritten", "idle-program", "always-true-mask"]
    assert {kind for kind, rule in rules().items() if not rule.explains and rule.severity != "note"} == set()
