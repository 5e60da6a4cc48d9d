"""`LaunchEdit`: a change of a launch: of its kernel's text, constants, options or grid, or of several of them."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any


@dataclass(frozen=True)
class LaunchEdit:
    """``text`` is the kernel's source after the edit, None if it stays; ``grid`` is None if it stays.

    ``remarks`` say what was changed in the text, in words, and under which condition that is right. ``line`` is the
    first line of the kernel's file that changes, None if none does.
    """

    constants: Mapping[str, Any] = field(default_factory=dict)
    options: Mapping[str, int] = field(default_factory=dict)
    grid: tuple[int, int, int] | None = None
    text: str | None = None
    remarks: tuple[str, ...] = ()
    line: int | None = None

    @property
    def key(self) -> tuple[Any, ...]:
        """Equal for edits that give the same launch."""
        return tuple(sorted(self.constants.items())), tuple(sorted(self.options.items())), self.grid, self.text

    @property
    def parts(self) -> int:
        """How many things it changes; the grid follows from the others, if there are any."""
        own_grid = self.grid is not None and not self.constants and self.text is None
        return len(self.constants) + len(self.options) + len(self.remarks) + own_grid

    @property
    def title(self) -> str:
        """All changes: ``num_warps=8, BLOCK=1024``."""
        told = [*self.remarks, *(f"{name}={value}" for name, value in {**self.constants, **self.options}.items())]
        if self.grid is not None and (not self.constants or self.text is not None):
            told.append(f"grid={_short(self.grid)}")
        return ", ".join(told)

    def diff(self, source: str) -> str:
        """The lines of the kernel that change, in the format of ``diff -u``, without a header; "" for none."""
        if self.text is None:
            return ""
        lines = difflib.unified_diff(source.splitlines(), self.text.splitlines(), lineterm="", n=0)
        return "\n".join(line for line in list(lines)[2:] if not line.startswith("@@"))

    def with_text(self, text: str, remark: str, line: int) -> LaunchEdit:
        """The edit with another text."""
        return replace(self, text=text, remarks=(*self.remarks, remark), line=line if self.line is None else self.line)


def _short(grid: tuple[int, ...]) -> str:
    while len(grid) > 1 and grid[-1] == 1:
        grid = grid[:-1]
    return f"({', '.join(map(str, grid))}{',' if len(grid) == 1 else ''})"
