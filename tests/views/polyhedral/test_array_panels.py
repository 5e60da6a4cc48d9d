"""Arrays as rows of cells: each element has one, counted row by row."""

from __future__ import annotations

import numpy as np
import pytest

from triton_lab.views.polyhedral.array_panels import ArrayGrid


@pytest.mark.parametrize("low", [0, -3, 2])
@pytest.mark.parametrize("shape", [(), (5,), (2, 3), (2, 3, 4)])
def test_subscripts_lead_to_the_cells_row_by_row(shape: tuple[int, ...], low: int) -> None:
    grid = ArrayGrid("A", (low,) * len(shape), shape)
    assert grid.rows * grid.columns == np.prod(shape, dtype=int)
    every = [axis.reshape(-1) + low for axis in np.indices(shape)] if shape else []
    assert grid.cells(every).tolist() == list(range(grid.rows * grid.columns))
