"""Places in MLIR: ``loc("name"("file":3:5))``, ``loc(callsite(#loc3 at #loc7))``, ``loc(fused[...])``.

They follow each operation, or are defined at the edge of the module under a name.
"""

from __future__ import annotations

import re

from triton_lab.compiled.lines.source_trail import Trail, TrailPlace
from triton_lab.ir.locations import Locations


def trails(text: str) -> list[Trail | None]:
    """A trail for each line of a module. An operation with regions has its place on its first line and on its last."""
    lines = text.split("\n")
    locations = Locations(text)
    result: list[Trail | None] = [None] * len(lines)
    opened: list[int] = []
    for number, line in enumerate(lines):
        if line.startswith("#"):
            continue
        told = _told(line)
        trail = _trail(locations, told) if told else None
        body = line.rstrip()
        bare = body[: body.rfind(" loc(")] if told and body.endswith(")") else body
        if line.lstrip().startswith("}") and opened:
            first = opened.pop()
            if trail is not None:
                result[first] = trail
        result[number] = trail
        if bare.endswith("{"):
            opened.append(number)
    return result


def _told(line: str) -> str:
    """The text in the last ``loc(...)``, which ends the line; else in that of a block's first argument."""
    body = line.rstrip()
    if not body.endswith(")"):
        found = re.search(r" loc\((#loc\d*)\)", line) if line.lstrip().startswith("^") else None
        return found[1] if found else ""
    at = body.rfind(" loc(")
    # A nested callsite has places of its own inside.
    while at > 0 and body.count("(", at) != body.count(")", at):
        at = body.rfind(" loc(", 0, at)
    return body[at + 5 : -1] if at >= 0 else ""


def _trail(locations: Locations, told: str) -> Trail | None:
    """The trail for the text between the brackets of ``loc(...)``; None where it has no place."""
    place = locations.read(told)
    frames = list(place.frames()) if place is not None else []
    places = tuple(TrailPlace(one.file, one.line, one.column) for one in frames if one.line)
    return Trail(places, next((one.name for one in frames if one.name), "")) if places else None
