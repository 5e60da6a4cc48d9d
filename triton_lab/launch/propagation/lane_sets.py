"""Sets of lanes through one operation: from the lanes of an operand to those of a result, and back.

A set is an array of flags that broadcasts to ``(programs, *block)``: an axis of extent one holds for all indices.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.ir.traits import All, At, LaneMap, Only, Picked, UpTo

Array = NDArray[Any]
Shape = tuple[int, ...]
# The value of an operand, by its position: an array that broadcasts to ``(programs, *block)``.
ValueOf = Callable[[int], Array]


def results(rule: LaneMap, lanes: Array, shape: Shape, result: Shape, value: ValueOf) -> Array:
    """The lanes of a result (of shape ``result``) that depend on these ``lanes`` of an operand (of ``shape``)."""
    lanes = lifted(lanes, len(shape))
    if rule.is_same and (shape == result or not shape):
        return lanes.reshape(-1, *(1,) * len(result)) if not shape else lanes
    if rule.group is not None:
        return _restricted(rule, _grouped(lanes, rule.group, shape, result), result, value)
    if any(isinstance(axis, Picked) for axis in rule.axes):
        return _restricted(rule, _picked_forward(rule, lanes, shape, value), result, value)
    # From the last axis on, since an axis may go.
    where: list[int] = []
    for position in range(len(shape) - 1, -1, -1):
        axis = rule.axes[position]
        lanes = _axis_forward(axis, lanes, position + 1, shape[position], result)
        if isinstance(axis, (At, UpTo)):
            where.insert(0, axis.axis)
    lanes = lanes.transpose(0, *(1 + where.index(axis) for axis in sorted(where)))
    lanes = np.expand_dims(lanes, [1 + axis for axis in range(len(result)) if axis not in where])
    return _restricted(rule, lanes, result, value)


def operands(rule: LaneMap, lanes: Array, shape: Shape, result: Shape, value: ValueOf) -> Array:
    """The lanes of an operand (of ``shape``) that these ``lanes`` of a result (of shape ``result``) depend on.

    All axes of the block have their full extent in what is returned.
    """
    lanes = _restricted(rule, lifted(lanes, len(result)), result, value)
    if shape == result and len(rule.axes) == len(shape) and rule.stays:
        return _whole(lanes, shape)
    if rule.group is not None:
        return _whole(_grouped(lanes, rule.group, result, shape), shape)
    if any(isinstance(axis, Picked) for axis in rule.axes):
        return _picked_backward(rule, _whole(lanes, result), shape, value)
    where = [axis.axis for axis in rule.axes if isinstance(axis, (At, UpTo))]
    lanes = _whole(lanes, result)
    unused = tuple(1 + axis for axis in range(len(result)) if axis not in where)
    lanes = np.asarray(lanes.any(axis=unused))
    lanes = lanes.transpose(0, *(1 + sorted(where).index(axis) for axis in where))
    for position, axis in enumerate(rule.axes):
        lanes = _axis_backward(axis, lanes, position + 1, shape[position])
    return _whole(lanes, shape)


def lifted(array: Array, rank: int) -> Array:
    """The array with the axes of a block, if it has one number for each program."""
    return array.reshape(-1, *(1,) * rank) if array.ndim == 1 and rank else array


def _whole(lanes: Array, shape: Shape) -> Array:
    return np.broadcast_to(lanes, (lanes.shape[0], *shape))


def _restricted(rule: LaneMap, lanes: Array, result: Shape, value: ValueOf) -> Array:
    """``lanes`` of the result without those that the map does not hold for."""
    if rule.within is not None:
        axis, start, stop = rule.within
        inside = np.zeros(result[axis], lanes.dtype)
        inside[start:stop] = 1
        lanes = lanes * inside.reshape(-1, *(1,) * (len(result) - 1 - axis))
    if rule.chosen is not None:
        position, wanted = rule.chosen
        flags = lifted(value(position).astype(np.bool_), len(result))
        lanes = lanes * (flags if wanted else ~flags)
    return lanes


def _grouped(lanes: Array, group: int, shape: Shape, other: Shape) -> Array:
    """Lanes by their row-major numbers, in the other shape; those of a group together."""
    flat = _whole(lanes, shape).reshape(len(lanes), -1)
    if group > 1:
        flat = np.repeat(flat.reshape(len(flat), -1, group).max(axis=2), group, axis=1)
    return flat.reshape(len(flat), *other)


def _axis_forward(axis: All | At | Only | UpTo | Picked, lanes: Array, at: int, extent: int, result: Shape) -> Array:
    compact = lanes.shape[at] == 1
    if isinstance(axis, All):
        found: Array = lanes.max(axis=at)
        return found
    if isinstance(axis, Only):
        only: Array = lanes.take(0 if compact else axis.index, axis=at)
        return only
    if isinstance(axis, UpTo):
        if compact:
            return lanes
        line = np.flip(lanes, at) if axis.reverse else lanes
        line = np.maximum.accumulate(line, axis=at)
        return np.flip(line, at) if axis.reverse else line
    assert isinstance(axis, At)
    if axis.over > 1 and not compact:
        lanes = np.repeat(lanes, axis.over, axis=at)
    if result[axis.axis] == extent * axis.over or compact:
        return lanes
    whole = np.zeros((*lanes.shape[:at], result[axis.axis], *lanes.shape[at + 1 :]), lanes.dtype)
    whole[(slice(None),) * at + (slice(axis.shift, axis.shift + extent),)] = lanes
    return whole


def _axis_backward(axis: All | At | Only | UpTo | Picked, lanes: Array, at: int, extent: int) -> Array:
    if isinstance(axis, All):
        return np.repeat(np.expand_dims(lanes, at), extent, axis=at)
    if isinstance(axis, Only):
        whole = np.zeros((*lanes.shape[:at], extent, *lanes.shape[at:]), lanes.dtype)
        whole[(slice(None),) * at + (axis.index,)] = lanes
        return whole
    if isinstance(axis, UpTo):
        line = lanes if axis.reverse else np.flip(lanes, at)
        line = np.maximum.accumulate(line, axis=at)
        return line if axis.reverse else np.flip(line, at)
    assert isinstance(axis, At)
    if axis.over > 1:
        shape = (*lanes.shape[:at], lanes.shape[at] // axis.over, axis.over, *lanes.shape[at + 1 :])
        found: Array = lanes.reshape(shape).max(axis=at + 1)
        return found
    return lanes[(slice(None),) * at + (slice(axis.shift, axis.shift + extent),)]


def _index(rule: LaneMap, value: ValueOf) -> tuple[int, Array]:
    """The axis along which elements are picked, counted with that of the programs, and their indices."""
    at = next(k for k, axis in enumerate(rule.axes) if isinstance(axis, Picked))
    axis = rule.axes[at]
    assert isinstance(axis, Picked)
    return at + 1, value(axis.operand).astype(np.int64)


def _picked_forward(rule: LaneMap, lanes: Array, shape: Shape, value: ValueOf) -> Array:
    at, index = _index(rule, value)
    programs = max(len(lanes), len(index))
    lanes = np.broadcast_to(lanes, (programs, *shape))
    return np.take_along_axis(lanes, np.broadcast_to(index, (programs, *index.shape[1:])), axis=at)


def _picked_backward(rule: LaneMap, lanes: Array, shape: Shape, value: ValueOf) -> Array:
    at, index = _index(rule, value)
    programs = max(len(lanes), len(index))
    lanes = np.broadcast_to(lanes, (programs, *lanes.shape[1:]))
    where = list(np.nonzero(lanes))
    where[at] = np.broadcast_to(index, lanes.shape)[tuple(where)]
    found = np.zeros((programs, *shape), lanes.dtype)
    found[tuple(where)] = 1
    return found
