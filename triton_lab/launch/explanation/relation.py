"""`Relation`: one thing that should hold of a launch's outputs, and whether it does."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from triton_lab.localization import _

Array = NDArray[Any]
Status = Literal["held", "broken", "not looked at"]

Unit = Literal["element", "program", "result", "tensor"]
HELD: Status = "held"
BROKEN: Status = "broken"
SKIPPED: Status = "not looked at"
MOST = 100  # places that a relation lists


def _none() -> Array:
    return np.empty(0, np.int64)


@dataclass(frozen=True, eq=False)
class Relation:
    """One relation, ``kind``, of what is stored to ``argument`` or computed on ``line``, in words: ``statement``.

    ``checked`` counts the places where it was tested, and ``broken`` those where it does not hold. ``unit`` says what
    they are: elements of ``argument``, programs, tensors, or results of an operation. ``places`` are the first 100
    broken ones: elements, row-major over the argument's shape, or linear numbers of programs. ``found`` and
    ``expected`` are the numbers at the first of them. ``why`` says what breaks it there, or why it was not looked at.
    """

    kind: str
    statement: str
    status: Status
    argument: str | None = None
    line: int | None = None
    checked: int = 0
    broken: int = 0
    unit: Unit = "element"
    places: Array = field(default_factory=_none)
    found: float | None = None
    expected: float | None = None
    why: str = ""

    def __repr__(self) -> str:
        return f"<{self.kind}: {self.status}>"


def judged(
    kind: str,
    statement: str,
    wrong: Array,
    places: Array,
    *,
    found: Array | None = None,
    expected: Array | None = None,
    argument: str | None = None,
    line: int | None = None,
    unit: Unit = "element",
    why: str = "",
) -> Relation:
    """The relation, tested at ``places`` and ``wrong`` at some, with the numbers there: arrays of one length."""
    bad = np.flatnonzero(wrong)
    first = int(bad[0]) if len(bad) else None
    return Relation(
        kind,
        statement,
        BROKEN if len(bad) else HELD,
        argument,
        line,
        len(wrong),
        len(bad),
        unit,
        np.asarray(places)[bad[:MOST]],
        None if first is None or found is None else float(found[first]),
        None if first is None or expected is None else float(expected[first]),
        why if len(bad) else "",
    )


def skipped(kind: str, statement: str, why: str, argument: str | None = None, line: int | None = None) -> Relation:
    """The relation was not looked at."""
    return Relation(kind, statement, SKIPPED, argument, line, why=why)


def at_lines(line: int | None) -> str:
    """`` (line 12)``, or "" if the line is not known."""
    return "" if line is None else _(" (line {line})").format(line=line)
