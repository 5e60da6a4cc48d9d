"""What a debugger keeps from one launch to the next: the breakpoints as the user set them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from triton_lab.launch.debugging.block_expression import ConditionError
from triton_lab.launch.debugging.breakpoints import Breakpoint, BreakpointError
from triton_lab.launch.debugging.debugger import Debugger
from triton_lab.launch.launch import Launch
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
