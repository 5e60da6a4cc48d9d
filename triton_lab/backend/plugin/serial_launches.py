"""Runs launches of kernels with atomics one after another, whichever threads make them.

Atomics of one launch are not atomic to those of another: NumPy and the machine code read, compute and write in steps,
and another thread may run between them. On a GPU they are atomic; and launches of several threads wait for one another
there, too, unless these chose their own streams.
"""

from __future__ import annotations

import contextlib
import os
import threading
from contextlib import AbstractContextManager

from triton_lab.interpreter.bound_plan import Executable

_NOTHING = contextlib.nullcontext()
# A launch may start inside another one, in a signal handler or a finalizer; then it has its turn already. No interrupt
# leaves this lock taken: it is written in C, and with `with` Python checks no signals between the lock and the block.
_turn = threading.RLock()


def turn(executable: Executable) -> AbstractContextManager[object]:
    """Inside, no other thread launches a kernel with atomics, if ``executable`` has atomics."""
    return _turn if executable.updates else _NOTHING


def _after_fork() -> None:
    """Make a new lock in a child process: it has no other threads, so a taken lock would never be released."""
    global _turn
    _turn = threading.RLock()


os.register_at_fork(after_in_child=_after_fork)
