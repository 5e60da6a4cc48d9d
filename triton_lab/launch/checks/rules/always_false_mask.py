"""Masks that turn every lane off, so that a launch never touches a tensor that its kernel loads from or stores to.

A mask that memory decides may be false throughout for this input. One that is made of program numbers, ranges and sizes
alone is false because of the arithmetic in it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from triton_lab import messages
from triton_lab.ir import Op, Plan, effects
from triton_lab.ir.access_masks import mask_operand
from triton_lab.ir.dataflow import Flow, Value
from triton_lab.launch.argument import Argument
from triton_lab.launch.checks.analysis.evidence import Evidence
from triton_lab.launch.checks.analysis.finding_text import finding
from triton_lab.launch.checks.rule import Concerned, Merge, Rule
from triton_lab.launch.diagnosis.finding import Finding
from triton_lab.launch.diagnosis.severity import WARNING
from triton_lab.localization import N_, _


class AlwaysFalseMaskRule(Rule):
    """The masks of all accesses to a tensor are false in all lanes of all programs."""

    kind = "always-false-mask"
    severity = WARNING
    subject = N_("masks that are always false")
    summary = N_("The masks of all accesses to a tensor are false in all lanes of all programs.")
    why = N_(
        "The kernel does nothing with this tensor: an output keeps what it held, and an input counts as its `other`, "
        "or as whatever a GPU leaves in a register. Nothing stops such a launch."
    )
    remedy = N_(
        "Compare the offsets with the size of the tensor, `offsets < n`. Look at the sign of the comparison, at the "
        "order of the arguments, and at how the offsets grow with the program: `program * BLOCK + tl.arange(0, BLOCK)`."
    )
    intended = N_("If the launch's sizes leave nothing to do for this tensor.")
    blind = N_(
        "Masks are left out that depend on what memory holds, on a flag that the launch passes, or on no range. If one "
        "access of the tensor has an active lane, nothing is said of the others."
    )
    concerned = Concerned.ALL
    merge = Merge.ALL
    superseded_by = ("small-grid", "unused-grid-axis", "overflow", "precedence")

    def check(self, evidence: Evidence, found: Sequence[Finding]) -> Iterator[Finding]:
        """One finding for each tensor, at the first access that is always masked off."""
        if not evidence.complete or not evidence.launch.programs:
            return
        plan, flow = evidence.launch.executable.plan, None
        for argument, ops in _untouched(evidence):
            flow = flow or Flow.of(plan)
            if not all(_is_arithmetic(flow, plan, op) for op in ops):
                continue
            op = ops[0]
            yield finding(
                evidence.launch,
                self.kind,
                _(
                    "the mask of this {access} of {name} is false in all lanes: the launch touches no element of it"
                ).format(access=messages.access_noun(effects.ACCESSES[op.name].kind), name=argument.name),
                _(
                    "Compare the offsets with the size of {name}, and see how they grow with the program: "
                    "tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)."
                ).format(name=argument.name),
                op=op,
                argument=argument,
                count=sum(len(event.programs) * math.prod(event.shape) for event in evidence.tape.events[op.index]),
            )


def _untouched(evidence: Evidence) -> Iterator[tuple[Argument, list[Op]]]:
    """The tensors of which no access has an active lane, each with the accesses that ran."""
    busy: set[str] = set()
    ops: dict[str, tuple[Argument, list[Op]]] = {}
    for index, events in sorted(evidence.tape.events.items()):
        argument = evidence.owner(evidence.ops[index])
        if argument is None or argument.name in busy or not events or not math.prod(argument.shape):
            continue
        if any(event.lanes for event in events):
            busy.add(argument.name)
        else:
            ops.setdefault(argument.name, (argument, []))[1].append(evidence.ops[index])
    yield from (each for name, each in ops.items() if name not in busy)


def _is_arithmetic(flow: Flow, plan: Plan, op: Op) -> bool:
    """Whether the mask of an access is made of ranges, program numbers and sizes, and of nothing else."""
    mask = mask_operand(op)
    if mask is None:
        return False
    kernel = plan.kernel
    behind = flow.behind([Value(flow.function_of[op.index], mask)])
    flags = {Value(kernel.name, one) for one in kernel.arguments if kernel.types[one].element == "i1"}
    makers = [maker for each in behind if (maker := flow.maker.get(each)) is not None]
    return (
        not behind & flags
        and not any(effects.is_access(maker) for maker in makers)
        and any(maker.name == "tt.make_range" for maker in makers)
    )
