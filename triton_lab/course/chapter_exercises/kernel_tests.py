"""Chapter 28: sizes that show mistakes, and tests that tell right kernels from wrong ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from triton_lab.course.exercise_kinds import Choice, WrittenTest
from triton_lab.localization import N_, _, translated

_MOST = 150  # elements

_BY_SHAPE = {
    "block": N_("divides by the size of its block"),
    "fixed": N_("has a block of 64 columns"),
    "rounded down": N_("has a grid of rows // 4 programs"),
    "first row": N_("uses the sum of each program's first row"),
    "square": N_("exchanges rows and columns in the stride"),
    "every lane": N_("has no mask for the columns"),
}
_BY_INPUT = {
    "contiguous": N_("reads every matrix as if it were contiguous"),
    "half": N_("squares and adds up in the dtype of its input"),
    "other": N_("counts masked-off lanes as ones"),
    "sign": N_("loses the signs"),
    "absolute": N_("adds up absolute values instead of squares"),
    "no epsilon": N_("divides by zero for a row of zeros"),
    "one less": N_("divides the sum of squares by one less than the number of columns"),
    "narrow": N_("rounds its results to bfloat16"),
}


def _norms() -> Mapping[str, Callable[..., Any]]:
    from triton_lab.course.judging.planted_kernels import NORMS

    return NORMS


def _adds() -> Mapping[str, Callable[..., Any]]:
    from triton_lab.course.judging.planted_kernels import ADDS

    return ADDS


def _shape_wrong(given: Any) -> str:
    """What is wrong with a shape: the first mistake that it does not show."""
    import torch

    rows, columns = given
    if not all(type(size) is int and size > 0 for size in (rows, columns)):
        return _("{given} is no shape: take two whole numbers, (rows, columns)").format(given=repr(given))
    if rows * columns > _MOST:
        return _("{given} has {elements} elements, and {most} are enough").format(
            given=repr(given), elements=rows * columns, most=_MOST
        )
    from triton_lab.backend.targets.active_target import target

    table = _norms()
    x = torch.randn(rows, columns, generator=torch.Generator().manual_seed(rows))
    with target("cpu"):
        right = table["right"](x)
        for name, what in _BY_SHAPE.items():
            if torch.allclose(table[name](x), right, atol=1e-5):
                return _("{given} does not find the kernel that {what}").format(
                    given=repr(given), what=translated(what)
                )
    return ""


EXERCISES = (
    Choice(
        "one_shape",
        N_("One shape"),
        (
            N_("More than 64 columns, and no power of two."),
            N_("More than one row, so that a first row differs from another one, but no multiple of 4."),
            N_("Two rows of 65 columns have 130 elements."),
        ),
        wrong=_shape_wrong,
    ),
    WrittenTest(
        "check_norm",
        N_("A test for the norm"),
        (
            N_("Loop over dtypes and shapes: odd sizes, more than 64 columns, rows that are no multiple of 4."),
            N_("Try views, such as x.T. Try large numbers in float16, whose squares overflow, and a row of zeros."),
            N_("lab.testing.assert_close(norm(x), reference(x), ulps=4), with x from a generator that has a seed."),
        ),
        table=_norms,
        right={
            "right": N_("has four rows in a program"),
            "right by rows": N_("has one row in a program"),
            "right, wide": N_("has blocks of 1,024 columns"),
        },
        wrong=_BY_SHAPE | _BY_INPUT,
        points=3,
    ),
    WrittenTest(
        "check_add",
        N_("A test for sums by index"),
        (
            N_("Several values for one index; values of both signs, with fractions; some index without a value."),
            N_("Use the first index and the last. Take more values than a block has, and no multiple of a block."),
            N_(
                "expected: index_add_ of torch, with float64. Then assert_close with terms=n, as the order of the "
                "additions is not known."
            ),
        ),
        table=_adds,
        right={"right": N_("has blocks of 64 values"), "right, small": N_("has blocks of 16 values")},
        wrong={
            "store": N_("stores without adding, so that one of several values is left"),
            "largest": N_("keeps the largest value instead of the sum"),
            "counts": N_("counts the values instead of adding them"),
            "whole": N_("drops the fractions"),
            "below last": N_("leaves out the last index"),
            "not zero": N_("leaves out index 0"),
            "positive": N_("leaves out negative values"),
            "ones": N_("begins with ones"),
            "one block": N_("adds the first 64 values only"),
            "rounded down": N_("leaves out the last block if it is not full"),
            "next": N_("adds each value at the next index"),
            "backwards": N_("counts the indices from the end"),
        },
        points=2,
    ),
)
