"""Finds writes through one argument to memory that the kernel reads through another."""

from __future__ import annotations

from collections.abc import Iterator

from triton_lab.ir import effects
from triton_lab.launch.argument import Argument
from triton_lab.launch.byte_ranges import Ranges
from triton_lab.launch.checks.analysis.evidence import Evidence
from triton_lab.launch.checks.analysis.finding_text import FoundLanes, element, finding, others, program
from triton_lab.launch.diagnosis.finding import Finding
from triton_lab.localization import N_, _, translated

_MEND = N_("This is safe if each element is read before it is written. Otherwise pass a clone of one of the two.")


def check(evidence: Evidence) -> Iterator[Finding]:
    """One finding for each access that writes memory that is read through another argument."""
    launch = evidence.launch
    tensors = [argument for argument in launch.arguments if argument.storage_bytes]
    partners = {a.name: {b.name for b in tensors if b.name != a.name and _meet(a, b)} for a in tensors}
    if not any(partners.values()):
        return
    read: dict[str, Ranges] = {}
    for argument in tensors:
        parts = [
            evidence.runs(sight)
            for sight in evidence.sights("load", "atomic")
            if evidence.is_bound(sight.op) and evidence.owner(sight.op) == argument and effects.reads(sight.op)
        ]
        read[argument.name] = Ranges.joined(parts)
    found = FoundLanes()
    through: dict[int, str] = {}
    for sight in evidence.sights("store", "atomic"):
        owner = evidence.owner(sight.op)
        if owner is None or not evidence.is_bound(sight.op) or not effects.writes(sight.op):
            continue
        written = evidence.runs(sight).bytes()
        for other in sorted(partners.get(owner.name, ())):
            shared = written & read[other]
            if len(shared):
                through.setdefault(sight.op.index, other)
                found.add(sight, evidence.lanes(sight, shared))
    for op, lanes, count in found:
        writer, reader = evidence.owner(op), launch.argument(through[op.index])
        address = int(lanes.address[0])
        yield finding(
            launch,
            "alias",
            _("{program} writes {element}, which is also {other}, and the kernel reads {name}{others}").format(
                program=program(launch, int(lanes.program[0])),
                element=element(writer, address),
                other=element(reader, address),
                name=through[op.index],
                others=others(count),
            ),
            translated(_MEND),
            op=op,
            argument=writer,
            lanes=lanes,
            count=count,
        )


def _meet(a: Argument, b: Argument) -> bool:
    return (
        a.storage_address < b.storage_address + b.storage_bytes
        and b.storage_address < a.storage_address + a.storage_bytes
    )
