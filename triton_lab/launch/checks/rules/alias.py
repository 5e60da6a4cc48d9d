"""Writes through one argument to memory that the kernel reads through another."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from triton_lab.ir import effects
from triton_lab.launch.argument import Argument
from triton_lab.launch.byte_ranges import Ranges
from triton_lab.launch.checks.analysis.evidence import Evidence
from triton_lab.launch.checks.analysis.finding_text import FoundLanes, element, finding, others, program
from triton_lab.launch.checks.rule import Concerned, Rule
from triton_lab.launch.diagnosis.finding import Finding
from triton_lab.launch.diagnosis.severity import NOTE
from triton_lab.localization import N_, _, translated

_MEND = N_("This is safe if each element is read before it is written. Otherwise pass a clone of one of the two.")


class AliasRule(Rule):
    """A kernel writes through one argument to memory that it reads through another."""

    kind = "alias"
    severity = NOTE
    subject = N_("aliases")
    summary = N_("A kernel writes through one argument to memory that it reads through another.")
    why = N_(
        "The order of the programs decides whether an element is read before or after it is written, unless each "
        "program reads and writes its own elements only. The compiler assumes nothing about this."
    )
    remedy = N_(
        "If the same program reads each element before it writes it, the kernel is correct. Otherwise pass a clone "
        "of one of the two."
    )
    intended = N_("For a kernel that works in place, `f(x, out=x)`, element by element.")
    blind = N_(
        "Only the elements of this launch are compared. Two programs that access one element in no defined order are "
        "a `race`."
    )
    concerned = Concerned.ALL

    def check(self, evidence: Evidence, found: Sequence[Finding]) -> Iterator[Finding]:
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
        shared_writes = FoundLanes()
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
                    shared_writes.add(sight, evidence.lanes(sight, shared))
        for op, lanes, count in shared_writes:
            writer, reader = evidence.owner(op), launch.argument(through[op.index])
            address = int(lanes.address[0])
            yield finding(
                launch,
                self.kind,
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
