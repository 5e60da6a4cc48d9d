"""Findings do not depend on how many programs run together, nor in how many parts: for each planted bug, and for its
mended twin in parts."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from typing import Any

import pytest

import triton_lab
from tests.planted.plant import Plant, planted
from triton_lab.backend.plugin import launcher
from triton_lab.interpreter.kernel_errors import KernelError
from triton_lab.launch.launch import Launch

# Parts, and programs that run together.
WHOLE, IN_PARTS = (1, 1 << 20), (4, launcher.limits.batch)
IN_BATCHES = ((1, 1), (1, 7))


def launched(plant: Plant, mended: bool, parts: int, batch: int) -> list[Launch]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(launcher, "limits", replace(launcher.limits, batch=batch))
        with triton_lab.record(parts=parts) as launches, contextlib.suppress(KernelError):
            plant.run(mended)
    return launches


def known(launches: list[Launch]) -> list[tuple[Any, ...]]:
    """What a finding says: its kind, place, counts, lanes and elements, and its words."""
    return sorted(
        (
            number,
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
        for number, launch in enumerate(launches)
        for each in launch.findings
    )


@pytest.mark.parametrize("mended", [False, True], ids=["planted", "mended"])
@pytest.mark.parametrize("plant", planted(), ids=lambda plant: f"{plant.kind}: {plant.name}")
def test_parts_and_batches_have_the_findings_of_the_whole(plant: Plant, mended: bool) -> None:
    whole = launched(plant, mended, *WHOLE)
    for way in (IN_PARTS,) if mended else (IN_PARTS, *IN_BATCHES):
        apart = launched(plant, mended, *way)
        assert known(apart) == known(whole), way
        assert [str(each) for one in apart for each in one.unchecked] == [
            str(each) for one in whole for each in one.unchecked
        ]
