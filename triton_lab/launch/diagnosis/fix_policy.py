"""`FixPolicy`: which edits of the source are tried for which kinds of findings, as their rules declare it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum


class Repair(Enum):
    """Which edit of the source may mend a finding."""

    NONE = ""
    """None is tried."""
    MASK = "mask"
    """A mask for the access that stopped the launch."""
    FILL = "fill"
    """A value for masked-off lanes of a load, ``other=``."""


@dataclass(frozen=True)
class FixPolicy:
    """What rules declare about fixes, by kinds of findings: see `Rule`."""

    repair: Mapping[str, Repair]
    unrepaired: frozenset[str]
    told_by_fill: frozenset[str]
