"""Runs a recorded launch again, its programs on several threads, if they keep apart in memory."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from contextvars import Context
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.footprint.access_blocks import Blocks
from triton_lab.footprint.disjoint_programs import apart
from triton_lab.interpreter.bound_plan import Executable
from triton_lab.interpreter.frame import Frame, Observer
from triton_lab.interpreter.machine import BATCH_BYTES, Limits
from triton_lab.interpreter.memory_regions import Memory, MemoryRegion
from triton_lab.ir import Op, effects
from triton_lab.ir.effects import Role
from triton_lab.launch.recording.launch_record import Recorded
from triton_lab.launch.recording.progress_callback import LATE, TookTooLong, breathe, left, within
from triton_lab.launch.recording.replay_error import CannotReplay
from triton_lab.launch.recording.watcher import Watcher
from triton_lab.launch.replay.replay_run import replay
from triton_lab.localization import translated

Array = NDArray[Any]

_MOST = 12  # threads, and ranges of programs: with more of them Python's lock is what they wait for
# The bytes of live values in a batch of one of several threads. The larger a batch, the less often they wait for
# Python's lock: attention 4x16x2048x64 on 16 cores is compared in 6 s, with a quarter of it in 11 s.
_BATCH_BYTES = 8 * BATCH_BYTES
_LOOK = 0.05  # seconds between two looks at the time
_LONG = 0.1  # seconds of a launch from which on threads are worth it


def keep_apart(launch: Recorded, executable: Executable, memory: Memory) -> bool:
    """Whether no program can load what another one stores: loads and stores go to different regions of memory.

    Two programs may still store to one element.
    """
    if executable.waiting_loops or executable.updates or launch.error is not None or launch.snapshot is None:
        return False
    reach = executable.reach(memory.beginning_at(launch.snapshot.owners))
    loaded: set[MemoryRegion] = set()
    stored: set[MemoryRegion] = set()
    for op in executable.plan.walk():
        if effects.is_access(op):
            regions = reach.get(op.index)
            if regions is None:
                return False
            (stored if effects.writes(op) else loaded).update(regions)
    return not loaded & stored


def processors() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def replay_in_threads(
    launch: Recorded, executable: Executable, memory: Memory, observer: Callable[[threading.Event], Observer]
) -> CannotReplay | None:
    """Run the programs of a launch that `keep_apart` in ``memory``, each range of them with an observer of its own.

    Returns the error that ended it early, None if all programs have run. ``observer`` is given an event: once it is
    set, the observer should raise CannotReplay. Raises KernelError as `replay` does.
    """
    programs = np.asarray(launch.own, np.int64)
    threads = min(_MOST, processors(), len(programs))
    ranges = [part for part in np.array_split(programs, _MOST) if len(part)]
    stop, seconds = threading.Event(), left()
    limits = Limits() if launch.tape is None else launch.tape.limits
    if threads > 2 and limits.batch is None:
        footprint = executable.routines[executable.plan.kernel.name].footprint
        limits = replace(limits, batch=max(1, _BATCH_BYTES // max(1, footprint)))

    def run(part: np.ndarray) -> None:
        watcher = observer(stop)
        with within(seconds):
            replay(
                launch,
                executable=executable,
                observer=watcher,
                access_observer=watcher,
                programs=part,
                limits=limits,
                memory=memory,
            )

    # In a context of their own: only this thread shows progress.
    with ThreadPoolExecutor(threads) as pool:
        waiting: set[Future[None]] = {pool.submit(Context().run, run, part) for part in ranges}
        failed: BaseException | None = None
        try:
            while waiting and failed is None:
                done, waiting = wait(waiting, _LOOK, FIRST_EXCEPTION)
                failed = next((one.exception() for one in done if one.exception() is not None), None)
                breathe()
        except CannotReplay as error:
            failed = failed or error
        finally:
            if failed is not None or waiting:
                stop.set()
            for one in waiting:
                one.cancel()
    if failed is not None and not isinstance(failed, CannotReplay):
        raise failed
    return failed


class _Stores(Watcher):
    """Notes in ``found`` what programs store to, None where that is no affine block."""

    def __init__(self, found: list[Blocks | None], stop: threading.Event) -> None:
        self._found, self._stop = found, stop

    def access(self, frame: Frame, op: Op, kind: str, pointer: Any, mask: Any, values: Array | None) -> None:
        if self._stop.is_set():
            raise TookTooLong(translated(LATE))
        if effects.writes(op):
            blocks = None
            if values is not None:
                blocks = Blocks.around(pointer, mask, frame.programs, Role.STORE, values.dtype.itemsize)
            self._found.append(blocks)


def memory_after(launch: Recorded) -> Memory:
    """The memory after a launch, as `replay` gives it. A long launch runs on several threads.

    If two of its programs may store to one element, it then runs again, one program after the other. Raises
    CannotReplay.
    """
    if processors() > 2 and launch.snapshot is not None and max(launch.seconds, launch.interpreted) > _LONG:
        memory = launch.snapshot.memory()
        if launch.programs > 1 and keep_apart(launch, launch.executable, memory):
            stored: list[Blocks | None] = []
            stopped = replay_in_threads(launch, launch.executable, memory, lambda stop: _Stores(stored, stop))
            if stopped is not None:
                raise stopped
            known = [blocks for blocks in stored if blocks is not None]
            if len(known) == len(stored) and apart(known):
                return memory
    return replay(launch)
