"""Reads of memory that nobody has written: `torch.empty`, padding, gaps.

Where another program writes unordered what is read, it is a race and reported as one: whether the
read saw anything is then a matter of luck.
"""

from __future__ import annotations

from collections.abc import Iterator

from triton_lab.ir.provenance import ONLY_READ, ONLY_WRITE
from triton_lab.launch.checks.barriers import results_used
from triton_lab.launch.checks.evidence import Evidence, Sight
from triton_lab.launch.checks.race import Races
from triton_lab.launch.checks.words import Found, element, finding, others, program
from triton_lab.launch.finding import Finding
from triton_lab.launch.fresh import still_poisoned
from triton_lab.launch.ranges import Ranges

_EXCHANGE = 10  # Triton's number of `atomic_xchg` among the atomics
_MEND = "Make the tensor with torch.zeros, or fill it, or mask the lanes that nobody has written."


def check(evidence: Evidence, races: Races) -> Iterator[Finding]:
    """One for each load and atomic that reads such memory."""
    launch = evidence.launch
    if not len(evidence.tape.unwritten) or launch.snapshot is None or launch.snapshot.missing:
        return
    used = results_used(launch.executable.plan)
    readers = [sight for sight in evidence.in_order if _reads(sight, used)]
    hulls = [evidence.hull(sight) for sight in readers]
    asked = Ranges.of([low for low, _ in hulls], [high for _, high in hulls])
    left = still_poisoned(evidence.tape.unwritten & asked, launch.snapshot.held) - races.bytes()
    found = Found()
    for sight in evidence.in_order:
        if not len(left):
            break
        if not left.meets(*evidence.hull(sight)):
            continue
        if _reads(sight, used) and len(left & evidence.runs(sight).bytes()):
            found.add(sight, evidence.lanes(sight, left, whole=True))
        if sight.kind != "load" and sight.op.name not in ONLY_READ:
            left -= evidence.runs(sight).bytes()
    for op, lanes, count in found:
        argument = evidence.owner(op)
        what = element(argument, int(lanes.address[0]))
        deed = "updates" if op.name in ("tt.atomic_rmw", "tt.atomic_cas") else "loads"
        yield finding(
            launch,
            "uninitialised",
            f"{program(launch, int(lanes.program[0]))} {deed} {what}, which nobody has written{others(count)}",
            _MEND,
            op=op,
            argument=argument,
            lanes=lanes,
            count=count,
        )


def _reads(sight: Sight, used: set[int]) -> bool:
    """Whether what was in memory matters."""
    if sight.kind != "atomic":
        return sight.kind == "load"
    if sight.op.name in ONLY_WRITE:
        return False
    return sight.op.attributes.get("atomic_rmw_op") != _EXCHANGE or sight.op.index in used
