"""The thread beside the launches, which compiles, and ends with the process's work.

It has the priority of all others: a thread of a lower one, put off by the system while it holds Python's lock, would
hold up those that it is to stay behind.
"""

from __future__ import annotations

import _thread
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
# Who waits for a thread looks so often whether there is a signal: one that comes just before the waiting ends it not.
LOOK_SECONDS = 0.1


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


def _begin(name: str, work: Callable[[], None]) -> None:
    """Have a thread do ``work``.

    A `threading.Thread` waits until it has begun, under a lock: one that an interrupt may leave taken, for good.
    """

    def named() -> None:
        threading.current_thread().name = name
        work()

    _thread.start_new_thread(named, ())


class Background:
    """Does jobs in their order on a thread of its own, which starts with the first. Submitted jobs raise nothing.

    No signal's handler runs there, so that nothing breaks off what a job does.
    """

    def __init__(self) -> None:
        self._jobs: queue.SimpleQueue[Callable[[], object] | None] = queue.SimpleQueue()
        self._has_begun = False
        self._lock, self._working = threading.Lock(), threading.Lock()
        self.busy = False
        self.closed = False

    def submit(self, job: Callable[[], object]) -> bool:
        """Do ``job`` later; False where nothing is begun any more, since the process ends."""
        with self._lock:
            if self.closed:
                return False
            if not self._has_begun:
                # An interrupt here may begin another one, which ends at once.
                _begin("triton-lab native", self._work)
                self._has_begun = True
            self._jobs.put(job)
            return True

    def finish(self, job: Callable[[], object]) -> bool:
        """Do ``job`` and wait until it is done; False where nothing is begun any more. Raises what it raises.

        An interrupt ends the waiting alone.
        """
        done: queue.SimpleQueue[BaseException | None] = queue.SimpleQueue()

        def told() -> None:
            try:
                job()
            except BaseException as error:
                done.put(error)
            else:
                done.put(None)

        if not self.submit(told):
            return False
        while True:
            with contextlib.suppress(queue.Empty):
                error = done.get(timeout=LOOK_SECONDS)
                break
        if error is not None:
            raise error
        return True

    def clear_away(self, job: Callable[[], object]) -> None:
        """Do ``job`` if there will be time. For finalizers: they may be called inside `submit`, which has a lock."""
        self._jobs.put(job)

    def close(self) -> None:
        """Begin nothing any more, and wait for what is being done: LLVM may not run while the process is torn down."""
        with self._lock:
            self.closed = True
        self._jobs.put(None)
        with self._working:
            pass

    def wait(self) -> None:
        """Until all that was submitted is done."""
        self.finish(lambda: None)

    def _work(self) -> None:
        if self._working.acquire(blocking=False):
            try:
                self._do_all()
            finally:
                self._working.release()

    def _do_all(self) -> None:
        while (job := self._jobs.get()) is not None and not self.closed:
            self.busy = True
            try:
                with _turns():
                    job()
            except Exception:  # a fault of ours, which ends that job alone
                threading.excepthook(threading.ExceptHookArgs((*sys.exc_info(), threading.current_thread())))
            finally:
                self.busy = False


background = Background()
atexit.register(lambda: background.close())


def _after_fork() -> None:
    """In a child there are no other threads. If one was inside LLVM, that is locked for ever: nothing is compiled."""
    global background
    closed = background.busy or background.closed
    background = Background()
    background.closed = closed


os.register_at_fork(after_in_child=_after_fork)
