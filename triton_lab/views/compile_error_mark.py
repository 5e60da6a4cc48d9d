"""What an output says of a kernel that does not compile, for an editor to mark the place."""

from __future__ import annotations

from typing import Literal, TypedDict

MISTAKE = "application/vnd.triton-lab.mistake.v1+json"


class Mistake(TypedDict):
    """The place in a notebook's cell: ``execution`` is the number of the run that made the kernel, None for the cell of
    the output itself. Lines count from 1, columns from 0, in characters; ``text`` is the line as it was then."""

    version: Literal[1]
    execution: int | None
    line: int
    start: int
    end: int
    text: str
    message: str
    advice: str
