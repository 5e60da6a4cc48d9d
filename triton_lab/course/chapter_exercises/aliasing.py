"""Chapter 06: two names for one memory, and changing memory while reading it."""

from __future__ import annotations

from triton_lab.course.cases import case, tensor
from triton_lab.course.exercise_kinds import Question, Task
from triton_lab.course.launch_work import launched, wide
from triton_lab.localization import N_, _

EXERCISES = (
    Question(
        "shared_elements",
        N_("How many do they share?"),
        (
            N_("x[2:8] has the elements 2 to 7, x[5:12] the elements 5 to 11."),
            N_("The elements in both are 5, 6 and 7."),
        ),
        right=lambda: 3,
        tell=lambda answer, right: _("Write down the elements of x in each of the two. The end is excluded."),
    ),
    Task(
        "swap",
        N_("Swap two vectors"),
        (
            N_("Load both blocks before you store any of them."),
            N_("Then store what came from x to y, and what came from y to x."),
            N_("a = tl.load(x_ptr + i); b = tl.load(y_ptr + i); tl.store(x_ptr + i, b); tl.store(y_ptr + i, a)"),
        ),
        cases=(
            *(case(x=tensor(n), y=tensor(n)) for n in (64, 65, 1, 700)),
            case(x=tensor(130, dtype="int32", low=0, high=9), y=tensor(130, dtype="int32", low=10, high=19)),
        ),
        spread=False,
        reference=lambda x, y: (y, x),
        changes=("x", "y"),
        work=(launched(), wide(16)),
        copied=False,
    ),
    Task(
        "reverse_in_place",
        N_("Reverse in place"),
        (
            N_(
                "If a program stores to a place that another program still has to load, they race. Which program "
                "should own a pair of places?"
            ),
            N_("Let a program load the places i and n - 1 - i, for i in the first half, and store both."),
            N_("The mask is i < n // 2: an element in the middle stays."),
        ),
        cases=(*(case(x=tensor(n)) for n in (64, 65, 2, 1, 999)), case(x=tensor(300, dtype="int32", low=0, high=99))),
        spread=False,
        reference=lambda x: x.flip(0),
        changes=("x",),
        work=(launched(), wide(16)),
        copied=False,
    ),
    Task(
        "add_transpose",
        N_("A matrix and its own transpose"),
        (
            N_("[i, j] and [j, i] become the same sum. One lane must load both before it stores either."),
            N_("Let a lane own the pair with i <= j, so that no other lane touches it."),
            N_("mask = (i[:, None] <= j[None, :]) & (j < n)[None, :], then two loads, and two stores of the sum"),
        ),
        cases=(
            *(case(x=tensor(n, n)) for n in (16, 17, 1, 50, 33)),
            case(x=tensor(33, 33, layout="inside")),
            case(x=tensor(20, 20, layout="steps")),
        ),
        reference=lambda x: x + x.t(),
        changes=("x",),
        tolerance=(1e-6, 1e-6),
        work=(launched(), wide(16)),
        copied=False,
    ),
    Task(
        "relu_backward",
        N_("A gradient in place"),
        (
            N_("Each lane loads its elements of grad and x, and that of y for its column, before it stores to grad."),
            N_("y has a mask of its own, j < columns, and [None, :] gives it to every row."),
            N_("tl.where(x * y > 0, grad * y, 0.0)"),
        ),
        cases=(
            *(
                case(grad=tensor(*shape), x=tensor(*shape), y=tensor(shape[1]))
                for shape in ((8, 32), (9, 33), (21, 100), (1, 1), (70, 5), (0, 4))
            ),
            case(
                grad=tensor(13, 40, dtype="float16"), x=tensor(13, 40, dtype="float16"), y=tensor(40, dtype="float16")
            ),
        ),
        reference=lambda grad, x, y: (grad * y).where(x * y > 0, 0.0),
        changes=("grad",),
        tolerance=(1e-6, 1e-6),
        work=(launched(), wide(64)),
        copied=False,
    ),
)
