"""A kernel that does not compile, as an output reports it, so that an editor can mark the place."""

from __future__ import annotations

from typing import Literal, TypedDict

MISTAKE = "application/vnd.triton-lab.mistake.v1+json"


class Mistake(TypedDict):
    """A place in a notebook's cell.

    ``execution`` is the number of the run that defined the kernel, None for the cell of the output itself. Lines count
    from 1, columns from 0, in characters; ``text`` is the line as it was then.
    """

    version: Literal[1]
    execution: int | None
    line: int
    start: int
    end: int
    text: str
    message: str
    advice: str
