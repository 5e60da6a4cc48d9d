"""The lanes of all accesses to an argument, each with its position and its member.

A *moment* is one iteration of one access. A member is a program at a moment: member p * moments + m is an active lane
of program p at moment m; members from ``programs * moments`` on are masked-off lanes in the same order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from triton_lab.launch.element_index import Ints
from triton_lab.launch.maps.lane_positions import Flags, Place, TimedAccess

_KEPT = 1 << 22  # lanes


@dataclass(frozen=True)
class Moment:
    """One iteration of one access; ``access`` is its index in the given list."""

    access: int
    iteration: int
    line: int | None
    kind: str


@dataclass(frozen=True)
class AccessVisit:
    """One iteration of one access, with its ``moment`` (an index into the timeline's moments)."""

    access: int
    iteration: int
    moment: int


@dataclass(frozen=True)
class Timeline:
    """All iterations of some accesses in the order in which they began, and their moments."""

    visits: tuple[AccessVisit, ...]
    moments: tuple[Moment, ...]

    @classmethod
    def of_iterations(cls, accesses: Sequence[TimedAccess]) -> Timeline:
        """The timeline in which each iteration is a moment of its own."""
        begun = _in_order(accesses)
        return cls(
            tuple(AccessVisit(access, iteration, moment) for moment, (access, iteration) in enumerate(begun)),
            tuple(Moment(n, iteration, accesses[n].line, accesses[n].kind) for n, iteration in begun),
        )

    @classmethod
    def of_accesses(cls, accesses: Sequence[TimedAccess]) -> Timeline:
        """The timeline in which all iterations of an access are one moment, so that there are few members."""
        return cls(
            tuple(AccessVisit(access, iteration, access) for access, iteration in _in_order(accesses)),
            tuple(Moment(n, 0, access.line, access.kind) for n, access in enumerate(accesses)),
        )


def _in_order(accesses: Sequence[TimedAccess]) -> list[tuple[int, int]]:
    """(access, iteration) of all iterations, in the order in which they began."""
    begun = sorted(
        (access.order(iteration), number, iteration)
        for number, access in enumerate(accesses)
        for iteration in range(access.iterations)
    )
    return [(number, iteration) for _, number, iteration in begun]


@dataclass(frozen=True)
class AccessLanes:
    """The active lanes of one visit, or its masked-off lanes.

    ``position`` is (programs, *block), or (lanes,) if some of the block's lanes are left out; ``member`` broadcasts to
    it. ``elsewhere`` counts the lanes that have no position.
    """

    position: Ints
    member: Ints
    active: bool
    elsewhere: int = 0

    def run(self) -> slice | None:
        """The range of positions, if the blocks' lanes fill it in order; else None."""
        line = self.position.reshape(-1)
        if self.position.ndim < 2 or not line.size or int(line[-1]) - int(line[0]) != line.size - 1:
            return None
        return slice(int(line[0]), int(line[-1]) + 1) if bool((line[1:] - line[:-1] == 1).all()) else None

    def members(self) -> Ints:
        """The member of each position."""
        return np.broadcast_to(self.member, self.position.shape)


@dataclass(frozen=True)
class _Block:
    """All lanes of one visit: ``position`` (programs, *block), -1 for none; ``member`` has one entry per program."""

    position: Ints
    mask: Flags
    member: Ints

    def parts(self, members: int) -> Iterator[AccessLanes]:
        """The active lanes, then any masked-off lanes; there are ``members`` members of each kind."""
        if self.mask.all() and (not self.position.size or int(self.position.min()) >= 0):
            yield AccessLanes(self.position, self.member, active=True)
            return
        yield self._part(self.mask, self.member, active=True)
        yield self._part(~self.mask, self.member + members, active=False)

    def _part(self, wanted: Flags, member: Ints, active: bool) -> AccessLanes:
        there = wanted & (self.position >= 0)
        elsewhere = int(wanted.sum()) - int(there.sum())
        return AccessLanes(self.position[there], np.broadcast_to(member, there.shape)[there], active, elsewhere)


class TouchingLanes:
    """The lanes of every visit, in order. Can be iterated several times; small blocks are cached for that."""

    def __init__(self, place: Place, accesses: Sequence[TimedAccess], timeline: Timeline, programs: int) -> None:
        self._place = place
        self._accesses = accesses
        self._timeline = timeline
        # The number of members of each kind, active and masked off.
        self.members = programs * len(timeline.moments)
        self._kept: dict[AccessVisit, _Block] = {}
        self._room = _KEPT

    def __iter__(self) -> Iterator[AccessLanes]:
        for visit in self._timeline.visits:
            yield from self._block(visit).parts(self.members)

    def _block(self, visit: AccessVisit) -> _Block:
        kept = self._kept.get(visit)
        if kept is not None:
            return kept
        program, position, mask = self._place.lanes(self._accesses[visit.access], visit.iteration)
        member = program * len(self._timeline.moments) + visit.moment
        found = _Block(position, mask, member.reshape((-1,) + (1,) * (position.ndim - 1)))
        self._room -= position.size
        if self._room >= 0:
            self._kept[visit] = found
        return found
