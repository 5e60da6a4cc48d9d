"""Barriers that are never invalidated."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from triton_lab.interpreter.ops.local_memory import variable_of
from triton_lab.ir import Op, Plan
from triton_lab.ir.dataflow import Flow, Value
from triton_lab.ir.value_flow import LOOPS
from triton_lab.launch.buffer_access_layouts import allocations
from triton_lab.launch.checks.analysis.finding_text import finding
from triton_lab.launch.checks.analysis.launch_summary import LaunchSummary
from triton_lab.launch.checks.rule import Concerned, WholeRule
from triton_lab.launch.diagnosis.finding import Finding
from triton_lab.launch.diagnosis.severity import NOTE
from triton_lab.localization import N_, _


class BarrierLeftRule(WholeRule):
    """A barrier is never invalidated, and its memory may be used again."""

    kind = "barrier-left"
    severity = NOTE
    subject = N_("barriers that are left")
    summary = N_("A barrier is never invalidated, and its memory may be used again.")
    why = N_(
        "The compiler gives the shared memory of a barrier to another buffer once the barrier is not used any more. "
        "PTX leaves open what happens to memory that is written while it is still a barrier."
    )
    remedy = N_("Call `mbarrier.invalidate(bar)` for each barrier after its last wait.")
    intended = N_("If the buffers that follow need more shared memory than the barrier has, and so lie elsewhere.")
    blind = N_(
        "The kernel's text decides, not what each program does: one call for a ring of barriers is enough. Where "
        "nothing is allocated after the last use, a barrier may be left as it is, and is no finding."
    )
    concerned = Concerned.ONE
    explains = False

    def check(self, evidence: LaunchSummary, found: Sequence[Finding]) -> Iterator[Finding]:
        """One finding for each allocation of barriers."""
        launch = evidence.launch
        for op, name in left_barriers(launch.executable.plan):
            message = _("{name} is initialised as a barrier and never invalidated").format(name=name or _("a buffer"))
            hint = _("Call mbarrier.invalidate after the last wait, before other buffers may get this memory.")
            yield finding(launch, self.kind, message, hint, op=op)


def left_barriers(plan: Plan) -> list[tuple[Op, str]]:
    """The first ``mbarrier.init`` of each allocation that none invalidates, with its variable.

    Only those whose memory the compiler may use again count: another buffer is allocated after the last use, or the
    barrier itself in each iteration of a loop.
    """
    flow = Flow.of(plan)
    begun: dict[int, Op] = {}
    ended: set[int] = set()
    last: dict[int, int] = {}
    sites: dict[int, Op] = {}
    for function in plan.functions.values():
        for op in function.walk():
            if op.name == "ttg.local_alloc":
                sites[op.index] = op
            for number in op.operands:
                if not function.types[number].is_shared:
                    continue
                for site in allocations(flow, Value(function.name, number)):
                    last[site.index] = op.index
                    if op.name == "ttng.init_barrier":
                        begun.setdefault(site.index, op)
                    elif op.name == "ttng.inval_barrier":
                        ended.add(site.index)
    inside = {op.index for loop in plan.walk() if loop.name in LOOPS for op in loop.walk()}
    return [
        (op, variable_of(sites[index]))
        for index, op in begun.items()
        if index not in ended and (index in inside or any(other > last[index] for other in sites))
    ]
