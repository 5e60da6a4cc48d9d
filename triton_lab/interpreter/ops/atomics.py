"""Atomics: lanes take their turns in ascending order of program and lane."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.interpreter import access
from triton_lab.interpreter.dtypes import dtype_of
from triton_lab.interpreter.frame import Frame
from triton_lab.interpreter.ops.memory import as_mask, as_pointer
from triton_lab.interpreter.ops.turns import Update, add_up, cut_into_turns, exchange, take_turns
from triton_lab.interpreter.registry import impl
from triton_lab.interpreter.values import Value
from triton_lab.ir import Op

Array = NDArray[Any]

# In the order of Triton's enumeration, from 1.
UPDATES: dict[int, Update] = {
    1: Update(np.bitwise_and),
    2: Update(np.bitwise_or),
    3: Update(np.bitwise_xor),
    4: Update(np.add),
    5: Update(np.add),
    6: Update(np.maximum),
    7: Update(np.minimum),
    8: Update(np.maximum, unsigned=True),
    9: Update(np.minimum, unsigned=True),
    10: Update(exchange),
}


@impl("tt.atomic_rmw")
def atomic_rmw(frame: Frame, op: Op, pointer: Value, value: Value, *rest: Value) -> Value:
    mask = as_mask(rest[0]) if rest else None
    return modify(frame, op, as_pointer(pointer), mask, frame.elements(op, 1, value), op.attributes["atomic_rmw_op"])


def modify(frame: Frame, op: Op, pointer: access.Pointer, mask: access.Mask, value: Array, kind: int) -> Array:
    """Each lane in turn puts ``update(old, value)`` where it points; what each found there."""
    update = UPDATES[kind]
    shape = (frame.count, *frame.type(op.operands[1]).shape)
    value = np.broadcast_to(value, shape)

    machine = frame.machine
    unseen = op.index in frame.routine.unused and machine.observer is None and machine.access_observer is None

    def apply(view: Array, index: Array, lanes: Any) -> tuple[Array, Array, Array]:
        values = np.ascontiguousarray(value[lanes]).reshape(-1)
        summed = add_up(view, index, values) if unseen and update.function is np.add else None
        return take_turns(view, index, values, update) if summed is None else (values, *summed)

    return _in_turn(frame, op, pointer, mask, value.dtype, shape, apply)


@impl("tt.atomic_cas")
def atomic_cas(frame: Frame, op: Op, pointer: Value, expected: Value, value: Value) -> Value:
    """Bits are compared: a NaN equals itself, and 0.0 is not -0.0."""
    type = frame.result_type(op)
    shape = (frame.count, *type.shape)
    wanted, new = (np.broadcast_to(frame.elements(op, 1 + k, v), shape) for k, v in enumerate((expected, value)))
    bits = f"u{wanted.dtype.itemsize}"

    def apply(view: Array, index: Array, lanes: Any) -> tuple[Array, Array, Array]:
        flat_wanted, flat_new = (np.ascontiguousarray(a[lanes]).reshape(-1) for a in (wanted, new))
        places, first, position = np.unique(index, return_index=True, return_inverse=True)
        held, stored = view[places], np.zeros(places.shape, np.bool_)
        if _alike(flat_wanted.view(bits)) and _alike(flat_new.view(bits)):
            # The first lane that comes to a place changes it, if any does, and the others find what it left.
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

    return _in_turn(frame, op, as_pointer(pointer), None, dtype_of(type), shape, apply)


def _alike(values: Array) -> bool:
    return bool((values == values[0]).all())


@impl("tt.atomic_load")
def atomic_load(frame: Frame, op: Op, pointer: Value, *rest: Value) -> Value:
    type = frame.result_type(op)
    where, mask = as_pointer(pointer), as_mask(rest[0]) if rest else None
    result = access.load(frame.machine.memory_for(op), where, mask, None, dtype_of(type), type.shape)
    _tell(frame, op, where, mask, result)
    return result


@impl("tt.atomic_store")
def atomic_store(frame: Frame, op: Op, pointer: Value, value: Value, *rest: Value) -> None:
    type = frame.type(op.operands[1])
    where, mask = as_pointer(pointer), as_mask(rest[0]) if rest else None
    array = frame.elements(op, 1, value)
    _tell(frame, op, where, mask, array)
    access.store(frame.machine.memory_for(op), where, mask, array, dtype_of(type), type.shape)


@impl("tt.atomic_poll")
def poll(frame: Frame, op: Op, pointer: Value, expected: Value, *timeout: Value, tell: bool = True) -> Array:
    """Whether memory holds what is expected, now: `strands` asks until it does, and observers hear of the last look."""
    type = frame.type(op.operands[1])
    where, wanted = as_pointer(pointer), frame.elements(op, 1, expected)
    found = access.load(frame.machine.memory_for(op), where, None, None, dtype_of(type), type.shape)
    if tell:
        _tell(frame, op, where, None, found)
    seen: Array = found == wanted
    return seen


def _tell(frame: Frame, op: Op, pointer: access.Pointer, mask: access.Mask, values: Array) -> None:
    observer = frame.machine.access_observer
    if observer is not None:
        observer.access(frame, op, "atomic", pointer, mask, values)


def _in_turn(
    frame: Frame,
    op: Op,
    pointer: access.Pointer,
    mask: access.Mask,
    dtype: np.dtype[Any],
    shape: tuple[int, ...],
    apply: Callable[[Array, Array, Any], tuple[Array, Array, Array]],
) -> Array:
    """Run ``apply`` on each region's lanes: it says what they found, and which places now hold what."""
    machine = frame.machine
    addresses = pointer if isinstance(pointer, np.ndarray) else pointer.elements(np.dtype(np.int64))
    # Every program takes a turn of its own, also where all do the same.
    addresses = np.broadcast_to(addresses, shape)
    result = np.zeros(shape, dtype)
    for piece in access.scattered(machine.memory_for(op), addresses, mask, dtype, shape[1:], "atomic"):
        index = piece.index.reshape(-1)
        found, places, values = apply(piece.view, index, piece.lanes)
        access.write(machine.memory, piece.at(places), values, dtype)
        result[piece.lanes] = found.reshape(result[piece.lanes].shape)
    _tell(frame, op, pointer, mask, result)
    return result
