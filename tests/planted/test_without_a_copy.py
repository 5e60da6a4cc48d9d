"""What is planted is found as well where a launch is too large for a copy of its memory: while it runs."""

from __future__ import annotations

from typing import Any

import pytest

from tests.planted.plant import Plant
from tests.planted.test_planted import PLANTS, launched
from triton_lab.launch import record, snapshot

LOOKED_AT = [plant for plant in PLANTS if plant.kind in ("overflow", "non-finite", "uninitialised")]


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
        assert not mended.unchecked
