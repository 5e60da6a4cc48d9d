"""Launches of kernels with atomics run one after the other, whichever threads make them.

Atomics of one launch do not hold against those of another: NumPy reads, computes and writes in steps between which
another thread may come in, and so does machine code. On a GPU they do, and there launches of several threads wait for
one another too, where these have chosen no streams of their own.
"""

from __future__ import annotations

import contextlib
import os
import threading
from contextlib import AbstractContextManager

from triton_lab.interpreter.bound_plan import Executable

_NOTHING = contextlib.nullcontext()
# A launch may be made inside of another one, by the handler of a signal or a finalizer: that has its turn already. No
# interrupt leaves this lock taken: it is C's own, and `with` has Python look for no signals between lock and block.
_turn = threading.RLock()


def turn(executable: Executable) -> AbstractContextManager[object]:
    """Inside, no other thread launches a kernel with atomics, if ``executable`` is one."""
    return _turn if executable.updates else _NOTHING


def _after_fork() -> None:
    """In a child there are no other threads, and nobody would give back what one of them had taken."""
    global _turn
    _turn = threading.RLock()


os.register_at_fork(after_in_child=_after_fork)
