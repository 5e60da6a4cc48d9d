"""A progress bar in the notebook for launches that take a while."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from typing import Any

from triton_lab.backend import launcher
from triton_lab.backend.progress import PATIENCE
from triton_lab.words import count, number

# A bar is drawn anew so many seconds later at the earliest.
PAUSE = 0.1


class NotebookBar:
    """Called with the number of programs that have run, and of how many; shows itself when that takes long."""

    def __init__(self, show: Callable[[Any], Any], clock: Callable[[], float] = time.monotonic) -> None:
        self._show = show
        self._clock = clock
        self._start = clock()
        self._due = self._start + PATIENCE
        self._before = 0
        self._bar: Any = None
        self._words: Any = None

    def __call__(self, done: int, total: int) -> None:
        now = self._clock()
        if done < self._before:  # another launch
            self._start = now
        self._before = done
        if now < self._due or (self._bar is None and done >= total):
            return
        self._due = now + PAUSE
        if self._bar is None:
            import ipywidgets

            self._bar = ipywidgets.IntProgress(min=0, layout=ipywidgets.Layout(width="260px"))
            self._words = ipywidgets.Label()
            self._box = ipywidgets.HBox([self._bar, self._words])
            self._show(self._box)
        self._bar.max, self._bar.value = total, done
        left = (now - self._start) * (total - done) / max(1, done)
        told = f"{number(done)} of {count(total, 'program')}"
        self._words.value = f"{told}, {left:.0f} s to go; interrupt the kernel (■) to stop"

    def close(self) -> None:
        """Take the bar away."""
        if self._bar is not None:
            self._box.close()
            self._bar = None


@contextlib.contextmanager
def notebook_bar() -> Iterator[None]:
    """Launches inside show a bar in a notebook's cell; a terminal has its own, and a listener of the user's stays."""
    from IPython.core.getipython import get_ipython
    from IPython.display import display

    if launcher.progress is not None or getattr(get_ipython(), "kernel", None) is None:
        yield
        return
    bar = NotebookBar(display)
    launcher.progress = bar
    try:
        yield
    finally:
        launcher.progress = None
        bar.close()
