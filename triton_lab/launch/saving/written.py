"""The source lines in a saved launch."""

from __future__ import annotations

from typing import Any

from triton_lab.launch.saving.checked_fields import of
from triton_lab.launch.source_lines import UserLine


def lines_of(given: Any) -> dict[int, UserLine | None]:
    """The source line of each operation, by its index. Raises SavedLaunchError or another error for a wrong field."""
    found: dict[int, UserLine | None] = {}
    for index, line, column, excerpt, file in given:
        shown = tuple(of(str, one) for one in excerpt)
        found[of(int, index)] = UserLine(of(int, line), of(int, column), shown, of(str, file))
    return found
