"""Checks of a recorded launch: each file finds one kind of thing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from triton_lab.launch.checks import (
    accumulation,
    alias,
    always_true,
    collision,
    fault,
    idle,
    lane_order,
    narrow,
    non_finite,
    outside_view,
    overflow,
    race,
    uninitialised,
    unverified,
)
from triton_lab.launch.checks.evidence import Evidence
from triton_lab.launch.checks.listed_values import with_values
from triton_lab.launch.finding import ERROR, NOTE, WARNING, Finding

if TYPE_CHECKING:
    from triton_lab.launch.launch import Launch

_RANK = {ERROR: 0, WARNING: 1, NOTE: 2}
_ALONE = (
    overflow.check,
    narrow.check,
    non_finite.check,
    accumulation.check,
    outside_view.check,
    alias.check,
    idle.check,
    always_true.check,
    unverified.check,
)


def check(launch: Launch) -> list[Finding]:
    """All findings of ``launch``, the gravest first, then by line."""
    return sorted(with_values(launch, list(_all(launch))), key=lambda f: (_RANK[f.severity], f.line or 0))


def _all(launch: Launch) -> Iterator[Finding]:
    yield from fault.check(launch)
    if launch.tape is None:
        return
    evidence = Evidence(launch, launch.tape)
    races = race.Races(evidence)
    told = [*race.check(evidence, races), *collision.check(evidence, races)]
    yield from told
    yield from lane_order.check(evidence, races, {(found.line, found.column) for found in told})
    yield from uninitialised.check(evidence, races)
    for one in _ALONE:
        yield from one(evidence)
