"""Threads beside the launches: the one that compiles, which ends with the process's work, and those that help.

The first has the priority of all others: a thread of a lower one, put off by the system while it holds Python's lock,
would hold up those that it is to stay behind.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import queue
import sys
import threading
from collections.abc import Callable, Iterator

# Seconds after which Python hands its lock to a thread that waits for it, while there is a job: a launch gives the lock
# away many times, and would wait 5 ms for it each time.
_TURN_SECONDS = 1e-4


@contextlib.contextmanager
def _turns() -> Iterator[None]:
    """Threads that run Python take short turns."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(min(before, _TURN_SECONDS))
    here = sys.getswitchinterval()
    try:
        yield
    finally:
        if sys.getswitchinterval() == here:  # else somebody else has chosen since
            sys.setswitchinterval(before)


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
        while (job := self._jobs.get()) is not None and not self.closed:
            self.busy = True
            try:
                with _turns():
                    job()
            except Exception:  # a fault of ours, which ends that job alone
                threading.excepthook(threading.ExceptHookArgs((*sys.exc_info(), self._thread)))
            finally:
                self.busy = False


class Helpers:
    """Threads that help with launches: as many as were ever asked for at once. They wait for the next one."""

    def __init__(self) -> None:
        self._jobs: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._count = 0

    def ask(self, count: int, job: Callable[[], None]) -> None:
        """Have up to ``count`` threads do ``job``, which raises nothing, as soon as they have time."""
        with self._lock:
            while self._count < count:
                threading.Thread(target=self._work, name="triton-lab helper", daemon=True).start()
                self._count += 1
        for _ in range(count):
            self._jobs.put(job)

    def _work(self) -> None:
        while True:
            self._jobs.get()()


def processors() -> int:
    """How many threads may run a launch: what torch is set to, or the environment, or what this process may use."""
    torch = sys.modules.get("torch")
    if torch is not None and hasattr(torch, "get_num_threads"):
        return int(torch.get_num_threads())
    asked = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
    return int(asked) if asked.isdecimal() and int(asked) else len(os.sched_getaffinity(0))


helpers = Helpers()
background = Background()
atexit.register(lambda: background.close())
_compiling: set[int] = set()


@contextlib.contextmanager
def compiling() -> Iterator[None]:
    """Inside, this thread compiles, under locks that nobody would open in the child of a fork."""
    here = threading.get_ident()
    _compiling.add(here)
    try:
        yield
    finally:
        _compiling.discard(here)


def _after_fork() -> None:
    """In a child there are no other threads. If one was inside LLVM, that is locked for ever: nothing is compiled."""
    global background, helpers
    helpers = Helpers()
    closed = background.busy or background.closed or bool(_compiling - {threading.get_ident()})
    background = Background()
    background.closed = closed


os.register_at_fork(after_in_child=_after_fork)
