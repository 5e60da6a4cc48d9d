"""Classes of positions that have the same set of members: few sets represent millions of positions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from triton_lab.launch.element_index import Ints

Number = TypeVar("Number", bound=np.integer)


@dataclass(frozen=True)
class Classes:
    """The members of each class, ascending: those of class k are ``items[starts[k]:starts[k + 1]]``.

    Class 0 is the empty set.
    """

    starts: Ints
    items: Ints

    def __len__(self) -> int:
        return len(self.starts) - 1

    def members(self, number: int) -> Ints:
        """The members of one class."""
        members: Ints = self.items[self.starts[number] : self.starts[number + 1]]
        return members

    @property
    def counts(self) -> Ints:
        """(classes,) how many members each class has."""
        return np.diff(self.starts)

    @property
    def owners(self) -> Ints:
        """(items,) the class of each item."""
        return np.repeat(np.arange(len(self)), self.counts)

    def mapped(self, image: Ints) -> Classes:
        """Each class with ``image[member]`` for its members, without repeats; -1 leaves a member out."""
        limit = int(image.max(initial=0)) + 1
        found = image[self.items]
        keys = distinct(self.owners[found >= 0] * limit + found[found >= 0])
        return Classes(np.searchsorted(keys, np.arange(len(self) + 1) * limit), keys % limit)

    def groups(self) -> Ints:
        """(classes,) a number that classes with the same members share; 0 for the empty set."""
        result = np.zeros(len(self), dtype=np.int64)
        numbers, _ = classify(self.owners, self.items)
        result[self.counts > 0] = numbers
        return result


def counted(counts: Ints) -> Ints:
    """For each count, the numbers from 0 on, concatenated: (2, 0, 3) gives 0, 1, 0, 1, 2."""
    ends = np.cumsum(counts)
    return np.arange(int(ends[-1]) if len(ends) else 0) - np.repeat(ends - counts, counts)


_LINES = 16  # a stable sort merges up to this many ascending runs quickly


def distinct(numbers: npt.NDArray[Number]) -> npt.NDArray[Number]:
    """The distinct numbers, ascending. (`np.unique` hashes since NumPy 2.3: ten times slower here.)"""
    line = numbers.reshape(-1)
    # Often they ascend already, or in a few runs. Detecting that is ten times faster than sorting.
    falls = len(line) - 1 - int(np.count_nonzero(line[1:] >= line[:-1]))
    ordered: npt.NDArray[Number] = line
    if falls > 0:
        ordered = np.sort(line, kind="stable" if falls < _LINES else None)
    new = np.ones(len(ordered), dtype=bool)
    new[1:] = ordered[1:] != ordered[:-1]
    return ordered[new]


def ordering(*keys: Ints) -> Ints:
    """The positions that sort by the first key, then the second, and so on; ties stay in order.

    Keys and position are packed into one number if they fit: sorting numbers is ten times faster than sorting
    positions.
    """
    size = len(keys[0])
    if not size:
        return np.zeros(0, dtype=np.int64)
    packed, bits = np.zeros(size, dtype=np.int64), 0
    for key in keys:
        low = int(key.min())
        width = (int(key.max()) - low).bit_length()
        bits += width
        if bits + size.bit_length() > 63:
            return np.lexsort(keys[::-1])
        packed = packed << width | (key - low)
    if bool((packed[1:] >= packed[:-1]).all()):
        return np.arange(size)
    packed = packed << size.bit_length() | np.arange(size)
    packed.sort()
    return packed & ((1 << size.bit_length()) - 1)


NOTHING = Classes(np.zeros(2, dtype=np.int64), np.zeros(0, dtype=np.int64))


def grouped(signature: npt.NDArray[np.uint64]) -> tuple[Ints, Ints]:
    """The class of each position, and the first position of each class from 1 up. Class 0 has signature 0."""
    if not len(signature):
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    # Many neighbours are equal, so sort only the runs.
    starts = np.flatnonzero(np.concatenate([[True], signature[1:] != signature[:-1]]))
    if len(distinct(signature[starts])) == len(starts):  # every run is a class: nothing to look up
        heads = starts[signature[starts] != 0]
        number = np.cumsum(signature[starts] != 0) * (signature[starts] != 0)
        return np.repeat(number, np.diff(np.append(starts, len(signature)))), heads
    values, first, which = np.unique(signature[starts], return_index=True, return_inverse=True)
    untouched = len(values) > 0 and values[0] == 0
    order = np.argsort(first[1:] if untouched else first)
    rank = np.zeros(len(values), dtype=np.int64)
    rank[order + int(untouched)] = np.arange(1, len(order) + 1)
    heads = starts[(first[1:] if untouched else first)[order]]
    return np.repeat(rank[which], np.diff(np.append(starts, len(signature)))), heads


def mixed(numbers: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """Each number hashed to one that looks random (SplitMix64)."""
    found = numbers + np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        found ^= found >> np.uint64(shift)
        found *= np.uint64(factor)
    found ^= found >> np.uint64(31)
    return found


def classify(groups: Ints, items: Ints) -> tuple[Ints, Classes]:
    """Give equal sets of items one class number; numbers follow the first group that has the set.

    ``groups`` and ``items`` are pairs sorted by group, then item, without repeats.
    Returns the class (from 1 up) of each distinct group in order, and the classes.
    """
    if not len(groups):
        return groups, NOTHING
    starts = np.flatnonzero(np.concatenate([[True], groups[1:] != groups[:-1]]))
    lengths = np.diff(np.append(starts, len(groups)))
    # A set is identified by the sum of its members' 64-bit hashes. The probability that any two of a million
    # different sets agree is about one in forty million.
    signature = np.add.reduceat(mixed(items.astype(np.uint64)), starts)
    numbers, heads = grouped(signature)
    sizes = lengths[heads]
    bounds = np.concatenate([[0, 0], np.cumsum(sizes)])
    within = np.arange(bounds[-1]) - np.repeat(bounds[1:-1], sizes)
    return numbers, Classes(bounds, items[np.repeat(starts[heads], sizes) + within])


def unions(
    classes: Ints, table: Classes, flags: npt.NDArray[np.bool_], bin_of: Ints, bins: int
) -> tuple[Ints, Classes, npt.NDArray[np.bool_]]:
    """Merge positions into bins: a bin has the members of all its positions.

    ``flags`` (classes, n) are merged with *or*; bins that differ in them get different classes.
    Returns the class of each bin (0 where it has no member), the new classes, and their flags.
    """
    first_flag = int(table.items.max(initial=0)) + 1
    limit = first_flag + flags.shape[1]
    result = np.zeros(bins, dtype=np.int64)
    pairs = bin_of * len(table) + classes
    pairs = distinct(pairs[np.append(True, pairs[1:] != pairs[:-1])[: len(pairs)]])  # runs first: sorting is slow
    bin_number = pairs // len(table)
    # Many bins hold the same classes: compute the members once for each kind.
    kinds, sets = classify(bin_number, pairs % len(table))
    there = bin_number[np.append(True, bin_number[1:] != bin_number[:-1])[: len(bin_number)]]
    bin_number, number = sets.owners, sets.items
    sizes = table.counts[number]
    ends = np.cumsum(sizes)
    within = np.arange(ends[-1] if len(ends) else 0) - np.repeat(ends - sizes, sizes)
    items = table.items[np.repeat(table.starts[number], sizes) + within]
    keys = [np.repeat(bin_number, sizes) * limit + items]
    # Each flag is one more member for now.
    keys += [bin_number[flags[number, k]] * limit + first_flag + k for k in range(flags.shape[1])]
    merged = distinct(np.concatenate(keys))
    found, flagged = classify(merged // limit, merged % limit)
    class_of = np.zeros(len(sets), dtype=np.int64)
    class_of[distinct(merged // limit)] = found
    result[there] = class_of[kinds]
    had = np.zeros((len(flagged), flags.shape[1]), dtype=bool)
    is_flag = flagged.items >= first_flag
    had[flagged.owners[is_flag], flagged.items[is_flag] - first_flag] = True
    image = np.where(np.arange(limit) < first_flag, np.arange(limit), -1)
    return result, flagged.mapped(image), had
