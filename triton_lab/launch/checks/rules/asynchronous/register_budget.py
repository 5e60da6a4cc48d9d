"""Partitions of warps that ask for more registers than there are, or for fewer than they need."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from triton_lab.launch.checks.analysis.finding_text import finding
from triton_lab.launch.checks.analysis.launch_summary import LaunchSummary
from triton_lab.launch.checks.analysis.source_nodes import calls_of, place_of
from triton_lab.launch.checks.rule import Concerned, WholeRule
from triton_lab.launch.diagnosis.finding import Finding
from triton_lab.launch.diagnosis.severity import WARNING
from triton_lab.launch.partition_registers import LEAST, PartitionRegisters, partition_registers
from triton_lab.localization import N_, _


class RegisterBudgetRule(WholeRule):
    """The registers that partitions of warps ask for are more than there are, or fewer than their blocks take."""

    kind = "register-budget"
    severity = WARNING
    subject = N_("registers of partitions")
    summary = N_("The registers that partitions ask for are more than there are, or fewer than their blocks take.")
    why = N_(
        "A multiprocessor has 65,536 registers. If the requests leave too few for the program's own warps, the "
        "compiler ignores them all. If a partition's blocks take more than it asks for, they are spilled to memory, "
        "which costs far more than the registers would."
    )
    remedy = N_(
        "Ask for few registers (24) where a partition only starts copies, and for as many as its accumulators take, "
        "and about 40 more, where it computes. More warps share a block between more threads."
    )
    intended = N_("If spilling is accepted, since no other number fits.")
    blind = N_(
        "Only accumulators and what loops carry are counted, by their layouts, as for NVIDIA's GPUs. What else a "
        "thread holds is not: the machine code shows it (`launch.compile`)."
    )
    concerned = Concerned.ONE

    def check(self, evidence: LaunchSummary, found: Sequence[Finding]) -> Iterator[Finding]:
        """One finding for each `gl.warp_specialize` whose requests cannot be met, else for each small one."""
        launch = evidence.launch
        every = list(partition_registers(launch.executable.plan))
        # The compiler gives the operation the line of the kernel's `def`.
        calls = calls_of(launch, "warp_specialize")
        for number, one in enumerate(every):
            for message, hint in _told(one):
                made = finding(launch, self.kind, message, hint, op=one.op)
                yield replace(made, **place_of(launch, calls[number])) if len(calls) == len(every) else made


def _told(one: PartitionRegisters) -> Iterator[tuple[str, str]]:
    if one.left < LEAST:
        message = _(
            "the partitions ask for {total} registers of {budget}, so that {left} are left for each thread of the "
            "program's own warps; the compiler needs {least}, and ignores the requests"
        ).format(total=f"{one.total:,}", budget=f"{one.budget:,}", left=max(0, one.left), least=LEAST)
        yield message, _("Ask for fewer registers, or use fewer warps.")
        return
    for number, (asked, need) in enumerate(zip((one.left, *one.asked), one.needs, strict=True)):
        if need <= asked:
            continue
        if number:
            message = _(
                "partition {number} asks for {asked} registers for each thread, but its blocks alone take {need}"
            )
        else:
            message = _(
                "{asked} registers are left for each thread of the program's own warps, but their blocks alone take "
                "{need}"
            )
        hint = _("Give these warps more registers, more warps, or smaller blocks: what does not fit is spilled.")
        yield message.format(number=number, asked=asked, need=need), hint
