"""The words of a heatmap of accesses: how often elements are touched, by how many programs, in how many iterations."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from triton_lab import messages
from triton_lab.launch.maps.heat import Heat
from triton_lab.launch.maps.lane_positions import LINE_BYTES, SECTOR_BYTES
from triton_lab.localization import N_, _

SAYS = {
    "count": N_("how often each element is touched"),
    "program": N_("which program touches each element first"),
    "iteration": N_("in which iteration each element is first touched"),
    "reuse": N_("how many programs touch each element"),
    "order": N_("in which order elements are first touched"),
}


def heat_words(found: Heat, over: str, name: str, wrapped: str) -> list[str]:
    """What touches the argument ``name``, over its shape or its storage; ``wrapped`` says how rows are wrapped."""
    inside = slice(None) if found.drawn == found.shape else found.inside
    counts = found.counts[inside]
    touched = counts[counts > 0]
    of = messages.count(len(counts), "element")
    if over != "shape":
        of = _("{units} of {bytes}").format(
            units=messages.count(len(counts), "unit"), bytes=messages.count(found.unit, "byte")
        )
    if not len(found.moments):
        return [_("nothing touches {name}").format(name=name)]
    lines = [
        _("{programs}; {number} of {of} touched").format(
            programs=messages.count(found.programs, "program"), number=messages.number(len(touched)), of=of
        )
    ]
    if len(touched):
        reuse = found.by("reuse")[found.classes[inside]][counts > 0]
        lines.append(
            _("each {range} ({mean} on average), by {range_2}, in {iterations}").format(
                range=_range(touched),
                mean=f"{touched.mean():.3g}",
                range_2=_range(reuse, "program"),
                iterations=_iterations(found),
            )
        )
    if over == "storage" and len(touched):
        at = (np.flatnonzero(found.counts) + found.first) * found.unit
        lines.append(
            _("{bytes} in {sectors} of {SECTOR_BYTES} and {lines} of {LINE_BYTES}").format(
                bytes=messages.count(len(touched) * found.unit, "byte"),
                sectors=messages.count(len(np.unique(at // SECTOR_BYTES)), "sector"),
                SECTOR_BYTES=SECTOR_BYTES,
                lines=messages.count(len(np.unique(at // LINE_BYTES)), "line"),
                LINE_BYTES=LINE_BYTES,
            )
        )
    if wrapped:
        lines.append(wrapped)
    if found.active_elsewhere:
        lanes = messages.count(found.active_elsewhere, "lane touches", "lanes touch")
        lines.append(_("{lanes} memory outside {name}").format(lanes=lanes, name=name))
    if found.masked_elsewhere:
        lanes = messages.count(found.masked_elsewhere, "masked lane stands", "masked lanes stand")
        lines.append(_("{lanes} outside {name}").format(lanes=lanes, name=name))
    return lines


def _iterations(found: Heat) -> str:
    """The number of iterations in words: ``4 iterations``."""
    return messages.count(max((moment.iteration for moment in found.moments), default=0) + 1, "iteration")


def access_words(access: Any) -> str:
    """An access in words: ``the load in line 7``."""
    kind = messages.access_noun(access.kind)
    if access.line is None:
        return _("the {kind}").format(kind=kind)
    return _("the {kind} in line {line}").format(kind=kind, line=access.line)


def _range(numbers: npt.NDArray[np.int64], unit: str = "") -> str:
    """A range in words: ``1 to 4 programs``; without a unit, ``3 times``."""
    return messages.span(int(numbers.min()), int(numbers.max()), unit or "time")
