"""Accesses to memory that no tensor was found for: mapped, and that is all that is known of it."""

from __future__ import annotations

from collections.abc import Iterator

from triton_lab.launch.checks.evidence import Evidence
from triton_lab.launch.checks.words import Found, finding, others, program
from triton_lab.launch.finding import Finding

_MEND = "Keep the tensors that a table of pointers points to alive, and pass them to the kernel if you can."


def check(evidence: Evidence) -> Iterator[Finding]:
    """One for each access that touches such memory."""
    strange = evidence.tape.unverified
    if not len(strange):
        return
    launch = evidence.launch
    found = Found()
    for sight in evidence.sights("load", "store", "atomic"):
        if not evidence.is_bound(sight.op) and len(evidence.runs(sight).bytes() & strange):
            found.add(sight, evidence.lanes(sight, strange))
    for op, lanes, count in found:
        yield finding(
            launch,
            "unverified",
            f"{program(launch, int(lanes.program[0]))} touches address {int(lanes.address[0]):#x}, which is memory of "
            f"this process and of no tensor that is alive{others(count)}",
            _MEND,
            op=op,
            lanes=lanes,
            count=count,
        )
