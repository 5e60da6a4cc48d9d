"""A sign of work: one line in a cell's output that says what the cell is doing, once that takes a while.

The first picture takes its place. A thread that mostly sleeps writes it; what is being done it reads off the stack of
the cell's own thread, so that nobody who computes need tell. Nothing is imported here that takes time: imports are
among what the line speaks of.
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

PATIENCE = 0.3  # seconds that a cell is given before the line appears
PAUSE = 0.2  # and at least between two changes of it
Publish = Callable[..., Any]

# What is done where a module that is called so is on the stack; the first that is found counts.
STAGES = (
    ("triton_lab.launch.checks", "Checking the launch"),
    ("triton_lab.views", "Drawing the picture"),
    ("triton_lab.remote", "Running the kernel on a shared machine"),
    ("triton_lab.launch", "Running the kernel and recording it"),
    ("triton_lab.backend.plugin.launcher", "Running the kernel"),
    ("triton.compiler", "Compiling the kernel"),
    ("importlib._bootstrap", "Importing"),
    ("triton_lab.lazy", "Working out the lazy step"),
)
OTHERWISE = "Running the cell"


class Sign:
    """The line of one cell. ``publish`` is IPython's; None where nobody looks on, and nothing is ever shown."""

    def __init__(self, publish: Publish | None, stage: Callable[[], str], clock: Callable[[], float]) -> None:
        self.watched = publish is not None
        self._publish, self._stage, self._clock = publish, stage, clock
        self._start = clock()
        self._done = self._total = 0
        self._name = self._text = self._task = ""
        self._lock = threading.Lock()
        self._ended = threading.Event()

    def programs(self, done: int, total: int) -> None:
        """So many programs of a launch have run."""
        if done < self._done:  # another launch
            self._start = self._clock()
        self._done, self._total = done, total

    @contextlib.contextmanager
    def doing(self, task: str) -> Iterator[None]:
        """What is done inside is ``task``, whatever the stack says."""
        self._task = task
        try:
            yield
        finally:
            self._task = ""

    def tell(self, task: str) -> None:
        """What is done from now on is ``task``; "" where the stack is to say it again."""
        self._task = task

    def watch(self) -> None:
        """Show the line after a while and keep it true, until the end."""
        pause = PATIENCE
        while not self._ended.wait(pause):
            self.say()
            pause = PAUSE

    def say(self) -> None:
        """Show what is being done now."""
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
        return f"{to_go(self._done, self._total, self._clock() - self._start)}; interrupt the kernel (■) to stop"

    def end(self) -> str:
        """Say no more. Returns the name of the display whose place another may take, "" where none was shown."""
        self._ended.set()
        with self._lock:
            name, self._name = self._name, ""
        return name

    def close(self) -> None:
        """Take the line away, if nothing has taken its place."""
        name = self.end()
        if name and self._publish is not None:
            self._publish({"text/plain": ""}, {}, transient={"display_id": name}, update=True)


@contextlib.contextmanager
def working(shell: Any) -> Iterator[Sign]:
    """The sign of a cell that runs inside: in a notebook that somebody looks at, elsewhere it says nothing."""
    from triton_lab.views.frontend_presence import widgets_are_shown

    here = threading.get_ident()
    publish = shell.display_pub.publish if widgets_are_shown() else None
    sign = Sign(publish, lambda: stage_of(sys._current_frames().get(here)), time.monotonic)
    if publish is not None:
        # A message of the thread belongs to the cell, as its context says.
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
    """The sign of what runs inside, where no cell shows one for all that it does."""
    return contextlib.nullcontext() if _signs else working(shell)


def stage_of(frame: FrameType | None) -> str:
    """What a thread is doing, by the modules on its stack."""
    modules = set()
    while frame is not None:
        modules.add(frame.f_globals.get("__name__", ""))
        frame = frame.f_back
    return next((text for name, text in STAGES if any(_within(one, name) for one in modules)), OTHERWISE)


def _within(module: str, name: str) -> bool:
    return module == name or module.startswith(name + ".")


@contextlib.contextmanager
def listening(sign: Sign) -> Iterator[None]:
    """Launches inside tell how far they are; a terminal has its own bar, and a listener of the user's stays."""
    from triton_lab.backend.plugin import launcher

    if launcher.progress is not None or not sign.watched:
        yield
        return
    launcher.progress = sign.programs
    # Where launches are sent away there is a queue; who has sent none has not loaded it.
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
