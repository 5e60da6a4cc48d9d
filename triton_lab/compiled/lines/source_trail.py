"""Where a line of a stage comes from: a trail of places in source files, and the lines that the user wrote."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple


class TrailPlace(NamedTuple):
    """A place in a source file; ``line`` and ``column`` count from 1, and are 0 where not known."""

    file: str
    line: int
    column: int = 0


class SourceLine(NamedTuple):
    """A line that the user wrote: its function's number among the sources, and its line number in the file."""

    function: int
    line: int


@dataclass(frozen=True, slots=True)
class Trail:
    """``places`` from the innermost out: the place itself, then the calls through which it was inlined.

    ``name`` is the variable, "" where the compiler kept none.
    """

    places: tuple[TrailPlace, ...]
    name: str = ""
