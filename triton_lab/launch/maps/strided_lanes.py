"""`Strided`: the lanes of one iteration of an access in compact form, if they were recorded so."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from triton_lab.interpreter.affine_block import AffineBlock
from triton_lab.launch.access import Access
from triton_lab.launch.element_index import Ints
from triton_lab.launch.maps.lane_positions import AccessLike
from triton_lab.launch.recording.access_event import AccessEvent


@dataclass(frozen=True)
class StridedAxis:
    """One axis of a block with ``extent`` lanes: lane i lies ``i * step`` from the first one.

    It is active in a program if ``lower <= i < upper`` there; both are (programs,).
    """

    step: int
    extent: int
    lower: Ints
    upper: Ints


@dataclass(frozen=True)
class Strided:
    """The blocks of ``program`` (programs,), with their first lanes at ``first`` (programs,).

    A lane is active if it is active on every axis. Places and steps count the units given to `strided`.
    """

    program: Ints
    first: Ints
    axes: tuple[StridedAxis, ...]
    full: bool

    @property
    def lanes(self) -> int:
        """How many lanes the block of one program has."""
        return math.prod(axis.extent for axis in self.axes)

    @property
    def reach(self) -> tuple[int, int]:
        """The least and the greatest place of any lane; there must be at least one lane."""
        far = [axis.step * (axis.extent - 1) for axis in self.axes]
        below, above = sum(min(0, each) for each in far), sum(max(0, each) for each in far)
        return int(self.first.min()) + below, int(self.first.max()) + above


def strided(access: AccessLike, iteration: int, origin: int, unit: int) -> Strided | None:
    """The lanes of an iteration, with places in multiples of ``unit`` bytes from the address ``origin``.

    An access wider than a unit gets a last axis for the units of each lane. None if the lanes were not recorded as an
    affine pointer and a mask box, or if they lie between units.
    """
    parts = access.parts(iteration) if isinstance(access, Access) else []
    pointers = [part.pointer for part in parts if isinstance(part.pointer, AffineBlock)]
    if not parts or len(pointers) < len(parts) or any(isinstance(part.mask, np.ndarray) for part in parts):
        return None
    strides, shape = pointers[0].strides, pointers[0].shape
    if any(pointer.strides != strides or pointer.shape != shape for pointer in pointers):
        return None
    program = np.concatenate([part.programs for part in parts])
    base = np.concatenate([_each(pointer.base, part) for pointer, part in zip(pointers, parts, strict=True)]) - origin
    steps = [0 if extent == 1 else stride for stride, extent in zip(strides, shape, strict=True)]
    if any(step % unit for step in steps) or bool((base % unit).any()):
        return None
    axes = [
        _axis(step // unit, extent, number, parts)
        for number, (step, extent) in enumerate(zip(steps, shape, strict=True))
    ]
    width = max(1, access.itemsize // unit)
    if width > 1:
        axes.append(StridedAxis(1, width, np.zeros(len(program), np.int64), np.full(len(program), width)))
    full = all(not axis.lower.any() and bool((axis.upper == axis.extent).all()) for axis in axes)
    return Strided(program, base // unit, tuple(axes), full)


def _axis(step: int, extent: int, number: int, parts: Sequence[AccessEvent]) -> StridedAxis:
    bounds = []
    for part in parts:
        box = part.mask
        assert not isinstance(box, np.ndarray)
        ends = (np.zeros(1, np.int64), np.array([extent])) if box is None else (box.lower[number], box.upper[number])
        bounds.append([_each(end, part) for end in ends])
    return StridedAxis(step, extent, *(np.concatenate(ends) for ends in zip(*bounds, strict=True)))


def _each(numbers: Ints, part: AccessEvent) -> Ints:
    """The numbers as (programs,); there may be one for all programs."""
    line: Ints = numbers.reshape(-1)
    return line if len(line) == len(part.programs) else np.broadcast_to(line, (len(part.programs),))
