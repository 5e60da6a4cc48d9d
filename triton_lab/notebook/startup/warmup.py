"""Prepares a notebook's kernel for its first picture while it is idle, so that the user need not wait for imports.

This happens only in a kernel that will use the lab: ``%load_ext triton_lab`` or ``%%triton`` ran in it, or JupyterLab's
extension saw a ``%%triton`` cell in its notebook. Nothing is imported before the user has imported torch and Triton: on
import, these (and NumPy) read environment variables such as TRITON_INTERPRET, which a first cell may still set.

The work runs on the kernel's own loop, between cells, in steps of some tenths of a second. So no thread imports beside
the user's code, no lock is held when a cell forks, and a cell waits for one step at most. TRITON_LAB_WARM_UP=0 turns it
off.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import logging
import os
import sys
import warnings
from collections.abc import Callable, Iterator
from typing import Any

OFF = "TRITON_LAB_WARM_UP"
IDLE = 0.3  # seconds without a cell before the first step: cells that are run together follow sooner
BETWEEN = 0.05  # seconds between two steps, for messages that have arrived meanwhile
# The modules that a first `%%triton` cell needs, in its order.
MODULES = (
    "triton_lab.notebook.cell.magic_options",
    "triton_lab.notebook.cell.error_display",
    "triton_lab.launch.recording.record",
    "triton_lab.views.launch.card.launch_card",
    "triton_lab.views.notebook_output",
    "matplotlib.figure",
    "matplotlib.backends.backend_agg",
    "triton_lab.views.drawing.png",
)


class Ready:
    """The steps of one kernel; ``later`` returns its loop's ``call_later``, None if it has none."""

    def __init__(self, later: Callable[[], Callable[..., Any] | None], steps: Iterator[None]) -> None:
        self._later, self._steps = later, steps
        self._timer: Any = None
        self._done = False

    def idle(self, *_: Any) -> None:
        """Schedule the next step: a cell has ended."""
        self.busy()
        self._after(IDLE)

    def busy(self, *_: Any) -> None:
        """Cancel the next step: a cell begins, and takes precedence."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def end(self) -> None:
        """Stop: nothing is left to prepare."""
        self.busy()
        self._done = True

    def _after(self, seconds: float) -> None:
        later = None if self._done or not {"torch", "triton"} <= sys.modules.keys() else self._later()
        if later is not None:
            self._timer = later(seconds, self._step)

    def _step(self) -> None:
        self._timer = None
        try:
            with _silently():
                next(self._steps)
        except Exception:  # StopIteration at the end; on other errors, the cell that needs the module reports them
            self._done = True
        self._after(BETWEEN)


_ready: dict[int, tuple[Any, Ready]] = {}


def get_ready(shell: Any) -> None:
    """Use the time between the cells of this shell from now on, if it belongs to a notebook."""
    if getattr(shell, "kernel", None) is None or id(shell) in _ready or os.environ.get(OFF) == "0":
        return
    mine = Ready(_call_later, steps())
    _ready[id(shell)] = shell, mine
    for event, each in _hooks(mine):
        shell.events.register(event, each)
    mine.idle()


def leave(shell: Any) -> None:
    """Stop the preparation of this shell."""
    _, mine = _ready.pop(id(shell), (None, None))
    if mine is not None:
        mine.end()
        for event, each in _hooks(mine):
            shell.events.unregister(event, each)


def _hooks(mine: Ready) -> tuple[tuple[str, Callable[..., None]], ...]:
    """The callbacks of a shell, by the event that calls them."""
    return (("pre_run_cell", mine.busy), ("post_run_cell", mine.idle))


def enough(shell: Any) -> None:
    """Stop the preparation: a cell has shown a launch, so everything is ready."""
    _, mine = _ready.get(id(shell), (None, None))
    if mine is not None:
        mine.end()


def steps() -> Iterator[None]:
    """The steps, each run when requested; steps that the front end and the machine do not need are left out."""
    for name in MODULES:
        importlib.import_module(name)
        yield
    from triton_lab.views.frontend_presence import announced, widgets_are_shown

    if widgets_are_shown() and not announced():
        importlib.import_module("triton_lab.views.widget")
        yield
    from triton_lab.notebook.startup import sample_launch

    if sample_launch.harmless():
        launch = sample_launch.launch()
        yield
        sample_launch.show(launch)


def _call_later() -> Callable[..., Any] | None:
    try:
        return asyncio.get_running_loop().call_later
    except RuntimeError:
        return None


@contextlib.contextmanager
def _silently() -> Iterator[None]:
    """Suppress all output of imports: the user did not request them."""
    fonts = logging.getLogger("matplotlib.font_manager")
    before, fonts.disabled = fonts.disabled, True
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        fonts.disabled = before
