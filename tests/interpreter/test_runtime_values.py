"""Values of disjoint programs become one, whatever forms they have: held to NumPy."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from triton_lab.interpreter.runtime_values import AffineBlock, MaskBox, Value, elements, merge, take
from triton_lab.ir import Type

BLOCK = (4,)
I32 = Type("i32", BLOCK)


def affine(base: Sequence[int], stride: int) -> AffineBlock:
    return AffineBlock(np.array(base, np.int64), (stride,), BLOCK)


def array(base: Sequence[int], stride: int) -> np.ndarray:
    return (np.array(base)[:, None] + stride * np.arange(BLOCK[0])).astype(np.int32)


@st.composite
def merges(draw: st.DrawFn) -> tuple[list[tuple[np.ndarray, Value]], np.ndarray, np.ndarray]:
    """Pieces of some of the programs, what they hold together, and which programs have a piece."""
    programs = draw(st.integers(1, 6))
    owner = np.array(draw(st.lists(st.integers(-1, 2), min_size=programs, max_size=programs)))
    expected = np.zeros((programs, *BLOCK), np.int32)
    pieces: list[tuple[np.ndarray, Value]] = []
    for number in sorted(set(owner.tolist()) - {-1}):
        rows = np.flatnonzero(owner == number)
        base = draw(st.lists(st.integers(-50, 50), min_size=len(rows), max_size=len(rows)))
        stride = draw(st.sampled_from([0, 1, 3]))
        expected[rows] = array(base, stride)
        pieces.append((rows, (affine if draw(st.booleans()) else array)(base, stride)))
    return pieces, expected, owner >= 0


@given(merges())
def test_each_program_has_its_own_piece(case: tuple[list[tuple[np.ndarray, Value]], np.ndarray, np.ndarray]) -> None:
    pieces, expected, held = case
    if not pieces:
        return
    merged = elements(merge(pieces, len(held), I32), I32)
    assert merged.shape[0] == len(held)
    shown = np.broadcast_to(merged, expected.shape)
    assert shown[held].tolist() == expected[held].tolist()


@pytest.mark.parametrize("rows", [[0, 1, 2], [0], [1, 2], [2]])
def test_one_piece_stays_as_it_is_if_it_is_of_all_programs_and_only_then(rows: list[int]) -> None:
    mask = MaskBox((np.zeros(3, np.int64),), (np.array([1, 2, 3]),), BLOCK)
    piece = take(mask, np.array(rows))
    merged = merge([(np.array(rows), piece)], 3, Type("i1", BLOCK))
    assert (merged is piece) == (len(rows) == 3)
    shown = elements(merged, Type("i1", BLOCK))
    assert shown.shape == (3, *BLOCK)
    assert shown[rows].sum(axis=1).tolist() == [row + 1 for row in rows]


def test_affine_pieces_of_one_stride_stay_affine() -> None:
    merged = merge([(np.array([0, 2]), affine([5, 7], 3)), (np.array([1]), affine([6], 3))], 3, I32)
    assert isinstance(merged, AffineBlock)
    assert (merged.base.tolist(), merged.strides) == ([5, 6, 7], (3,))
