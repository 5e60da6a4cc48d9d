"""Limits on what a program may need of a GPU, for continuous integration."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from triton_lab.compiled.cost.occupancy import occupancy
from triton_lab.launch.checks.analysis.finding_text import finding
from triton_lab.launch.diagnosis.finding import Finding
from triton_lab.localization import _

if TYPE_CHECKING:
    from triton_lab.compiled.resource_facts import Metadata
    from triton_lab.launch.launch import Launch


@dataclass(frozen=True)
class ResourceGates:
    """The limits: registers and spilled registers of a thread, bytes of shared memory of a program, and the least
    occupancy in percent. None for no limit."""

    spills: int | None = None
    registers: int | None = None
    shared: int | None = None
    occupancy: float | None = None


def resource_findings(launch: Launch, target: str, gates: ResourceGates) -> list[Finding]:
    """One finding that says what a GPU would refuse of a launch, and what is beyond the gates; none if nothing is.

    Raises CompileError where the kernel does not compile for the target, LookupError where a figure is not known that a
    gate asks for.
    """
    compiled = launch.compile(target)
    told = [*compiled.problems, *_beyond(compiled.metadata, target, gates)]
    if not told:
        return []
    first = next((op for op in launch.executable.plan.walk() if launch.lines.get(op.index) is not None), None)
    message = "; ".join(each.partition(". ")[0] for each in told)
    remedy = _("Use smaller blocks, a smaller num_stages, or another num_warps.")
    return [finding(launch, "resources", message, remedy, op=first)]


def _beyond(metadata: Metadata, target: str, gates: ResourceGates) -> Iterator[str]:
    """What is beyond the gates, in words."""
    figures = (
        (metadata.spills, gates.spills, _("spilled registers of a thread")),
        (metadata.registers, gates.registers, _("registers of a thread")),
        (metadata.shared, gates.shared, _("bytes of shared memory of a program")),
    )
    for figure, most, what in figures:
        if most is None:
            continue
        if figure is None:
            raise LookupError(_("{what} are not known for {target}").format(what=what, target=target))
        if figure > most:
            yield _("for {target}: {figure} {what}, but at most {most} are allowed").format(
                target=target, figure=f"{figure:,}", what=what, most=f"{most:,}"
            )
    if gates.occupancy is not None:
        held = occupancy(target, metadata)
        if held.share * 100 < gates.occupancy:
            yield _(
                "for {target}: {share} % of the warps of a multiprocessor run at once, limited by {by}, but at least "
                "{least} % are required"
            ).format(
                target=target, share=f"{held.share * 100:.0f}", by=", ".join(held.by), least=f"{gates.occupancy:g}"
            )
