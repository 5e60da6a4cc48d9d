"""The irregular nest of the page."""

from __future__ import annotations

import numpy as np
import pytest

from triton_lab.polyhedral import NotAScop, scop
from triton_lab.polyhedral.related_work import page_nests
from triton_lab.polyhedral.related_work.ragged_nest import PAGE_RAGGED, Ragged


def test_the_pages_rows_are_4_2_5_1() -> None:
    assert PAGE_RAGGED.lengths == (4, 2, 5, 1)
    assert len(PAGE_RAGGED.points) == 12
    assert PAGE_RAGGED.bounding_box == 20


def test_it_is_no_scop() -> None:
    with pytest.raises(NotAScop, match="reads memory"):
        scop(page_nests.PAGE_SPARSE)


def test_it_multiplies_what_is_used() -> None:
    rng = np.random.default_rng(0)
    a, b = rng.random((4, 8), dtype=np.float32), rng.random((8, 3), dtype=np.float32)
    np.testing.assert_allclose(PAGE_RAGGED.run(a, b), (a * PAGE_RAGGED.mask()) @ b, rtol=1e-6)


def test_the_arrays_for_a_kernel_hold_the_same_rows() -> None:
    lengths, columns = PAGE_RAGGED.padded()
    assert [tuple(row[:k]) for row, k in zip(columns.tolist(), lengths.tolist(), strict=True)] == list(
        PAGE_RAGGED.columns
    )


def test_columns_must_be_in_the_matrix_and_different() -> None:
    with pytest.raises(ValueError, match="row 1"):
        Ragged(((0,), (1, 1)), 4)
    with pytest.raises(ValueError, match="below 4"):
        Ragged(((4,),), 4)
