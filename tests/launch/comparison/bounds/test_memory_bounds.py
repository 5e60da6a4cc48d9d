"""What memory holds may be off by, against a dictionary of addresses."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.launch.fakes import FakeArgument
from triton_lab.interpreter.memory_regions import Memory, MemoryRegion
from triton_lab.launch.comparison.bounds.bound import CHOICE, Bound
from triton_lab.launch.comparison.bounds.memory_bounds import MemoryBounds
from triton_lab.launch.comparison.bounds.rounding_rules import gamma

START = 4096
errors = st.sampled_from([0.0, 0.5, 1.0, 2.0])
lanes = st.lists(st.tuples(st.integers(0, 7), errors, st.sampled_from([0.0, 1.0, 3.0, math.inf])), max_size=6)
deeds = st.lists(st.tuples(st.sampled_from(["stored", "chosen", "added"]), lanes), max_size=5)


def memory(itemsize: int = 4, shared: bool = False) -> MemoryBounds:
    """The bounds of a memory of two regions, eight elements each."""
    regions = [MemoryRegion(start, np.zeros(8 * itemsize, np.uint8)) for start in (START, 2 * START)]
    return MemoryBounds(Memory(regions), shared)


def after(done: list[tuple[str, list[tuple[int, float, float]]]]) -> tuple[MemoryBounds, dict[int, list[float]]]:
    """What was done, and by place the error, the magnitude added and the terms."""
    held, known = memory(), {}
    for what, some in done:
        places = START + 4 * np.array([place for place, _, _ in some], np.int64)
        error, amount = (np.array([one[k] for one in some]) for k in (1, 2))
        if what == "added":
            held.added(places, 4, Bound.around(error), amount)
        else:
            getattr(held, what)(places, 4, Bound.around(error))
        if what == "stored":
            known |= {place: [0.0, 0.0, 0.0] for place, _, _ in some}
        for place, off, size in some:
            entry = known.setdefault(place, [0.0, 0.0, 0.0])
            if what == "added":
                entry[0] += off
                entry[1] += size if math.isfinite(size) else 0.0
                entry[2] += 1
            else:
                entry[0] = max(entry[0], off)
    return held, known


@given(deeds)
@settings(deadline=None, max_examples=150)
def test_a_load_brings_what_its_address_was_given(done: list[tuple[str, list[tuple[int, float, float]]]]) -> None:
    held, known = after(done)
    asked = np.array([7, 0, 3, 3, 1, 4, 1, 2, 5, 6])
    expected = [
        (math.inf if known[place][2] > 1 else known[place][0]) if place in known else 0.0 for place in asked.tolist()
    ]
    found = held.at(START + 4 * asked, 4)
    assert (found is None and not any(expected)) or (found is not None and found.size.tolist() == expected)
    assert held.at(2 * START + 4 * asked, 4) is None, "in another region nothing is known"
    if any(expected):
        assert bool(held)
        across = held.at(START + 4 * asked + 2, 4)
        assert across is not None and np.isinf(across.size).all(), "what lies across elements is not known"


@given(deeds, st.booleans(), st.sampled_from([((2, 3), (4, 1)), ((8,), (1,)), ((0,), (1,)), ((2, 2), (1, 3))]))
@settings(deadline=None, max_examples=150)
def test_the_end_of_an_argument_is_off_by_what_was_stored_and_how_its_sums_were_rounded(
    done: list[tuple[str, list[tuple[int, float, float]]]], same: bool, form: tuple[tuple[int, ...], tuple[int, ...]]
) -> None:
    held, known = after(done)
    shape, strides = form
    argument = FakeArgument("x", shape, strides, storage_address=START)
    final = -np.arange(1, 1 + int(np.prod(shape)), dtype=np.float32).reshape(shape)
    if final.size:
        final.reshape(-1)[-1] = np.inf
    u = 2.0**-24
    expected = np.zeros(shape)
    for index in np.ndindex(*shape):
        place = sum(i * s for i, s in zip(index, strides, strict=True))
        if place not in known:
            continue
        off, amount, terms = known[place]
        rounded = terms > (1 if same else 0)
        now = abs(float(final[index])) if np.isfinite(final[index]) else 0.0
        expected[index] = off + (2 * float(gamma(terms, u)) * (2 * amount + now) if rounded else 0.0)
    found = held.of(argument, final, u, same).size
    assert found.shape == shape
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_of_nothing_nothing_is_off() -> None:
    held = memory()
    assert not held and held.at(START + np.array([0, 4]), 4) is None
    argument = FakeArgument("x", (3,), (1,), storage_address=START)
    assert held.of(argument, np.ones(3, np.float32), 0.1, False).size.tolist() == [0, 0, 0]


@pytest.mark.parametrize("itemsize", [2, 4, 8])
def test_elements_are_found_by_their_bytes(itemsize: int) -> None:
    held = memory(itemsize)
    held.stored(START + itemsize * np.array([1, 3]), itemsize, Bound.around(np.array([2.0, 5.0])))
    argument = FakeArgument("x", (2, 2), (2, 1), storage_address=START, itemsize=itemsize)
    assert held.of(argument, np.zeros((2, 2)), 0.1, True).size.tolist() == [[0, 2], [0, 5]]


def test_integers_that_are_added_up_may_be_off_on_one_side_alone() -> None:
    held = memory()
    places = START + 4 * np.array([2, 2, 5])
    held.added(places, 4, Bound(np.array([1.0, 0, 0]), np.array([0, 1.0, 0]), np.array([1.0, 1.0, 0])), None)
    found = held.at(START + 4 * np.arange(8), 4)
    assert found is not None
    assert found.below.tolist() == [0, 0, 1, 0, 0, 0, 0, 0] and found.above.tolist() == [0, 0, 1, 0, 0, 0, 0, 0]
    assert found.kind[2] == CHOICE


def test_regions_of_which_nothing_is_known_stay_so() -> None:
    held = memory()
    region = held._memory.regions[0]
    held.lose([region])
    held.stored(START + 4 * np.arange(8), 4, Bound.around(np.zeros(8)))
    found = held.at(START + 4 * np.arange(2), 4)
    assert found is not None and np.isinf(found.size).all()
    assert held.at(2 * START + 4 * np.arange(2), 4) is None


def test_threads_tell_what_was_looked_at_and_what_was_stored_twice() -> None:
    held = memory(shared=True)
    argument = FakeArgument("x", (8,), (1,), storage_address=START)
    held.stored(START + 4 * np.arange(3), 4, Bound.around(np.array([0.0, 1.0, 0.0])))
    found = held.of(argument, np.zeros(8, np.float32), 0.1, True, whole=False)
    assert not held.overlaps
    assert found.size.tolist() == [0, 1, 0, *[math.inf] * 5]
    held.stored(START + 4 * np.arange(2, 4), 4, Bound.around(np.zeros(2)))
    assert held.overlaps
