"""``ttg``: shared memory, its views, and copies into it in groups."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from triton_lab import messages
from triton_lab.interpreter import memory_access
from triton_lab.interpreter.asynchronous.buffer_accesses import OUT_OF_BOUNDS
from triton_lab.interpreter.asynchronous.pending_work import PendingWork
from triton_lab.interpreter.asynchronous.shared_views import BlockOffsets, SharedView
from triton_lab.interpreter.dtypes import dtype_of
from triton_lab.interpreter.frame import Frame
from triton_lab.interpreter.kernel_errors import KernelError
from triton_lab.interpreter.op_registry import impl
from triton_lab.interpreter.ops.atomics import UPDATES
from triton_lab.interpreter.ops.memory import as_pointer, masking, tell
from triton_lab.interpreter.ops.serialized_lanes import take_turns
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


def placement_of(type: Type) -> BlockOffsets:
    """Where the elements of an allocation lie, by its layout."""
    block = block_of(type)
    try:
        return _placement(type.layout, block.shape, dtype_of(block).itemsize)
    except ValueError as error:  # a layout that does not fit the block
        raise KernelError(str(error)) from None


@functools.lru_cache(maxsize=256)
def _placement(layout: str, shape: tuple[int, ...], size: int) -> BlockOffsets:
    return BlockOffsets(provided("SharedView.addresses")(layout, shape, 8 * size), size)


def view_of(value: Value) -> SharedView:
    """A value that is a part of shared memory."""
    assert isinstance(value, SharedView)
    return value


def name_of(frame: Frame, number: int) -> str:
    """The variable that a value was assigned to; "" if it has none."""
    return frame.routine.function.names[number]


def variable_of(op: Op) -> str:
    """The variable of the kernel that gets a buffer, even if a helper allocates it; "" if it is not known."""
    names = [place.name for place in op.location.frames() if place.name] if op.location else []
    return names[-1] if names else ""


def allocated(frame: Frame, op: Op, shared: bool = True) -> SharedView:
    """A new buffer in shared memory, or in tensor memory, whole."""
    type = frame.result_type(op)
    placement = placement_of(type)
    name = variable_of(op) or name_of(frame, op.results[0])
    buffer = frame.machine.asynchronous.buffer(frame.programs, placement.high, name, shared, op.index)
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
        raise ValueError(_("{name} is smaller than the type that it is reinterpreted as").format(name=name))
    return SharedView(whole.buffer, base, placement, dtype_of(block_of(type)))


# --- Elements that values choose --------------------------------------------------------------------------------


def _numbers(frame: Frame, op: Op, view: SharedView, position: int, indices: Value, mask: Array | None) -> Array:
    """The number of the element that each lane chooses along an axis, row-major in the block: ``(programs, *block)``.

    Raises KernelError for an index out of range.
    """
    axis, shape = op.attributes["axis"], view.shape
    chosen = frame.spread(op, position, indices).astype(np.int64)
    chosen = np.broadcast_to(chosen, (frame.count, *chosen.shape[1:]))
    wrong = (chosen < 0) | (chosen >= shape[axis])
    if mask is not None:
        wrong &= mask
    if wrong.any():
        index = int(chosen[wrong][0])
        told = _("index {index} is out of range: {name} has {elements} along axis {axis}").format(
            index=index,
            name=view.buffer.name or _("the buffer"),
            elements=messages.count(shape[axis], "element"),
            axis=axis,
        )
        programs = frame.programs[np.unique(np.nonzero(wrong)[0])]
        raise KernelError(told, None, programs, rule=OUT_OF_BOUNDS)
    places: list[Array] = [*np.indices(chosen.shape[1:], sparse=True)]
    places[axis] = np.where(wrong, 0, chosen) if mask is None else np.where(mask, chosen, 0)
    numbers: Array = np.zeros(chosen.shape, np.int64)
    for place, size in zip(places, shape, strict=True):
        numbers = numbers * size + place
    return numbers


@impl("ttg.local_gather")
def local_gather(frame: Frame, op: Op, view: Value, indices: Value, *token: Value) -> Value:
    source = view_of(view)
    numbers = _numbers(frame, op, source, 1, indices, None)
    held = frame.machine.asynchronous.read(source, frame.programs, op).reshape(-1, source.placement.offsets.size)
    held = np.broadcast_to(held, (frame.count, held.shape[1]))
    return np.take_along_axis(held, numbers.reshape(frame.count, -1), 1).reshape(numbers.shape)


@impl("ttg.local_scatter")
def local_scatter(frame: Frame, op: Op, view: Value, values: Value, indices: Value, *token: Value) -> None:
    """The last lane that names an element decides it, where several do."""
    target, asynchronous = view_of(view), frame.machine.asynchronous
    numbers = _numbers(frame, op, target, 2, indices, None).reshape(frame.count, -1)
    given = np.broadcast_to(frame.spread(op, 1, values), (frame.count, *frame.type(op.operands[1]).shape))
    held = _held(frame, target)
    np.put_along_axis(held, numbers, given.reshape(frame.count, -1), 1)
    asynchronous.write(target, frame.programs, op, held.reshape(frame.count, *target.shape))


@impl("ttg.local_atomic_scatter_rmw")
def local_atomic_scatter(frame: Frame, op: Op, view: Value, values: Value, indices: Value, *mask: Value) -> Value:
    """Each lane in turn changes the element that it names, and finds what was there."""
    target, shape = view_of(view), frame.type(op.operands[1]).shape
    every = (frame.count, *shape)
    counts = np.broadcast_to(frame.spread(op, 3, mask[0]), every).astype(bool) if mask else np.ones(every, bool)
    numbers = _numbers(frame, op, target, 2, indices, counts)
    given = np.broadcast_to(frame.spread(op, 1, values), every)
    held = _held(frame, target)
    first = np.arange(frame.count).reshape(-1, *(1,) * len(shape)) * held.shape[1]
    update = UPDATES[op.attributes["atomic_rmw_op"]]
    found, places, finals = take_turns(held.reshape(-1), (first + numbers)[counts], given[counts], update)
    held.reshape(-1)[places] = finals
    asynchronous = frame.machine.asynchronous
    asynchronous.write(target, frame.programs, op, held.reshape(frame.count, *target.shape))
    result = np.zeros(every, held.dtype)
    result[counts] = found
    return result


def _held(frame: Frame, view: SharedView) -> Array:
    """A copy of what a buffer holds: ``(programs, elements)``."""
    held = view.read(frame.programs).reshape(-1, view.placement.offsets.size)
    return np.array(np.broadcast_to(held, (frame.count, held.shape[1])))


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


__all__ = ["TOKEN", "allocated", "block_of", "filling", "name_of", "placement_of", "truth", "variable_of", "view_of"]
