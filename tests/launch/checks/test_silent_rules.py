"""A rule that is left out on a launch, since it was silent on one like it, finds nothing when it is run anyway."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

import triton_lab as lab
from tests.native.fuzz import told
from tests.planted.innocent_stores import INNOCENT_STORES
from tests.planted.innocent_values import INNOCENT_VALUES
from tests.planted.innocents import INNOCENTS
from tests.planted.plant import Plant, planted
from triton_lab.examples import all_examples
from triton_lab.examples.example import Example
from triton_lab.interpreter.kernel_errors import KernelError
from triton_lab.launch.checks.analysis.evidence import Evidence
from triton_lab.launch.checks.check_run import RULES
from triton_lab.launch.checks.silent_rules import SilentRules
from triton_lab.launch.launch import Launch
from triton_lab.launch.recording.snapshot import SavedRegion

LARGE = 1 << 28  # bytes


def recorded(run: Callable[[], object]) -> list[Launch]:
    with lab.limits(engine="native"), lab.record() as launches, contextlib.suppress(KernelError):
        run()
    return list(launches)


def with_other_contents(launch: Launch) -> Launch:
    """The launch as if its memory had held other bytes, which are NaN as floats."""
    kept = launch.snapshot
    assert kept is not None
    regions = tuple(replace(one, data=_filled(launch, one), file=None) for one in kept.regions)
    return replace(launch, snapshot=replace(kept, regions=regions))


def _filled(launch: Launch, region: SavedRegion) -> NDArray[np.uint8]:
    """0xFF for each byte; of gigabytes, which would be filled for seconds, for a megabyte around each access."""
    size = len(region.data)
    if size <= LARGE:
        return np.full(size, 0xFF, np.uint8)
    found = np.zeros(size, np.uint8)  # the system gives no memory for what is not touched
    for event in (event for access in launch.accesses for event in access.events):
        for at in np.unique(event.addresses()[event.active()] - region.start >> 20):
            found[max(0, at - 1 << 20) : max(0, at + 2 << 20)] = 0xFF
    assert found.any()
    return found


def left_out(run: Callable[[], object]) -> int:
    """How many rules were left out when ``run`` was repeated; each must find nothing, whatever memory holds."""
    before = [told(launch) for launch in recorded(run)]
    count = 0
    for launch, expected in zip(recorded(run), before, strict=True):
        silent = set(SilentRules.of(launch).kinds)
        assert told(launch) == expected
        other = with_other_contents(launch) if silent else launch
        for kind in silent:
            assert other.tape is not None
            assert not list(RULES[kind].check(Evidence(other, other.tape), [])), kind
        count += len(silent)
    return count


@pytest.mark.parametrize("plant", planted(), ids=lambda plant: f"{plant.kind}: {plant.name}")
@pytest.mark.parametrize("mended", [False, True])
def test_a_planted_bug_is_found_again(plant: Plant, mended: bool) -> None:
    left_out(lambda: plant.run(mended))


@pytest.mark.parametrize("run", [*INNOCENTS, *INNOCENT_STORES, *INNOCENT_VALUES], ids=lambda run: run.__name__)
def test_an_innocent_stays_innocent(run: Callable[[], object]) -> None:
    left_out(run)


@pytest.mark.parametrize("page", all_examples(), ids=lambda page: page.name)
def test_rules_are_left_out_on_a_repeated_example(page: Example) -> None:
    inputs = page.inputs("small", 0, "cpu")
    count = left_out(lambda: page.run(**inputs))
    if page.name in ("vector_add", "softmax", "matmul_float16", "layer_norm"):
        assert count > len(RULES) // 2
