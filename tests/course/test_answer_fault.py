"""A fault's text begins with the reason, names the file, and is plain text wherever it is read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import triton
import triton.language as tl

import triton_lab as lab
from tests.wordings import Wording
from triton_lab.course.answer_fault import AnswerFault
from triton_lab.course.exercise_registry import exercise

HERE = "tests/course/test_answer_fault.py, line "


@triton.jit
def with_lambda(x, o, n, B: tl.constexpr):
    double = lambda v: v + v  # noqa: E731
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(o + i, double(tl.load(x + i, mask=i < n)), mask=i < n)


@triton.jit
def misspelt(x, o, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(o + i, tl.laod(x + i, mask=i < n), mask=i < n)


@triton.jit
def without_mask(x, o, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(o + i, tl.load(x + i))


@triton.jit
def itself(x, o, n, B: tl.constexpr):
    itself(x, o, n, B)


def launching(kernel: Any, *, forgets: bool = False) -> Callable[[torch.Tensor], torch.Tensor]:
    def relu(x: torch.Tensor) -> torch.Tensor:
        o = torch.empty_like(x)
        kernel[(triton.cdiv(x.numel(), 64),)](x, o, *([] if forgets else [x.numel()]), B=64)
        return o

    return relu


def raising(error: Exception) -> Callable[[torch.Tensor], torch.Tensor]:
    def relu(x: torch.Tensor) -> torch.Tensor:
        raise error

    return relu


@pytest.mark.parametrize(
    ("answer", "label", "facts", "line"),
    [
        (launching(with_lambda), "refused", {"part": "`lambda`"}, "double = lambda"),
        (launching(misspelt), "misspelt", {"written": "`laod`", "meant": "`tl.load`"}, "tl.laod"),
        (launching(itself), "recursion", {"kernel": "`itself`"}, "itself(x, o, n, B)"),
        (launching(without_mask), "stopped", {"kernel": "without_mask", "program": "program (1, 0, 0)"}, ""),
        (launching(without_mask, forgets=True), "argument", {"error": "TypeError"}, "kernel[("),
        (
            raising(ValueError("\x1b[31mno\x1b[0m such")),
            "raised",
            {"error": "ValueError", "said": "no such"},
            "raise error",
        ),
        (raising(KeyError("k")), "raised", {"error": "KeyError", "said": "'k'"}, "raise error"),
        (raising(lab.LayoutError("no layout")), "lab", {"said": "no layout"}, "raise error"),
    ],
)
def test_the_reason_is_first_and_the_file_is_named(
    answer: Callable[..., Any], label: str, facts: dict[str, str], line: str, wording: Wording
) -> None:
    told = str(exercise("relu").judge(answer))
    wording(told.splitlines()[0], label, **facts)
    assert HERE in told and line in told
    assert "\x1b" not in told and "this cell" not in told


def test_what_an_answer_says_in_colours_is_plain_text() -> None:
    assert str(AnswerFault("a\x1b[1;31mb\x1b[0m", "c\x1b]d", lines=("\x1b[2Ke",))).split("\n")[::2] == ["ab", "e"]
