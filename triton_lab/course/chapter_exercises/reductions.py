"""Chapter 07: many numbers become one; rounding and overflow on the way."""

from __future__ import annotations

from typing import Any

from triton_lab.course.cases import case, tensor
from triton_lab.course.exercise_kinds import Question, Task
from triton_lab.course.launch_work import apart, bounded, launched, once, wide
from triton_lab.localization import N_, _


def _columns(inputs: Any) -> int:
    return int(inputs["x"].shape[1])


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
        N_("The sum of each row"),
        (
            N_("One program for each row. Its block is the whole row, so BLOCK is triton.next_power_of_2(columns)."),
            N_("tl.sum(block, axis=0) is one number. Lanes beyond the row must add nothing: other=0.0."),
            N_("tl.store(out_ptr + row, tl.sum(x, axis=0)): one address, one number, no mask."),
        ),
        cases=_SHAPES,
        reference=lambda x: x.double().sum(1).float(),
        tolerance=(1e-5, 1e-5),
        work=(launched(), once("x")),
        copied=False,
    ),
    Task(
        "row_range",
        N_("From the minimum to the maximum"),
        (
            N_("Use tl.max and tl.min of one block. A lane without an element must be neither."),
            N_(
                "One value of `other` does not work for both. Use tl.where to replace the values of these lanes "
                "after the load."
            ),
            N_("high = tl.max(tl.where(mask, x, float('-inf')), axis=0), and low with float('inf')."),
        ),
        cases=(*_SHAPES, case(x=tensor(3, 37, low=5.0, high=6.0)), case(x=tensor(3, 37, low=-6.0, high=-5.0))),
        reference=_range,
        tolerance=(1e-6, 1e-6),
        work=(launched(), once("x")),
    ),
    Task(
        "softmax",
        N_("Softmax that does not overflow"),
        (
            (
                N_(
                    "exp(x) overflows from 89 on. The result stays the same if you subtract the same number from "
                    "every element."
                )
            ),
            N_("Subtract the row's maximum before tl.exp. Lanes beyond the row get minus infinity."),
            N_("x -= tl.max(x, axis=0); e = tl.exp(x); store e / tl.sum(e, axis=0)"),
        ),
        cases=(
            *_SHAPES,
            case(x=tensor(4, 50, scale=200.0)),
            case(x=tensor(4, 50, low=-400.0, high=-300.0)),
            case(x=tensor(8, 70, dtype="float16", scale=3.0)),
        ),
        contiguous=True,
        reference=_softmax,
        tolerance=(1e-4, 1e-7),
        ranges=("negative", "tiny"),
        work=(launched(), apart("x")),
        copied=False,
    ),
    Task(
        "long_row_sum",
        N_("Rows of any length"),
        (
            N_("The block has 64 lanes for every length of row. Loop over the row in steps of BLOCK."),
            N_("Keep a block of 64 partial sums in the loop, and add them up once, after it."),
            N_("total = tl.zeros((BLOCK,), tl.float32); in the loop total += tl.load(..., other=0.0); then tl.sum."),
        ),
        cases=(
            case(x=tensor(3, 64)),
            case(x=tensor(2, 1000)),
            case(x=tensor(5, 63)),
            case(x=tensor(4, 129, layout="steps")),
            case(x=tensor(2, 4096, dtype="float16", low=0.5, high=1.0)),
            case(x=tensor(3, 1)),
            case(x=tensor(2, 20_001)),
        ),
        reference=lambda x: x.double().sum(1).float(),
        tolerance=(1e-5, 1e-3),
        work=(launched(), once("x"), bounded(_columns), wide(64, _columns)),
    ),
    Task(
        "normalise",
        N_("Mean 0, variance 1"),
        (
            N_("First the mean, then the differences from it, then the mean of their squares."),
            N_("Lanes beyond the row are 0 when loaded, but not after the mean is subtracted: use tl.where."),
            (
                N_(
                    "Do not use the mean of the squares minus the square of the mean: it loses all its digits when "
                    "the mean is large."
                )
            ),
        ),
        cases=(
            *_SHAPES[:5],
            case(x=tensor(3, 40, scale=0.01)),
            case(x=tensor(3, 100, low=1000.0, high=1001.0)),
            case(x=tensor(3, 100, low=-5000.0, high=-4999.0)),
        ),
        contiguous=True,
        reference=_normalised,
        tolerance=(1e-3, 5e-3),
        work=(launched(), apart("x")),
    ),
    Question(
        "half_sum",
        N_("When adding one changes nothing"),
        (
            N_(
                "float16 stores 10 bits after the leading one, so 11 bits are significant. From some power of two on, "
                "the distance of neighbouring numbers is 2."
            ),
            N_("From 2048 on, 2048 + 1 lies half-way between two numbers, and is rounded to the even one: 2048."),
        ),
        right=lambda: 2048,
        tell=lambda answer, right: _(
            "Run the loop, or compute it: from which number on is the distance of float16 numbers 2?"
        ),
    ),
)
