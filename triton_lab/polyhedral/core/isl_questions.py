"""The questions that are asked of isl now, each within another one, and the limits that isl has meanwhile.

An interrupt may come anywhere in Python: between the end of a question and what ends it, and in the middle of that.
So a question notes what is around it instead of reading isl's limit, and `restore_limits` may be called again.
"""

from __future__ import annotations

import contextvars
import threading
from contextlib import AbstractContextManager, nullcontext
from time import monotonic
from typing import Any

import islpy as isl

from triton_lab.polyhedral.core.isl_abort import stop_at, wait_out

# The count belongs to isl's context, and there is one for the whole process.
_TURN = threading.RLock()
NEVER = float("inf")


class IslQuestion:
    """A question that is asked now: its limits, and the question around it.

    isl's own limit is never read: where an interrupt left one, it belongs to no question.
    """

    __slots__ = ("around", "end", "ended", "has_turn", "operations", "thread", "trial", "waits_from")

    def __init__(self, operations: int, end: float, around: IslQuestion | None, trial: Trial | None = None) -> None:
        self.operations = operations  # 0: any number
        self.end = end
        self.around = around
        self.trial = trial
        self.has_turn = trial is not None  # or the thread has that waits for this one
        self.waits_from = NEVER  # of the clock of the wall: whether the timer may be about to stop isl
        self.thread = threading.get_ident()
        self.ended = False

    def inner(self, operations: int, end: float) -> IslQuestion:
        """A question within this one."""
        return IslQuestion(operations, min(end, self.end), self, self.trial)


class Trial:
    """A try in another thread, which has the turn of the thread that waits for it."""

    def __init__(self) -> None:
        self.interrupted = False  # the reader waits no longer
        self._owner = dict[str, str]()

    def claim(self, owner: str) -> bool:
        """Whether ``owner`` was the first to claim it. May be called again."""
        # One call of C: no interrupt divides it.
        return self._owner.setdefault("owner", owner) == owner


_NO_QUESTION = IslQuestion(0, NEVER, None)
CURRENT: contextvars.ContextVar[IslQuestion] = contextvars.ContextVar("question", default=_NO_QUESTION)


def turn() -> AbstractContextManager[Any]:
    """isl is this thread's within. (The lock itself: an interrupt cannot come before its end begins.)"""
    return nullcontext() if current().has_turn else _TURN


def restore_limits(question: IslQuestion, late: bool = False) -> None:
    """Give isl the limits of what is around ``question``, or of what is asked meanwhile where this is ``late``. May be
    called again."""
    around = leave(question, late)
    if question.thread != threading.get_ident():  # it was let go by another thread, which has its own questions
        return
    isl.DEFAULT_CONTEXT.set_max_operations(around.operations)
    if around.operations:
        stop_at(around.end)
        return
    if monotonic() > question.waits_from:
        wait_out(question.end)
    stop_at(NEVER)  # no question is asked


def leave(question: IslQuestion, late: bool) -> IslQuestion:
    """What is asked when ``question`` no longer is."""
    question.ended = True
    around = current() if late else _open(question)
    CURRENT.set(around)
    return around


def current() -> IslQuestion:
    """The innermost question that is asked now."""
    return _open(CURRENT.get())


def _open(question: IslQuestion) -> IslQuestion:
    while question.ended and question.around:
        question = question.around
    return question
