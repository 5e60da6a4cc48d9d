"""Chapter 00: one block of a vector for each program, and a mask at its end."""

from __future__ import annotations

from typing import Any

from triton_lab.course.cases import Case, case, tensor
from triton_lab.course.exercise_kinds import Question, Task
from triton_lab.course.launch_work import launched, once, wide
from triton_lab.localization import N_, _


def _vectors(**others: Any) -> tuple[Case, ...]:
    """A full block, one element more and one less, one element, none, many programs; and half precision."""
    sizes = (96, 129, 127, 1, 1000, 0)
    return (*(case(x=tensor(n), **others) for n in sizes), case(x=tensor(300, dtype="float16"), **others))


def _relu(x: Any) -> Any:
    return x.clamp(min=0)


def _idle(answer: Any, right: Any) -> str:
    return _("Eight programs of 128 lanes are 1,024 lanes. How many of them have an element of their own?")


EXERCISES = (
    Task(
        "add_constant",
        N_("Add a constant"),
        (
            N_(
                "It is the kernel `add` with one load fewer: `value` is a number, and a block plus a number is a block."
            ),
            N_(
                "You need four lines: offsets, mask, load, store. Offsets are the program id times BLOCK, plus "
                "tl.arange(0, BLOCK)."
            ),
            N_("tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=offsets < n) + value, mask=offsets < n)"),
        ),
        cases=_vectors(value=2.5),
        reference=lambda x, value: x + value,
        tolerance=(1e-6, 1e-6),
        work=(launched(), once("x"), wide(16)),
    ),
    Task(
        "scale_and_shift",
        N_("Scale and shift two vectors"),
        (
            N_("Two tensors are read, so there are two loads, each with the mask."),
            N_("All three tensors have the same length: use one `offsets` and one `mask` for all."),
            N_("The launcher needs triton.cdiv(n, BLOCK) programs: rounded up, or the last elements have none."),
        ),
        cases=(
            *(case(x=tensor(n), y=tensor(n), a=-1.5) for n in (64, 65, 1, 700, 0)),
            case(x=tensor(70, dtype="float16"), y=tensor(70, dtype="float16"), a=2.0),
        ),
        reference=lambda x, y, a: (a * x.float() + y.float()).to(x.dtype),
        tolerance=(1e-5, 1e-5),
        work=(launched(), once("x"), once("y"), wide(16)),
    ),
    Task(
        "relu",
        N_("Nothing below zero"),
        (
            N_("Each element has its own condition, so this is not an `if`: all lanes of a block run the same code."),
            N_("tl.where(condition, a, b) takes from `a` where the condition is true, and from `b` elsewhere."),
            N_("tl.where(x > 0, x, 0.0), or tl.maximum(x, 0.0)."),
        ),
        cases=_vectors(),
        reference=_relu,
        work=(launched(), once("x")),
    ),
    Task(
        "square_in_place",
        N_("Square in place"),
        (
            N_("There is no output tensor: the kernel gets one pointer, loads from it and stores to it."),
            N_("Use the same offsets and the same mask for the load and the store."),
            N_("tl.store(x_ptr + offsets, x * x, mask=mask)"),
        ),
        cases=_vectors(),
        reference=lambda x: x * x,
        changes=("x",),
        work=(launched(), once("x")),
        copied=False,
    ),
    Question(
        "idle_lanes",
        N_("Lanes without work"),
        (
            N_("The grid has triton.cdiv(1000, 128) programs, which is 8."),
            N_("All lanes, minus the lanes that have an element."),
        ),
        right=lambda: 8 * 128 - 1000,
        tell=_idle,
    ),
)
