"""Threads of one program that meet in memory, since the layout of a store and that of a load differ.

Triton gives each access a layout: which thread holds which lane. A block that is stored and loaded again at the same
offsets is exchanged between warps if the two layouts differ, and no barrier makes the second wait for the first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from triton_lab.launch.byte_ranges import Ints
from triton_lab.launch.checks.analysis.evidence import Evidence, EvidenceLanes, SeenAccess
from triton_lab.launch.checks.analysis.finding_text import FoundLanes, element, finding, line_of, others, program
from triton_lab.launch.checks.race.same_lanes import SameLanes, same_lanes
from triton_lab.launch.checks.rule import Concerned, Rule
from triton_lab.launch.diagnosis.finding import Finding
from triton_lab.launch.diagnosis.severity import WARNING
from triton_lab.localization import N_, _, translated
from triton_lab.providers import provided

if TYPE_CHECKING:
    from triton_lab.compiled.transactions.thread_order import ThreadOrder

_MEND = N_(
    "Call tl.debug_barrier() between the two accesses, or keep the block in a variable: the compiler then moves it "
    "between the threads."
)


# Kinds that say of an access what this one would say, with more.
_GRAVER = ("race", "same-value", "lane-collision", "lane-order")


class LayoutOrderRule(Rule):
    """A warp loads what another warp has stored, since their layouts differ, and no barrier is between."""

    kind = "layout-order"
    severity = WARNING
    subject = N_("warps that access the same memory in other layouts")
    summary = N_("A warp loads what another warp has stored in another layout, and no barrier separates them.")
    why = N_(
        "Each access has a layout, which says what thread holds what lane. Triton chooses it for each access, by the "
        "dtype, the alignment and what the block is used for. Where a store and a later load of the same elements have "
        "different layouts, warps exchange values through memory, and a warp that is ahead loads what was there before."
    )
    remedy = N_("Call `tl.debug_barrier()` between the two accesses, or keep the block in a variable.")
    intended = N_("Never: whether the result is right depends on which warp is ahead.")
    blind = N_(
        "The layouts and barriers are those of sm_90, as the installed Triton compiles the kernel. Triton 3.9 puts "
        "barriers around atomics that acquire or release, and these count. It compares lanes of equal addresses, and "
        "only warps: threads of one warp go together. Where one of two branches has a barrier, nothing is said. "
        "Descriptors are not looked at."
    )
    concerned = Concerned.ONE
    by_luck = True
    mark = N_("exchanged between warps without a barrier")

    def check(self, evidence: Evidence, found: Sequence[Finding]) -> Iterator[Finding]:
        """One finding for each access whose lanes another warp has accessed, where no other finding says so."""
        launch = evidence.launch
        if not evidence.complete or getattr(launch.compiled[1], "num_warps", 2) == 1:
            return
        compiled = _Compiled(evidence)
        exchanges: dict[int, _Exchange] = {}
        for pair in same_lanes(evidence):
            moved = compiled.moved(pair)
            if moved is not None and len(moved):
                exchanges.setdefault(pair.second.op.index, _Exchange(pair, moved)).add(pair, moved)
        known = {(one.line, one.column) for one in found if one.kind in _GRAVER}
        for one in exchanges.values():
            place = launch.lines.get(one.pair.second.op.index)
            if place is None or (place.line, place.column) not in known:
                yield self._finding(evidence, compiled, one)

    def _finding(self, evidence: Evidence, compiled: _Compiled, one: _Exchange) -> Finding:
        launch, first, second = evidence.launch, one.pair.first, one.pair.second
        ((op, lanes, count),) = one.found
        argument = evidence.owner(op)
        lane = int(one.moved.lane[0])
        return finding(
            launch,
            self.kind,
            _(
                "warp {warp} of {who} {deed} {place}, which warp {other} {past} ({line_of}), with no barrier in "
                "between{others}"
            ).format(
                warp=compiled.warp(second, lane),
                who=program(launch, int(one.moved.program[0])),
                deed=translated(_DEED[second.kind]),
                place=element(argument, int(one.moved.address[0])),
                other=compiled.warp(first, lane),
                past=translated(_PAST[first.kind]),
                line_of=line_of(launch, first.op),
                others=others(count),
            ),
            translated(_MEND),
            op=op,
            argument=argument,
            lanes=lanes,
            count=count,
            where=one.found.where(op),
        )


class _Compiled:
    """The compiled kernel of a launch; it is compiled with the first pair of accesses."""

    def __init__(self, evidence: Evidence) -> None:
        self._evidence = evidence
        self._order: ThreadOrder | None = None
        self._known: dict[tuple[int, int], Ints | None] = {}

    @property
    def order(self) -> ThreadOrder:
        if self._order is None:
            self._order = provided("Launch.thread_order")(self._evidence.launch)
        return self._order

    def warp(self, sight: SeenAccess, lane: int) -> int:
        warps = self.order.warps(sight.op)
        assert warps is not None
        return int(warps[lane])

    def moved(self, pair: SameLanes) -> EvidenceLanes | None:
        """The lanes that another warp has in the second access than in the first; None if there are none."""
        key = pair.first.op.index, pair.second.op.index
        if key not in self._known:
            self._known[key] = self._apart(pair)
        apart = self._known[key]
        if apart is None:
            return None
        lanes = pair.lanes()
        return lanes.where(np.isin(lanes.lane, apart))

    def _apart(self, pair: SameLanes) -> Ints | None:
        one, two = self.order.warps(pair.first.op), self.order.warps(pair.second.op)
        if one is None or two is None or len(one) != len(two) or not (one != two).any():
            return None
        return np.flatnonzero(one != two) if self.order.unordered(pair.first.op, pair.second.op) else None


@dataclass(frozen=True, eq=False)
class _Exchange:
    """The first pair of accesses that meet at an operation, the lanes that are exchanged, and those of all pairs."""

    pair: SameLanes
    moved: EvidenceLanes
    found: FoundLanes = field(default_factory=lambda: FoundLanes(whole=True))

    def add(self, pair: SameLanes, moved: EvidenceLanes) -> None:
        self.found.add(pair.second, moved)


_DEED = {"load": N_("loads"), "store": N_("stores to"), "atomic": N_("updates")}
_PAST = {"load": N_("loads before that"), "store": N_("has stored to"), "atomic": N_("has updated")}
