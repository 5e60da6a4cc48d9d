"""One measured number, and how a list of them is printed."""

from __future__ import annotations

import math
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


def line(figure: Figure) -> str:
    """The figure on one line, in columns: name, value with unit, target, whether it is met, note."""
    met = {True: "ok", False: "MISSED", None: ""}[figure.met]
    value = f"{figure.value:.4g} {figure.unit}".rstrip()
    return f"{figure.name:<72}  {value:<18}  {figure.target or ''!s:<8}  {met:<6}  {figure.note}".rstrip()
