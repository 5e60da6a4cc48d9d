"""Chapter 02: a kernel sees addresses. Offsets and strides give the place of each element."""

from __future__ import annotations

from typing import Any

from triton_lab.course.cases import Case, case, tensor
from triton_lab.course.exercise_kinds import Choice, Question, Task
from triton_lab.course.launch_work import launched, once, wide


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


def _plus_one(x: Any) -> Any:
    return x + 1


def _windows(answer: Any) -> str:
    import torch

    shape, strides = answer
    row = torch.arange(8.0)
    try:
        view = torch.as_strided(row, shape, strides)
    except RuntimeError:  # torch makes no view that reaches beyond the storage, or runs backwards
        return f"Shape {shape} with strides {strides} leaves the eight numbers: which place does the last element have?"
    if tuple(view.shape) != (6, 3):
        return f"The view has shape {tuple(view.shape)}. Eight numbers have 6 windows of 3."
    wanted = row.unfold(0, 3, 1)
    wrong = (view != wanted).nonzero()
    if len(wrong):
        i = int(wrong[0][0])
        return (
            f"Window {i} is {view[i].tolist()}, and must be {wanted[i].tolist()}: what is one step in each direction?"
        )
    return ""


EXERCISES = (
    Question(
        "place_of_an_element",
        "Where does it lie?",
        (
            "The place in the storage is offset + i * stride[0] + j * stride[1].",
            "The offset is 1, and the strides are 7 and 2.",
        ),
        right=lambda: 1 + 2 * 7 + 2 * 2,
        tell=lambda answer, right: "Begin at the offset, go two steps of stride[0], then two of stride[1].",
    ),
    Task(
        "copy_any",
        "A copy of any view",
        (
            "Pass both strides of x to the kernel: x.stride(0) and x.stride(1). The copy is contiguous.",
            "Element [i, j] of x is at x_ptr + i * stride_0 + j * stride_1.",
            "Load with the strides of x, store with i * columns + j; one mask serves both.",
        ),
        cases=_matrices(),
        reference=lambda x: x.contiguous(),
        work=(launched(), once("x"), wide(16)),
        copied=False,
    ),
    Task(
        "add_one_in_place",
        "One more, in the view alone",
        (
            "A view has neighbours in the same storage. Only its own elements may change.",
            "The kernel stores to the addresses that it has loaded from: the same strides, the same mask.",
            "A mask on rows alone is not enough: beyond the last column begins what is not the view's.",
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
        "Rows become columns",
        (
            "The result has as many rows as x has columns. Let programs have tiles of x.",
            "What is loaded from [i, j] is stored to [j, i]: the addresses of the store are i and j in other roles.",
            "out_ptr + j[None, :] * rows + i[:, None], with the mask of the load.",
        ),
        cases=_matrices(),
        reference=lambda x: x.t().contiguous(),
        work=(launched(), once("x"), wide(16)),
        copied=False,
    ),
    Task(
        "diagonal",
        "The diagonal",
        (
            "From [i, i] to the next one it is one row on and one column on.",
            "So the diagonal is a vector with the stride stride(0) + stride(1).",
            "It has min(rows, columns) elements.",
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
        reference=lambda x: x.diagonal().contiguous(),
        work=(launched(), wide(8)),
        copied=False,
    ),
    Choice(
        "windows_by_strides",
        "Windows without a copy",
        (
            "Each row of the view is a window: three numbers, side by side in the storage.",
            "The next window begins one number further on.",
            "Two elements of the view may lie at one place: nothing asks the strides to be those of a matrix.",
        ),
        wrong=_windows,
    ),
)
