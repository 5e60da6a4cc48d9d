"""The bytes that an access touches, as runs: adjacent lanes share one range of addresses.

A block of an affine pointer under a mask box is a handful of runs, whatever its size. So questions about a launch
(which programs overlap, what lies out of bounds) need not go through its lanes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from triton_lab.footprint.access_blocks import Blocks, runs_of_lanes
from triton_lab.interpreter.affine_block import AffineBlock
from triton_lab.interpreter.mask_box import MaskBox
from triton_lab.ir.effects import Role
from triton_lab.launch.argument import Argument
from triton_lab.launch.byte_ranges import NOTHING, Flags, Ints, Ranges
from triton_lab.launch.recording.access_event import AccessEvent

# The most runs that `of_several` sorts.
_MOST = 1 << 21


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
            # The last program's masked-off lanes often point into another argument.
            return _compact(event, itemsize).hull()
        low, high = pointer.range()
    elif pointer.size:
        low, high = int(pointer.min()), int(pointer.max())
    else:
        return 0, 0
    return low, high + itemsize


def runs(event: AccessEvent, itemsize: int) -> ByteRuns:
    """The runs of one event, without its masked-off lanes."""
    if isinstance(event.pointer, AffineBlock) and not isinstance(event.mask, np.ndarray):
        return ByteRuns(*_compact(event, itemsize).runs())
    active = None if event.mask is None else event.active()
    return ByteRuns(*runs_of_lanes(event.addresses(), active, event.programs, itemsize))


def of_several(every: Sequence[ByteRuns]) -> Ranges:
    """The bytes that more than one program touches; nothing if there are too many runs."""
    if not 0 < sum(map(len, every)) <= _MOST:
        return NOTHING
    names = ("program", "start", "stop")
    program, start, stop = (np.concatenate([getattr(one, name) for one in every]) for name in names)
    low, room = int(start.min()), int(stop.max() - start.min()) + 1
    program = program - program.min()
    if (int(program.max()) + 1) * room >= 1 << 62:
        return NOTHING
    # Each program in memory of its own: its runs are joined, and those of two programs never are.
    joined = Ranges.of(start - low + program * room, stop - low + program * room)
    first, last = joined.start % room, (joined.stop - 1) % room + 1
    edge = np.concatenate([first, last])
    order = np.argsort(edge, kind="stable")
    depth = np.cumsum(np.where(order < len(first), 1, -1))
    edge = edge[order] + low
    twice = np.flatnonzero((depth[:-1] > 1) & (edge[1:] > edge[:-1]))
    return Ranges.of(edge[twice], edge[twice + 1])


def around(event: AccessEvent, role: Role, itemsize: int) -> Blocks | None:
    """The event's footprint, with masked-off lanes unless the mask is a box; None if its pointers are not affine."""
    return Blocks.around(event.pointer, event.mask, event.programs, role, itemsize)


def _compact(event: AccessEvent, itemsize: int) -> Blocks:
    found = around(event, Role.LOAD, itemsize)
    assert found is not None
    return found


def element_addresses(argument: Argument) -> Ints:
    """(elements,) the byte address of each element of a tensor, row-major."""
    found = np.array(argument.address)
    for extent, stride in zip(argument.shape, argument.strides, strict=True):
        found = found[..., None] + np.arange(extent) * (stride * argument.itemsize)
    return found.reshape(-1)


def tensor_bytes(address: int, shape: tuple[int, ...], strides: tuple[int, ...], itemsize: int) -> Ranges:
    """The bytes of a tensor's elements; strides count elements."""
    if 0 in shape:
        return NOTHING
    block = AffineBlock(np.array([address], np.int64), tuple(stride * itemsize for stride in strides), shape)
    return runs(AccessEvent(0, np.zeros(1, np.int64), block, None, shape), itemsize).bytes()


def elements_in(where: Ranges, argument: Argument) -> Flags:
    """Which elements of a tensor begin in ``where``, in its shape."""
    if not argument.is_contiguous or not argument.itemsize:
        return where.covers(element_addresses(argument)).reshape(argument.shape)
    size = math.prod(argument.shape)
    # The elements that begin in a range are those from its start up to its end, both rounded up.
    first, end = (
        np.clip(-((argument.address - edge) // argument.itemsize), 0, size) for edge in (where.start, where.stop)
    )
    some = first < end
    first, end = first[some], end[some]
    if len(first) == 1 and end[0] - first[0] == size:
        return np.ones(argument.shape, np.bool_)
    # Ranges ascend and do not overlap: no two begin, or end, at one element.
    change = np.zeros(size + 1, np.int8)
    change[first] += 1
    change[end] -= 1
    return np.cumsum(change[:-1], dtype=np.int8).view(np.bool_).reshape(argument.shape)
