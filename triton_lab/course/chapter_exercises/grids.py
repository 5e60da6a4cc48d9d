"""Chapter 02: programs in one and two dimensions, and the part of each."""

from __future__ import annotations

from typing import Any

from triton_lab.course.cases import case, tensor
from triton_lab.course.exercise_kinds import Question, Task
from triton_lab.course.launch_work import launched, once, programs, wide
from triton_lab.localization import N_, _


def _flipped(x: Any) -> Any:
    return x.flip(0)


EXERCISES = (
    Task(
        "reverse",
        N_("Reverse a vector"),
        (
            N_("Programs and blocks stay the same. Only the addresses of the load change."),
            N_("Element i of the result is element n - 1 - i of x."),
            N_("Load with x_ptr + (n - 1 - offsets), store with out_ptr + offsets. The mask is the same for both."),
        ),
        cases=(*(case(x=tensor(n)) for n in (64, 65, 1, 1000, 0)), case(x=tensor(130, dtype="int32", low=-9, high=9))),
        reference=_flipped,
        work=(launched(), wide(16)),
    ),
    Task(
        "outer_sum",
        N_("Every pair"),
        (
            N_(
                "The result has two dimensions, and so has the grid: tl.program_id(0) counts blocks of rows, "
                "tl.program_id(1) blocks of columns."
            ),
            N_("Combine a block of rows i and a block of columns j as i[:, None] and j[None, :]."),
            N_(
                "out_ptr + i[:, None] * columns + j[None, :] are the addresses, "
                "(i < rows)[:, None] & (j < columns)[None, :] is the mask."
            ),
        ),
        cases=(
            case(x=tensor(16), y=tensor(16)),
            case(x=tensor(5), y=tensor(40)),
            case(x=tensor(33), y=tensor(17)),
            case(x=tensor(1), y=tensor(1)),
            case(x=tensor(50, dtype="float16"), y=tensor(3, dtype="float16")),
            case(x=tensor(0), y=tensor(7)),
        ),
        reference=lambda x, y: x[:, None] + y[None, :],
        tolerance=(1e-6, 1e-6),
        work=(launched(), wide(32)),
    ),
    Task(
        "add_bias",
        N_("Add one vector to every row"),
        (
            N_("It is `outer_sum` with a matrix instead of one of the vectors."),
            N_("The bias is loaded as a block of columns; [None, :] adds it to every row."),
            N_("The mask of the bias has one dimension: j < columns."),
        ),
        cases=(
            case(x=tensor(16, 32), bias=tensor(32)),
            case(x=tensor(19, 45), bias=tensor(45)),
            case(x=tensor(9, 97), bias=tensor(97)),
            case(x=tensor(1, 100), bias=tensor(100)),
            case(x=tensor(70, 1), bias=tensor(1)),
            case(x=tensor(33, 31, dtype="float16"), bias=tensor(31, dtype="float16")),
            case(x=tensor(0, 5), bias=tensor(5)),
        ),
        reference=lambda x, bias: x + bias,
        tolerance=(1e-6, 1e-6),
        work=(launched(), wide(32)),
    ),
    Task(
        "double_by_four",
        N_("Four programs, whatever the length"),
        (
            N_("The grid is always (4,). A program processes one of its blocks, then the next of its blocks."),
            N_("Program p takes the blocks p, p + 4, p + 8, ...: a loop `for start in range(first, n, step)`."),
            N_("The first element is tl.program_id(0) * BLOCK, and the step tl.num_programs(0) * BLOCK."),
        ),
        cases=(
            *(case(x=tensor(n)) for n in (256, 257, 1000, 5, 64)),
            case(x=tensor(600, dtype="int32", low=-50, high=50)),
        ),
        reference=lambda x: 2 * x,
        work=(launched(), once("x"), programs(lambda inputs: 4)),
    ),
    Question(
        "grid_of_a_matrix",
        N_("How many programs?"),
        (
            N_("Count the blocks along the rows, and those along the columns, each rounded up."),
            N_("triton.cdiv(1000, 32) and triton.cdiv(700, 64)."),
        ),
        right=lambda: (32, 11),
        tell=lambda answer, right: _(
            "31 blocks of 32 rows end at row 992, and 10 blocks of 64 columns at column 640. The "
            "answer is a tuple, (blocks of rows, blocks of columns)."
        ),
    ),
    Task(
        "outer_relu",
        N_("Two steps, one kernel"),
        (
            N_("It is `outer_sum` with a product instead of the sum, and one more step before the store."),
            N_("Every product of the block is x[:, None] * y[None, :]."),
            N_("A negative value becomes 0: tl.maximum(products, 0.0), or tl.where."),
        ),
        cases=(
            case(x=tensor(16), y=tensor(32)),
            case(x=tensor(5), y=tensor(40)),
            case(x=tensor(33), y=tensor(17)),
            case(x=tensor(1), y=tensor(1)),
            case(x=tensor(50, dtype="float16"), y=tensor(3, dtype="float16")),
            case(x=tensor(0), y=tensor(7)),
        ),
        reference=lambda x, y: (x[:, None] * y[None, :]).relu(),
        tolerance=(1e-6, 1e-6),
        work=(launched(), wide(32)),
    ),
)
