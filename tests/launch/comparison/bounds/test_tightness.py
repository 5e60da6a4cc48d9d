"""Bounds of rounding hold what exact intervals hold, and are not far wider, in random programs."""

from __future__ import annotations

import statistics

from tests.launch.comparison.tightness import Ratios, measure

# Each operation may be bounded by 1.5 units at a power of two where it is off by half a unit.
TYPICAL, MOST = 4.0, 20.0


def test_bounds_are_at_most_some_times_as_wide_as_exact_intervals() -> None:
    ratios = Ratios()
    for seed in range(40):
        measure(seed, ratios)
    assert ratios.outside == 0
    assert len(ratios.by_form) == 10
    for form, found in ratios.by_form.items():
        assert statistics.median(found) <= TYPICAL and max(found) <= MOST, form
