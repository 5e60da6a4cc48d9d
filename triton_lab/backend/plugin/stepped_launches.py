"""Launches that a debugger stops in: those of kernels with ``breakpoint()``, and while one is active, all."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from triton_lab.backend.plugin.recorders import recorders
from triton_lab.backend.source.kernel_breakpoints import breakpoint_lines
from triton_lab.backend.targets.benchmark_events import is_trial
from triton_lab.providers import provided

Around = Callable[[Any, Callable[[], None]], None]
# An active debugger: called with the kernel (Triton's function) and what launches it, which it must call.
around: Around | None = None


def has_stops(source: Any) -> bool:
    """Whether there is a ``breakpoint()`` in the kernel that ``source`` was compiled from."""
    kernel = getattr(source, "fn", None)
    return kernel is not None and getattr(kernel, "fn", None) is not None and bool(breakpoint_lines(kernel))


def launch(source: Any, run: Callable[[], None]) -> None:
    """``run()``, which launches the kernel of ``source``; it may be stepped through."""
    if recorders.ours or is_trial():
        run()
    elif around is not None:
        around(source.fn, run)
    else:
        provided("stop_at_breakpoints")(source.fn, run)
