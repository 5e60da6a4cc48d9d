"""Lanes of one program that store to the same element with one operation.

Their order is not defined: PTX leaves it open for the threads of a warp, and warps run independently. So different
values are an error. Lanes that store equal values are correct, for example a block whose lanes are all one element. But
if each of them has loaded the element before and stores a value computed from it, all updates except one are lost
(`out[index[i]] += 1`), even if the values are equal.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from triton_lab import messages
from triton_lab.launch.checks.analysis.evidence import Evidence
from triton_lab.launch.checks.analysis.finding_text import FoundLanes, element, finding, others, program
from triton_lab.launch.checks.race.lane_collisions import LaneCollision, both_lanes, lane_collisions
from triton_lab.launch.checks.rule import Concerned, Rule
from triton_lab.launch.diagnosis.finding import Finding
from triton_lab.launch.diagnosis.severity import ERROR
from triton_lab.localization import N_, _, translated

_MEND = N_("Give each lane its own element, let only one lane store (with a mask), or add with tl.atomic_add.")
_MEND_LOST = N_("Use tl.atomic_add (or another atomic): it applies the lanes' updates one after the other.")


class LaneCollisionRule(Rule):
    """Lanes of one program store different values to one element, or lose each other's updates."""

    kind = "lane-collision"
    severity = ERROR
    subject = N_("lanes of one program that access the same memory")
    summary = N_("Lanes of one program store different values to one element.")
    why = N_(
        "A block is stored by many threads at once, and which of them comes last is undefined. One value remains, and "
        "of several updates such as `out[i] += 1` only one."
    )
    remedy = N_(
        "Give each lane its own element, let one lane store (with a mask), or add with `tl.atomic_add`, which applies "
        "the updates one after the other."
    )
    intended = N_("Only if any of the values is right. Then select one of them with a mask.")
    blind = N_(
        "Whether the values differ is found by a replay; in a launch too large for one, only lost updates are found. "
        "Lanes that store equal values are not reported."
    )
    concerned = Concerned.ONE
    unsteady = N_("several lanes of one program store to one element")
    mark = N_("lanes collide")

    def check(self, evidence: Evidence, found: Sequence[Finding]) -> Iterator[Finding]:
        """One finding for each store whose lanes collide within a program. Raises CannotReplay after those known."""
        collisions, impossible = lane_collisions(evidence)
        for some in collisions:
            yield _described(evidence, some)
        if impossible is not None:
            raise impossible


def _described(evidence: Evidence, collisions: list[LaneCollision]) -> Finding:
    """The finding for the collisions at one operation."""
    launch = evidence.launch
    lost = any(bool(each.lost.any()) for each in collisions)
    found = FoundLanes(whole=True)
    for each in collisions:
        found.add(each.meeting.sight, both_lanes(evidence, each.meeting.where(each.different | each.lost)))
    ((op, lanes, count),) = found
    first = collisions[0].meeting.where(collisions[0].different | collisions[0].lost)
    argument, shape = evidence.owner(op), first.sight.event.shape
    one, two = (messages.lane(number, shape) for number in sorted((int(first.lanes.lane[0]), int(first.there[0]))))
    who, place = program(launch, int(first.lanes.program[0])), element(argument, int(first.lanes.address[0]))
    if lost:
        what = _("{one} and {two} of {who} both load {place} and store to it, so one of the updates is lost").format(
            one=one, two=two, who=who, place=place
        )
    else:
        what = _("{one} and {two} of {who} both store to {place}, and it is undefined which value remains").format(
            one=one, two=two, who=who, place=place
        )
    return finding(
        launch,
        LaneCollisionRule.kind,
        f"{what}{others(count)}",
        translated(_MEND_LOST) if lost else translated(_MEND),
        op=op,
        argument=argument,
        lanes=lanes,
        count=count,
        where=found.where(op),
    )
