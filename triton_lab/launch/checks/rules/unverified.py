"""Finds accesses to memory that is mapped but belongs to no known tensor."""

from __future__ import annotations

from collections.abc import Iterator

from triton_lab.ir import Op
from triton_lab.launch.checks.analysis.evidence import Evidence
from triton_lab.launch.checks.analysis.finding_text import FoundLanes, finding, others, program
from triton_lab.launch.diagnosis.finding import Finding

_MEND = "Keep the tensors that a table of pointers points to alive, and pass them to the kernel if you can."

_MEND_BARE = "Its memory may have been freed: pass the tensor itself, or keep the one alive that it was taken from."


def check(evidence: Evidence) -> Iterator[Finding]:
    """One finding for each access that touches such memory."""
    strange = evidence.tape.unverified
    if not len(strange):
        return
    launch = evidence.launch
    found = FoundLanes()
    for sight in evidence.sights("load", "store", "atomic"):
        if _unknown(evidence, sight.op) and len(evidence.runs(sight).bytes() & strange):
            found.add(sight, evidence.lanes(sight, strange))
    for op, lanes, count in found:
        argument = evidence.owner(op) if evidence.is_bound(op) else None
        through = f" through {argument.name}, of which only an address is known" if argument is not None else ""
        yield finding(
            launch,
            "unverified",
            f"{program(launch, int(lanes.program[0]))} touches address {int(lanes.address[0]):#x}{through}, which is "
            f"memory of this process and of no tensor that is alive{others(count)}",
            _MEND if argument is None else _MEND_BARE,
            op=op,
            argument=argument,
            lanes=lanes,
            count=count,
        )


def _unknown(evidence: Evidence, op: Op) -> bool:
    """Whether the pointer's memory is not known: it has no single argument, or one with only a ``data_ptr()``."""
    argument = evidence.owner(op) if evidence.is_bound(op) else None
    return argument is None or not argument.storage_bytes
