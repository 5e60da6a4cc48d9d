"""Limits how much isl may spend on one question, and turns its errors into ours.

Many of isl's operations (a complement, a last write, the bounds of a loop) use parametric integer programming, which
splits into cases by recursion. A hard question may fill memory for minutes, or overflow the stack, which ends the
process. isl counts its operations and can stop at a limit. Each level of the recursion takes several operations, so
the limit bounds the stack, too.

A count is a poor measure of time: 100,000 operations may take a tenth of a second or two. So a timer stops isl as well
(`isl_abort`), and `answered` asks again with twice the count, on a stack that has room for it, as long as time is left.
A question that was given up cannot be continued. `answered` gives up when a signal comes, too, and goes on where its
handler does; one `effort` is over soon, so that an interrupt waits no longer than a second.

What Python does around the questions is bounded by `series`, which gives all questions within one time together.
"""

from __future__ import annotations

import _thread
import contextvars
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from time import monotonic, sleep, thread_time
from typing import TypeVar

import islpy as isl

from triton_lab.localization import _
from triton_lab.polyhedral.core.isl_abort import (
    end_thread,
    may_watch,
    stop_at,
    stopped_by_signals,
    watch,
    watch_no_more,
)
from triton_lab.polyhedral.core.isl_questions import (
    CURRENT,
    NEVER,
    IslQuestion,
    Trial,
    current,
    leave,
    restore_limits,
    turn,
)

# All that our examples need, and then less than a megabyte of stack.
OPERATIONS = 100_000
# What one question of the reader's may take: of time that this thread computes, so that answers depend on no other.
SECONDS = 3.0
# What isl may take where nothing but the end of its call lets an interrupt through.
AT_ONCE = 0.5
# For tries of more than `OPERATIONS`; what is not used is only reserved.
_STACK = 256 << 20
_MOST_OPERATIONS = 200 * OPERATIONS

T = TypeVar("T")


class TooHard(ValueError):
    """isl gave up, or the time for a question was over. ``line`` and ``column``: where, of a text that was read."""

    line: int | None = None
    column: int | None = None


class NoAnswer(ValueError):
    """isl has no answer, however long it runs; the message is isl's reason."""


def answered(question: str, ask: Callable[[], T], operations: int | None = None) -> T:
    """What ``ask`` returns. It may be called several times, and in another thread; the first try has ``operations``
    (by default `OPERATIONS`) and `AT_ONCE`.

    The first try has ``operations`` (by default `OPERATIONS`), whatever time they take. Raises `TooHard` where isl
    finds nothing within `SECONDS`, and `NoAnswer` with the reason where it never will.
    """
    around = current()
    mine = around.inner(around.operations, around.end)
    mine.has_turn = True
    watches, raised = may_watch(), True
    with turn():
        try:
            CURRENT.set(mine)
            if watches:
                watch()
            found = _tried(question, ask, operations or OPERATIONS)
            raised = False
            return found
        except ValueError:  # of ours
            raised = False
            raise
        finally:  # an interrupt may have come before what ends an `effort` began
            try:
                restore_limits(mine)
                if watches:
                    watch_no_more(raised)
            except BaseException:
                restore_limits(mine)
                if watches:
                    watch_no_more(True)
                raise


def _tried(question: str, ask: Callable[[], T], count: int) -> T:
    began = thread_time()
    try:
        with effort(question, count):
            return ask()
    except TooHard:
        before, growth = thread_time() - began, 2.0
        if before >= AT_ONCE:  # ended by the time, which says nothing of the count that is enough
            count, before = 4 * count, AT_ONCE / 2
        end = min(began + SECONDS, current().end)
        while before * growth < end - thread_time() and count < _MOST_OPERATIONS:
            count *= 2
            spent = list[float]()
            try:
                return _on_a_tall_stack(question, ask, count, end - thread_time(), spent)
            except TooHard:
                growth = max(2.0, spent[0] / max(before, 1e-6))
                before, end = spent[0], end - spent[0]
        raise


@contextmanager
def series(question: str, seconds: float | None = None) -> Iterator[None]:
    """Everything within has ``seconds`` (by default `SECONDS`) together: `effort`, `answered` and `check_time` raise
    `TooHard` once they are over."""
    around = current()
    mine = around.inner(around.operations, thread_time() + (SECONDS if seconds is None else seconds))
    mine.has_turn = around.has_turn
    late = False
    with stopped_by_signals():
        try:
            CURRENT.set(mine)
            check_time(question)
            yield
        except GeneratorExit:
            late = True
            raise
        finally:
            try:
                leave(mine, late)
            except BaseException:
                leave(mine, late)
                raise


def check_time(question: str) -> None:
    """Raise `TooHard`, with the ``question`` in words, where the time of the `series` around is over."""
    if thread_time() > current().end:
        raise TooHard(
            _("{question}: too hard, the limit of {seconds} s is over").format(
                question=question, seconds=f"{SECONDS:g}"
            )
        )


def _on_a_tall_stack(question: str, ask: Callable[[], T], count: int, seconds: float, spent: list[float]) -> T:
    """A try in another thread, which measures its own time: what it took is added to ``spent``."""
    outcome: list[T | BaseException] = []
    trial = Trial()
    around = IslQuestion(current().operations, NEVER, None, trial)

    def work() -> None:
        if not trial.claim("work"):
            return
        try:
            CURRENT.set(around)
            with effort(question, count, seconds):
                outcome.append(ask())
        except BaseException as error:
            outcome.append(error)
        finally:
            try:
                end_thread()
            finally:
                spent.append(thread_time())
                done.release()

    done = _thread.allocate_lock()
    done.acquire()
    usual = threading.stack_size()
    try:
        try:
            threading.stack_size(_STACK)
            # `Thread.start` waits for the thread, and turns an interrupt meanwhile into RuntimeError now and then.
            _thread.start_new_thread(contextvars.copy_context().run, (work,))
        finally:
            try:
                threading.stack_size(usual)
            except BaseException:
                threading.stack_size(usual)
                raise
        done.acquire()
    except BaseException:  # an interrupt: isl has given up, and what is asked next is given no time
        trial.interrupted = True
        while not (trial.claim("interrupt") or spent):
            with suppress(BaseException):  # another interrupt: one is raised already
                sleep(0.001)
        raise
    (found,) = outcome
    if isinstance(found, BaseException):
        raise found
    return found


@contextmanager
def effort(question: str, operations: int | None = None, seconds: float | None = None) -> Iterator[None]:
    """A question with a count and no second try: raises `TooHard`, with the ``question`` in words, where isl needs
    more ``operations`` (by default `OPERATIONS`) or ``seconds`` (`AT_ONCE`), and `NoAnswer` for any other error of isl.

    Raises `TooHard`, with the ``question`` in words, where isl needs more ``operations`` (by default `OPERATIONS`),
    and `NoAnswer` for any other error of isl. Nested in another one, it has a count of its own.
    """
    context = isl.DEFAULT_CONTEXT
    with turn():
        around = current()
        most = AT_ONCE if seconds is None else seconds
        # The thread's own clock is slow to read; that of the wall is at least as far.
        wall, now = monotonic(), thread_time()
        if now > around.end:
            check_time(question)
        count = OPERATIONS if operations is None else operations
        mine = around.inner(count, now + most)
        mine.has_turn, mine.waits_from = True, wall + 0.9 * most
        late = False
        try:
            CURRENT.set(mine)
            context.reset_operations()
            context.set_max_operations(count)
            stop_at(mine.end)
            if mine.trial and mine.trial.interrupted:
                raise TooHard(f"{question}: interrupted")
            yield
        except (isl.Error, TypeError) as error:  # islpy gives None for a text, and raises nothing, once isl gives up
            if _spent():
                raise TooHard(_("{question}: too hard for isl").format(question=question)) from error
            if isinstance(error, TypeError):
                raise
            raise NoAnswer(
                _("{question}: isl says {reason}").format(question=question, reason=repr(_reason(error)))
            ) from error
        except RecursionError as error:
            raise TooHard(_("{question}: too deep for Python").format(question=question)) from error
        except GeneratorExit:  # an interrupt came before this end began, and its traceback is let go only now
            late = True
            raise
        finally:  # for what ends in the middle, from the beginning
            try:
                restore_limits(mine, late)
            except BaseException:
                restore_limits(mine, late)
                raise


def _spent() -> bool:
    """Whether isl has no operations left. (Its error message names only a consequence.)"""
    try:
        isl.Set("{ : }")
    except isl.Error:
        return True
    return False


def _reason(error: isl.Error) -> str:
    """isl's message without the name of the call and the place in isl's source."""
    told = re.search(r"failed: (.*?)(?: in \S*:\d+)?$", str(error), re.DOTALL)
    return told.group(1) if told else str(error)
