"""``ttg``: shared memory, its views, and copies into it in groups."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from numpy.typing import NDArray

from triton_lab.interpreter import memory_access
from triton_lab.interpreter.dtypes import dtype_of
from triton_lab.interpreter.frame import Frame
from triton_lab.interpreter.op_registry import impl
from triton_lab.interpreter.ops.memory import as_pointer, masking, tell
from triton_lab.interpreter.runtime_values import Value, spread
from triton_lab.interpreter.shared_buffers import PendingWork, SharedBuffer, SharedView
from triton_lab.ir import Op, Type
from triton_lab.ir.effects import operands_of
from triton_lab.providers import provided

Array = NDArray[Any]
COPIES = "copies"
TOKEN = np.zeros(1, np.int64)


def block_of(type: Type) -> Type:
    """The block in a part of shared memory."""
    assert type.pointee is not None
    return type.pointee


def _addresses(type: Type) -> npt.NDArray[np.int64]:
    """The byte of each element of an allocation, from its first one."""
    block = block_of(type)
    bits = 8 * dtype_of(block).itemsize
    found: npt.NDArray[np.int64] = provided("SharedBuffer.addresses")(type.layout, block.shape, bits)
    return found


def view_of(value: Value) -> SharedView:
    """A value that is a part of shared memory."""
    assert isinstance(value, SharedView)
    return value


def name_of(frame: Frame, number: int) -> str:
    """The variable that a value was assigned to; "" if it has none."""
    return frame.routine.function.names[number]


@impl("ttg.local_alloc")
def local_alloc(frame: Frame, op: Op, *source: Value) -> Value:
    type = frame.result_type(op)
    dtype = dtype_of(block_of(type))
    offsets = _addresses(type)
    size = int(offsets.max()) + dtype.itemsize
    view = SharedView(
        SharedBuffer(frame.programs, size, name_of(frame, op.results[0])), np.zeros(1, np.int64), offsets, dtype
    )
    if source:
        view.write(frame.programs, frame.spread(op, 0, source[0]))
    return view


@impl("ttg.local_dealloc")
def local_dealloc(frame: Frame, op: Op, view: Value) -> None:
    """Nothing: the bytes go with the last view of them."""


@impl("ttg.local_load")
def local_load(frame: Frame, op: Op, view: Value, *token: Value) -> Value:
    return view_of(view).read(frame.programs)


@impl("ttg.local_store")
def local_store(frame: Frame, op: Op, values: Value, view: Value) -> None:
    view_of(view).write(frame.programs, frame.spread(op, 0, values))


# --- Views ---------------------------------------------------------------------------------------------------


@impl("ttg.memdesc_index")
def memdesc_index(frame: Frame, op: Op, view: Value, index: Value) -> Value:
    whole = view_of(view)
    at = frame.elements(op, 1, index).astype(np.int64).reshape(-1)
    count = whole.offsets.shape[0]
    if ((at < 0) | (at >= count)).any():
        wrong = int(at[(at < 0) | (at >= count)][0])
        raise IndexError(f"index {wrong} of {whole.buffer.name or 'a buffer'}, which has {count}")
    firsts = whole.offsets.reshape(count, -1)[:, 0]
    return SharedView(whole.buffer, whole.base + firsts[at] - firsts[0], whole.offsets[0], whole.dtype)


@impl("ttg.memdesc_subslice")
def memdesc_subslice(frame: Frame, op: Op, view: Value) -> Value:
    whole, shape = view_of(view), block_of(frame.result_type(op)).shape
    starts = list(op.attributes["offsets"])
    part = whole.offsets[tuple(slice(start, start + size) for start, size in zip(starts, shape, strict=True))]
    return SharedView(whole.buffer, whole.base, part, whole.dtype)


@impl("ttg.memdesc_trans")
def memdesc_trans(frame: Frame, op: Op, view: Value) -> Value:
    whole = view_of(view)
    return SharedView(whole.buffer, whole.base, whole.offsets.transpose(list(op.attributes["order"])), whole.dtype)


@impl("ttg.memdesc_reshape")
def memdesc_reshape(frame: Frame, op: Op, view: Value) -> Value:
    whole = view_of(view)
    offsets = whole.offsets.reshape(block_of(frame.result_type(op)).shape)
    return SharedView(whole.buffer, whole.base, offsets, whole.dtype)


@impl("ttg.memdesc_reinterpret")
def memdesc_reinterpret(frame: Frame, op: Op, view: Value) -> Value:
    whole, type = view_of(view), frame.result_type(op)
    dtype = dtype_of(block_of(type))
    offsets = _addresses(type)
    first = int(whole.offsets.min())
    if int(whole.base.max()) + first + int(offsets.max()) + dtype.itemsize > whole.buffer.bytes.shape[1]:
        raise ValueError(f"{whole.buffer.name or 'the buffer'} is smaller than what it is reinterpreted as")
    return SharedView(whole.buffer, whole.base + first, offsets, dtype)


# --- Copies in groups ------------------------------------------------------------------------------------------


@impl("ttg.async_copy_global_to_local")
def async_copy(frame: Frame, op: Op, *operands: Value) -> Value:
    """Addresses are checked and values read at once; they land in the buffer when their group is waited for."""
    at = operands_of(op)
    assert at.buffer is not None
    view = view_of(operands[at.buffer])
    shape, dtype = view.offsets.shape, view.dtype
    pointer, mask = as_pointer(operands[at.address]), masking(operands, at)
    other = frame.elements(op, at.other, operands[at.other]) if at.other is not None else None
    values = memory_access.load(frame.machine.memory_for(op), pointer, mask, other, dtype, shape)
    tell(frame, op, pointer, mask, values)
    rows, places = view.places(frame.programs)
    view.buffer.check(rows, places, writes=True)
    asynchronous = frame.machine.asynchronous
    whole = np.broadcast_to(values, (values.shape[0], *shape))
    asynchronous.add(COPIES, PendingWork(asynchronous.number(), op, view, frame.programs, whole))
    return TOKEN


@impl("ttg.async_commit_group")
def async_commit_group(frame: Frame, op: Op, *tokens: Value) -> Value:
    frame.machine.asynchronous.commit(COPIES, frame.programs)
    return TOKEN


@impl("ttg.async_wait")
def async_wait(frame: Frame, op: Op, *tokens: Value) -> Value:
    frame.machine.asynchronous.wait(COPIES, frame.programs, op.attributes["num"])
    return TOKEN


def truth(frame: Frame, op: Op, position: int, value: Value) -> Array:
    """A predicate, for each program."""
    type = frame.type(op.operands[position])
    return np.broadcast_to(spread(value, type).reshape(-1), (frame.count,))


__all__ = ["TOKEN", "block_of", "name_of", "truth", "view_of"]
