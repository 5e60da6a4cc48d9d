"""Masks that are a range per axis: how they arise, and how operations change them."""

from __future__ import annotations

from triton_lab.native.blocks import int_expr
from triton_lab.native.blocks.value_repr import AffineValue, BoxMask, Range
from triton_lab.native.lowering.emitter import Emitter


def stretched(emitter: Emitter, bounds: Range | None, extent: int) -> Range | None:
    """The whole axis of ``extent`` if the one element of ``bounds`` is in it, else nothing."""
    if bounds is None:
        return None
    code = emitter.code
    low, high = int_expr.register(code, bounds.low), int_expr.register(code, bounds.high)
    held = code.op("and", code.compare("slt", low, code.constant("i64", 1)), code.compare("sgt", high, low))
    return Range(0, code.select(held, code.constant("i64", extent), code.constant("i64", 0)))


def narrower(emitter: Emitter, a: Range | None, b: Range | None) -> Range | None:
    """The positions in both ranges; None is a whole axis."""
    if a is None or b is None or a is b:
        return b if a is None else a
    code = emitter.code
    return Range(int_expr.greatest(code, a.low, b.low), int_expr.least(code, a.high, b.high))


_TURNED = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le"}


def compared(emitter: Emitter, difference: AffineValue, name: str) -> BoxMask | None:
    """The box where a ``difference`` is below zero ("lt"), and so on.

    None unless the difference changes along at most one axis, by one from element to element.
    """
    code = emitter.code
    axes = [k for k, stride in enumerate(difference.strides) if stride != 0 and difference.shape[k] > 1]
    if len(axes) > 1 or (axes and difference.strides[axes[0]] not in (1, -1)):
        return None
    base = difference.base
    whole: list[Range | None] = [None] * len(difference.shape)
    if not axes:
        held = code.compare(f"s{name}", int_expr.register(code, base), code.constant("i64", 0))
        extent = code.select(held, code.constant("i64", difference.shape[0]), code.constant("i64", 0))
        whole[0] = Range(0, int_expr.known(extent))
        return BoxMask(tuple(whole))
    axis = axes[0]
    if difference.strides[axis] == -1:
        base, name = int_expr.subtract(code, 0, base), _TURNED[name]
    # base + i < 0, and so on.
    edge = int_expr.subtract(code, 0, base)
    if name in ("le", "gt"):
        edge = int_expr.add(code, edge, 1)
    length = difference.shape[axis]
    edge = int_expr.greatest(code, int_expr.least(code, edge, length), 0)
    whole[axis] = Range(0, edge) if name in ("lt", "le") else Range(edge, length)
    return BoxMask(tuple(whole))
