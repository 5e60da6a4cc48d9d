"""Differences of one unit in results of random programs are found, and no other rounding is called different."""

from __future__ import annotations

import pytest

from tests.launch.comparison.random_programs import Counts, tried


@pytest.mark.parametrize("same", [True, False])
def test_planted_units_are_never_rounding_and_other_roundings_never_different(same: bool) -> None:
    counts = Counts()
    for seed in range(8):
        tried(1000 + seed, counts, same)
    assert counts.seen == ""
    assert counts.false == 0 and counts.unreached == 0
    assert counts.found > 0.9 * counts.planted and counts.lawful > 10_000
