"""A launch on the native engine: programs in ascending order, what a guard stops on NumPy's."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from triton_lab.native import pool
from triton_lab.native.built import Built
from triton_lab.native.shares import Left, check, shared, tell_where

if TYPE_CHECKING:
    from triton_lab.interpreter.machine import Machine
    from triton_lab.interpreter.memory import Region

# Python hears of an interrupt, and tells of progress, between calls of so many seconds.
_CALL_SECONDS = 0.05
# What is left is shared among threads where it takes one so long, as a call of so many seconds tells.
_WORTH_SECONDS, _TELLING_SECONDS = 2e-3, 1e-4


def regions_of(machine: Machine, accesses: Mapping[int, object]) -> dict[int, Region | None] | str:
    """The one region that each access may touch, None for no memory at all; or why there is no such thing."""
    found: dict[int, Region | None] = {}
    for op in accesses:
        allowed = machine.allowed(op)
        if allowed is None:
            return "it reaches memory that none of its arguments vouches for"
        if len(allowed) > 1:
            return "one access may reach the memory of several arguments"
        region = next(iter(allowed), None)
        if region is not None and region.data.ctypes.data != region.start:
            return "its memory is a copy of another device's"
        found[op] = region
    return found


def groups_of(regions: Mapping[int, Region | None]) -> tuple[tuple[int, int], ...]:
    """A number for the memory of each access, by operation: the same for the same memory."""
    numbers: dict[int, int] = {}
    return tuple((op, numbers.setdefault(id(region), len(numbers))) for op, region in regions.items())


def run(machine: Machine, built: Built, regions: Mapping[int, Region | None], is_apart: Callable[[], bool]) -> int:
    """Run all programs of the grid; how many of them NumPy ran, since a guard stopped them. Raises KernelError.

    Several threads share them where that is worth it and ``is_apart`` says that no program touches what another one
    writes. NumPy runs what is left of the batch in which a guard failed, as it would have run it: so the error and the
    programs in it are its own.
    """
    total = machine.grid[0] * machine.grid[1] * machine.grid[2]
    arguments = b"".join(value.tobytes().ljust(8, b"\0") for value in machine.arguments)  # type: ignore[union-attr]
    grid = b"".join(extent.to_bytes(8, "little") for extent in machine.grid)
    call = functools.partial(built, arguments, grid, _table(built, regions))
    told, machine.progress = machine.progress, None
    left = Left(((0, total),))
    handed, step, may_share = 0, 1, True
    while left:
        at, until = left.first
        end = min(until, at + step)
        start = time.perf_counter()
        try:
            came, (_, late) = call(at, end)
        except KeyboardInterrupt as error:
            tell_where(error, at)
            raise
        seconds = time.perf_counter() - start
        left.drop(came)
        if came < end:
            check(late)
            machine.ended = total - left.count
            may_share = False
            handed += _on_numpy(machine, left, came)
        elif seconds < _CALL_SECONDS / 2:
            step *= 2 if seconds > _CALL_SECONDS / 16 else 16
        elif seconds > 2 * _CALL_SECONDS:
            step = max(1, step // 2)
        if may_share and seconds > _TELLING_SECONDS and left.count > 1:
            each = seconds / (came - at)
            if each * left.count > _WORTH_SECONDS:
                may_share = False
                threads = min(pool.processors(), left.count)
                if threads > 1 and is_apart():
                    left = shared(call, left.first, max(1, int(_CALL_SECONDS / each)), threads)
        machine.ended = total - left.count
        if told is not None:
            told(machine.ended, total)
    return handed


def _on_numpy(machine: Machine, left: Left, first: int) -> int:
    """Run those that are left of the batch of program ``first``; how many these are."""
    batch = machine.batch_size()
    numbers = left.take(first, (first // batch + 1) * batch)
    machine.run(numbers)
    return len(numbers)


def _table(built: Built, regions: Mapping[int, Region | None]) -> bytes:
    """Start and stop of the memory that each access may touch; none where it would write what only may be read."""
    parts: list[bytes] = []
    for slot in built.made.regions:
        region = regions[slot.op]
        usable = region is not None and (region.writable or not slot.writes)
        start, stop = (region.start, region.stop) if region is not None and usable else (0, 0)
        parts += (start.to_bytes(8, "little"), stop.to_bytes(8, "little"))
    return b"".join(parts)
