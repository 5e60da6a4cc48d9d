"""What a GPU does otherwise than the interpreter, with the bits of an H100: a `Switch` for each of its ways."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from triton_lab.interpreter.variants import arithmetic_variants, function_variants, tensor_cores
from triton_lab.interpreter.variants.function_variants import CalledFunction
from triton_lab.interpreter.variants.ptx import NotEmulated
from triton_lab.ir import Op, Plan, traits
from triton_lab.ir.effects import Rmw
from triton_lab.ir.fma_contraction import contracted
from triton_lab.launch.comparison.numerics import FUSED_DIVISION, Switch, in_tf32, of_floats, precision_of, types_of
from triton_lab.localization import _
from triton_lab.providers import provided

if TYPE_CHECKING:
    from triton_lab.launch.launch import Launch


def emulations(launch: Launch) -> list[Switch]:
    """Switches for what a GPU does differently, each with the bits of an H100.

    Those that need Triton's compiler for sm_90 are left out where it refuses the kernel.
    """
    plan = launch.executable.plan
    found = []
    cause = _of_dots(plan)
    instructions = _instructions(launch) if cause or _bytes_of_floats(plan) else frozenset()
    if cause:
        found.append(Switch(_("dots of the GPU"), cause, tensor_cores.dots(instructions), accumulates=True))
    if contracted(plan) is not plan:
        found.append(Switch(_("fused multiply-add"), _("fused multiply-add"), {}, fuses=True))
    for title, texts in functions(plan).items():
        with contextlib.suppress(NotEmulated):
            layers = (function_variants.as_ptx(texts),)
            found.append(
                Switch(
                    _("{title} of the GPU").format(title=title),
                    _("the GPU's {title}").format(title=title),
                    layers=layers,
                )
            )
    if _fused_quotients(plan):
        layers = (function_variants.fused_division(),)
        words = _("the GPU's division, which it fuses with the addition after it")
        found.append(Switch(FUSED_DIVISION, words, layers=layers))
    if any(op.name == "tt.atomic_rmw" and op.attributes.get("atomic_rmw_op") == Rmw.FADD for op in plan.walk()):
        words = _("atomic additions, which take subnormal numbers for zero on a GPU")
        found.append(Switch(_("atomic additions of the GPU"), words, arithmetic_variants.FLUSHED_ATOMICS))
    if {"shl.b16", "or.b16"} <= instructions and "and.b16" not in instructions and _bytes_of_floats(plan):
        words = _("a cast to unsigned bytes, two to a register, where a number above 255 changes its neighbour")
        found.append(Switch(_("pairs of bytes as a GPU casts them"), words, arithmetic_variants.PAIRED_BYTES))
    return found


def functions(plan: Plan) -> dict[str, dict[CalledFunction, str]]:
    """The PTX of the functions that a GPU approximates in this kernel, by what users call them."""
    found: dict[str, dict[CalledFunction, str]] = {}
    for function in plan.functions.values():
        for op in function.walk():
            one = function_variants.called(op, function.types)
            if one is None or one in found.get(one.title, {}):
                continue
            with contextlib.suppress(RuntimeError):
                text = provided("Function.ptx")(one.name, one.symbol, one.operands, one.result)
                found.setdefault(one.title, {})[one] = text
    return found


def _fused_quotients(plan: Plan) -> bool:
    """Whether a quotient of float32 is added to something, or something subtracted from it."""
    quotients = {op.results[0] for op in plan.walk() if op.name == "arith.divf"}
    sums = (
        op for op in plan.walk() if traits.of(op.name).numbers == "float" and traits.of(op.name).symbol in ("+", "-")
    )
    return any(quotients & set(op.operands) and _of_singles(plan, op) for op in sums)


def _of_singles(plan: Plan, op: Op) -> bool:
    return types_of(plan, op, lambda one: one.results)[0].element == "f32"


def _instructions(launch: Launch) -> frozenset[str]:
    """The instructions of the kernel for sm_90 that `sm90_kernels` looks for; none where they are not known."""
    if launch.compiled[0] is None:
        return frozenset()
    try:
        found: frozenset[str] = provided("Launch.instructions")(*launch.compiled)
    except RuntimeError:
        return frozenset()
    return found


def _bytes_of_floats(plan: Plan) -> bool:
    """Whether the kernel casts floats to unsigned bytes."""
    return any(
        op.name == "arith.fptoui" and types_of(plan, op, lambda one: one.results)[0].bits == 8 for op in plan.walk()
    )


def _of_dots(plan: Plan) -> str:
    """What a GPU does differently in a kernel's dots, in words; "" without float dots."""
    dots = [op for op in plan.walk() if op.name in traits.DOTS and of_floats(plan, op)]
    if any(in_tf32(plan, op) for op in dots):
        return _("tf32 inputs of tl.dot, cut and added up as tensor cores do")
    if any(precision_of(plan, op) in ("tf32x3", "bf16x3", "bf16x6") for op in dots):
        return _("float32 inputs of tl.dot, split into parts and added up as tensor cores do")
    if any(types_of(plan, op, lambda one: one.operands)[0].element == "f64" for op in dots):
        return _("the products of tl.dot, which a GPU fuses with their sum one after the other")
    if any(types_of(plan, op, lambda one: one.operands)[0].element != "f32" for op in dots):
        return _("how tensor cores add up the products of tl.dot")
    return _("the products of tl.dot, which a GPU fuses with their sum one after the other") if dots else ""
