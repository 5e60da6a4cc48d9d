"""Runs and checks a range of a launch's programs by itself, in any process, on the memory before the launch."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.backend.targets.autotuner_trials import Tuning
from triton_lab.interpreter.bound_plan import Executable
from triton_lab.interpreter.kernel_errors import KernelError, KernelErrorData
from triton_lab.interpreter.machine import Limits, Machine
from triton_lab.interpreter.memory_regions import Memory, MemoryRegion
from triton_lab.interpreter.printing import KernelPrinter
from triton_lab.ir import effects, parse_plan
from triton_lab.launch.access_footprint import runs
from triton_lab.launch.argument import Argument
from triton_lab.launch.byte_ranges import Ranges, true_ranges
from triton_lab.launch.diagnosis.verdict import Verdict
from triton_lab.launch.launch import Launch
from triton_lab.launch.recording.snapshot import Snapshot
from triton_lab.launch.recording.tape import Tape
from triton_lab.launch.replay.instrumented_copy import Surroundings
from triton_lab.launch.source_lines import UserLine

Bytes = NDArray[np.uint8]


@dataclass(frozen=True, eq=False)
class Whole:
    """A launch before its run, as data for its parts.

    ``plan`` is the kernel's plan as text, and ``room`` the bytes that a part's tape may take; ``unwritten``, ``blank``
    and ``unknown`` are those of `Tape`. ``options`` are those of Triton with which the kernel was compiled.
    """

    kernel: str
    grid: tuple[int, int, int]
    arguments: tuple[Argument, ...]
    source: str
    first_line: int
    file: str
    plan: str
    lines: Mapping[int, UserLine | None]
    snapshot: Snapshot
    limits: Limits
    room: int
    unwritten: Ranges
    blank: Ranges
    unknown: Ranges
    tuning: Tuning | None = None
    site: tuple[str, int] | None = None
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Done:
    """The result of running the programs ``own``.

    By operation: ``touched`` has the bytes it touched, ``kinds`` is as in `Tape`, and ``owners`` has the name of its
    argument. ``changed`` are the bytes that were written, and ``data`` their new content in order. ``idle`` are ranges
    of programs that touched nothing, and ``several`` the bytes that several of the programs read. ``stopped`` has the
    errors of the programs that failed, the first one first.
    ``lost`` says in words that accesses were not recorded; then nothing here is complete.
    """

    own: range
    touched: Mapping[int, Ranges]
    kinds: Mapping[int, tuple[str, str, int]]
    owners: Mapping[int, str]
    changed: Ranges
    data: Bytes
    idle: Ranges
    several: Ranges
    verdict: Verdict
    stopped: tuple[KernelErrorData, ...]
    printed: str
    lost: str


def perform(whole: Whole, own: range) -> Done:
    """Run the programs ``own`` on a copy of the memory, and check them."""
    from triton_lab.launch.checks.analysis.evidence import Evidence
    from triton_lab.launch.checks.analysis.other_failures import other_failures
    from triton_lab.launch.checks.check_run import check

    tape = Tape(whole.room, whole.limits, whole.unwritten, whole.blank, whole.unknown)
    launch = _launch(whole, own, tape)
    printed: list[str] = []
    memory = _run(launch, whole, printed)
    evidence = Evidence(launch, tape)
    touched = {
        op: Ranges.joined(runs(event, tape.kinds[op][2]) for event in events)
        for op, events in sorted(tape.events.items())
    }
    owners = {op: found.name for op in touched if (found := launch.owner_of(op)) is not None}
    changed = Ranges.joined(touched[op] for op in touched if effects.writes(evidence.ops[op]))
    stopped: list[KernelErrorData] = []
    if isinstance(launch.error, KernelError):
        stopped = [KernelErrorData.of(error) for error in (launch.error, *other_failures(launch, launch.error))]
    return Done(
        own,
        touched,
        tape.kinds,
        owners,
        changed,
        held_by(memory, changed),
        true_ranges(np.isin(np.asarray(own), evidence.idle()), own.start),
        evidence.read_by_several(),
        check(launch, part=True),
        tuple(stopped),
        "".join(printed),
        tape.cut,
    )


def held_by(memory: Memory, where: Ranges) -> Bytes:
    """The content of these bytes, in order."""
    parts = [region.data[low:high] for region, low, high in pieces(memory, where)]
    return np.concatenate([np.empty(0, np.uint8), *parts])


def pieces(memory: Memory, where: Ranges) -> Iterator[tuple[MemoryRegion, int, int]]:
    """These bytes as pieces of regions: ``(region, first byte, end)``, counted from the region's start."""
    for start, stop in zip(where.start.tolist(), where.stop.tolist(), strict=True):
        while start < stop:
            region = memory.holding(start)
            assert region is not None  # every access was checked
            end = min(stop, region.stop)
            yield region, start - region.start, end - region.start
            start = end


def _run(launch: Launch, whole: Whole, printed: list[str]) -> Memory:
    """Run the part with its tape as observer; return its memory. A kernel error goes to ``launch.error``."""
    snapshot, tape = whole.snapshot, launch.tape
    assert tape is not None
    memory = snapshot.memory()
    machine = Machine(
        launch.executable,
        snapshot.arguments,
        whole.grid,
        memory,
        access_observer=tape,
        limits=whole.limits,
        printer=KernelPrinter(whole.grid, whole.limits.lines, printed.append),
    )
    machine.allow(launch.executable.reach(memory.beginning_at(snapshot.owners)))
    try:
        machine.run(launch.own)
    except KernelError as error:
        launch.error = error
        tape.failed(error, launch.executable.plan)
    return memory


def _launch(whole: Whole, own: range, tape: Tape) -> Launch:
    return Launch(
        kernel=whole.kernel,
        grid=whole.grid,
        arguments=whole.arguments,
        target="cpu",
        source=whole.source,
        first_line=whole.first_line,
        file=whole.file,
        executable=_executable(whole.plan),
        compiled=(None, SimpleNamespace(**whole.options)),
        surroundings=Surroundings({}, ()),
        events=tape.events,
        kinds=tape.kinds,
        lines=whole.lines,
        tape=tape,
        snapshot=whole.snapshot,
        tuning=whole.tuning,
        site=whole.site,
        part=own,
    )


@functools.lru_cache(maxsize=4)
def _executable(plan: str) -> Executable:
    return Executable.of(parse_plan(plan))
