"""Masks that never turned a lane off, whatever the sizes that the launch passes.

A mask that compares with an argument, or with what memory holds, is needed for other sizes. It is true by chance.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from triton_lab import messages
from triton_lab.interpreter.mask_box import MaskBox
from triton_lab.ir import Op, Plan, effects
from triton_lab.ir.access_masks import constant_masks, mask_operand
from triton_lab.ir.dataflow import Flow, Value
from triton_lab.launch.checks.analysis.evidence import Evidence
from triton_lab.launch.checks.analysis.finding_text import finding
from triton_lab.launch.checks.rule import Concerned, Merge, Rule
from triton_lab.launch.diagnosis.finding import Finding
from triton_lab.launch.diagnosis.severity import NOTE
from triton_lab.launch.recording.access_event import AccessEvent
from triton_lab.localization import N_, _, translated

_MEND = N_("Keep the mask if other sizes need it. Otherwise remove it: the access is cheaper without.")


class AlwaysTrueMaskRule(Rule):
    """A mask is true in all lanes of all programs."""

    kind = "always-true-mask"
    severity = NOTE
    subject = N_("masks that are always true")
    summary = N_("A mask is true in all lanes of all programs.")
    why = N_("A mask costs instructions, and keeps the compiler from using the widest loads and stores.")
    remedy = N_("Keep the mask if other sizes need it. Otherwise remove it.")
    intended = N_("If the kernel is compiled for constants that the block does not divide.")
    blind = N_(
        "A mask that depends on an argument of the launch, or on memory, is not reported, since another launch may "
        "need it. `triton-lab check` reports a mask if it is true in all launches of the kernel in the script."
    )
    concerned = Concerned.ALL
    explains = False
    merge = Merge.ALL
    every_launch = True

    def check(self, evidence: Evidence, found: Sequence[Finding]) -> Iterator[Finding]:
        """One finding for each access with such a mask."""
        if not evidence.complete:
            return
        launch = evidence.launch
        plan = launch.executable.plan
        constants = constant_masks(plan)
        flow = Flow.of(plan)
        for index, events in sorted(evidence.tape.events.items()):
            op = evidence.ops[index]
            mask = mask_operand(op)
            if mask is None or (index, mask) in constants or not events:
                continue
            if all(_is_full(event) for event in events) and not _varies(
                flow, plan, Value(flow.function_of[index], mask)
            ):
                argument = evidence.owner(op)
                yield finding(
                    launch,
                    self.kind,
                    _message([_access(op, None if argument is None else argument.name)]),
                    translated(_MEND),
                    op=op,
                    argument=argument,
                    count=sum(len(event.programs) * math.prod(event.shape) for event in events),
                )

    superseded_by = ("small-grid", "unused-grid-axis", "unwritten")

    def joined(self, plan: Plan, findings: Sequence[Finding]) -> list[Finding]:
        """One finding for each mask of a line, in place of one for each access that has this mask.

        It counts the lanes of all accesses, and has no argument if their arguments differ.
        """
        ops = {op.index: op for op in plan.walk()}
        groups: dict[object, list[Finding]] = {}
        for number, each in enumerate(findings):
            key: object = number
            if each.op in ops and each.line is not None:
                key = each.file, each.line, mask_operand(ops[each.op])
            groups.setdefault(key, []).append(each)
        return [_one(group, ops) if len(group) > 1 else group[0] for group in groups.values()]


def _varies(flow: Flow, plan: Plan, mask: Value) -> bool:
    """Whether a mask depends on a number that the launch passes, or on what memory holds."""
    kernel = plan.kernel
    numbers = {Value(kernel.name, one) for one in kernel.arguments if kernel.types[one].is_integer}
    behind = flow.behind([mask])
    return bool(behind & numbers) or any(
        effects.is_access(maker) for each in behind if (maker := flow.maker.get(each)) is not None
    )


def _one(group: Sequence[Finding], ops: Mapping[int, Op]) -> Finding:
    accesses = [_access(ops[each.op], each.argument) for each in group if each.op is not None]
    arguments = {each.argument for each in group}
    argument = group[0].argument if len(arguments) == 1 else None
    return replace(group[0], message=_message(accesses), argument=argument, count=sum(each.count for each in group))


def _access(op: Op, argument: str | None) -> str:
    """``load of x_ptr``."""
    kind = messages.access_noun(effects.ACCESSES[op.name].kind)
    return _("{access} of {argument}").format(access=kind, argument=argument) if argument else kind


def _message(accesses: Sequence[str]) -> str:
    if len(accesses) == 1:
        return _("the mask of this {access} is never false in this launch").format(access=accesses[0])
    return _("this mask is never false in this launch ({accesses})").format(accesses=", ".join(accesses))


def _is_full(event: AccessEvent) -> bool:
    mask = event.mask
    if mask is None:
        return True
    return mask.is_full() if isinstance(mask, MaskBox) else bool(mask.all())
