"""Accesses of shared memory whose layout costs bank conflicts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from triton_lab import messages
from triton_lab.launch.buffer_access_layouts import BufferAccess, SharedBuffer, shared_buffers
from triton_lab.launch.checks.analysis.finding_text import finding
from triton_lab.launch.checks.analysis.launch_summary import LaunchSummary
from triton_lab.launch.checks.rule import Concerned, WholeRule
from triton_lab.launch.diagnosis.finding import Finding
from triton_lab.launch.diagnosis.severity import NOTE
from triton_lab.localization import N_, _
from triton_lab.providers import provided

if TYPE_CHECKING:
    from triton_lab.compiled.layouts.bank_use import BankUse


class BankConflictsRule(WholeRule):
    """A warp's threads access different words of one bank of shared memory."""

    kind = "bank-conflicts"
    severity = NOTE
    subject = N_("bank conflicts")
    summary = N_("A warp's threads access different words of one bank of shared memory.")
    why = N_(
        "Each of the 32 banks gives one word of 4 bytes at a time: threads that need different words of a bank are "
        "served one after the other, and the access takes that many times as long."
    )
    remedy = N_(
        "Take a layout whose swizzle puts these elements into different banks; the finding names one that has no "
        "conflicts, if there is one. `launch.plot.shared_memory()` draws which thread meets which bank."
    )
    intended = N_("If the access is rare, and a swizzle would cost the others.")
    blind = N_(
        "Only a warp's own loads, stores and `async_copy` count, by the layouts; operands of tensor cores are moved by "
        "matrices (`ldmatrix`). A TMA copy has none of its own: its box lies in shared memory without gaps, so that "
        "each 128 bytes of it use every bank once, whatever the swizzle. The descriptor's swizzle decides about the "
        "warps that use the box afterwards (see CUtensorMapSwizzle in CUDA's driver interface). Matrices that wgmma "
        "reads have none, since it takes no layout without a swizzle."
    )
    concerned = Concerned.ONE
    explains = False

    def check(self, evidence: LaunchSummary, found: Sequence[Finding]) -> Iterator[Finding]:
        """One finding for each access with conflicts."""
        launch = evidence.launch
        for buffer in shared_buffers(launch.executable.plan):
            costly = [(one, use) for one in buffer.accesses if (use := _use(one)) is not None and use.conflicts]
            if not costly:
                continue
            hint = _hint(buffer)
            for access, use in costly:
                message = _(
                    "this access of {name} takes {wavefronts} wavefronts of shared memory, {ideal} without bank "
                    "conflicts: {threads} of a warp need different words of one bank"
                ).format(
                    name=buffer.name or _("the buffer"),
                    wavefronts=use.wavefronts,
                    ideal=use.ideal,
                    threads=messages.count(use.ways, "thread"),
                )
                yield finding(launch, self.kind, message, hint, op=access.op, count=use.conflicts)

    def noun(self, finding: Finding) -> str:
        """Its count is one of wavefronts."""
        return "wavefront"


def _use(access: BufferAccess) -> BankUse | None:
    found: BankUse | None = provided("SharedView.bank_use")(access.bytes, access.bits, access.registers)
    return found


def _hint(buffer: SharedBuffer) -> str:
    """What to do: the layout that has no conflicts."""
    accesses = [(one.registers, one.axes) for one in buffer.accesses]
    bits = buffer.accesses[0].bits
    better = provided("SharedView.conflict_free")(buffer.type.layout, buffer.block.shape, bits, accesses)
    name = buffer.name or _("the buffer")
    if not better:
        return _(
            "No swizzle was found that serves all accesses of {name} without conflicts: change a layout in registers."
        ).format(name=name)
    if buffer.is_fixed:
        told = _("{layout} has none: give it to {name}, and to the tensor's descriptor if TMA uses it.")
    else:
        told = _("{layout} has none: give it to {name}.")
    return told.format(layout=better, name=name)
