"""What is planted is found as well where a launch is too large for a copy of its memory: while it runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import triton_lab
from tests.planted import innocents_threads
from tests.planted.innocent_stores import INNOCENT_STORES
from tests.planted.innocent_values import INNOCENT_VALUES
from tests.planted.innocents import INNOCENTS
from tests.planted.plant import Plant
from tests.planted.test_planted import PLANTS, launched
from triton_lab.launch.checks.analysis import atomic_sums
from triton_lab.launch.checks.rule import Rule, rules
from triton_lab.launch.recording import record, snapshot

KINDS = [kind for kind, rule in rules().items() if type(rule).watchers is not Rule.watchers]
# These look at values of a replay, and so say that they did not look: what lanes that meet in memory store, and whom
# it is lost to; what is stored without the masked-off lanes of a reduction.
OF_A_REPLAY = {rules()[kind].subject for kind in ("lane-collision", "masked-reduction")}
LOOKED_AT = [plant for plant in PLANTS if plant.kind in KINDS]


@pytest.fixture
def too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    """No launch's memory is kept."""
    take = snapshot.take

    def none(memory: Any, arguments: Any, owners: Any, limit: int) -> Any:
        return take(memory, arguments, owners, -1)

    monkeypatch.setattr(record.snapshot, "take", none)


@pytest.mark.parametrize("plant", LOOKED_AT, ids=lambda plant: f"{plant.kind}: {plant.name}")
def test_it_is_found_without_a_replay(plant: Plant, too_large: None) -> None:
    *_, launch = launched(plant, mended=False)
    assert launch.snapshot is not None
    assert launch.snapshot.missing
    found = [each for each in launch.findings if each.kind == plant.kind]
    told = "\n\n".join(map(str, launch.findings))
    assert {each.argument for each in found} == {plant.argument}, told
    assert {each.line for each in found} <= plant.lines, told
    if plant.programs is not None:
        assert {int(program) for each in found for program in each.programs} == plant.programs, told
    for mended in launched(plant, mended=True):
        assert not [each for each in mended.findings if each.kind == plant.kind]
        assert {each.what for each in mended.unchecked} <= OF_A_REPLAY


@pytest.mark.parametrize(
    "run", [*INNOCENTS, *innocents_threads.INNOCENTS, *INNOCENT_VALUES, *INNOCENT_STORES], ids=lambda run: run.__name__
)
def test_what_only_looks_wrong_is_left_in_peace_without_a_replay(run: Callable[[], None], too_large: None) -> None:
    with triton_lab.record() as launches:
        run()
    assert launches
    found = [each for launch in launches for each in launch.findings if each.kind in KINDS]
    assert not found, "\n\n".join(map(str, found))
    unchecked = [each.what for launch in launches for each in launch.unchecked]
    assert set(unchecked) <= OF_A_REPLAY


@pytest.mark.parametrize("plant", [each for each in LOOKED_AT if each.kind == "lost-precision"], ids=lambda p: p.name)
def test_sums_are_the_same_however_often_they_are_put_together(plant: Plant, monkeypatch: pytest.MonkeyPatch) -> None:
    *_, launch = launched(plant, mended=False)
    whole = list(map(str, launch.findings))
    monkeypatch.setattr(atomic_sums, "_MOST_LANES", 8)
    *_, launch = launched(plant, mended=False)
    assert list(map(str, launch.findings)) == whole
