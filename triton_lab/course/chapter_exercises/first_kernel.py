"""Chapter 00: one block of a vector for each program, and a mask at its end."""

from __future__ import annotations

from typing import Any

from triton_lab.course.cases import Case, case, tensor
from triton_lab.course.exercise_kinds import Question, Task
from triton_lab.course.launch_work import launched, once, programs, wide


def _vectors(**others: Any) -> tuple[Case, ...]:
    """A full block, one element more and one less, one element, none, many programs; and half precision."""
    sizes = (96, 129, 127, 1, 1000, 0)
    return (*(case(x=tensor(n), **others) for n in sizes), case(x=tensor(300, dtype="float16"), **others))


def _blocks(inputs: Any) -> int:
    return int(-(-inputs["x"].numel() // 128))


def _relu(x: Any) -> Any:
    return x.clamp(min=0)


def _idle(answer: Any, right: Any) -> str:
    return "Eight programs of 128 lanes are 1,024 lanes. How many of them have an element of their own?"


EXERCISES = (
    Task(
        "add_constant",
        "Add a constant",
        (
            "It is the kernel `add` with one load less: `value` is a number, and a block plus a number is a block.",
            "You need four lines: offsets, mask, load, store. Offsets are the program id times BLOCK, plus "
            "tl.arange(0, BLOCK).",
            "tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=offsets < n) + value, mask=offsets < n)",
        ),
        cases=_vectors(value=2.5),
        reference=lambda x, value: x + value,
        tolerance=(1e-6, 1e-6),
        work=(launched(), once("x"), programs(_blocks)),
    ),
    Task(
        "scale_and_shift",
        "Scale and shift two vectors",
        (
            "Two tensors are read, so there are two loads, each with the mask.",
            "All three tensors have the same length: one `offsets` and one `mask` serve them all.",
            "The launcher needs triton.cdiv(n, BLOCK) programs: rounded up, or the last elements have none.",
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
        "Nothing below zero",
        (
            "Each element decides for itself, so this is not an `if`: the lanes of a block go the same way together.",
            "tl.where(condition, a, b) takes from `a` where the condition holds, and from `b` elsewhere.",
            "tl.where(x > 0, x, 0.0), or tl.maximum(x, 0.0).",
        ),
        cases=_vectors(),
        reference=_relu,
        work=(launched(), once("x")),
    ),
    Task(
        "square_in_place",
        "Square where it stands",
        (
            "There is no output tensor: the kernel gets one pointer, loads from it and stores to it.",
            "The same offsets and the same mask serve the load and the store.",
            "tl.store(x_ptr + offsets, x * x, mask=mask)",
        ),
        cases=_vectors(),
        reference=lambda x: x * x,
        changes=("x",),
        work=(launched(), once("x")),
        copied=False,
    ),
    Question(
        "idle_lanes",
        "Lanes without work",
        (
            "The grid is triton.cdiv(1000, 128) programs: that is 8.",
            "All lanes together, less those that have an element.",
        ),
        right=lambda: 8 * 128 - 1000,
        tell=_idle,
    ),
)
