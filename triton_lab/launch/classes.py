"""Positions grouped by the set of members that each has: few sets stand for millions of positions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from triton_lab.launch.places import Ints


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
        numbers, _ = classify(self.owners, self.items, int(self.items.max(initial=0)) + 1)
        result[self.counts > 0] = numbers
        return result


def distinct(numbers: Ints) -> Ints:
    """The distinct numbers, ascending. (`np.unique` hashes since NumPy 2.3: ten times slower here.)"""
    ordered: Ints = np.sort(numbers, axis=None)
    new = np.ones(len(ordered), dtype=bool)
    new[1:] = ordered[1:] != ordered[:-1]
    return ordered[new]


NOTHING = Classes(np.zeros(2, dtype=np.int64), np.zeros(0, dtype=np.int64))


def classify(groups: Ints, items: Ints, limit: int) -> tuple[Ints, Classes]:
    """Give equal sets of items one class number; numbers follow the first group that has the set.

    ``groups`` and ``items`` are pairs sorted by group, then item, without repeats; items are below
    ``limit``. Returns the class (from 1 up) of each distinct group in order, and the classes.
    """
    if not len(groups):
        return groups, NOTHING
    starts = np.flatnonzero(np.concatenate([[True], groups[1:] != groups[:-1]]))
    lengths = np.diff(np.append(starts, len(groups)))
    # A set is known by the sum of random 64-bit numbers of its members: that two of a million
    # different sets agree has a probability of about one in forty million.
    salt = np.random.default_rng(0).integers(0, 1 << 64, size=limit, dtype=np.uint64)
    signature = np.add.reduceat(salt[items], starts)
    _, first, which = np.unique(signature, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(1, len(order) + 1)
    sizes = lengths[first[order]]
    bounds = np.concatenate([[0, 0], np.cumsum(sizes)])
    within = np.arange(bounds[-1]) - np.repeat(bounds[1:-1], sizes)
    members = items[np.repeat(starts[first[order]], sizes) + within]
    return rank[which], Classes(bounds, members)


def unions(
    classes: Ints, table: Classes, flags: npt.NDArray[np.bool_], bin_of: Ints, bins: int
) -> tuple[Ints, Classes, npt.NDArray[np.bool_]]:
    """Merge positions into bins: a bin has the members of all its positions.

    ``flags`` (classes, n) are merged with *or*; bins that differ in them get different classes.
    Returns the class of each bin (0 where it has no member), the new classes, and their flags.
    """
    first_flag = int(table.items.max(initial=0)) + 1
    limit = first_flag + flags.shape[1]
    pairs = distinct(bin_of * len(table) + classes)
    bin_number, number = pairs // len(table), pairs % len(table)
    sizes = table.counts[number]
    ends = np.cumsum(sizes)
    within = np.arange(ends[-1] if len(ends) else 0) - np.repeat(ends - sizes, sizes)
    items = table.items[np.repeat(table.starts[number], sizes) + within]
    keys = [np.repeat(bin_number, sizes) * limit + items]
    # A flag is one member more, for the time being.
    keys += [bin_number[flags[number, k]] * limit + first_flag + k for k in range(flags.shape[1])]
    merged = distinct(np.concatenate(keys))
    found, flagged = classify(merged // limit, merged % limit, limit)
    result = np.zeros(bins, dtype=np.int64)
    result[distinct(merged // limit)] = found
    had = np.zeros((len(flagged), flags.shape[1]), dtype=bool)
    is_flag = flagged.items >= first_flag
    had[flagged.owners[is_flag], flagged.items[is_flag] - first_flag] = True
    image = np.where(np.arange(limit) < first_flag, np.arange(limit), -1)
    return result, flagged.mapped(image), had
