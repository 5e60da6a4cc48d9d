"""A launch that runs in four parts gives the findings of a whole one, for each planted bug and its mended twin."""

from __future__ import annotations

import contextlib
from typing import Any

import pytest

import triton_lab
from tests.planted.plant import Plant, planted
from triton_lab.interpreter.kernel_errors import KernelError
from triton_lab.launch.launch import Launch


def launched(plant: Plant, mended: bool, parts: int) -> Launch:
    with triton_lab.record(parts=parts) as launches, contextlib.suppress(KernelError):
        plant.run(mended)
    return launches[-1]


def known(launch: Launch) -> list[tuple[Any, ...]]:
    """What a finding says: its kind, place, counts, lanes and elements, and its words."""
    return sorted(
        (
            each.kind,
            each.severity,
            each.line,
            each.column,
            each.argument,
            each.count,
            each.programs.tolist(),
            each.lanes.tolist(),
            each.elements.tolist(),
            each.message,
            each.hint,
        )
        for each in launch.findings
    )


@pytest.mark.parametrize("mended", [False, True], ids=["planted", "mended"])
@pytest.mark.parametrize("plant", planted(), ids=lambda plant: f"{plant.kind}: {plant.name}")
def test_a_launch_in_parts_has_the_findings_of_a_whole_one(plant: Plant, mended: bool) -> None:
    whole, apart = (launched(plant, mended, parts) for parts in (1, 4))
    assert known(apart) == known(whole)
    assert list(map(str, apart.unchecked)) == list(map(str, whole.unchecked))
