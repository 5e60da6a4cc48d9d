"""A remark on a right answer: sizes for which its kernel goes wrong, and that no case tried."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest
import torch
import triton
import triton.language as tl

from tests.course import others
from triton_lab import KernelError
from triton_lab.course import exercise, exercise_kinds
from triton_lab.course.answer_remark import untried_remark
from triton_lab.course.exercise_answer import LocalAnswer
from triton_lab.course.exercise_kinds import Task
from triton_lab.course.feedback import Solved
from triton_lab.course.progress_store import Progress


@triton.jit
def _first_anyway(x_ptr, out_ptr, n, value, BLOCK: tl.constexpr):
    """It takes for granted that there is a first element."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = (at < n) | (at == 0)
    tl.store(out_ptr + at, tl.load(x_ptr + at, mask=mask) + value, mask=mask)


def _add(x: torch.Tensor, value: float) -> torch.Tensor:
    out = torch.empty_like(x)
    _first_anyway[(1,)](x, out, x.numel(), value, BLOCK=128)
    return out


def test_the_smallest_launch_that_fails_is_told_and_the_answer_stays_right(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exercise_kinds, "hard_cases", lambda *_: ())  # only the sizes below are tried
    known = exercise("add_constant")
    assert isinstance(known, Task)
    here = LocalAnswer(_add)
    assert replace(known, cases=[known.cases[k] for k in (0, 2, 3)]).judged(here) is None  # of 96, 127 and 1 elements
    remark = untried_remark(here.launches)
    assert remark is not None and remark.launch is not None
    assert isinstance(remark.launch.error, KernelError)
    assert "n = 0 (program 0, lane 0)" in remark.message
    solved = Solved("add_constant", "Add", Progress({"00": (1, 5)}, "00"), remark)
    assert remark.message in str(solved) and "n = 0" in solved._repr_html_()


@pytest.mark.parametrize("name", ["add_constant", "copy_any", "outer_sum"])
def test_of_a_right_answer_nothing_is_told_in_a_second(name: str) -> None:
    here = LocalAnswer(getattr(others, name))
    assert exercise(name).judged(here) is None
    began = time.thread_time()
    assert untried_remark(here.launches) is None
    assert time.thread_time() - began < 5
