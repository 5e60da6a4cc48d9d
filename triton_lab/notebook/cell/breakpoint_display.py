"""``breakpoint()`` in a kernel that a cell launches: the debugger's picture, at the program and line that it stops."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from triton_lab.launch.debugging.block_expression import ConditionError
from triton_lab.launch.debugging.breakpoints import BreakpointError
from triton_lab.launch.debugging.debugger import Debugger
from triton_lab.launch.launch import Launch
from triton_lab.launch.recording.replay_error import CannotReplay
from triton_lab.localization import _
from triton_lab.messages import launched

MOST = 5  # launches that one cell shows
_shown: Counter[int] = Counter()


def show_breakpoints(launch: Launch, breakpoints: Sequence[tuple[int, str]] = ()) -> None:
    """Display the first program that a breakpoint stops, for the first `MOST` launches of a cell.

    ``breakpoints`` are lines with conditions, beside the kernel's own ``breakpoint()``.
    """
    from IPython.core.getipython import get_ipython
    from IPython.display import display

    from triton_lab.views.launch.values.debugger_view import DebuggerView

    shell: Any = get_ipython()
    cell = shell.execution_count
    for old in [one for one in _shown if one != cell]:
        del _shown[old]
    name = launched(launch.kernel, launch.grid)
    if _shown[cell] >= MOST:
        if _shown[cell] == MOST:
            print(_("breakpoint(): this cell shows its first {most} launches alone").format(most=MOST))
            _shown[cell] += 1
        return
    try:
        view = DebuggerView(launch, None, _readable(launch, breakpoints))
    except CannotReplay as error:
        print(_("{launched} cannot be stepped through: {error}").format(launched=name, error=error))
        return
    if view.stops:
        _shown[cell] += 1
        display(view)  # type: ignore[no-untyped-call]


def _readable(launch: Launch, breakpoints: Sequence[tuple[int, str]]) -> list[tuple[int, str]]:
    """The breakpoints that can be set, so that a mistake in one does not pass over the others; it is printed."""
    if not breakpoints:
        return []
    debugger = Debugger(launch)
    found = []
    for line, condition in breakpoints:
        try:
            debugger.break_at(line, condition)
        except (BreakpointError, ConditionError) as error:
            print(_("breakpoint at line {line}: {error}").format(line=line, error=error))
        else:
            found.append((line, condition))
    return found
