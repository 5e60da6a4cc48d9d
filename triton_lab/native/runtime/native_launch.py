"""Runs a launch on the native engine: programs in ascending order, with those that a guard stops on NumPy's."""

from __future__ import annotations

import struct
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from triton_lab.interpreter.runtime_values import Descriptor, Value
from triton_lab.localization import _
from triton_lab.native.runtime.compiled_function import Built
from triton_lab.native.runtime.transaction import Fell, Kept, reason
from triton_lab.native.threads import thread_team
from triton_lab.native.threads.work_queue import CALL_SECONDS, Left, Together, check, shared, tell_where

if TYPE_CHECKING:
    from triton_lab.interpreter.machine import Machine
    from triton_lab.interpreter.memory_regions import MemoryRegion

# Runs a range of programs: see `Built`.
Call: TypeAlias = "Callable[[int, int], tuple[int, tuple[int, int, int]]]"
# The regions that each access may touch. None: any memory, looked up at the access's address.
Regions: TypeAlias = "Mapping[int, tuple[MemoryRegion, ...] | None]"

# The seconds of one thread's work from which on programs are shared among threads; and the seconds of a call that is
# long enough to measure a program's time.
_WORTH_SECONDS, _TELLING_SECONDS = 1e-4, 3e-5
# One call runs a launch that took less time before.
BRIEF_SECONDS = _WORTH_SECONDS
# The seconds that checking whether programs keep apart takes. For less work, the check waits for a second launch of the
# kind.
_FINDING_SECONDS = 2e-3

_GRID = struct.Struct("<3q").pack


@dataclass(slots=True)
class Pace:
    """The seconds of a program on one thread; 0: unknown. ``brief``: the note of a launch, if one call may run it."""

    each: float = 0.0
    brief: Any = None


def regions_of(machine: Machine, accesses: Iterable[int]) -> Regions | str:
    """The regions that each access may touch; or the reason why machine code cannot run."""
    found: dict[int, tuple[MemoryRegion, ...] | None] = {}
    for op in accesses:
        allowed = machine.allowed(op)
        if allowed is not None and not all(map(_is_in_place, allowed)):
            return _("its memory is a copy of another device's")
        found[op] = None if allowed is None else tuple(sorted(allowed, key=lambda region: region.start))
    return found


def _is_in_place(region: MemoryRegion) -> bool:
    """Whether the bytes of ``region`` lie at its addresses."""
    return bool(region.data.ctypes.data == region.start)


def groups_of(regions: Regions) -> tuple[tuple[int, tuple[int, ...]], ...]:
    """For each operation, numbers for its access's regions; none for any memory. One without memory shares nothing."""
    numbers: dict[int, int] = {}

    def number(region: MemoryRegion) -> int:
        return numbers.setdefault(region.start, len(numbers))

    return tuple((op, () if own is None else tuple(map(number, own)) or (-1 - op,)) for op, own in regions.items())


def run(
    machine: Machine, built: Built, regions: Regions, is_apart: Callable[[bool], bool], left: Left | None = None
) -> int:
    """Run all programs of the grid, or those that are ``left``. Returns how many of them NumPy ran because of a guard.

    Raises KernelError. Several threads share the programs if it is worth it and ``is_apart`` says that no program
    touches what another one writes; its argument says whether that check is worth it for the first launch. NumPy runs
    the rest of the batch in which a guard failed, as it would have run it: so the error and its programs are NumPy's
    own.

    A transaction raises Fell if it cannot end; then nothing has changed.
    """
    total = machine.grid[0] * machine.grid[1] * machine.grid[2]
    left = Left(((0, total),)) if left is None else left
    told, machine.progress = machine.progress, None
    numbers = packed(machine.arguments), packed_grid(machine.grid)
    kept = _kept(machine, built, regions) if built.made.transaction else None

    def call(first: int, end: int) -> tuple[int, tuple[int, int, int]]:
        return built(*numbers, table, first, end)

    def together(first: int, end: int, step: int, threads: int) -> tuple[int, list[thread_team.Failed]]:
        return built.together(*numbers, table, first, end, step, threads)

    def tell(count: int) -> None:
        machine.ended = count
        if told is not None:
            told(count, total)

    handed, table = 0, _table(machine, built, regions, kept)
    for guard, late, where in stops((call, together), total, left, tell, is_apart if kept is None else _never, Pace()):
        if kept is not None:
            kept.put_back()
            machine.ended, machine.progress = 0, told
            raise Fell(reason(built.made.guards[guard]))
        check(late)
        machine.ended = total - left.count
        if where and regions[built.made.guards[guard].op] is None and _is_met(machine, where):
            table = _table(machine, built, regions)
        else:
            handed += _on_numpy(machine, left, left.first[0])
            tell(total - left.count)
    return handed


def _never(at_once: bool) -> bool:
    """False, so that one thread runs the programs of a transaction."""
    return False


def stops(
    calls: tuple[Call, Together],
    total: int,
    left: Left,
    tell: Callable[[int], None],
    is_apart: Callable[[bool], bool],
    pace: Pace,
) -> Iterator[tuple[int, int, int]]:
    """Run the programs that are ``left`` of a ``total``. Yields `Built`'s reason whenever a guard stops the first of
    them.

    ``tell`` is called with the number of programs that have run. From the first stop on, one thread runs them. ``pace``
    is what is known of their speed, and is updated.
    """
    (call, together), may_share = calls, True
    step = max(1, int(CALL_SECONDS / 4 / pace.each)) if pace.each else 1
    while left:
        at, until = left.first
        try:
            if may_share and left.count > 1 and pace.each * left.count > _WORTH_SECONDS:
                may_share = False
                threads = thread_team.size()
                if threads > 1 and is_apart(pace.each * left.count >= _FINDING_SECONDS):
                    still, pace.each = shared(together, (at, until), pace.each, threads, tell)
                    left.become(still)
                    continue
            end = min(until, at + step)
            start = time.perf_counter()
            came, stopped = call(at, end)
        except KeyboardInterrupt as error:
            tell_where(error, at)
            raise
        seconds = time.perf_counter() - start
        left.drop(came)
        if came < end:
            may_share = False
            yield stopped
            continue
        if seconds < CALL_SECONDS / 2:
            step *= 2 if seconds > CALL_SECONDS / 16 else 16 if seconds > _TELLING_SECONDS or not may_share else 4
        elif seconds > 2 * CALL_SECONDS:
            step = max(1, step // 2)
        if seconds > _TELLING_SECONDS:
            pace.each = seconds / (end - at)
        tell(total - left.count)


def _on_numpy(machine: Machine, left: Left, first: int) -> int:
    """Run the remaining programs of the batch of program ``first``; returns their number.

    If the kernel's programs may wait, run all that are left: those that wait in vain are reported together.
    """
    total = machine.grid[0] * machine.grid[1] * machine.grid[2]
    batch = total if machine.executable.waiting_loops else machine.batch_size()
    numbers = left.take(first, (first // batch + 1) * batch)
    machine.run(numbers)
    return len(numbers)


def packed_grid(grid: tuple[int, int, int]) -> bytes:
    """The extents of a grid as bytes (see `function_contract`)."""
    return _GRID(*grid)


def packed(values: Sequence[Value]) -> bytes:
    """The kernel's arguments as bytes (see `function_contract`)."""
    slots: list[bytes] = []
    behind = b""
    for value in values:
        if isinstance(value, Descriptor):
            slots.append((8 * len(values) + len(behind)).to_bytes(8, "little"))
            numbers = (value.base[0], value.padding_nan, *(n[0] for n in (*value.shape, *value.strides)))
            behind += b"".join(int(number).to_bytes(8, "little", signed=True) for number in numbers)
        else:
            slots.append(value.tobytes().ljust(8, b"\0"))  # type: ignore[union-attr]
    return b"".join(slots) + behind


def _is_met(machine: Machine, address: int) -> bool:
    """Whether a tensor lies at ``address`` that this launch has not found before."""
    if machine.memory.holding(address) is not None:
        return False
    region = machine.memory.find(address, address + 1)
    return region is not None and region.verified and _is_in_place(region)


def _kept(machine: Machine, built: Built, regions: Regions) -> Kept:
    own = (regions[slot.op] or () for slot in built.made.regions if slot.keeps)
    return Kept((region for each in own for region in each if region.writable), machine.limits.memory)


def _table(machine: Machine, built: Built, regions: Regions, kept: Kept | None = None) -> bytes:
    """The table of the memory that each access may touch (see `function_contract`). A write gets no
    read-only memory.
    """
    slots: list[int] = []
    behind: list[int] = []
    for slot in built.made.regions:
        own = regions[slot.op]
        if own is None:
            own = _anywhere(machine, built, regions, slot.writes)
        usable = [region for region in own if region.writable or not slot.writes]
        if slot.keeps and kept is not None:
            slots += (number % (1 << 64) for number in kept.behind(usable[0])) if usable else (0, 0)
        elif regions[slot.op] is not None and len(own) <= 1:
            slots += (usable[0].start, usable[0].stop) if usable else (0, 0)
        else:
            slots += (2 * len(built.made.regions) + len(behind), len(usable))
            behind += [end for region in usable for end in (region.start, region.stop)]
    return b"".join(number.to_bytes(8, "little") for number in slots + behind)


def _anywhere(machine: Machine, built: Built, regions: Regions, writes: bool) -> tuple[MemoryRegion, ...]:
    """The tensors that an access to any memory may touch: none that other accesses write, nor, if it writes, read."""
    kept = {region for slot in built.made.regions if slot.writes or writes for region in regions[slot.op] or ()}
    known = (region for region in machine.memory.regions if region.verified and _is_in_place(region))
    return tuple(region for region in known if region not in kept)
