"""Needs that go through shared and tensor memory: which writes of a buffer an element that was read came from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.interpreter.asynchronous.shared_views import Buffer, SharedView
from triton_lab.interpreter.runtime_values import Value
from triton_lab.ir import Op, effects, traits
from triton_lab.ir.traits.trait import Kind

Array = NDArray[Any]
_SUM, _USED = 2, 4  # kinds of operands of a product in tensor memory: what it adds to, and whether that counts


@dataclass(frozen=True, eq=False)
class BufferWrite:
    """A step that writes ``view``: the operand ``value``, what memory held (None), or a product of two views."""

    step: int
    view: SharedView
    value: int | None
    factors: tuple[SharedView, SharedView] | None = None
    adds: bool = False


def write_of(number: int, op: Op, operands: Sequence[Value], results: Sequence[Value]) -> BufferWrite | None:
    """What an executed operation writes to shared or tensor memory; None if it writes nothing there."""
    if effects.is_access(op):
        at = effects.operands_of(op)
        if at.buffer is None or effects.writes(op):
            return None
        view = operands[at.buffer]
        return BufferWrite(number, view, None) if isinstance(view, SharedView) else None
    stored, value = _stored(op, operands, results)
    if isinstance(stored, SharedView):
        return BufferWrite(number, stored, value)
    if is_product(op):
        parts = operands[:3]
        sizes = op.attributes.get("operandSegmentSizes", ())
        if len(sizes) > _USED and all(isinstance(one, SharedView) for one in parts):
            a, b, total = parts
            used = operands[sum(sizes[:_USED])]
            adds = bool(np.any(used)) if isinstance(used, np.ndarray) else True
            assert isinstance(a, SharedView) and isinstance(b, SharedView) and isinstance(total, SharedView)
            return BufferWrite(number, total, None, (a, b), adds)
    return None


def _stored(op: Op, operands: Sequence[Value], results: Sequence[Value]) -> tuple[Value | None, int]:
    """The part of a buffer that gets an operand's elements, and the operand's position."""
    match op.name:
        case "ttg.local_store":
            return operands[1], 0
        case "ttg.local_alloc":
            return (results[0] if operands else None), 0
        case "ttng.tmem_alloc":
            return (results[0] if operands else None), 0
        case "ttng.tmem_store":
            return operands[0], len(operands) - 2
        case "ttg.local_scatter":
            return operands[0], 1
    return None, 0


def is_product(op: Op) -> bool:
    """Whether it is a product of a tensor core that takes its operands from shared memory."""
    trait = traits.of(op.name)
    return trait.kind is Kind.CONTRACTS and trait.dialect == "ttng"


def of_factors(need: Array, shapes: Sequence[Sequence[int]]) -> tuple[Array, Array]:
    """The elements of ``(1, M, K)`` and ``(1, K, N)`` that the needed elements ``(1, M, N)`` of their product need."""
    rows, columns = np.any(need, axis=2, keepdims=True), np.any(need, axis=1, keepdims=True)
    return np.broadcast_to(rows, (1, *shapes[0])), np.broadcast_to(columns, (1, *shapes[1]))


class WrittenBytes:
    """The bytes of one buffer that are wanted, of one program, as they are found going back."""

    def __init__(self, view: SharedView, need: Array) -> None:
        self.buffer: Buffer = view.buffer
        self.wanted = np.zeros(view.buffer.size, np.bool_)
        for k in range(view.placement.size):
            self.wanted[_places(view)[need.reshape(view.shape)] + k] = True

    def hit(self, view: SharedView) -> Array:
        """The elements of a written part that are wanted, ``(1, *block)``."""
        found = np.zeros(view.shape, np.bool_)
        for k in range(view.placement.size):
            found |= self.wanted[_places(view) + k]
        return found[None]

    def found(self, view: SharedView, hit: Array) -> None:
        """These elements of a part have been found."""
        for k in range(view.placement.size):
            self.wanted[_places(view)[hit[0]] + k] = False


def _places(view: SharedView) -> Array:
    places: Array = view.laid.offsets + int(view.base[0])
    return places
