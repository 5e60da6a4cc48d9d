"""Accesses to memory that is mapped but belongs to no known tensor."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from triton_lab.ir import Op
from triton_lab.launch.checks.analysis.evidence import Evidence
from triton_lab.launch.checks.analysis.finding_text import FoundLanes, finding, others, program
from triton_lab.launch.checks.rule import Concerned, Rule
from triton_lab.launch.diagnosis.finding import Finding
from triton_lab.launch.diagnosis.severity import NOTE
from triton_lab.localization import N_, _, translated

_MEND = N_("Keep the tensors of a pointer table alive, and pass them to the kernel if you can.")

_MEND_BARE = N_(
    "Its bounds are not checked, and it may have been freed. Pass the tensor itself, keep alive the tensor whose "
    "address this is, or give the object a shape."
)


class UnverifiedRule(Rule):
    """A lane accesses memory that belongs to no known tensor."""

    kind = "unverified"
    severity = NOTE
    subject = N_("accesses through unknown pointers")
    summary = N_("A lane accesses memory that belongs to no known tensor.")
    why = N_(
        "The kernel got an address and no tensor, so nothing keeps the memory alive. If torch has given it to another "
        "tensor since, the kernel reads or changes that one."
    )
    remedy = N_("Pass the tensor itself. If you need a table of pointers, keep its tensors alive.")
    intended = N_("If you know what owns the memory, such as a buffer of another library.")
    blind = N_("Bounds, views and uninitialized memory are not checked for these accesses.")
    concerned = Concerned.ONE

    def check(self, evidence: Evidence, found: Sequence[Finding]) -> Iterator[Finding]:
        """One finding for each access that touches such memory."""
        strange = evidence.tape.unverified
        if not len(strange):
            return
        launch = evidence.launch
        strangers = FoundLanes()
        for sight in evidence.sights("load", "store", "atomic"):
            if _unknown(evidence, sight.op) and len(evidence.runs(sight).bytes() & strange):
                strangers.add(sight, evidence.lanes(sight, strange))
        for op, lanes, count in strangers:
            argument = evidence.owner(op) if evidence.is_bound(op) else None
            text = _("{program} touches address {address}, which belongs to this process but to no live tensor{others}")
            if argument is not None:
                text = _(
                    "{program} touches address {address} through {name}, which is only an address: the memory belongs "
                    "to this process but to no live tensor{others}"
                )
            yield finding(
                launch,
                self.kind,
                text.format(
                    program=program(launch, int(lanes.program[0])),
                    address=f"{int(lanes.address[0]):#x}",
                    name="" if argument is None else argument.name,
                    others=others(count),
                ),
                translated(_MEND) if argument is None else translated(_MEND_BARE),
                op=op,
                argument=argument,
                lanes=lanes,
                count=count,
            )


def _unknown(evidence: Evidence, op: Op) -> bool:
    """Whether the pointer's memory is not known: it has no single argument, or one with only a ``data_ptr()``."""
    argument = evidence.owner(op) if evidence.is_bound(op) else None
    return argument is None or not argument.storage_bytes
