"""Operations that move elements and compute nothing: splat, broadcast, reshape, trans, join, ..."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.interpreter import affine_block, mask_box
from triton_lab.interpreter.affine_block import AffineBlock
from triton_lab.interpreter.frame import Frame
from triton_lab.interpreter.kernel_errors import KernelError
from triton_lab.interpreter.mask_box import MaskBox
from triton_lab.interpreter.op_registry import impl
from triton_lab.interpreter.runtime_values import Value
from triton_lab.ir import Op
from triton_lab.localization import _

Array = NDArray[Any]


@impl("tt.make_range")
def make_range(frame: Frame, op: Op) -> Value:
    type = frame.result_type(op)
    return AffineBlock(np.array([op.attributes["start"]], np.int64), (1,), type.shape)


@impl("tt.splat", "tt.unsplat")
def splat(frame: Frame, op: Op, value: Value) -> Value:
    type = frame.result_type(op)
    if op.name == "tt.unsplat":
        return frame.spread(op, 0, value).reshape(-1, *(1,) * len(type.shape))[: frame.count]
    assert isinstance(value, np.ndarray)
    if type.element == "i1":
        return mask_box.where_scalar(value, type.shape)
    if type.is_integer or type.is_pointer:
        return affine_block.splat(value, type.shape)
    return value.reshape(-1, *(1,) * len(type.shape))


@impl("tt.broadcast")
def broadcast(frame: Frame, op: Op, value: Value) -> Value:
    shape = frame.result_type(op).shape
    if isinstance(value, AffineBlock):
        return affine_block.broadcast(value, shape)
    if isinstance(value, MaskBox):
        return mask_box.broadcast(value, shape)
    return value  # arrays broadcast when they are used


@impl("tt.expand_dims")
def expand_dims(frame: Frame, op: Op, value: Value) -> Value:
    axis = op.attributes["axis"]
    if isinstance(value, AffineBlock):
        return affine_block.expand_dims(value, axis)
    if isinstance(value, MaskBox):
        return mask_box.expand_dims(value, axis)
    assert isinstance(value, np.ndarray)
    return np.expand_dims(value, axis + 1)


@impl("tt.reshape")
def reshape(frame: Frame, op: Op, value: Value) -> Value:
    shape = frame.result_type(op).shape
    if isinstance(value, AffineBlock):
        result = affine_block.with_shape(value, shape)
        if result is not None:
            return result
    array = frame.spread(op, 0, value)
    return array.reshape(array.shape[0], *shape)


@impl("tt.trans")
def trans(frame: Frame, op: Op, value: Value) -> Value:
    order = op.attributes["order"]
    if isinstance(value, AffineBlock):
        return affine_block.permute(value, order)
    if isinstance(value, MaskBox):
        return mask_box.permute(value, order)
    assert isinstance(value, np.ndarray)
    return value.transpose(0, *(axis + 1 for axis in order))


def _together(arrays: list[Array], axis: int, join: Any) -> Array:
    programs = max(array.shape[0] for array in arrays)
    return join([np.broadcast_to(array, (programs, *array.shape[1:])) for array in arrays], axis=axis)  # type: ignore[no-any-return]


@impl("tt.join")
def join(frame: Frame, op: Op, a: Value, b: Value) -> Value:
    return _together([frame.spread(op, 0, a), frame.spread(op, 1, b)], -1, np.stack)


@impl("tt.cat")
def cat(frame: Frame, op: Op, *parts: Value) -> Value:
    axis = op.attributes.get("axis", op.attributes.get("dim", 0))
    return _together([frame.spread(op, k, part) for k, part in enumerate(parts)], axis + 1, np.concatenate)


@impl("tt.split")
def split(frame: Frame, op: Op, value: Value) -> tuple[Value, Value]:
    array = frame.spread(op, 0, value)
    return array[..., 0], array[..., 1]


@impl("tt.gather")
def gather(frame: Frame, op: Op, source: Value, index: Value) -> Value:
    axis = op.attributes["axis"] + 1
    values_, positions = frame.spread(op, 0, source), frame.spread(op, 1, index)
    outside = (positions < 0) | (positions >= values_.shape[axis])
    if outside.any():
        rows = np.unique(np.nonzero(outside)[0])
        raise KernelError(
            _("tl.gather reads element {positions} of an axis of size {shape}").format(
                positions=positions[outside][0], shape=values_.shape[axis]
            ),
            op,
            frame.programs[rows] if len(outside) > 1 else frame.programs,
        )
    programs = max(values_.shape[0], positions.shape[0])
    values_ = np.broadcast_to(values_, (programs, *values_.shape[1:]))
    positions = np.broadcast_to(positions, (programs, *positions.shape[1:]))
    return np.take_along_axis(values_, positions.astype(np.int64), axis=axis)


@impl("ttg.convert_layout")
def convert_layout(frame: Frame, op: Op, value: Value) -> Value:
    return value
