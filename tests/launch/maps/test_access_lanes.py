"""Blocks whose positions follow one upon the other are one stretch, and no others."""

from __future__ import annotations

import numpy as np
import pytest

from triton_lab.launch.maps.access_lanes import AccessLanes


@pytest.mark.parametrize(
    ("position", "stretch"),
    [
        ([[0, 1], [2, 3]], (0, 4)),
        ([[5, 6, 7]], (5, 8)),
        ([[9]], (9, 10)),
        ([[0, 2], [1, 3]], None),  # the ends are right, what lies between is not
        ([[3, 2], [1, 0]], None),
        ([[0, 1], [3, 4]], None),
        ([[0, 0], [1, 3]], None),
        ([4, 5, 6], None),  # some of a block's lanes
        (np.zeros((2, 0), np.int64), None),
    ],
)
def test_a_run_is_a_stretch_without_gaps(position: list[list[int]], stretch: tuple[int, int] | None) -> None:
    lanes = AccessLanes(np.array(position, np.int64), np.zeros(1, np.int64), active=True)
    assert lanes.run() == (None if stretch is None else slice(*stretch))
