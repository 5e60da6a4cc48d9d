"""Atomics of many lanes on few places of memory, one after another: what each lane finds, and what is left.

The result equals that of a loop over the lanes. The work is done in one of two ways, whichever has fewer steps: place
by place, with the ufunc's running result, or turn by turn, with each place once per turn.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


def exchange(old: Array, new: Array) -> Array:
    return new


@dataclass(frozen=True, slots=True)
class Update:
    """``function(old, value)`` gives the new value; ``unsigned``: integers are read as unsigned."""

    function: Callable[[Array, Array], Array]
    unsigned: bool = False

    def running(self, start: Any, values: Array) -> Array:
        """The place's value at the start and after each lane."""
        line = np.concatenate([np.array([start], values.dtype), values])
        if isinstance(self.function, np.ufunc):
            return self.function.accumulate(line, dtype=line.dtype)
        if self.function is not exchange:
            for k in range(1, len(line)):
                line[k] = self.function(line[k - 1 : k], line[k : k + 1])[0]
        return line


def take_turns(view: Array, index: Array, values: Array, update: Update) -> tuple[Array, Array, Array]:
    """What each lane ``k`` finds at ``view[index[k]]``, the places that change, and their values at the end."""
    if update.unsigned:
        kind = f"u{values.dtype.itemsize}"
        found, places, finals = take_turns(view.view(kind), index, values.view(kind), Update(update.function))
        return found.view(values.dtype), places, finals.view(values.dtype)
    order = np.argsort(index, kind="stable")
    ordered = index[order]
    first = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]])) if index.size else index
    places = ordered[first]
    if len(places) == len(index):  # no two lanes share a place
        old = view[index]
        return old, index, np.asarray(update.function(old, values))
    counts = np.diff(np.append(first, len(index)))
    found = np.empty(index.shape, values.dtype)
    finals = np.empty(places.shape, values.dtype)
    held = view[places]
    if len(places) <= counts.max():
        for k, (start, count) in enumerate(zip(first, counts, strict=True)):
            lanes = order[start : start + count]
            line = update.running(held[k], values[lanes])
            found[lanes] = line[:-1]
            finals[k] = line[-1]
        return found, places, finals
    finals[:] = held
    for turn in range(int(counts.max())):
        going = np.flatnonzero(counts > turn)
        lanes = order[first[going] + turn]
        found[lanes] = finals[going]
        finals[going] = update.function(finals[going], values[lanes])
    return found, places, finals


def cut_into_turns(index: Array) -> list[Any]:
    """Groups of lanes in which no two share a place; the lanes of each place come in ascending order."""
    if index.size < 2:
        return [slice(None)]
    order = np.argsort(index, kind="stable")
    ordered = index[order]
    starts = np.concatenate([[True], ordered[1:] != ordered[:-1]])
    if starts.all():
        return [slice(None)]
    first = np.maximum.accumulate(np.where(starts, np.arange(len(ordered)), 0))
    rank = np.arange(len(ordered)) - first
    by_rank = np.argsort(rank, kind="stable")
    bounds = np.flatnonzero(np.diff(rank[by_rank])) + 1
    return np.split(order[by_rank], bounds)
