"""Whether programs keep apart, for known sizes: no two of them contend for a byte.

A block is `base + sum(i[k] * strides[k])`, with a few bytes at each place. With all strides in descending order as the
weights of digits, every address is a number in these digits. If a block's elements never carry from one digit into the
next, it is a box of digits. Two such blocks share a byte exactly if their boxes overlap.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from triton_lab.footprint.access_blocks import Blocks, clusters, together
from triton_lab.footprint.access_roles import Flags, Ints, Roles, contended
from triton_lab.ir.effects import RIVALS, Role

# With more blocks than this, the check would take longer than it saves.
_MOST = 1 << 19
# The most runs of bytes that are looked at if digits do not decide.
_MOST_RUNS = 1 << 16
_ROUNDS = 8
# The most pairs of boxes that are compared.
_MOST_PAIRS = 1 << 22


def apart(accesses: Iterable[Blocks]) -> bool:
    """Whether no two programs contend for a byte (see `RIVALS`). False if that is not known."""
    found = together(accesses)
    if sum(map(len, found)) > _MOST:
        return False
    found = [tidy for each in found if len(tidy := each.tidy())]
    return all(map(_apart, clusters(found, lambda each: (int(each.bases.min()), int(each.stops().max())))))


def _apart(accesses: Sequence[Blocks]) -> bool:
    writing = [each for each in accesses if each.role in (Role.STORE, Role.UPDATE)]
    if not writing or not any(each.role in RIVALS[one.role] for one in writing for each in accesses):
        return True
    low, high = min(int(each.bases.min()) for each in writing), max(int(each.stops().max()) for each in writing)
    near = list(accesses)
    if len(writing) < len(accesses):
        near = [some for each in accesses if len(some := each.where((each.bases < high) & (each.stops() > low)))]
    boxes, exact = _by_digits(near)
    return boxes.apart() or (not exact and _are_few_runs(near) and _by_runs(near).apart())


@dataclass(frozen=True, eq=False)
class _Boxes:
    """Boxes ``lower <= x < upper`` (boxes, digits) of ``programs`` (boxes,); ``roles`` are the numbers of `Role`s."""

    lower: Ints
    upper: Ints
    programs: Ints
    roles: Roles

    def at(self, positions: Ints) -> _Boxes:
        return _Boxes(self.lower[positions], self.upper[positions], self.programs[positions], self.roles[positions])

    def apart(self) -> bool:
        """Whether no two programs contend for a box. False if that takes too many comparisons.

        Boxes are split into groups that do not overlap, one digit after another, until no group can be split further.
        Then those of a group are compared with each other.
        """
        left, group, groups = self, np.zeros(len(self.programs), np.int64), 1
        for _ in range(_ROUNDS):
            for digit in range(left.lower.shape[1]):
                group = _parted(group, left.lower[:, digit], left.upper[:, digit])
            order = np.argsort(group, kind="stable")
            left, heads = left.at(order), np.flatnonzero(np.diff(group[order], prepend=-1))
            stored, beside = contended(heads, left.programs, left.roles)
            open_ = stored | beside
            if not open_.any():
                return True
            group = np.repeat(np.arange(len(heads)), np.diff(np.append(heads, len(order))))
            chosen = np.flatnonzero(open_[group])
            left, group = left.at(chosen), group[chosen]
            if len(heads) == groups:
                break
            groups = int(open_.sum())
        return left._compared(group)

    def _compared(self, group: Ints) -> bool:
        """`apart`, by comparing the boxes that overlap in one digit; they are sorted by ``group``."""
        every = np.arange(len(group))
        neighbours = group[1:] == group[:-1]
        if self._meet(every[:-1][neighbours], every[1:][neighbours]):
            return False  # nearly all races are found here
        digit = int(np.argmax([len(np.unique(column)) for column in self.lower.T]))
        order = np.lexsort((self.lower[:, digit], group))
        boxes, group = self.at(order), group[order]
        first, count = every, 0
        for step in range(1, len(group)):
            first = first[first < len(group) - step]
            second = first + step
            near = (group[first] == group[second]) & (boxes.lower[second, digit] < boxes.upper[first, digit])
            first, second = first[near], second[near]
            count += len(first)
            if not len(first):
                break
            if count > _MOST_PAIRS or boxes._meet(first, second):
                return False
        return True

    def _meet(self, first: Ints, second: Ints) -> bool:
        """Whether the programs of any two of these boxes, in pairs, contend for what lies in both."""
        rivals = (self.programs[first] != self.programs[second]) & _ARE_RIVALS[self.roles[first], self.roles[second]]
        first, second = first[rivals], second[rivals]
        return bool(
            (
                (self.lower[second] < self.upper[first]).all(axis=1)
                & (self.lower[first] < self.upper[second]).all(axis=1)
            ).any()
        )


_ARE_RIVALS: Flags = np.array([[other in RIVALS[one] for other in Role] for one in Role])


def _by_digits(accesses: Sequence[Blocks]) -> tuple[_Boxes, bool]:
    """All blocks as boxes of digits, and whether they hold no other bytes."""
    weights = sorted({stride for each in accesses for stride in each.strides}, reverse=True)
    exact = True
    while isinstance(boxes := _boxes(accesses, weights), int):
        weights.remove(boxes)
        exact = False
    return _with_programs(*boxes, accesses, [each.programs for each in accesses]), exact


def _with_programs(lower: Ints, upper: Ints, accesses: Sequence[Blocks], programs: Sequence[Ints]) -> _Boxes:
    roles = [np.full(len(own), each.role, np.int8) for each, own in zip(accesses, programs, strict=True)]
    return _Boxes(lower, upper, np.concatenate(programs), np.concatenate(roles))


def _boxes(accesses: Sequence[Blocks], weights: Sequence[int]) -> tuple[Ints, Ints] | int:
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


def _are_few_runs(accesses: Sequence[Blocks]) -> bool:
    """Whether comparing all runs of bytes takes little time."""
    most = 0
    for each in accesses:
        axes = each.extents[:, 1:] if each.strides and each.strides[0] <= each.size else each.extents
        most += len(each) * math.prod(axes.max(axis=0, initial=1).tolist())
    return most <= _MOST_RUNS


def _by_runs(accesses: Sequence[Blocks]) -> _Boxes:
    """All runs of bytes, as boxes of one digit."""
    runs = [each.runs() for each in accesses]
    start, stop = (np.concatenate([each[side] for each in runs])[:, None] for side in (0, 1))
    return _with_programs(start, stop, accesses, [each[2] for each in runs])


def _parted(group: Ints, lower: Ints, upper: Ints) -> Ints:
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
