"""Lane maps: which lanes of an operand a lane of a result depends on.

A map is data, with no NumPy: it is read from the result to the operand (origins) and from the operand to the result
(marks), over arrays of flags or over symbols.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class At:
    """The index that the result has on ``axis``, less ``shift``, divided by ``over`` (rounded down)."""

    axis: int
    shift: int = 0
    over: int = 1


@dataclass(frozen=True, slots=True)
class UpTo:
    """Every index up to the result's index on ``axis``; with ``reverse``, every index from it on."""

    axis: int
    reverse: bool = False


@dataclass(frozen=True, slots=True)
class All:
    """Every index."""


@dataclass(frozen=True, slots=True)
class Only:
    """One index."""

    index: int


@dataclass(frozen=True, slots=True)
class Picked:
    """The index that another operand, ``operand``, holds in the result's lane."""

    operand: int


AxisRule: TypeAlias = At | UpTo | All | Only | Picked


@dataclass(frozen=True, slots=True)
class LaneMap:
    """The lanes of one operand that a lane of one result depends on.

    ``axes`` has a rule for each axis of the operand. With ``group`` lanes correspond in row-major order instead: lane n
    of the result depends on the operand's lanes of the same group of that many.

    The map holds for the result's lanes whose index on an axis is in a range, ``within`` (axis, start, stop), and in
    which another operand is true or false, ``chosen`` (operand, which); other lanes do not depend on the operand.

    ``decides``: the operand decides which element the result is, and is no part of it: an index, a mask, an address.
    ``exact``: each of these lanes can make a difference; if not, the map only bounds what can.
    """

    axes: tuple[AxisRule, ...] = ()
    group: int | None = None
    within: tuple[int, int, int] | None = None
    chosen: tuple[int, bool] | None = None
    decides: bool = False
    exact: bool = True

    @property
    def is_same(self) -> bool:
        """Whether a lane depends on the operand's lane at its own place and on no other, unconditionally."""
        return (
            self.group is None
            and self.within is None
            and self.chosen is None
            and self.axes == tuple(At(axis) for axis in range(len(self.axes)))
        )

    @property
    def stays(self) -> bool:
        """Whether no lane depends on the operand's lane at another place; a scalar belongs to all lanes."""
        return self.group is None and self.within is None and self.axes == same(len(self.axes)).axes


@functools.cache
def same(rank: int, decides: bool = False) -> LaneMap:
    """Each lane depends on the operand's same lane."""
    return LaneMap(tuple(At(axis) for axis in range(rank)), decides=decides)


def everything(rank: int, exact: bool = False, decides: bool = False) -> LaneMap:
    """Each lane may depend on all lanes of the operand."""
    return LaneMap((All(),) * rank, decides=decides, exact=exact)


__all__ = ["All", "At", "AxisRule", "LaneMap", "Only", "Picked", "UpTo", "everything", "same"]
