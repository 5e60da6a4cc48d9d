"""Chapter 17: what the compiler decides before a kernel runs, and TTIR read as Python."""

from __future__ import annotations

from typing import TYPE_CHECKING

from triton_lab.course.cases import case, tensor
from triton_lab.course.exercise_kinds import Question, Task
from triton_lab.course.launch_work import launched, once, wide
from triton_lab.localization import N_, _

if TYPE_CHECKING:
    import torch


def _compilations() -> int:
    """The number of different facts that Triton asks for: is n 1, is it a multiple of 16, is the address aligned."""
    launches = [(n, 0) for n in (1, 16, 17, 32, 100, 4096, 5001)] + [(16, 4)]
    return len({(n == 1, n % 16 == 0, start % 16 == 0) for n, start in launches})


def _reference(x: torch.Tensor) -> torch.Tensor:
    import torch

    turned = x.flip(0)
    return torch.where(turned > 0, turned, torch.exp(turned) - 1)


EXERCISES = (
    Question(
        "loads_left",
        N_("How many loads are left"),
        (
            N_("tl.static_range copies the body of the loop for each turn. The load of a bias is not always there."),
            N_("range makes one loop with one body, whatever the number of turns."),
            N_("Six copies and no bias; one body and one bias."),
        ),
        right=lambda: (6, 1 + 1),
        tell=lambda answer, right: _(
            "Count the loads in the text, not those that run: copies for static_range, one body for range."
        ),
    ),
    Question(
        "compilations_of_scale",
        N_("How many times is it compiled"),
        (
            N_("What does Triton ask of a whole number? Sort the seven values of n by the answers."),
            N_("1 is a kind of its own. 16, 32 and 4096 are multiples of 16, and 17, 100 and 5001 are not."),
            N_("The last launch has an n that was there before, but a pointer that was not."),
        ),
        right=_compilations,
        tell=lambda answer, right: _(
            "Two launches share a compilation if n is 1 in both, a multiple of 16 in both, or neither in both, and if "
            "the pointers are aligned in both, or in neither."
        ),
    ),
    Task(
        "from_ttir",
        N_("Back to Python"),
        (
            N_("Find the load and the store. Follow their pointers back to offsets, and their masks to a comparison."),
            N_("%8 are the usual offsets of a program. The load adds %13 to the pointer, and not %8: n - 1 - %8."),
            N_("arith.select takes its second operand where the first is true: tl.where(x > 0, x, tl.exp(x) - 1)."),
        ),
        cases=(
            case(x=tensor(256)),
            case(x=tensor(1)),
            case(x=tensor(300)),
            case(x=tensor(1000)),
        ),
        reference=_reference,
        tolerance=(1e-5, 1e-6),
        work=(launched(), once("x"), wide(64)),
        points=2,
    ),
)
