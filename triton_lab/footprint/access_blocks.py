"""The footprint of accesses: blocks of elements, in the programs that touch them.

A block of an affine pointer under a mask box is one row of a few numbers, whatever its size.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from triton_lab.footprint.access_roles import Flags, Ints
from triton_lab.interpreter.affine_block import AffineBlock
from triton_lab.interpreter.mask_box import MaskBox
from triton_lab.ir.effects import Role

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True, eq=False)
class Blocks:
    """Elements of ``size`` bytes at ``bases[b] + sum(i[k] * strides[k])`` for all ``0 <= i[k] < extents[b, k]``.

    ``programs`` (blocks,) are the numbers of the blocks' programs, ``bases`` (blocks,) are addresses, ``extents`` is
    (blocks, rank), and ``strides`` (rank) are in bytes.
    """

    programs: Ints
    role: Role
    bases: Ints
    extents: Ints
    strides: tuple[int, ...]
    size: int

    def __len__(self) -> int:
        return len(self.programs)

    @classmethod
    def around(
        cls, pointer: AffineBlock | Ints, mask: MaskBox | Flags | None, programs: Ints, role: Role, size: int
    ) -> Blocks | None:
        """The blocks of ``programs``: exactly the lanes under ``mask`` if it is a box or a flag for each program.

        Another mask is ignored, so that masked-off lanes count, too. None for a block of pointers that is not affine;
        one pointer for each program is.
        """
        if isinstance(pointer, np.ndarray):
            if pointer.ndim != 1:
                return None
            pointer = AffineBlock(pointer, (), ())
        count, rank = len(programs), len(pointer.shape)
        lower = np.zeros((count, rank), np.int64)
        extents = lower + np.array(pointer.shape, np.int64)
        bases = np.broadcast_to(pointer.base.reshape(-1), (count,))
        if isinstance(mask, MaskBox):
            for axis in range(rank):
                lower[:, axis] = mask.lower[axis]
                extents[:, axis] = mask.upper[axis]
            extents -= lower
            bases = bases + lower @ np.array(pointer.strides, np.int64)
        blocks = cls(programs, role, bases, extents, pointer.strides, size)
        if isinstance(mask, np.ndarray) and mask.ndim and mask.shape[0] == mask.size:
            return blocks.where(np.array(np.broadcast_to(mask.reshape(-1), (count,))))
        return blocks

    @classmethod
    def of_lanes(cls, addresses: Ints, active: Flags | None, programs: Ints, role: Role, size: int) -> Blocks:
        """The blocks of single lanes, as runs of bytes: see `runs_of_lanes`."""
        start, stop, program = runs_of_lanes(addresses, active, programs, size)
        return cls(program, role, start, (stop - start)[:, None], (1,), 1)

    def where(self, chosen: Flags) -> Blocks:
        """The blocks for which ``chosen`` is True."""
        if bool(chosen.all()):
            return self
        return replace(self, programs=self.programs[chosen], bases=self.bases[chosen], extents=self.extents[chosen])

    def tidy(self) -> Blocks:
        """The same bytes without empty blocks, with ascending positive strides and no axes that do not move."""
        blocks = self.where(np.all(self.extents > 0, axis=1))
        bases, extents = blocks.bases, blocks.extents
        most = extents.max(axis=0, initial=0).tolist()
        axes = [axis for axis, stride in enumerate(blocks.strides) if stride and most[axis] > 1]
        axes.sort(key=lambda axis: abs(blocks.strides[axis]))
        for axis in axes:
            if (stride := blocks.strides[axis]) < 0:
                bases = bases + stride * (extents[:, axis] - 1)
        strides = tuple(abs(blocks.strides[axis]) for axis in axes)
        return replace(blocks, bases=bases, extents=extents[:, axes], strides=strides)

    def stops(self) -> Ints:
        """The end of each block of a tidy footprint; its start is in ``bases``."""
        return self.bases + (self.extents - 1) @ np.array(self.strides, np.int64) + self.size

    def hull(self) -> tuple[int, int]:
        """Bounds of all bytes, ``(low, high)``, high exclusive; (0, 0) if there are none."""
        blocks = self.tidy()
        return (int(blocks.bases.min()), int(blocks.stops().max())) if len(blocks) else (0, 0)

    def runs(self) -> tuple[Ints, Ints, Ints]:
        """The bytes as runs, ``start .. stop - 1`` of ``program``: three parallel arrays, sorted by block.

        Elements that overlap or touch share a run.
        """
        blocks = self.tidy()
        extents = blocks.extents
        length = np.full(len(blocks), self.size, np.int64)
        rest: list[int] = []
        for axis, stride in enumerate(blocks.strides):
            steps = extents[:, axis] - 1
            # An axis whose stride is at most the run's length makes the run longer.
            if bool(((length >= stride) | (steps == 0)).all()):
                length = length + stride * steps
            else:
                rest.insert(0, axis)
        rank = len(rest)
        if not rank:
            return blocks.bases, blocks.bases + length, blocks.programs
        column = (-1, *(1,) * rank)
        start, on = blocks.bases.reshape(column), np.ones((1,) * (rank + 1), np.bool_)
        for position, axis in enumerate(rest):
            extent = extents[:, axis]
            index = np.arange(int(extent.max(initial=0))).reshape(-1, *(1,) * (rank - 1 - position))
            start = start + index * blocks.strides[axis]
            if bool((extent != len(index)).any()):
                on = on & (index < extent.reshape(column))
        row = np.repeat(np.arange(len(blocks)), start.size // max(1, len(blocks)))
        starts = start.reshape(-1)
        if not on.all():
            chosen = np.flatnonzero(np.broadcast_to(on, start.shape).reshape(-1))
            starts, row = starts[chosen], row[chosen]
        return starts, starts + length[row], blocks.programs[row]


def runs_of_lanes(addresses: Ints, active: Flags | None, programs: Ints, size: int) -> tuple[Ints, Ints, Ints]:
    """The bytes of lanes that are ``active`` (None: all) as runs, as from `Blocks.runs`.

    ``addresses`` are ``(programs, *block)``. Consecutive lanes of one program with adjacent bytes share a run.
    """
    lanes = addresses.size // max(1, len(programs))
    addresses = addresses.reshape(-1)
    if active is None:
        program = np.repeat(programs, lanes)
    else:
        chosen = np.flatnonzero(active)
        addresses, program = addresses[chosen], programs[chosen // lanes]
    if not len(addresses):
        return addresses, addresses, program
    joins = (addresses[1:] == addresses[:-1] + size) & (program[1:] == program[:-1])
    heads = np.concatenate([[True], ~joins])
    last = np.append(np.flatnonzero(heads)[1:] - 1, len(addresses) - 1)
    return addresses[heads], addresses[last] + size, program[heads]


def span_of(strides: Sequence[int], extents: Sequence[int], size: int) -> int | None:
    """The bytes from the first to the last of a block whose elements do not overlap; None if they may."""
    span = size
    for stride, extent in sorted((abs(s), n) for s, n in zip(strides, extents, strict=True) if n > 1):
        if stride < span:
            return None
        span += stride * (extent - 1)
    return span


def clusters(items: Iterable[Item], span: Callable[[Item], tuple[int, int]]) -> Iterator[list[Item]]:
    """The items in groups without a byte in common; ``span`` bounds the bytes of one, high exclusive."""
    group: list[Item] = []
    end = 0
    for low, high, item in sorted(((*span(item), item) for item in items), key=lambda each: each[:2]):
        if group and low >= end:
            yield group
            group = []
        group.append(item)
        end = max(end, high)
    if group:
        yield group


def together(blocks: Iterable[Blocks]) -> list[Blocks]:
    """The same blocks, those that differ only in place, extents and program in one footprint."""
    alike: dict[tuple[object, ...], list[Blocks]] = {}
    for each in blocks:
        alike.setdefault((each.strides, each.size, each.role), []).append(each)
    return [_joined(group) for group in alike.values()]


def _joined(group: list[Blocks]) -> Blocks:
    if len(group) == 1:
        return group[0]
    programs, bases, extents = (
        np.concatenate([getattr(each, name) for each in group]) for name in ("programs", "bases", "extents")
    )
    return replace(group[0], programs=programs, bases=bases, extents=extents)
