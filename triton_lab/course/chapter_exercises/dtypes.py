"""Chapter 05: the type of a number at each step, and what the number loses there."""

from __future__ import annotations

from typing import Any

from triton_lab.course.cases import Maker, case, tensor
from triton_lab.course.exercise_kinds import Question, Task
from triton_lab.course.launch_work import atomics, launched, wide
from triton_lab.localization import N_, _


def _average(a: Any, b: Any) -> Any:
    return ((a.int() + b.int()) // 2).to(a.dtype)


def _scaled(x: Any, factor: float) -> Any:
    return (x.float() * factor + 1.0).to(x.dtype)


def _dot(a: Any, b: Any) -> Any:
    return (a.long() * b.long()).sum().int().reshape(1)


def _whole(x: Any) -> Any:
    import torch

    return torch.floor(x).to(torch.int32)


def _bytes(n: int) -> Maker:
    return tensor(n, dtype="uint8", low=0, high=256)


def _signed(n: int) -> Maker:
    return tensor(n, dtype="int8", low=-128, high=128)


EXERCISES = (
    Question(
        "type_of_a_sum",
        N_("What is it?"),
        (
            N_("An integer cannot represent 0.5, so the result is a float."),
            N_(
                "Which float? An integer argument and a Python float give the type that kernels compute with by "
                "default."
            ),
        ),
        right=lambda: "float32",
        tell=lambda answer, right: _("The table above has it: the row `count_and_real`. Give its name as a string."),
    ),
    Task(
        "average",
        N_("The mean of two bytes"),
        (
            N_("200 + 100 is more than a byte holds: the sum wraps around."),
            N_("Widen before you add: .to(tl.int32)."),
            N_("((a.to(tl.int32) + b.to(tl.int32)) // 2).to(tl.uint8)"),
        ),
        cases=tuple(case(a=_bytes(n), b=_bytes(n)) for n in (64, 65, 1, 700)),
        reference=_average,
        work=(launched(), wide(16)),
    ),
    Task(
        "scale_any",
        N_("One rounding"),
        (
            N_("x may be float32, float16 or bfloat16. Compute in float32, and round once, when you store the result."),
            N_("out_ptr.dtype.element_ty is the type of the elements behind a pointer."),
            N_("(x.to(tl.float32) * factor + 1.0).to(out_ptr.dtype.element_ty)"),
        ),
        cases=(
            case(x=tensor(100), factor=1.5),
            case(x=tensor(65, dtype="bfloat16", scale=8.0), factor=0.3),
            case(x=tensor(1000, dtype="float16", scale=50.0), factor=-1.7),
            case(x=tensor(1, dtype="bfloat16"), factor=3.0),
        ),
        reference=_scaled,
        tolerance=(0.0, 0.0),
        work=(launched(), wide(16)),
    ),
    Task(
        "dot_of_bytes",
        N_("A product of small numbers"),
        (
            N_("127 * 127 is far greater than 127: each product needs more bits than its factors."),
            N_("Convert both blocks to tl.int32, multiply, add up, and use tl.atomic_add."),
            N_("tl.atomic_add(out_ptr, tl.sum(a.to(tl.int32) * b.to(tl.int32), axis=0)), with other=0 in the loads"),
        ),
        cases=tuple(case(a=_signed(n), b=_signed(n)) for n in (64, 65, 1000, 1)),
        spread=False,
        reference=_dot,
        work=(launched(), wide(16), atomics(lambda inputs: inputs["a"].numel() // 16)),
    ),
    Task(
        "floor_to_int",
        N_("Down, not towards zero"),
        (
            N_(".to(tl.int32) drops the fraction: -1.5 becomes -1. The floor is -2."),
            N_("tl.floor(x) is a float with no fraction. Convert it then."),
            N_("tl.floor(x).to(tl.int32)"),
        ),
        cases=(
            *(case(x=tensor(n, scale=300.0)) for n in (64, 65, 1, 1000)),
            case(x=tensor(70, low=-1e6, high=1e6)),  # more than 16 bits hold
        ),
        reference=_whole,
        work=(launched(), wide(16)),
    ),
)
