"""Findings do not depend on how many programs run together."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from typing import Any

import pytest

import triton_lab
from tests.planted.plant import Plant
from tests.planted.test_planted import PLANTS
from triton_lab.backend.plugin import launcher
from triton_lab.interpreter.kernel_errors import KernelError

ALL = 1 << 20


def findings(plant: Plant, batch: int, monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, ...]]:
    monkeypatch.setattr(launcher, "limits", replace(launcher.limits, batch=batch))
    with triton_lab.record() as launches, contextlib.suppress(KernelError):
        plant.run(False)
    return [
        (f.kind, f.line, f.column, f.argument, f.count, f.message, f.programs.tolist(), f.lanes.tolist())
        for launch in launches
        for f in launch.findings
    ]


@pytest.mark.parametrize("plant", PLANTS, ids=lambda plant: f"{plant.kind}: {plant.name}")
def test_batches_of_1_7_and_all_give_the_same_findings(plant: Plant, monkeypatch: pytest.MonkeyPatch) -> None:
    one, seven, everyone = (findings(plant, batch, monkeypatch) for batch in (1, 7, ALL))
    assert one == seven == everyone
