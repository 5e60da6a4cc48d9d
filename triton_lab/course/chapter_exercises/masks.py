"""Chapter 04: masks keep lanes away from memory; the values of masked lanes."""

from __future__ import annotations

from typing import Any

from triton_lab.course.cases import case, tensor
from triton_lab.course.exercise_kinds import Question, Task
from triton_lab.course.launch_work import launched, wide
from triton_lab.localization import N_, _

_SIZES = (64, 65, 129, 1, 2, 1000)


def _shifted(x: Any) -> Any:
    out = x.roll(1)
    out[:1] = 0
    return out


def _three(x: Any) -> Any:
    import torch

    wide = torch.zeros(len(x) + 2, dtype=x.dtype)
    wide[1:-1] = x
    return wide[:-2] + wide[1:-1] + wide[2:]


def _padded(x: Any, width: int) -> Any:
    import torch

    return torch.nn.functional.pad(x, (0, width - x.shape[1]))


def _taken(table: Any, index: Any) -> Any:
    import torch

    inside = (index >= 0) & (index < len(table))
    found = table[index.clamp(0, len(table) - 1).long()]
    return torch.where(inside, found, torch.zeros((), dtype=table.dtype))


EXERCISES = (
    Task(
        "shift_right",
        N_("One place to the right"),
        (
            N_("Element i of the result is x[i - 1]. Element 0 has no source."),
            N_("The mask of the load differs from the mask of the store: it must keep lane 0 away from x[-1]."),
            N_("tl.load(x_ptr + offsets - 1, mask=(offsets > 0) & (offsets < n), other=0)"),
        ),
        cases=(*(case(x=tensor(n)) for n in _SIZES), case(x=tensor(70, dtype="int32", low=-9, high=9))),
        reference=_shifted,
        work=(launched(), wide(16)),
    ),
    Task(
        "sum_of_three",
        N_("Neighbours"),
        (
            N_("Three loads: at offsets - 1, at offsets, and at offsets + 1. Each needs a mask of its own."),
            N_("A masked-off lane is undefined unless the load has other=0.0."),
            N_("Left: (offsets > 0) & (offsets < n). Right: offsets + 1 < n."),
        ),
        cases=tuple(case(x=tensor(n)) for n in _SIZES),
        reference=_three,
        tolerance=(1e-5, 1e-5),
        work=(launched(), wide(16)),
    ),
    Task(
        "pad_rows",
        N_("Longer rows"),
        (
            N_("The result is wider than x. The mask of the store is j < width, the mask of the load j < columns."),
            N_("Where the load's mask is false, the lane gets `other`."),
            N_("x has rows of `columns` elements, the result rows of `width`: two different strides."),
        ),
        cases=(
            case(x=tensor(3, 5), width=9),
            case(x=tensor(16, 16), width=40),
            case(x=tensor(21, 33), width=33),
            case(x=tensor(1, 1), width=2),
            case(x=tensor(200, 300), width=333),
            case(x=tensor(9, 31, dtype="int32", low=1, high=9), width=97),
        ),
        contiguous=True,
        reference=_padded,
        work=(launched(), wide(16)),
    ),
    Task(
        "take",
        N_("A table with gaps"),
        (
            N_("Two loads: first the block of indices, then the elements of the table at these indices."),
            (
                N_(
                    "An index may be any number, but the load must stay in the table: the second mask depends on the "
                    "loaded indices."
                )
            ),
            N_("inside = mask & (index >= 0) & (index < size), and other=0.0"),
        ),
        cases=(
            case(table=tensor(10), index=tensor(64, dtype="int32", low=-3, high=14)),
            case(table=tensor(100), index=tensor(37, dtype="int64", low=-500, high=500)),
            case(table=tensor(1), index=tensor(200, dtype="int32", low=-1, high=3)),
            case(table=tensor(50, dtype="float16"), index=tensor(1, dtype="int32", low=49, high=51)),
            case(table=tensor(30), index=tensor(194, dtype="int32", low=0, high=31)),
        ),
        reference=_taken,
        work=(launched(), wide(16)),
    ),
    Question(
        "masked_lanes",
        N_("What the mask costs"),
        (
            N_("First count the programs: blocks of rows times blocks of columns, each rounded up."),
            N_("4 times 3 programs, with 32 times 32 lanes each; and 100 times 70 of them have an element."),
        ),
        right=lambda: 4 * 3 * 32 * 32 - 100 * 70,
        tell=lambda answer, right: _("Count all lanes of all programs, and subtract the lanes that have an element."),
    ),
)
