"""How much isl may spend on one question.

Behind many of isl's operations (a complement, a last write, the bounds of a loop) is parametric integer programming,
which splits into cases by recursion. A hard question fills memory for minutes, or the stack, and that ends the
process. isl counts its operations and can be told to give up; as each level of the recursion takes several, that
bounds the stack, too.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import islpy as isl

# All that our examples need, about a second at the worst, and then less than a megabyte of stack.
OPERATIONS = 100_000

# The count belongs to isl's context, and there is one for the whole process.
_TURN = threading.RLock()


class TooHard(ValueError):
    """isl gave up."""


@contextmanager
def effort(question: str, operations: int | None = None) -> Iterator[None]:
    """Raises `TooHard`, with the ``question`` in words, where isl needs more ``operations`` (by default `OPERATIONS`).

    Within another one it is a question of its own, with a count of its own.
    """
    context = isl.DEFAULT_CONTEXT
    with _TURN:
        outside = context.get_max_operations()
        context.reset_operations()
        context.set_max_operations(OPERATIONS if operations is None else operations)
        try:
            yield
        except isl.Error as error:
            if not _spent():
                raise
            raise TooHard(f"{question}: too hard for isl") from error
        finally:
            context.set_max_operations(outside)


def _spent() -> bool:
    """Whether isl has no operations left. (What its error says is whatever went wrong for want of them.)"""
    try:
        isl.Set("{ : }")
    except isl.Error:
        return True
    return False
