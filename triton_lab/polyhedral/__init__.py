"""Polyhedral compilation, to look at: scops, their domains, access functions, schedules and dependences."""

from __future__ import annotations

from typing import Any

from .access import Access
from .dependence import Dependence
from .domain import Domain
from .effort import TooHard
from .frontend import scop
from .legality import Legality, Violation
from .maximal import Maximal, Part
from .schedule import Schedule
from .scop import Array, Scop, Statement
from .source import NotAScop


def schedule(source: Any, **values: int) -> Schedule:
    """The schedule that a scop (or whatever `scop` takes) comes with: the order of its source."""
    return (source.bind(**values) if isinstance(source, Scop) else scop(source, maximal=False, **values)).schedule


__all__ = [
    "Access",
    "Array",
    "Dependence",
    "Domain",
    "Legality",
    "Maximal",
    "NotAScop",
    "Part",
    "Schedule",
    "Scop",
    "Statement",
    "TooHard",
    "Violation",
    "schedule",
    "scop",
]
