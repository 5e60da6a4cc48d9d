"""Counts, programs, iterations, reuse and order of elements, against brute force lane by lane."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.launch.fakes import FakeAccess, FakeArgument, tile
from triton_lab.launch.maps.access_heat import heat
from triton_lab.launch.maps.heat import BY, Heat
from triton_lab.launch.maps.picture_cells import heat_bins, heat_cells

X = FakeArgument("x", (10,), (1,))


def touches_by_brute_force(argument: FakeArgument, access: FakeAccess) -> dict[tuple[int, ...], list[tuple[int, int]]]:
    """For each element, every touch as (program, iteration), repeats included."""
    found: dict[tuple[int, ...], list[tuple[int, int]]] = {}
    for index in itertools.product(*map(range, argument.shape)):
        place = argument.address + sum(i * s for i, s in zip(index, argument.strides, strict=True)) * argument.itemsize
        found[index] = [
            (program, iteration)
            for iteration in range(access.iterations)
            for program in range(len(access.address(iteration)))
            for _ in range(int((access.address(iteration)[program][access.mask(iteration)[program]] == place).sum()))
        ]
    return found


def numbers_at(found: Heat, index: tuple[int, ...]) -> dict[str, int]:
    position = np.ravel_multi_index(tuple(i + o for i, o in zip(index, found.origin, strict=True)), found.drawn)
    told = {what: int(found.by(what)[found.classes[position]]) for what in BY[1:]}
    return {"count": int(found.counts[position]), **told}


@given(st.data())
@settings(max_examples=100, deadline=None)
def test_everything_agrees_with_brute_force_for_any_strides(data: st.DataObject) -> None:
    shape = tuple(data.draw(st.lists(st.integers(1, 4), min_size=1, max_size=3)))
    strides = tuple(data.draw(st.lists(st.integers(0, 20), min_size=len(shape), max_size=len(shape))))
    argument = FakeArgument("x", shape, strides, offset=100)
    programs, iterations = data.draw(st.integers(1, 3)), data.draw(st.integers(1, 3))
    block = tuple(data.draw(st.lists(st.integers(1, 3), min_size=1, max_size=2)))
    lanes = programs * int(np.prod(block))

    def draw(strategy: st.SearchStrategy[object]) -> np.ndarray:
        drawn = data.draw(st.lists(strategy, min_size=lanes, max_size=lanes))
        return np.array(drawn).reshape(programs, *block)

    access = FakeAccess(
        argument, "load", 3, [(draw(st.integers(-5, 40)), draw(st.booleans())) for _ in range(iterations)]
    )
    found = heat(argument, [access], programs)
    expected = touches_by_brute_force(argument, access)
    firsts = sorted({min(touches) for touches in expected.values() if touches})
    for index, touches in expected.items():
        told = numbers_at(found, index)
        assert told["count"] == len(touches)
        assert told["reuse"] == (len({program for program, _ in touches}) if touches else -1)
        assert told["program"] == min((program for program, _ in touches), default=-1)
        assert told["iteration"] == min((iteration for _, iteration in touches), default=-1)
        assert told["order"] == (firsts.index(min(touches)) if touches else -1)


def test_masked_lanes_stand_beside_the_elements() -> None:
    access = tile(X, "store", 4, (3, 1, 1), (4,), lambda x, y, z, i: (x * 4,))
    found = heat(X, [access], 3)
    assert found.drawn == (12,) and found.counts.tolist() == [1] * 10 + [0] * 2
    assert [found.masked.members(int(k)).tolist() for k in found.classes] == [[]] * 10 + [[2]] * 2


def test_over_storage_a_stride_shows_as_gaps_between_touched_units() -> None:
    argument = FakeArgument("x", (8,), (3,), offset=2)
    access = FakeAccess(argument, "load", 1, [(3 * np.arange(8).reshape(2, 4), np.ones((2, 4), dtype=bool))])
    found = heat(argument, [access], 2, over="storage")
    assert found.unit == 4 and found.first == 0 and found.drawn == (32,), "one line of 128 bytes"
    assert np.flatnonzero(found.counts).tolist() == [2 + 3 * k for k in range(8)]
    assert found.by("program")[found.classes[2::3][:8]].tolist() == [0] * 4 + [1] * 4


def test_two_accesses_add_up_and_the_earlier_one_comes_first() -> None:
    load = tile(X, "load", 7, (2, 1, 1), (5,), lambda x, y, z, i: (5 * x,))
    store = tile(X, "store", 9, (2, 1, 1), (5,), lambda x, y, z, i: (5 - 5 * x,))
    found = heat(X, [load, store], 2)
    assert found.counts.tolist() == [2] * 10
    assert found.by("reuse")[found.classes].tolist() == [2] * 10
    assert found.by("order")[found.classes].tolist() == [0] * 5 + [1] * 5


@pytest.mark.parametrize("over", ["shape", "storage"])
def test_cells_of_several_positions_tell_the_most_and_the_first(over: str) -> None:
    access = tile(X, "load", 2, (5, 1, 1), (2,), lambda x, y, z, i: (2 * x - i,), iterations=2)
    found = heat(X, [access], 5, over)
    bins = -(-len(found.counts) // 3)
    cells = heat_bins(found, np.arange(len(found.counts)) // 3, bins)
    for number in range(bins):
        inside = slice(3 * number, 3 * number + 3)
        classes, counts = found.classes[inside], found.counts[inside]
        own = cells.numbers[number]
        assert cells.by["count"][own] == (counts.max() or -1)
        firsts = [k for k in found.by("program")[classes].tolist() if k >= 0]
        assert cells.by["program"][own] == min(firsts, default=-1)
        members = set(np.concatenate([found.table.members(int(k)) for k in classes]).tolist())
        assert set(cells.members.members(int(own)).tolist()) == members


@pytest.mark.parametrize("over", ["shape", "storage"])
@pytest.mark.parametrize("shape", [(), (0,), (3, 0)])
def test_nothing_to_touch(shape: tuple[int, ...], over: str) -> None:
    argument = FakeArgument("x", shape, tuple(1 for _ in shape), storage_bytes=0)
    found = heat(argument, [], 0, over)
    for gathered in (heat_cells, heat_bins):
        cells = gathered(found, np.arange(len(found.counts)), len(found.counts))
        assert (found.counts == 0).all() and (cells.by["count"] == -1).all()


@given(st.lists(st.integers(-3, 1010), min_size=6, max_size=24), st.integers(1, 3))
@settings(max_examples=60, deadline=None)
def test_few_lanes_among_many_positions_are_told_as_many_are(places: list[int], programs: int) -> None:
    argument = FakeArgument("x", (1000,), (1,), storage_address=1 << 16, storage_bytes=4000)
    lanes = np.array(places[: len(places) // programs * programs]).reshape(programs, -1)
    few = FakeAccess(argument, "load", 1, [(lanes, np.ones(lanes.shape, dtype=bool))])
    often = np.repeat(lanes, 12, axis=1)  # the same touches, with as many lanes as ask for another way
    many = FakeAccess(argument, "load", 1, [(often, np.ones(often.shape, dtype=bool))])
    found, other = heat(argument, [few], programs), heat(argument, [many], programs)
    assert found.drawn == other.drawn and np.array_equal(found.classes, other.classes)
    assert np.array_equal(found.table.items, other.table.items)
    assert np.array_equal(12 * found.counts, other.counts)
