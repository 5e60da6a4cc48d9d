"""Where a line of a stage comes from: a trail of places in source files, and of lines that the user wrote."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple


class TrailPlace(NamedTuple):
    """A place in a source file; ``line`` from 1 on, ``column`` too, and 0 where it is not known."""

    file: str
    line: int
    column: int = 0


class SourceLine(NamedTuple):
    """A line of what the user wrote: the number of its function among the sources, and its own in the file."""

    function: int
    line: int


@dataclass(frozen=True, slots=True)
class Trail:
    """``places`` from the innermost out: where it stands, then the calls through which it was inlined there.

    ``name`` is the variable, "" where the compiler kept none.
    """

    places: tuple[TrailPlace, ...]
    name: str = ""
