"""`Work`: the lanes, bytes and iterations of each program, and the bytes that programs share."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from triton_lab.launch.element_index import Ints
from triton_lab.launch.maps.lane_positions import AccessLike, StoredArgument, TimedAccess
from triton_lab.launch.maps.strided_lanes import strided
from triton_lab.launch.maps.tiling import touches
from triton_lab.launch.membership_classes import Classes, distinct


@dataclass(frozen=True)
class Work:
    """The work of each program; all fields are (programs,).

    ``lanes`` (active) and ``masked`` (masked off) are counted over all accesses and iterations. ``loaded`` and
    ``stored`` are bytes; an atomic counts in both. ``iterations`` is the number of times that its most frequent access
    ran.
    """

    lanes: Ints
    masked: Ints
    loaded: Ints
    stored: Ints
    iterations: Ints


def work(accesses: Sequence[AccessLike], programs: int) -> Work:
    """The work of every program over these accesses."""
    total = Work(*(np.zeros(programs, dtype=np.int64) for _ in range(5)))
    for access in accesses:
        done = np.zeros(programs, dtype=np.int64)
        for iteration in range(access.iterations):
            ran, active, block = _lanes(access, iteration, programs)
            total.lanes[:] += active
            total.masked[:] += ran * block - active
            if access.kind != "store":
                total.loaded[:] += active * access.itemsize
            if access.kind != "load":
                total.stored[:] += active * access.itemsize
            done += ran
        np.maximum(total.iterations, done, out=total.iterations)
    return total


def _lanes(access: AccessLike, iteration: int, programs: int) -> tuple[Ints, Ints, int]:
    """(programs,) whether each ran the iteration, and its active lanes; and the lanes of a block."""
    blocks = strided(access, iteration, 0, 1)
    if blocks is None:
        mask = access.mask(iteration)
        ran = access.executed(iteration).reshape(-1).astype(np.int64)
        return ran, mask.reshape(programs, -1).sum(axis=1), mask.size // max(1, programs)
    ran, active = np.zeros((2, programs), dtype=np.int64)
    ran[blocks.program] = 1
    # The last axis counts the bytes of one lane.
    axes = blocks.axes if access.itemsize == 1 else blocks.axes[:-1]
    lanes = np.ones(len(blocks.program), dtype=np.int64)
    for axis in axes:
        lanes *= np.maximum(0, axis.upper - axis.lower)
    active[blocks.program] = lanes
    return ran, active, math.prod(axis.extent for axis in axes)


@dataclass(frozen=True)
class Input:
    """An argument that programs load from; elements that the same programs load are one class.

    ``nbytes`` (classes,) is the bytes of a class's elements; ``table`` has its programs.
    """

    name: str
    nbytes: Ints
    table: Classes


def inputs(
    arguments: Sequence[StoredArgument], accesses: Sequence[TimedAccess], programs: int, most: int | None = None
) -> list[Input]:
    """The arguments that are loaded from, without those for which more than ``most`` lanes must be examined."""
    found = []
    for argument in arguments:
        loads = [access for access in accesses if access.argument == argument.name and access.kind == "load"]
        if not loads:
            continue
        seen = touches(argument, loads, programs, most)
        if seen.shown is not None:  # a sample of programs says nothing about sharing with the others
            continue
        sizes = seen.elements() * argument.itemsize
        found.append(Input(argument.name, sizes, seen.active("loads")))
    return found


def shared(found: Sequence[Input], program: int, programs: int) -> Ints:
    """(programs,) how many bytes of its inputs ``program`` shares with each program, itself included."""
    total = np.zeros(programs, dtype=np.int64)
    for one in found:
        mine = np.zeros(len(one.table), dtype=bool)
        mine[one.table.owners[one.table.items == program]] = True
        kept = mine[one.table.owners]
        sizes = one.nbytes[one.table.owners[kept]]
        total += np.bincount(one.table.items[kept], weights=sizes, minlength=programs).astype(np.int64)
    return total


@dataclass(frozen=True)
class Wave:
    """Programs ``first`` to ``last``, which run at the same time.

    ``loaded`` sums the bytes that each program loads; ``distinct`` counts each byte once.
    """

    first: int
    last: int
    loaded: int
    distinct: int


def waves(found: Sequence[Input], programs: int, sms: int) -> list[Wave]:
    """The launch cut into waves of ``sms`` programs, as if all programs took the same time."""
    count = -(-programs // sms)
    loaded, different = np.zeros(count, dtype=np.int64), np.zeros(count, dtype=np.int64)
    for one in found:
        if not count:
            break
        owners = one.table.owners
        wave = one.table.items // sms
        loaded += np.bincount(wave, weights=one.nbytes[owners], minlength=count).astype(np.int64)
        pairs = distinct(owners * count + wave)
        sizes = one.nbytes[pairs // count]
        different += np.bincount(pairs % count, weights=sizes, minlength=count).astype(np.int64)
    return [
        Wave(number * sms, min(programs, (number + 1) * sms) - 1, int(loaded[number]), int(different[number]))
        for number in range(count)
    ]
