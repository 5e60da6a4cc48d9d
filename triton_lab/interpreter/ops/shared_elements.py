"""``ttg``: elements of shared memory that values choose: gathered, scattered, and changed one lane after another."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.interpreter.asynchronous.shared_views import SharedView
from triton_lab.interpreter.frame import Frame
from triton_lab.interpreter.kernel_errors import KernelError
from triton_lab.interpreter.op_registry import impl
from triton_lab.interpreter.ops.atomics import UPDATES
from triton_lab.interpreter.ops.local_memory import view_of
from triton_lab.interpreter.ops.serialized_lanes import take_turns
from triton_lab.interpreter.runtime_values import Value
from triton_lab.ir import Op
from triton_lab.localization import _

Array = NDArray[Any]


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
        told = _("index {index} is out of range: {name} has {count} elements along axis {axis}").format(
            index=index, name=view.buffer.name or _("the buffer"), count=f"{shape[axis]:,}", axis=axis
        )
        programs = frame.programs[np.unique(np.nonzero(wrong)[0])]
        raise KernelError(told, None, programs, rule="index-out-of-range")
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
