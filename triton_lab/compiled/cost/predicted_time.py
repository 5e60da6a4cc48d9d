"""`PredictedTime`: the time that a compiled launch should take on a GPU, from its own transactions and instructions.

Each unit of the GPU has a time: DRAM, the second-level cache, the load and store units, the schedulers, the tensor
cores, atomics on one element, and the waiting of programs that cannot be overlapped. The slowest is the limit; the
others add to it by a norm, as they never overlap entirely.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from triton_lab.compiled.cost.cost import LaunchCost
from triton_lab.compiled.cost.gpu_timing import GpuTiming, timing
from triton_lab.compiled.cost.warp_timeline import critical_cycles, issued
from triton_lab.compiled.transactions.sectors import SECTOR
from triton_lab.compiled.transactions.transactions import Transactions
from triton_lab.compiled.transactions.transfer import Transfer
from triton_lab.launch.access import Access
from triton_lab.launch.access_footprint import ByteRuns, runs
from triton_lab.launch.byte_ranges import Ranges
from triton_lab.localization import N_, _, translated
from triton_lab.messages import seconds_text

LIMITS: Mapping[str, str] = {
    "dram": N_("memory"),
    "l2": N_("second-level cache"),
    "lsu": N_("loads and stores"),
    "issue": N_("instructions"),
    "products": N_("tensor cores"),
    "atomics": N_("atomics"),
    "latency": N_("waiting"),
    "starts": N_("starting programs"),
}
"""What limits a launch, by the name of its part: as users read it."""

_NORM = 4.0  # of the units; waiting overlaps less with their work, and joins it by a norm of 2
_SLOTS = 4  # instructions that a multiprocessor issues in a cycle
_MMA_SHARE = 0.62  # of the peak of Hopper's tensor cores that mma.sync reaches; wgmma is needed for more
_KEPT = 0.6  # the share of the first-level cache in which lines live until they are used again
_LINE = 128  # bytes
_SPILT = 8  # cycles that a register waits, which a loop stores and loads again
_OVERFLOWS = 0.8  # the share of the second-level cache from which on data does not stay in it


@dataclass(frozen=True)
class SectorFootprint:
    """The bytes in the sectors that a whole launch reads and writes, each counted once."""

    read: int
    written: int

    @property
    def bytes(self) -> int:
        return self.read + self.written


@dataclass(frozen=True)
class PredictedTime:
    """``seconds`` of a launch, and the seconds of each ``parts`` by itself."""

    seconds: float
    parts: Mapping[str, float]

    @property
    def limit(self) -> str:
        """The name of the slowest part."""
        return max(self.parts, key=lambda name: self.parts[name])

    def __str__(self) -> str:
        return _("{seconds}, limited by {limit}").format(
            seconds=seconds_text(self.seconds), limit=translated(LIMITS[self.limit])
        )


@dataclass(frozen=True, eq=False)
class TimeModel:
    """A compiled launch of which some programs were followed (`Recorded.own`), scaled to all of them."""

    cost: LaunchCost
    footprint: SectorFootprint

    @property
    def _found(self) -> Transactions:
        assert self.cost.transactions is not None
        return self.cost.transactions

    @cached_property
    def _gpu(self) -> GpuTiming:
        return timing(self.cost.target)

    @property
    def programs(self) -> int:
        """The programs of the launch."""
        return self.cost.launch.programs

    @property
    def _scale(self) -> float:
        return self.programs / max(1, len(self.cost.launch.own))

    @cached_property
    def _at_once(self) -> int:
        """The programs that a multiprocessor holds at once, as far as there are that many."""
        held = self.cost.occupancy
        most = max(1, held.programs) if held is not None else 1
        return min(most, max(1, math.ceil(self.programs / self._gpu.multiprocessors)))

    @cached_property
    def _runs(self) -> list[tuple[Transfer, list[ByteRuns]]]:
        return [
            (one, [runs(event, one.access.itemsize) for event in one.access.completed.events])
            for one in self._found.transfers
            if one.joined.operation is not None
        ]

    def predicted(self) -> PredictedTime:
        """The time. Raises ValueError for a GPU without figures."""
        gpu, busy = self._gpu, min(self.programs, self._gpu.multiprocessors)
        second = busy * gpu.clock  # the cycles of all multiprocessors that have a program
        parts = {
            "dram": self._dram / gpu.peaks.bytes,
            "l2": self._l2 / gpu.l2_rate * (gpu.multiprocessors / busy if busy * 2 < gpu.multiprocessors else 1.0),
            "lsu": self._lsu / second,
            "issue": self._issue / _SLOTS / second,
            "products": self._products * (gpu.multiprocessors / busy),
            "atomics": self._atomics / gpu.clock,
            "latency": self._latency / gpu.clock,
            "starts": self.programs / busy * max(gpu.gap, 60 + 12 * self.cost.metadata.warps) / gpu.clock,
        }
        units = sum(seconds**_NORM for name, seconds in parts.items() if name != "latency") ** (1 / _NORM)
        whole = math.hypot(units, parts["latency"])
        return PredictedTime(gpu.launch + whole, parts)

    # --- Memory ---------------------------------------------------------------------------------------

    @cached_property
    def _dram(self) -> float:
        """Bytes of DRAM: each byte once, unless the launch touches more than the second-level cache holds."""
        whole = self.footprint.bytes
        if whole <= self._gpu.l2 * _OVERFLOWS:
            return whole
        together = _sectors([each for _one, several in self._runs for each in several]) * SECTOR
        return max(whole, min(together * self._scale, self._l2))

    @cached_property
    def _l2(self) -> float:
        """Bytes that pass between multiprocessors and the second-level cache."""
        loaded = [(one, several) for one, several in self._runs if one.way == "load"]
        all_loads = sum(one.sectors for one, _several in loaded)
        each = [run for _one, several in loaded for run in several]
        programs, together = max(1, len(self.cost.launch.own)), self._at_once
        own = _sectors(each, apart=True) / programs
        common = min(own, self._common(each))
        held = (own - common) * together + common  # sectors of the programs of a multiprocessor
        room = max(0, self._gpu.l1 - together * (self.cost.metadata.shared or 0)) * _KEPT
        fits = held * SECTOR <= room
        loads = min(held / together * programs, all_loads) if fits else all_loads
        rest = sum(one.sectors for one, _several in self._runs if one.way != "load")
        moved = (loads + rest) * SECTOR * self._scale
        spilt = self._spilt * 2
        return moved + (spilt if spilt / self.programs * self._at_once > room else 0)

    def _common(self, loads: Sequence[ByteRuns]) -> int:
        """The sectors that two programs both load, far from each other as those of one multiprocessor are."""
        own = self.cost.launch.own
        if len(own) < 2:
            return 0
        ends = [[each.at(np.flatnonzero(each.program == number)) for each in loads] for number in (own[0], own[-1])]
        return sum(map(_sectors, ends)) - _sectors([each for end in ends for each in end])

    @property
    def _spilt(self) -> float:
        """Bytes of the registers that all threads of the launch spill."""
        held = self.cost.metadata
        return 4.0 * (held.spills or 0) * held.warps * held.lanes * self.programs

    @cached_property
    def _lsu(self) -> float:
        """Cycles of the load and store units, of all multiprocessors together."""
        cycles = 0.0
        for one in self._found.transfers:
            scattered = one.requests and one.sectors / one.requests > max(4, 2 * one.width)
            cycles += max(one.requests, one.sectors / (2 if scattered else 4))
        cycles += sum(line.wavefronts for line in self._found.shared)
        return cycles * self._scale + self._spilt * self._rounds * 2 / 128

    @cached_property
    def _atomics(self) -> float:
        """Cycles of the line of memory that most atomics change: each of their sectors there waits for the others."""
        most = 0.0
        for one, several in self._runs:
            if one.way == "atomic" and any(len(each) for each in several):
                start, stop = (np.concatenate([getattr(each, end) for each in several]) for end in ("start", "stop"))
                _element, same = np.unique(start, return_counts=True)
                first, last = start // _LINE, (stop - 1) // _LINE
                steps = np.arange(int((last - first).max()) + 1)
                lines = first[:, None] + steps
                _line, counts = np.unique(lines[lines <= last[:, None]], return_counts=True)
                # Elements that no two of the programs change are others in the rest of the grid.
                programs = self._scale if same.max() > 1 else 1.0
                most += one.sectors * programs * float(counts.max() / counts.sum()) * self._gpu.atomic
        return most

    # --- Instructions ---------------------------------------------------------------------------------

    @cached_property
    def _times(self) -> list[float]:
        """How often a program runs each instruction of PTX."""
        programs = max(1, len(self.cost.launch.own))
        return [(self._found.times(one) or 0) / programs for one in self._found.ptx.instructions]

    @property
    def _rounds(self) -> float:
        """How often a program stores and loads the registers that it spills: once in each round of its hottest loop."""
        return max(self._times, default=1.0)

    @cached_property
    def _issue(self) -> float:
        """Slots of schedulers, of all multiprocessors together."""
        pairs = zip(self._found.ptx.instructions, self._times, strict=True)
        once = sum(issued(one) * times for one, times in pairs)
        spilt = 2 * (self.cost.metadata.spills or 0) * self._rounds
        return (once + spilt) * self.cost.metadata.warps * self.programs

    @cached_property
    def _products(self) -> float:
        """Seconds of the tensor cores, all of them busy."""
        asynchronous = any(one.opcode.startswith("wgmma") for one in self._found.ptx.instructions)
        share = 1.0 if asynchronous or self.cost.target == "sm_80" else _MMA_SHARE
        peaks = self._gpu.peaks
        counted = self.cost.arithmetic.products
        return sum(times / (peaks.rate(name) * share) for name, times in counted.items()) * self._scale

    @cached_property
    def _latency(self) -> float:
        """Cycles of programs one after the other, on the multiprocessor that has most."""
        gpu = self._gpu
        share = min(1.0, self._dram / max(1.0, self._l2))
        far = gpu.near + (gpu.far - gpu.near) * share
        times = dict(zip((one.index for one in self._found.ptx.instructions), self._times, strict=True))
        cycles = gpu.start + critical_cycles(self._found.ptx, lambda one: times[one.index], far)
        cycles += _SPILT * (self.cost.metadata.spills or 0) * self._rounds
        places = gpu.multiprocessors * self._at_once
        turns = self.programs / places
        return cycles * (math.ceil(turns) if turns < 4 else turns)


def footprint(accesses: Sequence[Access], writing: Collection[int]) -> SectorFootprint:
    """The footprint of a launch with all its ``accesses``; ``writing`` are the operations that write."""
    sides: tuple[list[ByteRuns], list[ByteRuns]] = ([], [])
    for access in accesses:
        sides[access.op in writing].extend(runs(event, access.itemsize) for event in access.completed.events)
    read, written = (_sectors(side) * SECTOR for side in sides)
    return SectorFootprint(read, written)


def _sectors(each: Sequence[ByteRuns], apart: bool = False) -> int:
    """The sectors in runs, each counted once; with ``apart`` once for each program."""
    each = [one for one in each if len(one)]
    if not each:
        return 0
    start, stop, program = (
        np.concatenate([getattr(one, name) for one in each]) for name in ("start", "stop", "program")
    )
    first, last = start // SECTOR, -(-stop // SECTOR)
    low = int(first.min())
    room = int(last.max()) - low + 1
    move = (program - program.min()) * room if apart else 0
    joined = Ranges.of(first - low + move, last - low + move)
    return int((joined.stop - joined.start).sum())
