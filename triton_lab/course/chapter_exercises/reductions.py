"""Chapter 06: many numbers become one; rounding and overflow on the way."""

from __future__ import annotations

from typing import Any

from triton_lab.course.cases import case, tensor
from triton_lab.course.exercise_kinds import Question, Task
from triton_lab.course.launch_work import launched, once, programs, wide


def _rows(inputs: Any) -> int:
    return int(inputs["x"].shape[0])


def _range(x: Any) -> Any:
    return x.amax(1) - x.amin(1)


def _softmax(x: Any) -> Any:
    return x.double().softmax(1).to(x.dtype)


def _normalised(x: Any) -> Any:
    wide = x.double()
    centred = wide - wide.mean(1, keepdim=True)
    return (centred / (centred.square().mean(1, keepdim=True) + 1e-5).sqrt()).to(x.dtype)


_SHAPES = (
    case(x=tensor(5, 64)),
    case(x=tensor(7, 100)),
    case(x=tensor(3, 33, layout="inside")),
    case(x=tensor(9, 17, layout="turned")),
    case(x=tensor(4, 129, layout="steps")),
    case(x=tensor(6, 1)),
    case(x=tensor(0, 8)),
)

EXERCISES = (
    Task(
        "row_sum",
        "The sum of each row",
        (
            "One program for each row. Its block is the whole row, so BLOCK is triton.next_power_of_2(columns).",
            "tl.sum(block, axis=0) is one number. Lanes beyond the row must not add anything: other=0.0.",
            "tl.store(out_ptr + row, tl.sum(x, axis=0)): one address, one number, no mask.",
        ),
        cases=_SHAPES,
        reference=lambda x: x.double().sum(1).float(),
        tolerance=(1e-5, 1e-5),
        work=(launched(), once("x"), programs(_rows)),
    ),
    Task(
        "row_range",
        "From the least to the greatest",
        (
            "tl.max and tl.min of one block. A lane without an element must win neither.",
            "One value of `other` cannot serve both. tl.where gives lanes another value afterwards.",
            "high = tl.max(tl.where(mask, x, float('-inf')), axis=0), and low with float('inf').",
        ),
        cases=(*_SHAPES, case(x=tensor(3, 37, low=5.0, high=6.0)), case(x=tensor(3, 37, low=-6.0, high=-5.0))),
        reference=_range,
        tolerance=(1e-6, 1e-6),
        work=(launched(), once("x"), programs(_rows)),
    ),
    Task(
        "softmax",
        "Softmax that does not overflow",
        (
            "exp(x) overflows from 89 on. The result stays the same if every element is less by the same number.",
            "Take the row's greatest element away before tl.exp. Lanes beyond the row get minus infinity.",
            "x -= tl.max(x, axis=0); e = tl.exp(x); store e / tl.sum(e, axis=0)",
        ),
        cases=(
            *_SHAPES,
            case(x=tensor(4, 50, scale=200.0)),
            case(x=tensor(4, 50, low=-400.0, high=-300.0)),
            case(x=tensor(8, 70, dtype="float16", scale=3.0)),
        ),
        reference=_softmax,
        tolerance=(1e-5, 1e-7),
        work=(launched(), once("x"), programs(_rows)),
    ),
    Task(
        "long_row_sum",
        "Rows of any length",
        (
            "The block has 64 lanes, however long the row: a loop goes over it in steps of BLOCK.",
            "Keep a block of 64 partial sums in the loop, and add them up once, after it.",
            "total = tl.zeros((BLOCK,), tl.float32); in the loop total += tl.load(..., other=0.0); then tl.sum.",
        ),
        cases=(
            case(x=tensor(3, 64)),
            case(x=tensor(2, 1000)),
            case(x=tensor(5, 63)),
            case(x=tensor(4, 129, layout="steps")),
            case(x=tensor(2, 4096, dtype="float16", low=0.5, high=1.0)),
            case(x=tensor(3, 1)),
        ),
        reference=lambda x: x.double().sum(1).float(),
        tolerance=(1e-5, 1e-4),
        work=(launched(), once("x"), programs(_rows), wide(64)),
    ),
    Task(
        "normalise",
        "Mean 0, variance 1",
        (
            "First the mean, then the differences from it, then the mean of their squares.",
            "Lanes beyond the row are 0 when they are loaded, but not after the mean was taken away: tl.where.",
            "The mean of the squares less the square of the mean loses all its digits when the mean is large. Do not.",
        ),
        cases=(
            *_SHAPES[:5],
            case(x=tensor(3, 40, scale=0.01)),
            case(x=tensor(3, 100, low=1000.0, high=1001.0)),
            case(x=tensor(3, 100, low=-5000.0, high=-4999.0)),
        ),
        reference=_normalised,
        tolerance=(1e-3, 5e-3),
        work=(launched(), once("x"), programs(_rows)),
    ),
    Question(
        "half_sum",
        "When adding one changes nothing",
        (
            "float16 has 11 bits of fraction: beyond some power of two, neighbouring numbers are 2 apart.",
            "From 2048 on, 2048 + 1 lies half-way between two numbers, and is rounded to the even one: 2048.",
        ),
        right=lambda: 2048,
        tell=lambda answer, right: "Run the loop, or ask: from which number on are the float16 numbers 2 apart?",
    ),
)
