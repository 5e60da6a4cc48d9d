"""The thread that compiles while launches go on: one, of low priority, that ends with the process's work."""

from __future__ import annotations

import atexit
import contextlib
import os
import queue
import threading
from collections.abc import Callable

# What the system gives the thread of a processor that others want, too: 19 is the least.
_NICENESS = 10


class Background:
    """Does jobs in their order on a thread of its own, which starts with the first. Jobs raise nothing."""

    def __init__(self) -> None:
        self._jobs: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()
        self.busy = False
        self.closed = False

    def submit(self, job: Callable[[], None]) -> bool:
        """Do ``job`` later; False where nothing is begun any more, since the process ends."""
        with self._lock:
            if self.closed:
                return False
            if self._thread is None:
                # A daemon: Python waits for other threads before it tells anybody that it ends.
                self._thread = threading.Thread(target=self._work, name="triton-lab native", daemon=True)
                self._thread.start()
            self._jobs.put(job)
            return True

    def close(self) -> None:
        """Begin nothing any more, and wait for what is being done: LLVM may not run while the process is torn down."""
        with self._lock:
            self.closed = True
            thread = self._thread
        if thread is not None:
            self._jobs.put(None)
            thread.join()

    def wait(self) -> None:
        """Until all that was submitted is done."""
        done = threading.Event()
        if self.submit(done.set):
            done.wait()

    def _work(self) -> None:
        with contextlib.suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _NICENESS)
        while (job := self._jobs.get()) is not None and not self.closed:
            self.busy = True
            try:
                job()
            finally:
                self.busy = False


background = Background()
atexit.register(lambda: background.close())


def _after_fork() -> None:
    """In a child there is no such thread. If it was inside LLVM, that is locked here for ever: nothing is compiled."""
    global background
    closed = background.busy or background.closed
    background = Background()
    background.closed = closed


os.register_at_fork(after_in_child=_after_fork)
