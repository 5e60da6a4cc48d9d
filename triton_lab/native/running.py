"""A launch on the native engine: programs in ascending order, what a guard stops on NumPy's."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING

from triton_lab.interpreter.errors import KernelError
from triton_lab.native.built import Built
from triton_lab.native.program import LATE

if TYPE_CHECKING:
    from triton_lab.interpreter.machine import Machine
    from triton_lab.interpreter.memory import Region

# Python hears of an interrupt, and tells of progress, between calls of so many seconds.
_CALL_SECONDS = 0.05


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


def run(machine: Machine, built: Built, regions: Mapping[int, Region | None]) -> int:
    """Run all programs of the grid; how many of them NumPy ran, since a guard stopped them. Raises KernelError.

    NumPy runs the rest of the batch in which a guard failed, as it would have run it: so the error, the programs in
    it and the order of what is stored are its own.
    """
    total = machine.grid[0] * machine.grid[1] * machine.grid[2]
    arguments = b"".join(value.tobytes().ljust(8, b"\0") for value in machine.arguments)  # type: ignore[union-attr]
    grid = b"".join(extent.to_bytes(8, "little") for extent in machine.grid)
    table = _table(built, regions)
    batch = machine.batch_size()
    told, machine.progress = machine.progress, None
    at = handed = 0
    step = 1
    while at < total:
        end = min(total, at + step)
        start = time.perf_counter()
        came, (_, late) = built(arguments, at, end, grid, table)
        seconds = time.perf_counter() - start
        if came < end:
            if late == LATE:
                raise KernelError("the kernel's memory was changed by somebody else while it ran")
            stop = min(total, (came // batch + 1) * batch)
            machine.ended = came
            machine.run(range(came, stop))
            handed += stop - came
            came = stop
        elif seconds < _CALL_SECONDS / 2:
            step *= 2 if seconds > _CALL_SECONDS / 16 else 16
        elif seconds > 2 * _CALL_SECONDS:
            step = max(1, step // 2)
        at = machine.ended = came
        if told is not None:
            told(at, total)
    return handed


def _table(built: Built, regions: Mapping[int, Region | None]) -> bytes:
    """Start and stop of the memory that each access may touch; none where it would write what only may be read."""
    parts: list[bytes] = []
    for slot in built.made.regions:
        region = regions[slot.op]
        usable = region is not None and (region.writable or not slot.writes)
        start, stop = (region.start, region.stop) if region is not None and usable else (0, 0)
        parts += (start.to_bytes(8, "little"), stop.to_bytes(8, "little"))
    return b"".join(parts)
