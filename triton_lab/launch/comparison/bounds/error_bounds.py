"""Bounds of the rounding errors in a launch's results: the launch is replayed with a bound beside each value."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from triton_lab.interpreter.bound_plan import Executable
from triton_lab.interpreter.memory_regions import Memory
from triton_lab.launch.argument import Argument
from triton_lab.launch.comparison.bounds.bound import Bound
from triton_lab.launch.comparison.bounds.memory_bounds import MemoryBounds
from triton_lab.launch.comparison.bounds.rounding_watcher import RoundingWatcher
from triton_lab.launch.comparison.launch_results import read, tensors
from triton_lab.launch.comparison.number_formats import unit_roundoff
from triton_lab.launch.recording.launch_record import Recorded
from triton_lab.launch.recording.progress_callback import TookTooLong, within
from triton_lab.launch.recording.replay_error import CannotReplay
from triton_lab.launch.replay.parallel_replay import keep_apart, replay_in_threads
from triton_lab.launch.replay.replay_run import replay
from triton_lab.localization import _


def bounds(
    launch: Recorded,
    same: bool = True,
    executable: Executable | None = None,
    only: Collection[str] | None = None,
    seconds: float | None = None,
) -> dict[str, Bound]:
    """The `Bound` of each element of each tensor of ``launch``, in float64, infinite where it is not known.

    With ``same``, the bounds are between two runs of this kernel; otherwise to what other roundings of the same
    operations give, a loop's sum added in any order. See `rounding_rules`. ``executable`` may replace the launch's own.
    With ``only``, the two runs differ only in the operations with these names, and only those add errors. Raises
    CannotReplay, also if it takes longer than ``seconds``.
    """
    found, reason = bounds_so_far(launch, same, executable, only, seconds)
    if reason:
        raise TookTooLong(reason)
    return found


def bounds_so_far(
    launch: Recorded,
    same: bool = True,
    executable: Executable | None = None,
    only: Collection[str] | None = None,
    seconds: float | None = None,
) -> tuple[dict[str, Bound], str]:
    """As `bounds`, and why some elements were not looked at, "" if all were. Raises CannotReplay if none could be."""
    runs = executable or launch.executable
    with within(np.inf if seconds is None else seconds):
        if launch.snapshot is None:
            raise CannotReplay(_("the launch was recorded without the data that a rerun needs"))
        memory = launch.snapshot.memory()
        if launch.programs > 1 and keep_apart(launch, runs, memory):
            held = MemoryBounds(memory, shared=True)
            stopped = replay_in_threads(
                launch, runs, memory, lambda stop: RoundingWatcher(launch, same, runs, only, held, stop)
            )
            if not held.overlaps:
                found = {
                    argument.name: _of(held, argument, memory, same, stopped is None) for argument in tensors(launch)
                }
                return found, "" if stopped is None else str(stopped)
            if stopped is not None:
                raise stopped
            memory = launch.snapshot.memory()
        held = MemoryBounds(memory)
        watcher = RoundingWatcher(launch, same, runs, only, held)
        replay(launch, executable=executable, observer=watcher, access_observer=watcher, memory=memory)
        return {argument.name: _of(held, argument, memory, same) for argument in tensors(launch)}, ""


def _of(held: MemoryBounds, argument: Argument, memory: Memory, same: bool, whole: bool = True) -> Bound:
    final = read(memory, argument)
    return held.of(argument, final, unit_roundoff(final.dtype), same, whole)
