"""Threads of one program that touch the same memory, one of them writing, without a barrier between the two.

Triton's compiler puts barriers only where threads exchange values through shared memory. A block that is stored and
loaded again, shifted, is a row of `st.global` and a row of `ld.global` with nothing between (seen in the PTX for
sm_90). So a warp that is ahead may read an element before another warp writes it, or overwrite one before another warp
reads it. The result is right if the program is one warp, or by chance; so this is a warning.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from triton_lab import messages
from triton_lab.launch.byte_ranges import Ranges
from triton_lab.launch.checks.analysis.evidence import Evidence, EvidenceLanes, SeenAccess
from triton_lab.launch.checks.analysis.finding_text import FoundLanes, element, finding, line_of, others, program
from triton_lab.launch.checks.race.lane_threads import Threads
from triton_lab.launch.checks.race.races import Races
from triton_lab.launch.checks.race.racing_access import racing_accesses
from triton_lab.launch.checks.race.thread_conflicts import thread_conflicts
from triton_lab.launch.checks.rule import Concerned, Rule
from triton_lab.launch.diagnosis.finding import Finding
from triton_lab.launch.diagnosis.severity import WARNING
from triton_lab.localization import N_, _, translated

_MEND = N_(
    "Call tl.debug_barrier() between the two accesses. The threads of a program run "
    "independently, and the compiler synchronizes them where they exchange values, but "
    "not where they communicate through memory."
)


class LaneOrderRule(Rule):
    """Two threads of one program access one element, at least one of them stores to it, and no barrier is between."""

    kind = "lane-order"
    severity = WARNING
    subject = N_("lanes of one program that access the same memory")
    summary = N_(
        "Two threads of one program access one element, at least one of them stores to it, and no "
        "barrier separates them."
    )
    why = N_(
        "A program is several warps, and each runs at its own speed. Triton inserts barriers where values are "
        "exchanged in shared memory, but not where a kernel stores to a tensor and loads from it again. So a warp "
        "may read an element before another one has written it."
    )
    remedy = N_("Call `tl.debug_barrier()` between the two accesses, or keep the value in a variable.")
    intended = N_("If the kernel runs with `num_warps=1`, and you know that its threads run in lockstep.")
    blind = N_(
        "The compiler's layouts decide which thread holds a lane. Here two lanes count as two threads, except where "
        "the lanes of both accesses are the same: `layout-order` looks at these."
    )
    concerned = Concerned.ONE
    by_luck = True
    mark = N_("lanes without an order")

    def check(self, evidence: Evidence, found: Sequence[Finding]) -> Iterator[Finding]:
        """One finding for each access that conflicts with an earlier one, at a place without races and collisions."""
        threads = Threads(evidence.launch.executable.plan)
        lanes_found = FoundLanes(whole=True)
        first: dict[int, tuple[SeenAccess, EvidenceLanes, int]] = {}
        for sight, lanes, met in thread_conflicts(evidence, threads):
            apart = ~evidence.once(Races).bytes().covers(lanes.address)
            if apart.any():
                lanes_found.add(sight, lanes.where(apart))
                k = int(np.flatnonzero(apart)[0])
                first.setdefault(sight.op.index, (sight, lanes.at(np.array([k])), int(met[k])))
        by_order = {sight.event.order: sight for sight in evidence.in_order}
        known = {(one.line, one.column) for one in found if one.kind == "lane-collision"}
        racing = [evidence.launch.lines.get(each.first.op.index) for each in evidence.once(racing_accesses)]
        known |= {(place.line, place.column) for place in racing if place is not None}
        for op, lanes, count in lanes_found:
            sight, one, time = first[op.index]
            place = evidence.launch.lines.get(op.index)
            if place is not None and (place.line, place.column) in known:
                continue
            what = _told(evidence, sight, one, by_order[time], threads)
            yield finding(
                evidence.launch,
                self.kind,
                _("{what}, with no barrier in between{others}").format(what=what, others=others(count)),
                translated(_MEND),
                op=op,
                argument=evidence.owner(op),
                lanes=lanes,
                count=count,
                where=lanes_found.where(op),
            )


def _told(evidence: Evidence, sight: SeenAccess, one: EvidenceLanes, before: SeenAccess, threads: Threads) -> str:
    """The message for the first lane: what it does, and what the earlier access did there."""
    launch = evidence.launch
    place = element(evidence.owner(sight.op), int(one.address[0]))
    who = program(launch, int(one.program[0]))
    mine = messages.lane(int(one.lane[0]), sight.event.shape) or (
        _("every thread") if threads.all_load(sight) else _("one thread")
    )
    there = evidence.lanes(before, Ranges.of([one.address[0]], [one.address[0] + sight.itemsize]))
    there = there.where(there.program == one.program[0])
    other = [k for k in there.lane.tolist() if before.event.shape != sight.event.shape or k != int(one.lane[0])]
    theirs = messages.lane(other[0], before.event.shape) if other else ""
    theirs = theirs or (_("every thread") if threads.all_load(before) else _("one thread"))
    deed, past = translated(_DEED[sight.kind]), translated(_PAST[before.kind])
    return _("{mine} of {who} {deed} {place}, which {theirs} {past} ({line_of})").format(
        mine=mine, who=who, deed=deed, place=place, theirs=theirs, past=past, line_of=line_of(launch, before.op)
    )


_DEED = {"load": N_("loads"), "store": N_("stores to"), "atomic": N_("updates")}
_PAST = {"load": N_("loads before that"), "store": N_("has stored to"), "atomic": N_("has updated")}
