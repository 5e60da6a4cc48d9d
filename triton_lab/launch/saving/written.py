"""The lines of the source in a saved launch."""

from __future__ import annotations

from typing import Any

from triton_lab.launch.lines import Line
from triton_lab.launch.saving.fields import of


def lines_of(given: Any) -> dict[int, Line | None]:
    """By operation. Raises what a wrong field raises."""
    found: dict[int, Line | None] = {}
    for index, line, column, excerpt, file in given:
        shown = tuple(of(str, one) for one in excerpt)
        found[of(int, index)] = Line(of(int, line), of(int, column), shown, of(str, file))
    return found
