"""Programs that touch nothing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from triton_lab import words
from triton_lab.interpreter.box import Box
from triton_lab.launch.access import Event
from triton_lab.launch.checks.evidence import Evidence
from triton_lab.launch.checks.words import LISTED, finding, programs
from triton_lab.launch.finding import Finding
from triton_lab.launch.ranges import Flags, Ints

if TYPE_CHECKING:
    from triton_lab.launch.recorded import Recorded

_MEND = "A smaller grid would do: triton.cdiv of the number of elements by the size of a block."


def check(evidence: Evidence) -> Iterator[Finding]:
    """At most one, about all of them."""
    if evidence.complete:
        yield from told(evidence.launch, idle(evidence))


def idle(evidence: Evidence) -> Ints:
    """The numbers of the programs that touched nothing."""
    own = evidence.launch.own
    idle = np.ones(len(own), np.bool_)
    for sight in evidence.in_order:
        idle[_busy(sight.event) - own.start] = False
        if not idle.any():
            break
    return np.flatnonzero(idle) + own.start


def told(launch: Recorded, numbers: Ints) -> Iterator[Finding]:
    """What to say of these programs; nothing of none."""
    if not len(numbers):
        return
    verb = words.noun(len(numbers), "touches", "touch")
    yield finding(
        launch,
        "idle-program",
        f"{programs(launch, numbers)} {verb} no memory, of {words.number(launch.programs)} in the grid",
        _MEND,
        count=len(numbers),
        programs=numbers[:LISTED],
    )


def _busy(event: Event) -> Ints:
    """The programs that have an active lane."""
    mask = event.mask
    if mask is None:
        return event.programs
    if isinstance(mask, Box):
        on: Flags = np.ones(1, np.bool_)
        for lower, upper in zip(mask.lower, mask.upper, strict=True):
            on = np.asarray(on & (lower < upper))
    else:
        on = np.asarray(mask.reshape(mask.shape[0], -1).any(axis=1))
    return event.programs[np.broadcast_to(on, event.programs.shape)]
