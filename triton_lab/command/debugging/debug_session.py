"""Launches under a debugger: each is recorded, and a front end then steps through what it did."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from triton_lab.backend.plugin import stepped_launches
from triton_lab.launch.debugging.block_expression import ConditionError
from triton_lab.launch.debugging.breakpoints import Breakpoint, BreakpointError
from triton_lab.launch.debugging.debugger import Debugger
from triton_lab.launch.launch import Launch
from triton_lab.launch.recording.record import record
from triton_lab.launch.recording.replay_error import CannotReplay
from triton_lab.localization import _
from triton_lab.messages import launched


@dataclass(frozen=True)
class WantedBreakpoint:
    """A breakpoint as the user set it, for each kernel that has the line; see `breakpoint_at`."""

    file: str | None
    line: int | None
    condition: str = ""
    hits: str = ""


def recorded(run: Callable[[], None], show: Callable[[Launch], None]) -> None:
    """Launch by ``run()``, and ``show`` the recorded launch, also one that failed. Raises the launch's error."""
    with record() as launches:
        try:
            run()
        finally:
            if launches:
                show(launches[-1])


@contextlib.contextmanager
def all_launches(show: Callable[[Launch], None]) -> Iterator[None]:
    """Inside, ``show`` gets each launch of this process after it has run."""

    def around(kernel: Any, run: Callable[[], None]) -> None:
        recorded(run, show)

    before, stepped_launches.around = stepped_launches.around, around
    try:
        yield
    finally:
        stepped_launches.around = before


def not_steppable(launch: Launch, error: CannotReplay) -> str:
    """Why there is nothing to step through."""
    return _("{launched} cannot be stepped through: {error}").format(
        launched=launched(launch.kernel, launch.grid), error=error
    )


def set_all(debugger: Debugger, wanted: Sequence[WantedBreakpoint]) -> list[tuple[WantedBreakpoint, Breakpoint | str]]:
    """Set those breakpoints that this kernel has; each with the breakpoint, or why there is none."""
    done: list[tuple[WantedBreakpoint, Breakpoint | str]] = []
    for one in wanted:
        try:
            done.append((one, debugger.break_at(one.line, one.condition, one.hits, one.file)))
        except (BreakpointError, ConditionError) as error:
            done.append((one, str(error)))
    return done
