"""Finds masks that never turned a lane off."""

from __future__ import annotations

import math
from collections.abc import Iterator

from triton_lab.interpreter.mask_box import MaskBox
from triton_lab.ir import effects
from triton_lab.ir.access_masks import constant_masks, mask_operand
from triton_lab.launch.checks.analysis.evidence import Evidence
from triton_lab.launch.checks.analysis.finding_text import finding
from triton_lab.launch.diagnosis.finding import Finding
from triton_lab.launch.recording.access_event import AccessEvent

_MEND = "Keep it if other sizes need it; if none does, the access is cheaper without."


def check(evidence: Evidence) -> Iterator[Finding]:
    """One finding for each access with such a mask."""
    if not evidence.complete:
        return
    launch = evidence.launch
    constants = constant_masks(launch.executable.plan)
    for index, events in sorted(evidence.tape.events.items()):
        op = evidence.ops[index]
        mask = mask_operand(op)
        if mask is None or (index, mask) in constants or not events:
            continue
        if all(_is_full(event) for event in events):
            argument = evidence.owner(op)
            access = effects.ACCESSES[op.name].kind + (f" of {argument.name}" if argument is not None else "")
            yield finding(
                launch,
                "always-true-mask",
                f"the mask of this {access} was true in every lane of every program that came here",
                _MEND,
                op=op,
                argument=argument,
                count=sum(len(event.programs) * math.prod(event.shape) for event in events),
            )


def _is_full(event: AccessEvent) -> bool:
    mask = event.mask
    if mask is None:
        return True
    return mask.is_full() if isinstance(mask, MaskBox) else bool(mask.all())
