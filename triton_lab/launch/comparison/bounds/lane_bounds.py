"""The lanes of an access during a replay: where they lie in memory, and numbers for each of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.interpreter.affine_block import AffineBlock
from triton_lab.interpreter.frame import Frame
from triton_lab.interpreter.mask_box import MaskBox
from triton_lab.interpreter.memory_regions import MemoryRegion
from triton_lab.interpreter.ops.descriptors import described
from triton_lab.interpreter.ops.local_memory import view_of
from triton_lab.interpreter.runtime_values import Value
from triton_lab.ir import Op, effects
from triton_lab.launch.propagation.lane_sets import lifted

Array = NDArray[Any]


def block_of_access(frame: Frame, op: Op, operands: Sequence[Value]) -> tuple[int, ...]:
    """The shape of the lanes of an access."""
    at = effects.operands_of(op)
    if at.buffer is None:
        return frame.type(op.operands[at.address if at.value is None else at.value]).shape
    # TMA moves the box that a descriptor describes; gathers, scatters and cp.async choose the elements by themselves.
    is_box = op.name.startswith("ttng.async_tma") and not op.name.endswith(("gather", "scatter"))
    return described(frame, op).shape if is_box else view_of(operands[at.buffer]).shape


def boxed(part: Array, shape: tuple[int, ...]) -> Array:
    """The same elements in another shape with as many axes of 1 as it takes; a number stays one."""
    return part if part.ndim == 0 or part.ndim == len(shape) else np.reshape(part, (len(part), *shape[1:]))


def reached(frame: Frame, op: Op) -> frozenset[MemoryRegion] | None:
    """The regions that an access may touch; None: any."""
    allowed = getattr(frame.machine, "allowed", None)
    return None if allowed is None else allowed(op.index)


def picked(part: Array, shape: tuple[int, ...], on: Array) -> Array:
    return np.broadcast_to(part, shape)[on] if part.ndim else part


def spread_over(part: Array, on: Array) -> Array:
    """A number for each active lane, as a block with zeros elsewhere."""
    if not part.ndim or on.all():
        return part.reshape(on.shape) if part.ndim else part
    whole = np.zeros(on.shape)
    whole[on] = part
    return whole


def lanes(pointer: Any, mask: Any, shape: tuple[int, ...]) -> tuple[Array, Array]:
    """The addresses of the active lanes, and which lanes are active, bool of ``shape``."""
    where = pointer.elements(np.dtype(np.int64)) if isinstance(pointer, AffineBlock) else pointer
    on = mask.elements() if isinstance(mask, MaskBox) else np.True_ if mask is None else mask
    on = np.broadcast_to(lifted(np.asarray(on), len(shape) - 1) if np.ndim(on) else on, shape)
    return np.broadcast_to(lifted(where, len(shape) - 1), shape)[on], on
