"""``ttg``: shared memory, its views, and copies into it in groups."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.interpreter import memory_access
from triton_lab.interpreter.asynchronous.pending_work import PendingWork
from triton_lab.interpreter.asynchronous.shared_views import Placement, SharedView
from triton_lab.interpreter.dtypes import dtype_of
from triton_lab.interpreter.frame import Frame
from triton_lab.interpreter.op_registry import impl
from triton_lab.interpreter.ops.memory import as_pointer, masking, tell
from triton_lab.interpreter.runtime_values import Value, spread
from triton_lab.ir import Op, Type
from triton_lab.ir.effects import operands_of
from triton_lab.localization import _
from triton_lab.providers import provided

Array = NDArray[Any]
TOKEN = np.zeros(1, np.int64)


def block_of(type: Type) -> Type:
    """The block in a part of shared memory."""
    assert type.pointee is not None
    return type.pointee


def placement_of(type: Type) -> Placement:
    """Where the elements of an allocation lie, by its layout."""
    block = block_of(type)
    return _placement(type.layout, block.shape, dtype_of(block).itemsize)


@functools.lru_cache(maxsize=256)
def _placement(layout: str, shape: tuple[int, ...], size: int) -> Placement:
    return Placement(provided("SharedView.addresses")(layout, shape, 8 * size), size)


def view_of(value: Value) -> SharedView:
    """A value that is a part of shared memory."""
    assert isinstance(value, SharedView)
    return value


def name_of(frame: Frame, number: int) -> str:
    """The variable that a value was assigned to; "" if it has none."""
    return frame.routine.function.names[number]


def allocated(frame: Frame, op: Op, shared: bool = True) -> SharedView:
    """A new buffer in shared memory, or in tensor memory, whole."""
    type = frame.result_type(op)
    placement = placement_of(type)
    name = name_of(frame, op.results[0])
    buffer = frame.machine.asynchronous.buffer(frame.programs, placement.high, name, shared)
    return SharedView(buffer, np.zeros(1, np.int64), placement, dtype_of(block_of(type)))


@impl("ttg.local_alloc")
def local_alloc(frame: Frame, op: Op, *source: Value) -> Value:
    view = allocated(frame, op)
    if source:
        frame.machine.asynchronous.write(view, frame.programs, op, frame.spread(op, 0, source[0]))
    return view


@impl("ttg.local_dealloc")
def local_dealloc(frame: Frame, op: Op, view: Value) -> None:
    """Nothing: the bytes go with the last view of them."""


@impl("ttg.local_load")
def local_load(frame: Frame, op: Op, view: Value, *token: Value) -> Value:
    return frame.machine.asynchronous.read(view_of(view), frame.programs, op)


@impl("ttg.local_store")
def local_store(frame: Frame, op: Op, values: Value, view: Value) -> None:
    frame.machine.asynchronous.write(view_of(view), frame.programs, op, frame.spread(op, 0, values))


# --- Views ---------------------------------------------------------------------------------------------------


@impl("ttg.memdesc_index")
def memdesc_index(frame: Frame, op: Op, view: Value, index: Value) -> Value:
    whole = view_of(view)
    at = frame.elements(op, 1, index).astype(np.int64).reshape(-1)
    placement = whole.laid
    # An index out of range is no error until the part is touched.
    return SharedView(whole.buffer, whole.base + placement.stride * at, placement.inner, whole.dtype)


@impl("ttg.memdesc_subslice")
def memdesc_subslice(frame: Frame, op: Op, view: Value) -> Value:
    whole, shape = view_of(view), block_of(frame.result_type(op)).shape
    placement = whole.laid.sliced(tuple(op.attributes["offsets"]), shape)
    return SharedView(whole.buffer, whole.base, placement, whole.dtype)


@impl("ttg.memdesc_trans")
def memdesc_trans(frame: Frame, op: Op, view: Value) -> Value:
    whole, order = view_of(view), tuple(op.attributes["order"])
    axes = order if whole.axes is None else tuple(whole.axes[axis] for axis in order)
    return SharedView(whole.buffer, whole.base, whole.placement, whole.dtype, axes)


@impl("ttg.memdesc_reshape")
def memdesc_reshape(frame: Frame, op: Op, view: Value) -> Value:
    whole = view_of(view)
    placement = whole.laid.reshaped(block_of(frame.result_type(op)).shape)
    return SharedView(whole.buffer, whole.base, placement, whole.dtype)


@impl("ttg.memdesc_reinterpret")
def memdesc_reinterpret(frame: Frame, op: Op, view: Value) -> Value:
    whole, type = view_of(view), frame.result_type(op)
    placement = placement_of(type)
    base = whole.base + whole.placement.low
    if int(base.max()) + placement.high > whole.buffer.size:
        name = whole.buffer.name or _("the buffer")
        raise ValueError(_("{name} is smaller than what it is reinterpreted as").format(name=name))
    return SharedView(whole.buffer, base, placement, dtype_of(block_of(type)))


# --- Copies in groups ------------------------------------------------------------------------------------------


@impl("ttg.async_copy_global_to_local")
def async_copy(frame: Frame, op: Op, *operands: Value) -> Value:
    """Addresses are checked and values read at once; they land in the buffer when their group is waited for."""
    at = operands_of(op)
    assert at.buffer is not None
    view = view_of(operands[at.buffer])
    pointer, mask = as_pointer(operands[at.address]), masking(operands, at)
    other = frame.elements(op, at.other, operands[at.other]) if at.other is not None else None
    values = memory_access.load(frame.machine.memory_for(op), pointer, mask, other, view.dtype, view.shape)
    tell(frame, op, pointer, mask, values)
    work = PendingWork(op, "copies", frame.programs, writes=(view,), effect=filling(view, frame.programs, values))
    frame.machine.asynchronous.add(work)
    return TOKEN


def filling(view: SharedView, programs: Array, values: Array) -> Callable[[Array], None]:
    """The effect of a copy that fills ``view`` of ``programs`` with ``values``, ``(programs or 1, *block)``."""

    def fill(chosen: Array) -> None:
        every = len(chosen) == len(programs)
        part = view if every or len(view.base) == 1 else view.take(chosen)
        part.write(programs[chosen], values if every or len(values) == 1 else values[chosen])

    return fill


@impl("ttg.async_commit_group")
def async_commit_group(frame: Frame, op: Op, *tokens: Value) -> Value:
    frame.machine.asynchronous.commit("copies", frame.programs, op)
    return TOKEN


@impl("ttg.async_wait")
def async_wait(frame: Frame, op: Op, *tokens: Value) -> Value:
    frame.machine.asynchronous.wait("copies", frame.programs, op.attributes["num"], op)
    return TOKEN


def truth(frame: Frame, op: Op, position: int, value: Value) -> Array:
    """A predicate, for each program."""
    type = frame.type(op.operands[position])
    return np.broadcast_to(spread(value, type).reshape(-1), (frame.count,))


__all__ = ["TOKEN", "allocated", "block_of", "filling", "name_of", "placement_of", "truth", "view_of"]
