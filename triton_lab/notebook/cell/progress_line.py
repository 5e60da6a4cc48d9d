"""A line in a cell's output that says what the cell is doing, once that takes a while.

The first picture replaces it. A thread that mostly sleeps writes it, and reads the current task off the stack of the
cell's own thread, so that computing code need not report anything. This module imports nothing slow: imports are among
the tasks that the line reports.
"""

from __future__ import annotations

import contextlib
import contextvars
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

from triton_lab.localization import N_, _, translated

PATIENCE = 0.3  # seconds before the line appears
PAUSE = 0.2  # seconds, at least, between two changes of it
Publish = Callable[..., Any]

# The task for a module on the stack; the first entry that is found counts.
STAGES = (
    ("triton_lab.launch.checks", N_("Checking the launch")),
    ("triton_lab.views", N_("Drawing the picture")),
    ("triton_lab.remote", N_("Running the kernel on a shared machine")),
    ("triton_lab.launch", N_("Running the kernel and recording it")),
    ("triton_lab.backend.plugin.launcher", N_("Running the kernel")),
    ("triton.compiler", N_("Compiling the kernel")),
    ("importlib._bootstrap", N_("Importing")),
    ("triton_lab.lazy", N_("Computing the lazy step")),
)
OTHERWISE = N_("Running the cell")


class Sign:
    """The line of one cell. ``publish`` is IPython's; None if no front end is connected, and nothing is ever shown."""

    def __init__(self, publish: Publish | None, stage: Callable[[], str], clock: Callable[[], float]) -> None:
        self.watched = publish is not None
        self._publish, self._stage, self._clock = publish, stage, clock
        self._start = clock()
        self._done = self._total = 0
        self._name = self._text = self._task = ""
        self._lock = threading.Lock()
        self._ended = threading.Event()

    def programs(self, done: int, total: int) -> None:
        """Report how many programs of a launch have run."""
        if done < self._done:  # another launch
            self._start = self._clock()
        self._done, self._total = done, total

    @contextlib.contextmanager
    def doing(self, task: str) -> Iterator[None]:
        """Show ``task`` for the code inside, whatever is on the stack."""
        self._task = task
        try:
            yield
        finally:
            self._task = ""

    def tell(self, task: str) -> None:
        """Show ``task`` from now on; "" to read the stack again."""
        self._task = task

    def watch(self) -> None:
        """Show the line after a while, and keep it up to date until the end."""
        pause = PATIENCE
        while not self._ended.wait(pause):
            self.say()
            pause = PAUSE

    def say(self) -> None:
        """Show the current task."""
        text = self._line()
        with self._lock:
            if self._publish is None or self._ended.is_set() or text == self._text:
                return
            known, self._text = bool(self._name), text
            self._name = self._name or uuid.uuid4().hex
            self._publish({"text/plain": text}, {}, transient={"display_id": self._name}, update=known)

    def _line(self) -> str:
        from triton_lab.messages import to_go

        if not 0 < self._done < self._total:
            return f"{self._task or self._stage()} …"
        return _("{to_go}; interrupt the kernel (■) to stop").format(
            to_go=to_go(self._done, self._total, self._clock() - self._start)
        )

    def end(self) -> str:
        """Stop. Returns the name of the display that another output may replace, "" if none was shown."""
        self._ended.set()
        with self._lock:
            name, self._name = self._name, ""
        return name

    def close(self) -> None:
        """Remove the line, if no output has replaced it."""
        name = self.end()
        if name and self._publish is not None:
            self._publish({"text/plain": ""}, {}, transient={"display_id": name}, update=True)


@contextlib.contextmanager
def working(shell: Any) -> Iterator[Sign]:
    """The line of a cell that runs inside; outside of a notebook with a front end it shows nothing."""
    from triton_lab.views.frontend_presence import widgets_are_shown

    here = threading.get_ident()
    publish = shell.display_pub.publish if widgets_are_shown() else None
    sign = Sign(publish, lambda: stage_of(sys._current_frames().get(here)), time.monotonic)
    if publish is not None:
        # The thread's messages belong to the cell: they need its context.
        context = contextvars.copy_context()
        threading.Thread(target=context.run, args=(sign.watch,), name="triton-lab-sign", daemon=True).start()
    global _signs
    _signs += 1
    try:
        yield sign
    finally:
        _signs -= 1
        sign.close()


_signs = 0


def where_none_is(shell: Any) -> contextlib.AbstractContextManager[object]:
    """A line for the code inside, unless the cell shows one already."""
    return contextlib.nullcontext() if _signs else working(shell)


def stage_of(frame: FrameType | None) -> str:
    """The current task of a thread, by the modules on its stack."""
    modules = set()
    while frame is not None:
        modules.add(frame.f_globals.get("__name__", ""))
        frame = frame.f_back
    return translated(next((text for name, text in STAGES if any(_within(one, name) for one in modules)), OTHERWISE))


def _within(module: str, name: str) -> bool:
    return module == name or module.startswith(name + ".")


@contextlib.contextmanager
def listening(sign: Sign) -> Iterator[None]:
    """Launches inside report their progress to the line; a terminal's own bar and a user's listener stay."""
    from triton_lab.backend.plugin import launcher

    if launcher.progress is not None or not sign.watched:
        yield
        return
    launcher.progress = sign.programs
    # Remote launches wait in a queue; if none was sent, its module is not loaded.
    queue: Any = sys.modules.get("triton_lab.remote.queue_display")
    if queue is not None:
        queue.listener = sign.tell
    try:
        yield
    finally:
        launcher.progress = None
        sign.programs(0, 0)
        if queue is not None:
            queue.listener = None
