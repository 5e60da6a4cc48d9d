"""One measured number, and how a list of them is printed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class AtLeast:
    """A target that larger values meet."""

    limit: float

    def met(self, value: float) -> bool:
        return value >= self.limit

    def __str__(self) -> str:
        return f">= {self.limit:g}"


@dataclass(frozen=True)
class AtMost:
    """A target that smaller values meet."""

    limit: float

    def met(self, value: float) -> bool:
        return value <= self.limit

    def __str__(self) -> str:
        return f"<= {self.limit:g}"


@dataclass(frozen=True)
class Figure:
    """`value` is NaN where nothing could be measured; `note` then says why."""

    name: str
    value: float
    unit: str
    target: AtLeast | AtMost | None = None
    note: str = ""

    @property
    def met(self) -> bool | None:
        """Whether the value meets its target; None without one."""
        return None if self.target is None else self.target.met(self.value)

    def as_row(self) -> dict[str, object]:
        """The figure for a JSON file, where NaN is null."""
        value = None if math.isnan(self.value) else self.value
        target = str(self.target or "")
        return {
            "name": self.name,
            "value": value,
            "unit": self.unit,
            "target": target,
            "met": self.met,
            "note": self.note,
        }


def table(figures: Sequence[Figure]) -> str:
    """The figures as aligned lines: name, value with unit, target, whether it is met, note."""
    rows = [
        (
            each.name,
            f"{each.value:.4g} {each.unit}".rstrip(),
            str(each.target or ""),
            {True: "ok", False: "MISSED", None: ""}[each.met],
            each.note,
        )
        for each in figures
    ]
    widths = [max(map(len, column), default=0) for column in zip(*rows, strict=True)]
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows)
    return "\n".join(line.rstrip() for line in lines)
