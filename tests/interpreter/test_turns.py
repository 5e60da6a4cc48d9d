"""Many lanes on few places: what a loop over the lanes finds and leaves."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from triton_lab.interpreter.ops.serialized_lanes import Update, cut_into_turns, exchange, take_turns

UPDATES = {
    "and": Update(np.bitwise_and),
    "add": Update(np.add),
    "maximum": Update(np.maximum),
    "minimum": Update(np.minimum),
    "unsigned maximum": Update(np.maximum, unsigned=True),
    "unsigned minimum": Update(np.minimum, unsigned=True),
    "exchange": Update(exchange),
    "subtract": Update(np.subtract),  # the order counts
}


def one_by_one(view: np.ndarray, index: Any, values: np.ndarray, update: Update) -> tuple[list[Any], np.ndarray]:
    """What each lane finds, and memory afterwards."""
    kind = f"u{values.dtype.itemsize}" if update.unsigned else values.dtype
    held, found = view.copy().view(kind), []
    for place, value in zip(index, values.view(kind), strict=True):
        found.append(held[place])
        held[place] = update.function(held[place], value)
    return np.array(found, kind).view(values.dtype).tolist(), held.view(values.dtype)


@st.composite
def lanes(draw: st.DrawFn, most: int = 12) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Places of a memory of 8 that lanes go to, few of them or many, and what they bring."""
    places = draw(st.sampled_from([st.integers(0, 7), st.integers(2, 3), st.sampled_from([1, 5, 6])]))
    index = draw(st.lists(places, max_size=most))
    dtype = draw(st.sampled_from(["i4", "i8", "i2"]))
    number = st.integers(-9, 9)
    values = [draw(number) for _ in index]
    view = draw(st.lists(number, min_size=8, max_size=8))
    return np.array(view, dtype), np.array(index, np.int64), np.array(values, dtype)


@pytest.mark.parametrize("name", UPDATES)
@given(case=lanes())
@settings(deadline=None, max_examples=80)
def test_turns_are_those_of_a_loop(name: str, case: tuple[np.ndarray, np.ndarray, np.ndarray]) -> None:
    view, index, values = case
    before = view.copy()
    found, places, left = take_turns(view, index, values, UPDATES[name])
    assert np.array_equal(view, before), "memory is written by who asks"
    expected, after = one_by_one(view, index, values, UPDATES[name])
    assert found.dtype == left.dtype == values.dtype and found.tolist() == expected
    assert sorted(places.tolist()) == sorted(set(index.tolist()))
    view[places] = left
    assert view.tolist() == after.tolist()


def test_floats_are_added_in_the_order_of_the_lanes() -> None:
    values = np.array([1e8, 1.0, -1e8, 1.0, 1.0], np.float32)
    index = np.array([3, 3, 3, 3, 2])
    wheres, places, left = take_turns(np.zeros(5, np.float32), index, values, UPDATES["add"])
    assert wheres.tolist() == [0.0, 1e8, 1e8, 0.0, 0.0]
    assert dict(zip(places.tolist(), left.tolist(), strict=True)) == {2: 1.0, 3: 1.0}


@given(st.lists(st.integers(0, 4), max_size=12))
@settings(deadline=None, max_examples=200)
def test_turns_hold_each_place_once_and_keep_the_order(index: list[int]) -> None:
    every = np.arange(len(index))
    turns = [every[turn].tolist() for turn in cut_into_turns(np.array(index, np.int64))]
    assert sorted(lane for turn in turns for lane in turn) == every.tolist()
    # The k-th lane of a place is in turn k.
    assert all(index[:lane].count(index[lane]) == k for k, turn in enumerate(turns) for lane in turn)
    assert len(turns) == max([index.count(place) for place in index], default=1)
    for turn in turns if len(turns) > 1 else ():
        assert [index[lane] for lane in turn] == sorted(index[lane] for lane in turn)
