"""Atomics: lanes take their turns in ascending order of program and lane."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.interpreter import memory_access
from triton_lab.interpreter.dtypes import dtype_of
from triton_lab.interpreter.frame import Frame
from triton_lab.interpreter.op_registry import impl
from triton_lab.interpreter.ops.memory import as_pointer, masking, tell
from triton_lab.interpreter.ops.serialized_lanes import Update, cut_into_turns, exchange, take_turns
from triton_lab.interpreter.runtime_values import Value
from triton_lab.ir import Op
from triton_lab.ir.effects import Rmw, operands_of

Array = NDArray[Any]

UPDATES: dict[int, Update] = {
    Rmw.AND: Update(np.bitwise_and),
    Rmw.OR: Update(np.bitwise_or),
    Rmw.XOR: Update(np.bitwise_xor),
    Rmw.ADD: Update(np.add),
    Rmw.FADD: Update(np.add),
    Rmw.MAX: Update(np.maximum),
    Rmw.MIN: Update(np.minimum),
    Rmw.UMAX: Update(np.maximum, unsigned=True),
    Rmw.UMIN: Update(np.minimum, unsigned=True),
    Rmw.XCHG: Update(exchange),
}


@impl("tt.atomic_rmw")
def atomic_rmw(frame: Frame, op: Op, *operands: Value) -> Value:
    at = operands_of(op)
    assert at.value is not None
    value = frame.elements(op, at.value, operands[at.value])
    kind = op.attributes["atomic_rmw_op"]
    return modify(frame, op, as_pointer(operands[at.address]), masking(operands, at), value, kind)


def modify(
    frame: Frame,
    op: Op,
    pointer: memory_access.Pointer,
    mask: memory_access.Mask,
    value: Array,
    kind: int,
    update: Update | None = None,
) -> Array:
    """Each lane in turn stores ``update(old, value)`` at its address; the update is that of ``kind`` if none is given.

    Returns the old value that each lane found.
    """
    update = update or UPDATES[kind]
    position = operands_of(op).value
    block = value.shape[1:] if position is None else frame.type(op.operands[position]).shape
    shape = (frame.count, *block)
    value = np.broadcast_to(value, shape)

    def apply(view: Array, index: Array, lanes: Any) -> tuple[Array, Array, Array]:
        return take_turns(view, index, np.ascontiguousarray(value[lanes]).reshape(-1), update)

    return _in_turn(frame, op, pointer, mask, value.dtype, shape, apply)


@impl("tt.atomic_cas")
def atomic_cas(frame: Frame, op: Op, *operands: Value) -> Value:
    """Compare and swap. Bits are compared: a NaN equals itself, and 0.0 is not -0.0."""
    at = operands_of(op)
    assert at.expected is not None and at.value is not None
    type = frame.result_type(op)
    shape = (frame.count, *type.shape)
    wanted, new = (np.broadcast_to(frame.elements(op, k, operands[k]), shape) for k in (at.expected, at.value))
    bits = f"u{wanted.dtype.itemsize}"

    def apply(view: Array, index: Array, lanes: Any) -> tuple[Array, Array, Array]:
        flat_wanted, flat_new = (np.ascontiguousarray(a[lanes]).reshape(-1) for a in (wanted, new))
        places, first, position = np.unique(index, return_index=True, return_inverse=True)
        held, stored = view[places], np.zeros(places.shape, np.bool_)
        if _alike(flat_wanted.view(bits)) and _alike(flat_new.view(bits)):
            # If a place changes, its first lane changes it; the other lanes find the new value.
            stored = held.view(bits) == flat_wanted[0].view(bits)
            left = np.where(stored, flat_new[0], held)
            found = left[position]
            found[first] = held
            return found, places[stored], left[stored]
        found = np.empty(index.shape, view.dtype)
        for turn in cut_into_turns(position):
            here = position[turn]
            old = held[here]
            found[turn] = old
            same = old.view(bits) == flat_wanted[turn].view(bits)
            held[here] = np.where(same, flat_new[turn], old)
            stored[here] |= same
        return found, places[stored], held[stored]

    return _in_turn(frame, op, as_pointer(operands[at.address]), None, dtype_of(type), shape, apply)


def _alike(values: Array) -> bool:
    return bool((values == values[0]).all())


@impl("tt.atomic_poll")
def poll(frame: Frame, op: Op, *operands: Value, told: bool = True) -> Array:
    """Whether memory holds the expected value now. `resumable_regions` polls until it does; observers see only the last
    poll.
    """
    at = operands_of(op)
    assert at.expected is not None
    type = frame.type(op.operands[at.expected])
    where, wanted = as_pointer(operands[at.address]), frame.elements(op, at.expected, operands[at.expected])
    found = memory_access.load(frame.machine.memory_for(op), where, None, None, dtype_of(type), type.shape)
    if told:
        tell(frame, op, where, None, found)
    seen: Array = found == wanted
    return seen


def _in_turn(
    frame: Frame,
    op: Op,
    pointer: memory_access.Pointer,
    mask: memory_access.Mask,
    dtype: np.dtype[Any],
    shape: tuple[int, ...],
    apply: Callable[[Array, Array, Any], tuple[Array, Array, Array]],
) -> Array:
    """Run ``apply`` on each region's lanes. It returns the values that they found, the changed places and the new
    values.
    """
    machine = frame.machine
    addresses = pointer if isinstance(pointer, np.ndarray) else pointer.elements(np.dtype(np.int64))
    # Every program takes its own turn, even if all do the same.
    addresses = np.broadcast_to(addresses, shape)
    result = np.zeros(shape, dtype)
    for piece in memory_access.scattered(machine.memory_for(op), addresses, mask, dtype, shape[1:]):
        index = piece.index.reshape(-1)
        found, places, values = apply(piece.view, index, piece.lanes)
        memory_access.write(machine.memory, piece.at(places), values, dtype)
        result[piece.lanes] = found.reshape(result[piece.lanes].shape)
    tell(frame, op, pointer, mask, result)
    return result
