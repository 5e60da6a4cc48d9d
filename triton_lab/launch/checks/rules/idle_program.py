"""Finds programs that touch no memory."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from triton_lab import messages
from triton_lab.interpreter.mask_box import MaskBox
from triton_lab.ir import effects
from triton_lab.launch.byte_ranges import Flags, Ints
from triton_lab.launch.checks.analysis.evidence import Evidence
from triton_lab.launch.checks.analysis.finding_text import LISTED, finding, programs
from triton_lab.launch.diagnosis.finding import Finding
from triton_lab.launch.recording.access_event import AccessEvent
from triton_lab.localization import N_, _, translated

if TYPE_CHECKING:
    from triton_lab.launch.recording.launch_record import Recorded

_MEND = N_("Start fewer programs: triton.cdiv(number of elements, block size).")
_EMPTY = N_("n // BLOCK is 0 if n is less than BLOCK. Use triton.cdiv(n, BLOCK), which rounds up.")
# If no program does anything, a smaller grid is no remedy.
_HELD_BACK = N_("The masks and conditions around all loads and stores are false. Check them.")
_NO_ACCESS = N_("The kernel has no tl.load and no tl.store. Store the result with tl.store: everything else is lost.")


def check(evidence: Evidence) -> Iterator[Finding]:
    """At most one finding, about all idle programs."""
    if evidence.complete:
        yield from told(evidence.launch, idle(evidence))


def idle(evidence: Evidence) -> Ints:
    """The numbers of the programs that touched no memory."""
    own = evidence.launch.own
    idle = np.ones(len(own), np.bool_)
    for sight in evidence.in_order:
        idle[_busy(sight.event) - own.start] = False
        if not idle.any():
            break
    return np.flatnonzero(idle) + own.start


def told(launch: Recorded, numbers: Ints) -> Iterator[Finding]:
    """The finding about these programs, or about a grid without programs; none if there are no idle ones."""
    if not launch.programs and all(math.prod(argument.shape) for argument in launch.arguments):
        yield finding(launch, "idle-program", _("the grid has no programs: nothing ran"), translated(_EMPTY))
    if not len(numbers):
        return
    mend = translated(_MEND)
    if len(numbers) == launch.programs:
        operations = list(launch.executable.plan.walk())
        if any(op.name == "tt.print" for op in operations):  # a kernel that only prints
            return
        mend = translated(_HELD_BACK) if any(map(effects.is_access, operations)) else translated(_NO_ACCESS)
    verb = messages.noun(len(numbers), "touches", "touch")
    yield finding(
        launch,
        "idle-program",
        _("{programs} {verb} no memory; the grid has {all}").format(
            programs=programs(launch, numbers), verb=verb, all=messages.count(launch.programs, "program")
        ),
        mend,
        count=len(numbers),
        programs=numbers[:LISTED],
    )


def _busy(event: AccessEvent) -> Ints:
    """The programs that have an active lane."""
    mask = event.mask
    if mask is None:
        return event.programs
    if isinstance(mask, MaskBox):
        on: Flags = np.ones(1, np.bool_)
        for lower, upper in zip(mask.lower, mask.upper, strict=True):
            on = np.asarray(on & (lower < upper))
    else:
        on = np.asarray(mask.reshape(mask.shape[0], -1).any(axis=1))
    return event.programs[np.broadcast_to(on, event.programs.shape)]
