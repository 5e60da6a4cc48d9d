"""Every planted bug is found, and nothing else; its mended twin is clean."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import pytest

import triton_lab
from tests.planted import (
    asynchronous_layouts,
    contiguity,
    grids,
    infinities,
    innocents_threads,
    layouts,
    masked_off,
    nan_compared,
    negative_divisions,
    overlaps,
    stored_numbers,
    strides,
    tuned,
    unread,
    unused_loads,
    wraps,
)
from tests.planted.innocent_stores import INNOCENT_STORES
from tests.planted.innocent_values import INNOCENT_VALUES
from tests.planted.innocents import INNOCENTS
from tests.planted.plant import Plant, planted
from tests.planted.plant import every_plant as all_plants
from triton_lab.interpreter.kernel_errors import KernelError

# Notes that no innocent gets, either.
NOTES = ("alias", "masked-reduction", "nan-comparison", "unused-load", "wrong-axis")
PLANTS = planted()
every_plant = pytest.mark.parametrize("plant", PLANTS, ids=lambda plant: f"{plant.kind}: {plant.name}")


def launched(plant: Plant, mended: bool) -> list[Any]:
    """The launches, a failed one included. Tensors are made inside, where fresh storages are watched."""
    with triton_lab.record() as launches, contextlib.suppress(KernelError):
        plant.run(mended)
    return launches


@every_plant
def test_planted_bug_is_found_and_nothing_else(plant: Plant) -> None:
    *before, launch = launched(plant, mended=False)
    # The grid of an earlier launch may be the cause.
    earlier = [found for each in before for found in each.findings]
    assert not [str(found) for found in earlier if found.severity != "note" and found.kind != "small-grid"]
    # Notes are no mistakes: one may come with any bug, unless a note is what was planted.
    found = [each for each in launch.findings if each.severity != "note" or each.kind == plant.kind]
    told = "\n\n".join(map(str, launch.findings))
    assert found, told
    assert {each.kind for each in found} == {plant.kind}, told
    assert {each.argument for each in found} == {plant.argument}, told
    assert {each.line for each in found} <= plant.lines, told
    if plant.programs is not None:
        assert {int(program) for each in found for program in each.programs} == plant.programs, told


@every_plant
def test_mended_twin_is_clean(plant: Plant) -> None:
    for launch in launched(plant, mended=True):
        found = [each for each in launch.findings if each.severity != "note" or each.kind == plant.kind]
        assert not found, "\n\n".join(map(str, found))
        assert launch.error is None


@pytest.mark.parametrize(
    "run",
    [
        *INNOCENTS,
        *innocents_threads.INNOCENTS,
        *INNOCENT_VALUES,
        *INNOCENT_STORES,
        *infinities.INNOCENTS,
        *tuned.INNOCENTS,
        *unused_loads.INNOCENTS,
        *nan_compared.INNOCENTS,
        *stored_numbers.INNOCENTS,
        *contiguity.INNOCENTS,
        *grids.INNOCENTS,
        *masked_off.INNOCENTS,
        *overlaps.INNOCENTS,
        *negative_divisions.INNOCENTS,
        *layouts.INNOCENTS,
        *strides.INNOCENTS,
        *unread.INNOCENTS,
    ],
    ids=lambda run: run.__name__,
)
def test_what_only_looks_wrong_is_left_in_peace(run: Callable[[], None]) -> None:
    with triton_lab.record() as launches:
        run()
    assert launches
    found = [each for launch in launches for each in launch.findings if each.severity != "note" or each.kind in NOTES]
    assert not found, "\n\n".join(map(str, found))


@pytest.mark.parametrize("run", asynchronous_layouts.INNOCENTS, ids=lambda run: run.__name__)
def test_right_layouts_get_no_note_either(run: Callable[[], None]) -> None:
    with triton_lab.record() as launches:
        run()
    found = [each for launch in launches for each in launch.findings if each.severity != "note"]
    found += [each for launch in launches for each in launch.findings if each.kind in asynchronous_layouts.NOTES]
    assert launches and not found, "\n\n".join(map(str, found))


@pytest.mark.parametrize("plant", [one for one in all_plants() if one.mends], ids=lambda plant: plant.name)
def test_a_bug_that_the_installed_triton_mends_is_none(plant: Plant) -> None:
    for launch in launched(plant, mended=False):
        assert not [each for each in launch.findings if each.severity != "note"]


def test_there_are_enough_of_every_kind() -> None:
    assert len(PLANTS) >= 160
    assert len({(plant.source.fn.__module__, plant.name) for plant in PLANTS}) == len(PLANTS)


@pytest.mark.parametrize(
    ("plant", "told"),
    [
        (wraps.sum_of_lengths_in_a_mask, ", the sum 2147483648 does"),
        (wraps.running_sum_of_lengths, ", the running sum 2147483648 does"),
    ],
    ids=["sum", "running sum"],
)
def test_a_sum_that_wraps_is_told_from_a_running_one(plant: Plant, told: str) -> None:
    (found,) = [each for each in launched(plant, mended=False)[-1].findings if each.kind == "overflow"]
    assert told in found.message
