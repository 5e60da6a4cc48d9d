"""The bytes that an access touches, as runs: adjacent lanes share one range of addresses.

A block of an affine pointer under a mask box is a handful of runs, whatever its size. So questions about a launch
(which programs overlap, what lies out of bounds) need not go through its lanes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from triton_lab.interpreter.affine_block import AffineBlock
from triton_lab.interpreter.mask_box import MaskBox
from triton_lab.launch.byte_ranges import NOTHING, Flags, Ints, Ranges
from triton_lab.launch.recording.access_event import AccessEvent


@dataclass(frozen=True, eq=False)
class ByteRuns:
    """Run k covers the bytes ``start[k] .. stop[k] - 1`` and is touched by program ``program[k]``."""

    start: Ints
    stop: Ints
    program: Ints

    def __len__(self) -> int:
        return len(self.start)

    def at(self, positions: Ints) -> ByteRuns:
        """The runs at these positions."""
        return ByteRuns(self.start[positions], self.stop[positions], self.program[positions])

    def bytes(self) -> Ranges:
        """All bytes that any program touches."""
        return Ranges.joined([self])


def hull(event: AccessEvent, itemsize: int) -> tuple[int, int]:
    """Bounds of the addresses: ``(low, high)``, high exclusive.

    They are tight unless the mask is an array of lanes: then masked-off lanes count too.
    """
    pointer = event.pointer
    if isinstance(pointer, AffineBlock):
        if isinstance(event.mask, MaskBox) and not event.mask.is_full():
            return _boxed_hull(pointer, event.mask, itemsize)
        low, high = pointer.range()
    elif pointer.size:
        low, high = int(pointer.min()), int(pointer.max())
    else:
        return 0, 0
    return low, high + itemsize


def _boxed_hull(pointer: AffineBlock, mask: MaskBox, itemsize: int) -> tuple[int, int]:
    """`hull` under a mask box: the last program's masked-off lanes often point into another argument."""
    low = high = pointer.base.reshape(-1)
    on: Flags = np.ones(1, np.bool_)
    for stride, lower, upper in zip(pointer.strides, mask.lower, mask.upper, strict=True):
        on = on & (lower < upper)
        near, far = lower * stride, (upper - 1) * stride
        low, high = low + np.minimum(near, far), high + np.maximum(near, far)
    low, high, on = np.broadcast_arrays(low, high, on)
    return (int(low[on].min()), int(high[on].max()) + itemsize) if on.any() else (0, 0)


def runs(event: AccessEvent, itemsize: int) -> ByteRuns:
    """The runs of one event, without its masked-off lanes."""
    if isinstance(event.pointer, AffineBlock) and not isinstance(event.mask, np.ndarray):
        start, stop, row = _affine(event.pointer, event.mask, event.shape, len(event.programs), itemsize)
    else:
        start, stop, row = _scattered(event, itemsize)
    return ByteRuns(start, stop, event.programs[row])


def tensor_bytes(address: int, shape: tuple[int, ...], strides: tuple[int, ...], itemsize: int) -> Ranges:
    """The bytes of a tensor's elements; strides count elements."""
    if 0 in shape:
        return NOTHING
    block = AffineBlock(np.array([address], np.int64), tuple(stride * itemsize for stride in strides), shape)
    return runs(AccessEvent(0, np.zeros(1, np.int64), block, None, shape), itemsize).bytes()


def _scattered(event: AccessEvent, itemsize: int) -> tuple[Ints, Ints, Ints]:
    """The runs found lane by lane; consecutive lanes of one program with adjacent bytes are joined."""
    lanes = max(1, int(np.prod(event.shape)))
    addresses = event.addresses().reshape(-1)
    if event.mask is None:
        row = np.repeat(np.arange(len(event.programs)), lanes)
    else:
        chosen = np.flatnonzero(event.active().reshape(-1))
        addresses, row = addresses[chosen], chosen // lanes
    if not len(addresses):
        return addresses, addresses, row
    joins = (addresses[1:] == addresses[:-1] + itemsize) & (row[1:] == row[:-1])
    heads = np.concatenate([[True], ~joins])
    last = np.append(np.flatnonzero(heads)[1:] - 1, len(addresses) - 1)
    return addresses[heads], addresses[last] + itemsize, row[heads]


@dataclass(frozen=True, eq=False)
class Folded:
    """Blocks of programs as runs: ``length`` bytes from ``base`` on, repeated at each step of the axes in ``rest``.

    Arrays are ``(programs,)`` or ``(1,)``; only programs whose ``on`` is True touch memory. An axis of ``rest`` is
    its stride in bytes (> 0), its extent, and the bounds ``lower`` and ``upper`` of its index.
    """

    base: Ints
    length: Ints
    on: Flags
    rest: list[tuple[int, int, Ints, Ints]]


def folded(pointer: AffineBlock, mask: MaskBox | None, shape: tuple[int, ...], itemsize: int) -> Folded:
    """The blocks of an affine pointer, with contiguous axes folded into the runs."""
    base = pointer.base.reshape(-1)
    length: Ints = np.array([itemsize], np.int64)
    on: Flags = np.ones(1, np.bool_)
    rest: list[tuple[int, int, Ints, Ints]] = []
    growing = True
    for stride, extent, lower, upper in _axes(pointer, mask, shape):
        if stride < 0:
            base = base + stride * (extent - 1)
            stride, lower, upper = -stride, extent - upper, extent - lower
        on = on & (lower < upper)
        full = not lower.any() and bool((upper == extent).all())
        if stride == 0 or extent == 1:
            continue
        # An axis whose stride is at most the run's length makes the run longer.
        if growing and stride <= int(length.min()):
            base = base + lower * stride
            length = length + (upper - lower - 1) * stride
            growing = full
        else:
            rest.append((stride, extent, lower, upper))
    return Folded(base, length, on, rest)


def _affine(
    pointer: AffineBlock, mask: MaskBox | None, shape: tuple[int, ...], programs: int, itemsize: int
) -> tuple[Ints, Ints, Ints]:
    blocks = folded(pointer, mask, shape, itemsize)
    base, length, on, rest = blocks.base, blocks.length, blocks.on, blocks.rest
    rank = len(rest)
    start = base.reshape(-1, *(1,) * rank)
    active = on.reshape(-1, *(1,) * rank)
    for axis, (stride, extent, lower, upper) in enumerate(rest):
        index = np.arange(extent).reshape(-1, *(1,) * (rank - 1 - axis))
        start = start + index * stride
        if lower.any() or (upper != extent).any():
            bounds = (-1, *(1,) * rank)
            active = active & (index >= lower.reshape(bounds)) & (index < upper.reshape(bounds))
    whole = np.broadcast_shapes(start.shape, active.shape, (programs, *(1,) * rank))
    starts = np.broadcast_to(start, whole).reshape(-1)
    stops = starts + np.broadcast_to(length.reshape(-1, *(1,) * rank), whole).reshape(-1)
    per_program = starts.size // max(1, programs)
    if bool(active.all()):
        return starts, stops, np.repeat(np.arange(programs), per_program)
    chosen = np.flatnonzero(np.broadcast_to(active, whole).reshape(-1))
    return starts[chosen], stops[chosen], chosen // per_program


def _axes(pointer: AffineBlock, mask: MaskBox | None, shape: tuple[int, ...]) -> list[tuple[int, int, Ints, Ints]]:
    """Stride, extent and bounds of each axis, the smallest stride first."""
    zero = np.zeros(1, np.int64)
    bounds = (
        [(zero, np.array([extent])) for extent in shape]
        if mask is None
        else list(zip(mask.lower, mask.upper, strict=True))
    )
    axes = [
        (stride, extent, lower, upper)
        for stride, extent, (lower, upper) in zip(pointer.strides, shape, bounds, strict=True)
    ]
    return sorted(axes, key=lambda axis: abs(axis[0]))
