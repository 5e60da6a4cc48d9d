"""Stretches of a storage, against a look at each element."""

from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from triton_lab.launch.element_index import contiguous_strides
from triton_lab.launch.maps.storage_spans import cells_of, stretches, tiles_stretched, united
from triton_lab.launch.maps.tile_groups import Tiles

Form = tuple[tuple[int, ...], tuple[int, ...]]


@st.composite
def forms(draw: st.DrawFn) -> Form:
    """Any strides, or those of a permuted tensor, turned round and with gaps."""
    shape = tuple(draw(st.lists(st.integers(0 if draw(st.integers(0, 9)) == 0 else 1, 4), min_size=1, max_size=3)))
    if draw(st.integers(0, 3)) == 0:
        return shape, tuple(draw(st.integers(-5, 9)) for _ in shape)
    strides, step = [0] * len(shape), 1
    for axis in draw(st.permutations(range(len(shape)))):
        strides[axis] = step * draw(st.sampled_from([1, 1, 1, 2, -1, 0]))
        step = max(step, abs(strides[axis]) * shape[axis])
    return shape, tuple(strides)


def places_of(form: Form) -> dict[tuple[int, ...], int]:
    shape, strides = form
    return {
        index: sum(i * s for i, s in zip(index, strides, strict=True))
        for index in itertools.product(*map(range, shape))
    }


@given(forms())
@settings(deadline=None, max_examples=200)
def test_stretches_hold_each_place_as_often_as_it_is_shared(form: Form) -> None:
    found = stretches(*form)
    if found is None:
        return
    told = Counter({
        place: found.times
        for start, length in zip(found.starts.tolist(), found.lengths.tolist(), strict=True)
        for place in range(start, start + length)
    })  # fmt: skip
    assert told == Counter(places_of(form).values())
    assert sum(found.lengths.tolist()) == len(set(places_of(form).values())), "no place is in two"
    assert found.starts.tolist() == sorted(found.starts.tolist())


@pytest.mark.parametrize("shape", [(6,), (2, 3), (1, 6), (2, 1, 3)])
def test_a_tensor_without_gaps_is_one_stretch(shape: tuple[int, ...]) -> None:
    found = stretches(shape, contiguous_strides(shape))
    assert found is not None and (found.starts.tolist(), found.lengths.tolist(), found.times) == ([0], [6], 1)


@given(forms(), st.data())
@settings(deadline=None, max_examples=200)
def test_tiles_lie_where_their_elements_do(form: Form, data: st.DataObject) -> None:
    shape, strides = form
    inner = [sorted({0, size, *data.draw(st.lists(st.integers(0, size), max_size=2))}) for size in shape]
    if data.draw(st.integers(0, 5)) == 0:
        inner = [
            sorted({0, int(np.prod(shape)), *data.draw(st.lists(st.integers(0, int(np.prod(shape))), max_size=3))})
        ]
    tiles = Tiles(tuple(np.array(edges) for edges in inner))
    found = tiles_stretched(tiles, shape, strides)
    if found is None:
        return
    numbers = tiles.at(np.arange(int(np.prod(shape))), shape)
    expected = {place: int(tile) for place, tile in zip(places_of(form).values(), numbers, strict=True)}
    told = [
        (place, tile)
        for start, length, tile in zip(*(each.tolist() for each in found), strict=True)
        for place in range(start, start + length)
    ]
    assert len(told) == len(places_of(form)) and dict(told) == expected


@pytest.mark.parametrize(
    ("shape", "strides", "told"),
    [
        ((3, 4), (4, 1), True),
        ((3, 4), (1, 3), True),
        ((3, 4), (4, -1), True),
        ((3, 1), (1, 7), True),
        ((1, 1), (5, 5), True),
        ((3, 4), (8, 2), False),  # a row has gaps
        ((3, 4), (0, 1), False),  # rows share their places
        ((3, 4), (1, 0), False),
        ((3, 4), (2, 1), False),
        ((0, 4), (4, 1), False),
    ],
)
def test_tiles_are_told_where_no_row_has_gaps_and_none_is_shared(
    shape: tuple[int, ...], strides: tuple[int, ...], told: bool
) -> None:
    tiles = Tiles(tuple(np.array([0, size]) for size in shape))
    assert (tiles_stretched(tiles, shape, strides) is not None) == told
    assert tiles_stretched(Tiles(), shape, strides) is None


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(1, 9)), max_size=5), st.integers(1, 5))
def test_cells_are_all_that_a_stretch_reaches(some: list[tuple[int, int]], wide: int) -> None:
    starts, lengths = (np.array([one[k] for one in some], np.int64) for k in (0, 1))
    which, cell = cells_of(starts, lengths, wide)
    assert list(zip(which.tolist(), cell.tolist(), strict=True)) == [
        (k, number)
        for k, (start, length) in enumerate(some)
        for number in sorted({place // wide for place in range(start, start + length)})
    ]


@given(st.lists(st.integers(1, 4), min_size=1, max_size=6), st.data())
def test_what_several_stretches_have_is_united(lengths: list[int], data: st.DataObject) -> None:
    edges = np.concatenate([[0], np.cumsum(lengths)])
    values = [data.draw(st.integers(0, 7)) for _ in lengths]
    every = [value for value, length in zip(values, lengths, strict=True) for _ in range(length)]
    asked = data.draw(st.lists(st.tuples(st.integers(0, len(every) - 1), st.integers(1, 6)), max_size=4))
    starts = np.array([start for start, _ in asked], np.int64)
    ends = np.array([min(start + length, len(every)) for start, length in asked], np.int64)
    expected = [int(np.bitwise_or.reduce(every[a:b])) for a, b in zip(starts, ends, strict=True)]
    assert united(np.array(values), edges, starts, ends).tolist() == expected
