"""Whether programs touch disjoint memory: exact, by intervals and strides, for blocks of any rank.

A block is `base + sum(i[k] * strides[k])`, with a few bytes at each place. With all strides in descending order as the
weights of digits, every address is a number in these digits. If a block's elements never carry from one digit into the
next, it is a box of digits. Two such blocks share a byte exactly if their boxes overlap.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

# With more blocks than this, the check would take longer than it saves.
_MOST = 1 << 19
_ROUNDS = 8


@dataclass(frozen=True, slots=True, eq=False)
class Blocks:
    """The bytes that one access touches.

    A block of ``extents`` (blocks, rank) starts at each of ``bases`` (blocks,), which are int64 addresses. ``strides``
    are the bytes between elements of ``size`` bytes. ``programs`` (blocks,) are the numbers of the blocks' programs.
    """

    programs: Array
    writes: bool
    bases: Array
    extents: Array
    strides: tuple[int, ...]
    size: int


def apart(accesses: Sequence[Blocks]) -> bool:
    """Whether no program touches a byte that another one writes. False if that is not known."""
    if sum(len(each.programs) for each in accesses) > _MOST:
        return False
    tidied = [tidy for each in accesses if len((tidy := _tidied(each)).programs)]
    written = [_ends(each) for each in tidied if each.writes]
    if not written:
        return True
    low, high = min(int(lows.min()) for lows, _ in written), max(int(highs.max()) for _, highs in written)
    tidied = [each if each.writes else _within(each, low, high) for each in tidied]
    tidied = [each for each in tidied if len(each.programs)]
    weights = sorted({stride for each in tidied for stride in each.strides}, reverse=True)
    while True:
        boxes = _boxes(tidied, weights)
        if isinstance(boxes, int):
            weights.remove(boxes)
            continue
        programs = np.concatenate([each.programs for each in tidied])
        writes = np.concatenate([np.full(len(each.programs), each.writes) for each in tidied])
        return _are_apart(*boxes, programs, writes)


def _tidied(blocks: Blocks) -> Blocks:
    """The same blocks without empty ones, with positive strides and without axes that do not move."""
    some: Array = np.all(blocks.extents > 0, axis=1)
    blocks = _chosen(blocks, some)
    bases, extents = blocks.bases, blocks.extents
    kept: list[int] = []
    for axis, stride in enumerate(blocks.strides):
        if stride and len(bases) and int(extents[:, axis].max()) > 1:
            kept.append(axis)
            if stride < 0:
                bases = bases + stride * (extents[:, axis] - 1)
    strides = tuple(abs(blocks.strides[axis]) for axis in kept)
    return replace(blocks, bases=bases, extents=extents[:, kept], strides=strides)


def _ends(blocks: Blocks) -> tuple[Array, Array]:
    """The start and stop of each block; its strides must be positive."""
    reach = (blocks.extents - 1) @ np.array(blocks.strides, np.int64)
    return blocks.bases, blocks.bases + reach + blocks.size


def _within(blocks: Blocks, low: int, high: int) -> Blocks:
    """The blocks that may touch bytes from ``low`` to ``high - 1``."""
    lows, highs = _ends(blocks)
    return _chosen(blocks, (lows < high) & (highs > low))


def _chosen(blocks: Blocks, which: Array) -> Blocks:
    return replace(blocks, programs=blocks.programs[which], bases=blocks.bases[which], extents=blocks.extents[which])


def _boxes(accesses: Sequence[Blocks], weights: Sequence[int]) -> tuple[Array, Array] | int:
    """Lower and upper bounds (blocks, digits) of all blocks; or a weight that some block carries into.

    Movement along a stride that is no weight counts as a run of bytes.
    """
    origin = min(int(each.bases.min()) for each in accesses)
    lower, upper = [], []
    for each in accesses:
        rest = each.bases - origin
        reach = np.full_like(rest, each.size)
        extents = {weight: np.ones_like(rest) for weight in weights}
        for axis, stride in enumerate(each.strides):
            if stride in extents:
                extents[stride] = extents[stride] + each.extents[:, axis] - 1
            else:
                reach = reach + stride * (each.extents[:, axis] - 1)
        low, high, rests = [], [], []
        for weight in weights:
            digit, rest = rest // weight, rest % weight
            low.append(digit)
            high.append(digit + extents[weight])
            rests.append(rest)
        low.append(rest)
        high.append(rest + reach)
        # From the lowest digit up: the digits below a weight must stay below it.
        for weight, below in zip(reversed(weights), reversed(rests), strict=True):
            if bool((below + reach > weight).any()):
                return weight
            reach = reach + weight * (extents[weight] - 1)
        lower.append(np.stack(low, axis=1))
        upper.append(np.stack(high, axis=1))
    return np.concatenate(lower), np.concatenate(upper)


def _are_apart(lower: Array, upper: Array, programs: Array, writes: Array) -> bool:
    """Whether no box that is written overlaps a box of another program.

    Boxes are split into groups that do not overlap, one digit after another, until no group can be split further.
    """
    group = np.zeros(len(programs), np.int64)
    for _ in range(_ROUNDS):
        groups = int(group.max())
        for digit in range(lower.shape[1]):
            group = _parted(group, lower[:, digit], upper[:, digit])
        order = np.argsort(group, kind="stable")
        starts = np.flatnonzero(np.diff(group[order], prepend=-1))
        several = np.minimum.reduceat(programs[order], starts) != np.maximum.reduceat(programs[order], starts)
        if not bool((several & np.logical_or.reduceat(writes[order], starts)).any()):
            return True
        if int(group.max()) == groups:
            return False
    return False


def _parted(group: Array, lower: Array, upper: Array) -> Array:
    """The groups, split: ranges that overlap, directly or through others, stay together."""
    low = int(lower.min())
    span = int(upper.max()) - low + 1
    if span * (int(group.max()) + 1) >= 1 << 62:
        return group
    order = np.lexsort((lower, group))
    shift = group[order] * span - low
    begins, ends = lower[order] + shift, np.maximum.accumulate(upper[order] + shift)
    parted = np.empty_like(group)
    parted[order] = np.concatenate([[0], np.cumsum(begins[1:] >= ends[:-1])])
    return parted
