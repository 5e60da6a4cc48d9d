"""Chapter 03: a kernel sees addresses. Offsets and strides give the place of each element."""

from __future__ import annotations

from typing import Any

from triton_lab.course.cases import Case, case, tensor
from triton_lab.course.exercise_kinds import Choice, Question, Task
from triton_lab.course.launch_work import launched, once, wide
from triton_lab.localization import N_, _


def _matrices() -> tuple[Case, ...]:
    """Contiguous, within a larger one, every other column, transposed; no full blocks; one element; none; half."""
    return (
        case(x=tensor(16, 16)),
        case(x=tensor(5, 37, layout="inside")),
        case(x=tensor(19, 7, layout="turned")),
        case(x=tensor(33, 18, layout="steps")),
        case(x=tensor(1, 1, layout="inside")),
        case(x=tensor(40, 65, dtype="float16", layout="turned")),
        case(x=tensor(0, 4)),
    )


def _spread() -> Case:
    """One column, read as many: a stride of 0."""
    return case(x=tensor(9, 20, layout="spread"))


def _plus_one(x: Any) -> Any:
    return x + 1


def _windows(answer: Any) -> str:
    import torch

    shape, strides = answer
    row = torch.arange(8.0)
    try:
        view = torch.as_strided(row, shape, strides)
    except RuntimeError:  # torch makes no view that reaches beyond the storage, or runs backwards
        return _(
            "Shape {shape} with strides {strides} leaves the eight numbers. At which place is the last element?"
        ).format(shape=shape, strides=strides)
    if tuple(view.shape) != (6, 3):
        return _("The view has shape {shape}. Eight numbers have 6 windows of 3.").format(shape=tuple(view.shape))
    wanted = row.unfold(0, 3, 1)
    wrong = (view != wanted).nonzero()
    if len(wrong):
        i = int(wrong[0][0])
        return _("Window {i} is {tolist}, but must be {tolist2}. How far is one step in each direction?").format(
            i=i, tolist=view[i].tolist(), tolist2=wanted[i].tolist()
        )
    return ""


EXERCISES = (
    Question(
        "place_of_an_element",
        N_("At which place in storage?"),
        (
            N_("The place in storage is offset + i * stride[0] + j * stride[1]."),
            N_("The offset is 1, and the strides are 7 and 2."),
        ),
        right=lambda: 1 + 2 * 7 + 2 * 2,
        tell=lambda answer, right: _("Start at the offset, go two steps of stride[0], then two of stride[1]."),
    ),
    Task(
        "copy_any",
        N_("A copy of any view"),
        (
            N_("Pass both strides of x to the kernel: x.stride(0) and x.stride(1). The copy is contiguous."),
            N_("Element [i, j] of x is at x_ptr + i * stride_0 + j * stride_1."),
            N_("Load with the strides of x, store with i * columns + j. One mask serves both."),
        ),
        cases=(*_matrices(), _spread()),
        contiguous=True,
        reference=lambda x: x.contiguous(),
        work=(launched(), once("x"), wide(16)),
        copied=False,
    ),
    Task(
        "add_one_in_place",
        N_("Add 1, only in the view"),
        (
            N_("A view has neighbours in the same storage. Only the view's elements may change."),
            N_("Store to the addresses that you loaded from: the same strides, the same mask."),
            N_("A mask on the rows is not enough: elements beyond the last column are not part of the view."),
        ),
        cases=_matrices(),
        reference=_plus_one,
        changes=("x",),
        tolerance=(1e-6, 1e-6),
        work=(launched(), once("x")),
        copied=False,
    ),
    Task(
        "transpose",
        N_("Rows become columns"),
        (
            N_("The result has as many rows as x has columns. Let programs have tiles of x."),
            N_("A value loaded from [i, j] is stored to [j, i]: exchange i and j in the addresses of the store."),
            N_("out_ptr + j[None, :] * rows + i[:, None], with the mask of the load."),
        ),
        cases=(*_matrices(), _spread()),
        contiguous=True,
        reference=lambda x: x.t().contiguous(),
        work=(launched(), once("x"), wide(16)),
        copied=False,
    ),
    Task(
        "diagonal",
        N_("The diagonal"),
        (
            N_("From [i, i] to the next diagonal element is one row and one column."),
            N_("So the diagonal is a vector with the stride stride(0) + stride(1)."),
            N_("It has min(rows, columns) elements."),
        ),
        cases=(
            case(x=tensor(9, 9)),
            case(x=tensor(5, 70, layout="inside")),
            case(x=tensor(66, 20, layout="turned")),
            case(x=tensor(150, 140, layout="steps")),
            case(x=tensor(194, 200)),
            case(x=tensor(1, 3)),
            case(x=tensor(30, 30, dtype="int32", low=-9, high=9)),
        ),
        spread=False,
        reference=lambda x: x.diagonal().contiguous(),
        work=(launched(), wide(8)),
        copied=False,
    ),
    Choice(
        "windows_by_strides",
        N_("Windows without a copy"),
        (
            N_("Each row of the view is a window: three numbers, side by side in the storage."),
            N_("The next window begins one number later."),
            N_("Two elements of the view may share one place. So the strides may be smaller than those of a matrix."),
        ),
        wrong=_windows,
    ),
)
