"""Limits how much isl may spend on one question, and turns its errors into ours.

Many of isl's operations (a complement, a last write, the bounds of a loop) use parametric integer programming, which
splits into cases by recursion. A hard question may fill memory for minutes, or overflow the stack, which ends the
process. isl counts its operations and can stop at a limit. Each level of the recursion takes several operations, so
the limit bounds the stack, too.

A count is a poor measure of time: 100,000 operations may take a tenth of a second or two. But nothing else can stop
isl: its calls hold Python's lock, so no other thread can interrupt them, and an abandoned question cannot be resumed.
So `answered` asks again with twice the count, on a stack with room for it, as long as the remaining time is enough
for the next try, estimated from the growth of the last two.
"""

from __future__ import annotations

import contextvars
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic
from typing import TypeVar

import islpy as isl

# Enough for all our examples, with less than a megabyte of stack.
OPERATIONS = 100_000
# The limit for one question of the user.
SECONDS = 3.0
# The stack for tries of more than `OPERATIONS`; unused memory is only reserved.
_STACK = 256 << 20

# The count belongs to isl's context, which the whole process shares.
_TURN = threading.RLock()
# Whether the thread that waits for this one holds the lock.
_HAS_TURN: contextvars.ContextVar[bool] = contextvars.ContextVar("has_turn", default=False)

T = TypeVar("T")


class TooHard(ValueError):
    """isl gave up."""


class NoAnswer(ValueError):
    """isl has no answer, however long it runs; the message is isl's reason."""


def answered(question: str, ask: Callable[[], T], operations: int | None = None) -> T:
    """The result of ``ask``, which may be called several times, and in another thread.

    The first try has ``operations`` (by default `OPERATIONS`), whatever time they take. Raises `TooHard` where isl
    finds nothing within `SECONDS`, and `NoAnswer` with the reason where it never will.
    """
    began = monotonic()
    with _turn():
        try:
            with effort(question, operations):
                return ask()
        except TooHard:
            count, before, growth = operations or OPERATIONS, monotonic() - began, 2.0
            while before * growth < SECONDS - (monotonic() - began):
                count *= 2
                start = monotonic()
                try:
                    return _on_a_tall_stack(question, ask, count)
                except TooHard:
                    took = monotonic() - start
                    before, growth = took, max(2.0, took / max(before, 1e-6))
            raise


def _on_a_tall_stack(question: str, ask: Callable[[], T], count: int) -> T:
    outcome: list[T | BaseException] = []

    def work() -> None:
        try:
            with effort(question, count):
                outcome.append(ask())
        except BaseException as error:
            outcome.append(error)

    context = contextvars.copy_context()
    context.run(_HAS_TURN.set, True)
    usual = threading.stack_size(_STACK)
    try:
        thread = threading.Thread(target=context.run, args=(work,), daemon=True)
        thread.start()
    finally:
        threading.stack_size(usual)
    thread.join()
    (found,) = outcome
    if isinstance(found, BaseException):
        raise found
    return found


@contextmanager
def _turn() -> Iterator[None]:
    if _HAS_TURN.get():
        yield
        return
    with _TURN:
        yield


@contextmanager
def effort(question: str, operations: int | None = None) -> Iterator[None]:
    """Limit isl's operations in a block, without a second try.

    Raises `TooHard`, with the ``question`` in words, where isl needs more ``operations`` (by default `OPERATIONS`),
    and `NoAnswer` for any other error of isl. Nested in another one, it has a count of its own.
    """
    context = isl.DEFAULT_CONTEXT
    with _turn():
        outside = context.get_max_operations()
        context.reset_operations()
        context.set_max_operations(OPERATIONS if operations is None else operations)
        try:
            yield
        except isl.Error as error:
            if _spent():
                raise TooHard(f"{question}: too hard for isl") from error
            raise NoAnswer(f"{question}: isl says {_reason(error)!r}") from error
        finally:
            context.set_max_operations(outside)


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
