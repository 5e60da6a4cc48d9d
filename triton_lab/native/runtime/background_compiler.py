"""The thread that compiles beside the launches, and ends when the process's work ends.

It has the same priority as all others. With a lower one, the system might pause it while it holds Python's lock, and it
would block the threads that it should not delay.
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

# Seconds after which Python passes its lock to a waiting thread, while there is a job. A launch releases the lock many
# times, and would otherwise wait 5 ms for it each time.
_TURN_SECONDS = 1e-4
# Seconds between checks for a signal while waiting for a thread: a signal just before the wait does not end it.
LOOK_SECONDS = 0.1


@contextlib.contextmanager
def _turns() -> Iterator[None]:
    """Inside, threads that run Python take short turns."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(min(before, _TURN_SECONDS))
    here = sys.getswitchinterval()
    try:
        yield
    finally:
        if sys.getswitchinterval() == here:  # else other code has changed it since
            sys.setswitchinterval(before)


def _begin(work: Callable[[], None]) -> None:
    """Start a thread that does ``work``.

    A `threading.Thread` waits for its start under a lock, and an interrupt may leave that lock taken for good.
    """

    def named() -> None:
        threading.current_thread().name = "triton-lab native"
        work()

    _thread.start_new_thread(named, ())


class Background:
    """Does jobs in order on its own thread, which starts with the first job. Submitted jobs raise nothing.

    No signal handler runs there, so nothing interrupts a job.
    """

    def __init__(self) -> None:
        self._jobs: queue.SimpleQueue[Callable[[], object] | None] = queue.SimpleQueue()
        self._has_begun = False
        self._lock, self._working = threading.Lock(), threading.Lock()
        self.busy = False
        self.closed = False

    def submit(self, job: Callable[[], object]) -> bool:
        """Do ``job`` later. False if the process is ending and nothing is started any more."""
        with self._lock:
            if self.closed:
                return False
            if not self._has_begun:
                # An interrupt here may start a second thread, which ends at once.
                _begin(self._work)
                self._has_begun = True
            self._jobs.put(job)
            return True

    def finish(self, job: Callable[[], object]) -> bool:
        """Do ``job`` and wait for it; False if nothing is started any more. Raises what the job raises.

        An interrupt ends only the wait.
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
        """Do ``job`` if there is time. For finalizers: they may run inside `submit`, which holds a lock."""
        self._jobs.put(job)

    def close(self) -> None:
        """Start nothing any more, and wait for the present job: LLVM may not run while the process is torn down."""
        with self._lock:
            self.closed = True
        self._jobs.put(None)
        with self._working:
            pass

    def wait(self) -> None:
        """Wait until all submitted jobs are done."""
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
            except Exception:  # our own error, which ends only that job
                threading.excepthook(threading.ExceptHookArgs((*sys.exc_info(), threading.current_thread())))
            finally:
                self.busy = False


background = Background()
atexit.register(lambda: background.close())


def _after_fork() -> None:
    """Start afresh in a child process, which has no other threads.

    If a thread was inside LLVM, LLVM's lock stays taken for ever, so nothing is compiled.
    """
    global background
    closed = background.busy or background.closed
    background = Background()
    background.closed = closed


os.register_at_fork(after_in_child=_after_fork)
