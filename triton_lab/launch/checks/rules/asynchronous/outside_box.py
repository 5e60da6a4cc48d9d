"""Boxes that TMA copies which lie outside of their tensor."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from triton_lab import messages
from triton_lab.interpreter.mask_box import MaskBox
from triton_lab.ir.effects import by_descriptor
from triton_lab.launch.byte_ranges import Flags
from triton_lab.launch.checks.analysis.evidence import Evidence, SeenAccess
from triton_lab.launch.checks.analysis.finding_text import LISTED, finding
from triton_lab.launch.checks.rule import Concerned, Rule
from triton_lab.launch.diagnosis.finding import Finding
from triton_lab.launch.diagnosis.severity import NOTE
from triton_lab.localization import N_, _


class OutsideBoxRule(Rule):
    """A block that a tensor descriptor accesses lies outside of its tensor, or is stored to before it."""

    kind = "outside-box"
    severity = NOTE
    subject = N_("blocks outside of a descriptor's tensor")
    summary = N_("A block that a tensor descriptor accesses lies outside of its tensor, or is stored to before it.")
    why = N_(
        "TMA reads zeros (or NaN, if the descriptor asks for it) where there is no tensor, counts their bytes at the "
        "barrier like all others, and stores nothing there. Nothing faults, so that a wrong coordinate shows in the "
        "result alone."
    )
    remedy = N_(
        "Compare the coordinates with the tensor: they count elements, not blocks, in the order of its axes. Leave the "
        "access out where a block lies outside as a whole."
    )
    intended = N_(
        "If a kernel needs the zeros, or is a pipeline that loads further than it uses. A block that the end of the "
        "tensor cuts off is no finding, nor is a load that begins before the tensor."
    )
    blind = N_("A wrong coordinate that lies within the tensor is not seen.")
    concerned = Concerned.ONE

    def check(self, evidence: Evidence, found: Sequence[Finding]) -> Iterator[Finding]:
        """One finding for each access of which a block lies outside, or a stored one begins before the tensor."""
        launch = evidence.launch
        wrong: dict[tuple[int, bool], list[tuple[SeenAccess, Flags]]] = {}
        for sight in evidence.sights("load", "store", "atomic"):
            mask = sight.event.mask
            if not by_descriptor(sight.op) or not isinstance(mask, MaskBox):
                continue
            outside = _outside(mask)
            # A load that begins before its tensor gets the zeros that a convolution needs.
            before = _before(mask) if sight.kind != "load" else np.zeros(1, np.bool_)
            for is_whole, flags in ((True, outside), (False, before & ~outside)):
                if flags.any():
                    flags = np.broadcast_to(flags, sight.event.programs.shape)
                    wrong.setdefault((sight.op.index, is_whole), []).append((sight, flags))
        for (_index, is_whole), each in sorted(wrong.items()):
            sight = each[0][0]
            programs = np.unique(np.concatenate([one.event.programs[flags] for one, flags in each]))
            argument = evidence.owner(sight.op)
            told = (
                _("{program} accesses a block of {name} that lies outside of the tensor as a whole: {effect}")
                if is_whole
                else _("{program} stores a block of {name} that begins before the tensor: there {effect}")
            )
            count = sum(int(flags.sum()) for _one, flags in each)
            message = told.format(
                program=messages.program(int(programs[0]), launch.grid),
                name=_("a tensor") if argument is None else argument.name,
                effect=_("it reads zeros") if sight.kind == "load" else _("nothing is stored"),
            ) + messages.in_all(count, "block")
            hint = _("Compare the coordinates with the shape of the tensor; they count elements.")
            yield finding(
                launch,
                self.kind,
                message,
                hint,
                op=sight.op,
                argument=argument,
                count=count,
                programs=programs[:LISTED],
            )

    def noun(self, finding: Finding) -> str:
        """Its count is one of blocks."""
        return "block"


def _outside(mask: MaskBox) -> Flags:
    """For which programs no element lies in the tensor."""
    found: Flags = np.zeros(1, np.bool_)
    for lower, upper in zip(mask.lower, mask.upper, strict=True):
        found = found | (lower >= upper)
    return found


def _before(mask: MaskBox) -> Flags:
    """For which programs the first element lies before the tensor."""
    found: Flags = np.zeros(1, np.bool_)
    for lower in mask.lower:
        found = found | (lower > 0)
    return found
