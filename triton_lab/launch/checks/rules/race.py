"""Data races: unordered accesses of two programs to a byte, one a plain store, or a load and an atomic update.

They are reported at the stores, and at loads that race with atomics only. Each finding lists the lanes that take part,
on both sides. Stores of the same value to an element are `same_value`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from triton_lab.launch.checks.analysis.evidence import Evidence
from triton_lab.launch.checks.race.happens_before import HappensBefore
from triton_lab.launch.checks.race.outcomes import outcomes
from triton_lab.launch.checks.race.races import Races, pairs_that_race
from triton_lab.launch.checks.race.racing_access import RacingAccess, conflict_of_parts, overlap, racing_accesses
from triton_lab.launch.checks.rule import Concerned, Rule
from triton_lab.launch.diagnosis.finding import Finding
from triton_lab.launch.diagnosis.severity import ERROR
from triton_lab.launch.recording.launch_record import Recorded
from triton_lab.localization import N_, _, translated

_MEND = N_("Give each program its own elements, use an atomic (tl.atomic_add, ...), or guard the accesses with a lock.")
_MEND_BARRIER = N_(
    "Call tl.debug_barrier() between the accesses to the block and the atomic that lets other programs continue."
)
_MEND_ORDER = N_(
    "Let the first program release a flag (tl.atomic_xchg with sem='release'), and let "
    "the second wait for that flag with an atomic that acquires."
)
_MEND_UPDATES = N_(
    "Load it in a second launch, or only in the last program: let each program add 1 to "
    "a counter with tl.atomic_add when it is done. The program that gets the last number "
    "sees the updates of all others."
)


class RaceRule(Rule):
    """Two programs access one element, at least one of them stores to it, and nothing orders them."""

    kind = "race"
    severity = ERROR
    subject = N_("races")
    summary = N_("Two programs access one element, at least one of them stores to it, and their order is undefined.")
    why = N_(
        "The programs of a launch run in any order, many at once. The result depends on which one comes last, so it "
        "differs between runs and between GPUs, and updates are lost."
    )
    remedy = N_(
        "Give each program its own elements, use an atomic such as `tl.atomic_add`, or guard the accesses with a lock. "
        "Where a grid covers elements twice, correct the grid or the offsets."
    )
    intended = N_(
        "Almost never. If all programs store one value, such as a flag that they set to 1, the finding is "
        "`same-value`, a warning."
    )
    blind = N_(
        "Only the addresses of this launch are compared. Atomics, barriers and locks order two accesses only if the "
        "kernel waits for them as PTX's memory model requires. Races with other launches are not found."
    )
    concerned = Concerned.SEVERAL
    unsteady = N_("a race: the result depends on the order of the programs")
    mark = N_("race")

    def check(self, evidence: Evidence, found: Sequence[Finding]) -> Iterator[Finding]:
        """One finding for each plain store that races, and for each load that races with atomics only."""
        races = evidence.once(Races)
        for each in evidence.once(racing_accesses):
            if not each.same:
                why, remedy = _reason(races, each)
                yield each.finding(evidence, self.kind, why, overlap(each, evidence) or remedy)
        yield from conflict_of_parts(evidence, self.kind, translated(_MEND))

    def completed(self, launch: Recorded, finding: Finding) -> Finding:
        """The finding, with what memory holds after either order of two programs."""
        return outcomes(launch, finding)


def _reason(races: Races, each: RacingAccess) -> tuple[str, str]:
    """Why two accesses race, and the advice."""
    if races.order is not None:
        return _disorder(races.order, each)
    mend = _MEND_UPDATES if each.first.kind == "load" else _MEND
    return _("and the order of the two accesses is undefined"), translated(mend)


def _disorder(order: HappensBefore, each: RacingAccess) -> tuple[str, str]:
    """Why they race although atomics order some accesses, and the advice."""
    rows = each.rows
    if not len(pairs_that_race(rows, order, np.ones(len(rows), np.bool_))[0]):
        return _("and the atomic between them does not wait for all threads of the first"), translated(_MEND_BARRIER)
    return _("and no release and acquire order the two accesses"), translated(_MEND_ORDER)
