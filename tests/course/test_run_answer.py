"""What is wrong with an answer is told in its own words: what it raised, returned, changed, or owes to luck."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import triton
import triton.language as tl

from tests.wordings import Wording
from triton_lab.course.answer_fault import TO_DO, stub_of
from triton_lab.course.exercise_registry import exercise


@triton.jit
def _relu(x_ptr, out_ptr, n, CUT: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    tl.store(out_ptr + i, tl.maximum(x, 0.0), mask=i < n - CUT)


@triton.jit
def _row_sum(x_ptr, out_ptr, columns, x0, x1, BLOCK: tl.constexpr):
    j = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + tl.program_id(0) * x0 + j * x1, mask=j < columns)
    tl.store(out_ptr + tl.program_id(0), tl.sum(x, axis=0))


LOAD = _row_sum.fn.__code__.co_firstlineno + 3  # its line


def relu(x: Any, cut: int = 0) -> Any:
    out = torch.empty_like(x)
    _relu[(triton.cdiv(x.numel(), 128),)](x, out, x.numel(), CUT=cut, BLOCK=128)
    return out


def row_sum(x: Any) -> Any:
    """No `other` for the lanes beyond the row."""
    out = torch.empty(x.shape[0])
    _row_sum[(x.shape[0],)](x, out, x.shape[1], *x.stride(), BLOCK=triton.next_power_of_2(x.shape[1]))
    return out


def spoiling(x: Any) -> Any:
    found = relu(x)
    x.zero_()
    return found


@pytest.mark.parametrize(
    ("name", "answer", "label", "facts"),
    [
        ("relu", lambda x: relu(x).unknown, "raised", {"error": "AttributeError", "attribute": "'unknown'"}),
        ("relu", lambda x: (relu(x), 1), "several", {"returned": "2 values"}),
        ("relu", lambda x: None, "nothing", {}),
        ("relu", lambda x: 1, "type", {"type": "int"}),
        ("relu", lambda x: relu(x)[:1], "shape", {"shape": "(1,)", "expected": "(96,)"}),
        ("relu", lambda x: relu(x).double(), "dtype", {"dtype": "float64", "expected": "float32"}),
        ("relu", lambda x: relu(x, cut=1), "no value", {"place": "[95]"}),
        ("relu", lambda x: relu(x) + 1, "not written", {}),
        ("relu", spoiling, "changed", {"name": "x"}),
        ("relu", _relu, "kernel", {}),
        ("relu", 3, "no function", {"type": "int"}),
        ("row_sum", row_sum, "luck", {"line": LOAD, "argument": "other=..."}),
    ],
)
def test_what_is_wrong_is_told(
    name: str, answer: Callable[..., Any], label: str, facts: dict[str, object], wording: Wording
) -> None:
    fault = exercise(name).judge(answer)
    assert fault is not None
    wording(fault.message, label, **facts)


def test_a_stub_is_known_by_its_words_also_where_another_error_came_while_it_was_told() -> None:
    def raised(error: Exception, cause: Exception | None, context: Exception | None) -> Exception:
        error.__cause__, error.__context__ = cause, context
        return error

    stub, other = NotImplementedError(f"{TO_DO}load the block"), ValueError("of no matter")
    assert stub_of(raised(RuntimeError("in a compiler"), stub, None)) == f"{TO_DO}load the block"
    assert stub_of(raised(RuntimeError("in a compiler"), None, stub)) == f"{TO_DO}load the block"
    assert stub_of(raised(RuntimeError("in a compiler"), other, stub)) == ""


@triton.jit
def _row_sum_over(x_ptr, out_ptr, columns, x0, x1, BLOCK: tl.constexpr):
    j = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + tl.program_id(0) * x0 + j * x1, mask=j < columns, other=1.0)
    tl.store(out_ptr + tl.program_id(0), tl.sum(x, axis=0))


def row_sum_over(x: Any) -> Any:
    """Masked-off lanes count as 1."""
    out = torch.empty(x.shape[0])
    _row_sum_over[(x.shape[0],)](x, out, x.shape[1], *x.stride(), BLOCK=2 * triton.next_power_of_2(x.shape[1]))
    return out


def test_the_reason_of_a_wrong_result_is_the_one_that_a_comparison_finds() -> None:
    fault = exercise("row_sum").judge(row_sum_over)
    assert fault is not None and fault.launch is not None
    load = _row_sum_over.fn.__code__.co_firstlineno + 3
    *_related, reason = fault.lines
    assert "other=" in reason and str(load) in reason
    # What was tried is behind a button.
    assert not fault.picture.tried
