"""``breakpoint()`` in a kernel was reached: a notebook or a terminal steps through the launch, others go on."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from triton_lab.backend.source.kernel_breakpoints import breakpoint_lines
from triton_lab.launch.launch import Launch
from triton_lab.localization import _

if TYPE_CHECKING:
    from triton_lab.command.debugging.terminal_debugger import TerminalSession

_said: set[tuple[str, int]] = set()
_sessions: list[TerminalSession] = []


def stop_at_breakpoints(kernel: Any, run: Callable[[], None]) -> None:
    """Launch ``kernel`` by ``run()`` and step through what it did from the first ``breakpoint()`` that was reached."""
    front = _front()
    if front is None:
        _go_on(kernel)
        run()
        return
    from triton_lab.launch.debugging.stepped_launch import recorded

    recorded(run, front)


def _front() -> Callable[[Launch], None] | None:
    """Who shows the launch here; None if there is no one to ask."""
    if "IPython" in sys.modules:
        from IPython.core.getipython import get_ipython

        if getattr(get_ipython(), "kernel", None) is not None:
            from triton_lab.notebook.cell.breakpoint_display import show_breakpoints

            return show_breakpoints
    if _is_terminal(sys.stdin) and _is_terminal(sys.stdout):
        return _terminal().show
    return None


def _terminal() -> TerminalSession:
    """The session of this process's terminal, which keeps breakpoints from one launch to the next."""
    if not _sessions:
        from triton_lab.command.debugging.terminal_debugger import TerminalSession

        _sessions.append(TerminalSession(first=False))
    return _sessions[0]


def _is_terminal(stream: Any) -> bool:
    try:
        return bool(stream.isatty())
    except (AttributeError, ValueError):  # no stream, or a closed one
        return False


def _go_on(kernel: Any) -> None:
    """Say once for each place that nobody can answer here."""
    file, line = breakpoint_lines(kernel)[0]
    if (file, line) not in _said:
        _said.add((file, line))
        print(
            _(
                "{file}:{line}: breakpoint() in {kernel} is passed over, since standard input is no terminal. To step "
                "through it: triton-lab debug SCRIPT in a terminal, or run it in a notebook"
            ).format(file=file, line=line, kernel=kernel.__name__),
            file=sys.stderr,
        )
