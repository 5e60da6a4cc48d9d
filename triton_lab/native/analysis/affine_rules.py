"""Arithmetic on affine blocks, and the guards that make sure it is exact."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from triton_lab.ir import Op
from triton_lab.native.blocks import int_expr
from triton_lab.native.blocks.int_expr import Term
from triton_lab.native.blocks.value_repr import AffineValue
from triton_lab.native.lowering.emitter import Emitter


def bits_of(x: Term) -> int:
    """The power of two that bounds a 64-bit number."""
    return x.bit_length() if isinstance(x, int) else 64


def splat_of(emitter: Emitter, value: int, shape: tuple[int, ...]) -> AffineValue:
    """A block that equals a scalar everywhere."""
    x = emitter.scalar(value)
    wide = int_expr.known(emitter.code.cast("sext", x, "i64") if x.literal is None else x)
    bits = bits_of(wide) if isinstance(wide, int) else emitter.bits_of(value)
    return AffineValue(wide, (0,) * len(shape), shape, bits, 0)


def combined(emitter: Emitter, function: Callable[..., Term], a: AffineValue, b: AffineValue) -> AffineValue:
    """``function`` applied to the bases and to the strides: a sum or a difference."""
    code = emitter.code
    return AffineValue(
        function(code, a.base, b.base),
        tuple(function(code, p, q) for p, q in zip(a.strides, b.strides, strict=True)),
        a.shape,
        max(a.base_bits, b.base_bits) + 1,
        max(a.reach_bits, b.reach_bits) + 1,
        min(a.grain, b.grain),
    )


def scaled(emitter: Emitter, a: AffineValue, b: AffineValue) -> AffineValue:
    """``a`` times the one number that ``b`` holds."""
    code = emitter.code
    strides = tuple(int_expr.multiply(code, stride, b.base) for stride in a.strides)
    base, reach = a.base_bits + b.base_bits, a.reach_bits + b.base_bits if a.reach_bits else 0
    return AffineValue(int_expr.multiply(code, a.base, b.base), strides, a.shape, base, reach)


def extent_of(emitter: Emitter, form: AffineValue) -> tuple[Term, Term]:
    """The least and the greatest element."""
    code = emitter.code
    low = high = form.base
    for stride, extent in zip(form.strides, form.shape, strict=True):
        reach = int_expr.multiply(code, stride, extent - 1)
        low = int_expr.add(code, low, int_expr.least(code, reach, 0))
        high = int_expr.add(code, high, int_expr.greatest(code, reach, 0))
    return low, high


# Numbers below 2 ** 61 can be added and compared without a check for overflow of 64 bits.
_FAR = 61


def is_bounded(emitter: Emitter, op: Op, form: AffineValue) -> bool:
    """Whether the elements are far from overflow of 64 bits. A guard checks that the base is.

    Only values that addresses depend on get guards: for others they would come too late, after a write.
    """
    if form.reach_bits > _FAR:
        return False
    if form.base_bits > _FAR:
        if emitter.analysis.one(op.results[0]) not in emitter.analysis.addressing:
            return False
        code = emitter.code
        shifted = code.op("add", int_expr.register(code, form.base), code.constant("i64", 1 << _FAR))
        emitter.guards.require(code.compare("ult", shifted, code.constant("i64", 2 << _FAR)), op, "wraps")
    return True


def kept(emitter: Emitter, op: Op, form: AffineValue) -> AffineValue | None:
    """``form``, with a guard that no element leaves the result's type; None if no guard can check that."""
    bits = emitter.types[op.results[0]].bits
    if bits < 64 and form.reach_bits > _FAR + 1:
        return None
    if bits >= 64 or max(form.base_bits, form.reach_bits) < bits - 1:
        return replace(form, base_bits=min(form.base_bits, 64), reach_bits=min(form.reach_bits, 64))
    code, limit = emitter.code, 1 << bits - 1
    low, high = extent_of(emitter, form)
    for x, predicate, bound in ((low, "sge", -limit), (high, "slt", limit)):
        ok = code.compare(predicate, int_expr.register(code, x), code.constant("i64", bound))
        emitter.guards.require(ok, op, "wraps")
    return replace(form, base_bits=min(form.base_bits, bits - 1), reach_bits=min(form.reach_bits, bits))
