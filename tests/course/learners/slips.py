"""A wrong answer as data: what was misunderstood, what a check has to say about it, and the change in the answer."""

from __future__ import annotations

import re
from dataclasses import dataclass

Changes = tuple[tuple[str, str], ...]

# What a learner has misunderstood.
GRID = "hard-coded grid or block"
HOST = "the host does the work"
RESULT = "not contiguous, a view, or another shape"
RARE = "wrong on values that few tests have"
LUCK = "a race that passes by luck"
WORK = "no work asked for"
TYPE = "wrong dtype"
MASK = "masks"
STRIDE = "strides"
MEANING = "another meaning"
CLASSES = (GRID, HOST, RESULT, RARE, LUCK, WORK, TYPE, MASK, STRIDE, MEANING)

# What a check has to say, as patterns of which the message must match one.
FEW_PROGRAMS = "number of programs|no program stored|the grid has|out of bounds: .* of program"
NO_KERNEL = "no kernel"
HOSTED = "no kernel|host|your kernel|torch|launches do not compute all|gets a copy of|shares memory"
OUT = "out of bounds"
OTHER = "other=|masked-off"
UNWRITTEN = "never written"
NOT_CONTIGUOUS = "is not contiguous|accessed with strides|stride"
VIEW = "contiguous|has strides|view|no kernel stored|shares memory"
SHAPE = "has shape"
DTYPE = "dtype|is float|is int|must be torch|has type|must have type"
RACE = "race|order of the programs|atomic|no barrier in between"
ONCE = "once|times|loads|loaded|elements|bytes"
LANES = "lane|program|elements at once|block"
ROUNDED = "rounding|float16|float32|precision"
OVERFLOW = "overflow|nan|inf|int8|uint8|32 bits|wrap"
CHANGED = "change|input|in place|same memory|shares"
UNCHANGED = "must be"
NUMBER = "must be|out of bounds"

# Causes that a wrong number of a plain slip does not have: a message with one of these misleads.
MISLEADING = (
    r"Why: (?!either).*(race|is not contiguous|never written|number of programs|program id that is missing|atomic add)"
)


@dataclass(frozen=True)
class Slip:
    """One wrong answer: the teacher's with ``changes`` made in it."""

    about: str
    cause: str
    changes: Changes

    def text(self, answer: str) -> str:
        return changed(answer, self.changes)

    def explained(self, message: str) -> bool:
        """Whether ``message`` says what is wrong, and nothing that is not."""
        if self.cause == NUMBER and re.search(MISLEADING, message):
            return False
        return re.search(self.cause, message) is not None


def slip(about: str, cause: str, *changes: tuple[str, str]) -> Slip:
    return Slip(about, cause, changes)


def changed(answer: str, changes: Changes) -> str:
    """``answer`` with all ``changes`` made; raises `ValueError` where one has nothing to change."""
    for old, new in changes:
        if old not in answer:
            raise ValueError(f"{old!r} is not in the answer")
        answer = answer.replace(old, new)
    return answer
