"""Axes of a grid with several programs that all do the same, since the kernel does not ask for their number there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from triton_lab import messages
from triton_lab.ir import effects
from triton_lab.launch.checks.analysis.finding_text import finding, launched_at
from triton_lab.launch.checks.analysis.launch_summary import LaunchSummary
from triton_lab.launch.checks.rule import Concerned, WholeRule
from triton_lab.launch.diagnosis.finding import Finding
from triton_lab.launch.diagnosis.severity import WARNING
from triton_lab.localization import N_, _

_ASKS = "tt.get_program_id"


class UnusedGridAxisRule(WholeRule):
    """The grid has several programs along an axis for which the kernel does not ask: all of them do the same."""

    kind = "unused-grid-axis"
    severity = WARNING
    subject = N_("axes of the grid")
    summary = N_(
        "The grid has several programs along an axis, but the kernel does not call tl.program_id for it: they do the "
        "same work."
    )
    why = N_(
        "Each of these programs loads and stores the same elements as the others. The rest of the tensor stays as it "
        "was, and the GPU does the same work many times."
    )
    remedy = N_(
        "Use the axis that the grid has: `tl.program_id(0)` for a grid of one axis. Or start one program along this "
        "axis."
    )
    intended = N_("If programs only keep a GPU busy, as in a measurement.")
    blind = N_("Kernels with atomics are not examined: their programs may divide the work among themselves.")
    concerned = Concerned.ALL

    def check(self, evidence: LaunchSummary, found: Sequence[Finding]) -> Iterator[Finding]:
        """One finding for each axis."""
        launch = evidence.launch
        ops = list(launch.executable.plan.walk())
        shared = any(effects.is_access(op) and effects.ACCESSES[op.name].kind == "atomic" for op in ops)
        if shared or launch.error is not None or not any(effects.is_access(op) and effects.writes(op) for op in ops):
            return
        # A kernel that is not written in Triton's own language may ask in other ways.
        if any(op.name.startswith(("ttng.", "tt.elementwise_inline_asm")) for op in ops):
            return
        asked = {int(op.attributes["axis"]) for op in ops if op.name == _ASKS}
        alone = sorted(axis for axis in asked if launch.grid[axis] == 1)
        for axis, size in enumerate(launch.grid):
            if size > 1 and axis not in asked:
                text = _("the grid has {programs} along axis {axis}, but the kernel does not use tl.program_id({axis})")
                if alone:
                    text = _(
                        "the grid has {programs} along axis {axis}, but the kernel uses only tl.program_id({alone}), "
                        "and the grid has one program along axis {alone}"
                    )
                yield finding(
                    launch,
                    self.kind,
                    text.format(
                        programs=messages.count(size, "program"),
                        axis=axis,
                        alone="), tl.program_id(".join(map(str, alone)),
                    ),
                    _("Use tl.program_id({axis}), or start one program along this axis. {place}")
                    .format(axis=axis, place=launched_at(launch))
                    .rstrip(),
                    op=next((op for op in ops if op.name == _ASKS), None),
                    count=size,
                )
