"""Where lanes stand over an argument's shape and along its storage, lane by lane."""

from __future__ import annotations

import dataclasses
import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.launch.fakes import FakeAccess, FakeArgument, tile
from triton_lab.launch.element_index import contiguous_strides, places
from triton_lab.launch.maps.lane_positions import LINE_BYTES, Identity, OverShape, OverStorage, offsets_of

Element = tuple[int, ...]


@given(st.lists(st.integers(-5, 15), max_size=8), st.integers(0, 10))
def test_an_offset_of_a_tensor_without_gaps_is_its_element(offsets: list[int], elements: int) -> None:
    asked = np.array(offsets, np.int64)
    found = Identity(elements).element(asked)
    assert found.tolist() == places((elements,), (1,)).element(asked).tolist()
    assert found.tolist() == [each if 0 <= each < elements else -1 for each in offsets]


@st.composite
def accesses(draw: st.DrawFn, argument: FakeArgument, programs: int) -> FakeAccess:
    """Lanes anywhere near an argument, some masked, some programs left out; perhaps wider than an element."""
    block = draw(st.sampled_from([(), (3,), (2, 2)]))
    size = int(np.prod(block))
    lanes, ran = [], []
    for _ in range(draw(st.integers(1, 2))):
        offsets = draw(st.lists(st.integers(-9, 30), min_size=programs * size, max_size=programs * size))
        mask = draw(st.lists(st.booleans(), min_size=programs * size, max_size=programs * size))
        lanes.append((np.array(offsets).reshape(programs, *block), np.array(mask).reshape(programs, *block)))
        ran.append(np.array(draw(st.lists(st.booleans(), min_size=programs, max_size=programs))))
    itemsize = draw(st.sampled_from([argument.itemsize, 4, 8, 2]))
    return FakeAccess(argument, "load", 1, lanes, ran, itemsize)


@st.composite
def arguments(draw: st.DrawFn) -> FakeArgument:
    shape = tuple(draw(st.lists(st.integers(0, 4), max_size=3)))
    strides = tuple(draw(st.integers(-4, 6)) for _ in shape)
    itemsize = draw(st.sampled_from([1, 2, 4, 8]))
    offset = draw(st.integers(0, 40))
    return FakeArgument("x", shape, strides, offset=offset, itemsize=itemsize, storage_bytes=draw(st.integers(0, 700)))


def lanes_of(access: FakeAccess, iteration: int) -> list[tuple[int, int, bool]]:
    """Program, address and whether it is on, of each lane of the programs that ran."""
    found = []
    for program in range(len(access.address(iteration))):
        if bool(np.ravel(access.executed(iteration)[program])[0]):
            on = np.broadcast_to(access.mask(iteration)[program], access.address(iteration)[program].shape)
            found += [
                (program, int(a), bool(m))
                for a, m in zip(np.ravel(access.address(iteration)[program]), np.ravel(on), strict=True)
            ]
    return found


@given(st.data())
@settings(deadline=None, max_examples=120)
def test_offsets_are_those_of_each_element_that_a_lane_covers(data: st.DataObject) -> None:
    argument = data.draw(arguments())
    access = data.draw(accesses(argument, data.draw(st.integers(1, 3))))
    for iteration in range(access.iterations):
        program, offset, mask = offsets_of(argument, access, iteration)
        lanes = lanes_of(access, iteration)
        width = max(1, access.itemsize // argument.itemsize)
        assert program.tolist() == sorted({lane[0] for lane in lanes})
        covered = [(a - argument.address) // argument.itemsize + k for _, a, _ in lanes for k in range(width)]
        assert offset.reshape(-1).tolist() == covered
        assert mask.reshape(-1).tolist() == [on for _, _, on in lanes for _ in range(width)]
        wide = () if width == 1 else (width,)
        assert offset.shape == (len(program), *access.lanes[iteration][0].shape[1:], *wide)


@given(st.data())
@settings(deadline=None, max_examples=120)
def test_places_along_the_storage_are_bytes_from_a_line_on(data: st.DataObject) -> None:
    argument = data.draw(arguments())
    some = [data.draw(accesses(argument, 2)) for _ in range(data.draw(st.integers(0, 2)))]
    place = OverStorage(argument, some)
    start = argument.storage_address
    elements = [
        argument.address + argument.itemsize * sum(i * s for i, s in zip(index, argument.strides, strict=True))
        for index in itertools.product(*map(range, argument.shape))
    ]
    spans = [(a - start, a - start + argument.itemsize) for a in elements]
    for access in some:
        for iteration in range(access.iterations):
            spans += [(a - start, a - start + access.itemsize) for _, a, on in lanes_of(access, iteration) if on]
    assert argument.itemsize % place.unit == 0 and (argument.address - start) % place.unit == 0
    low = min([a for a, _ in spans], default=0)
    high = max([b for _, b in spans], default=0)
    assert place.first * place.unit == low // LINE_BYTES * LINE_BYTES
    end = place.first * place.unit + place.positions * place.unit
    if spans:
        # To the end of the last line, but no further than the storage, unless something is there.
        line = -(-high // LINE_BYTES) * LINE_BYTES
        assert high <= end and end - place.unit < max(high, min(line, max(high, argument.storage_bytes)))
        assert end >= min(line, argument.storage_bytes)
    for access in some:
        for iteration in range(access.iterations):
            program, position, mask = place.lanes(access, iteration)
            lanes = lanes_of(access, iteration)
            width = max(1, access.itemsize // place.unit)
            units = [(a - start) // place.unit - place.first + k for _, a, _ in lanes for k in range(width)]
            assert position.reshape(-1).tolist() == [u if 0 <= u < place.positions else -1 for u in units]
            assert mask.reshape(-1).tolist() == [on for _, _, on in lanes for _ in range(width)]
            assert program.tolist() == sorted({lane[0] for lane in lanes})
    assert place.strays(some).tolist() == [False] * place.positions
    assert place.crop(np.zeros(place.positions, np.int64)) == (
        (place.positions,), (0,), (slice(0, place.positions),),
    )  # fmt: skip


@given(st.data())
@settings(deadline=None, max_examples=120)
def test_active_lanes_stand_on_the_first_element_at_their_address(data: st.DataObject) -> None:
    argument = dataclasses.replace(data.draw(arguments()), itemsize=4)
    some = [dataclasses.replace(data.draw(accesses(argument, 2)), itemsize=4)]
    place = OverShape(argument, some)
    first: dict[int, Element] = {}
    for index in itertools.product(*map(range, argument.shape)):
        first.setdefault(argument.address + 4 * sum(i * s for i, s in zip(index, argument.strides, strict=True)), index)
    grid = np.arange(place.positions).reshape(place.padded)
    for iteration in range(some[0].iterations):
        _, position, _ = place.lanes(some[0], iteration)
        for (_, address, on), found in zip(lanes_of(some[0], iteration), position.reshape(-1).tolist(), strict=True):
            if on and address in first:
                at = tuple(i + b for i, b in zip(first[address], place.where.before, strict=True))
                assert found == int(grid[at])
            elif on and found >= 0:
                assert not place.where.inside()[found], "beside the elements"
        # Asked again, it says the same.
        assert np.array_equal(place.lanes(some[0], iteration)[1], position)


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("reach", [0, 1, 2])
def test_margins_where_nothing_is_are_left_out(transposed: bool, reach: int) -> None:
    strides = (1, 6) if transposed else (7, 1)
    argument = FakeArgument("x", (6, 7), strides, offset=60)
    # A tile of 4 by 4 whose lanes reach so far over the edges on either side.
    corners = [(-reach, -1), (2 + reach, 4)]
    access = tile(argument, "store", 3, (2, 1, 1), (4, 4), lambda x, y, z, i: corners[x])
    place = OverShape(argument, [access])
    lanes = [
        (corners[p][0] + i, corners[p][1] + j) for p in range(2) for i in range(4) for j in range(4)
    ]  # fmt: skip
    classes = np.zeros(place.positions, np.int64)
    _, position, _ = place.lanes(access, 0)
    classes[position[position >= 0]] = 1
    drawn, origin, window = place.crop(classes)
    if (position >= 0).all():
        low = [min(0, min(lane[axis] for lane in lanes)) for axis in (0, 1)]
        high = [max((6, 7)[axis], 1 + max(lane[axis] for lane in lanes)) for axis in (0, 1)]
        assert origin == tuple(-each for each in low)
        assert drawn == tuple(b - a for a, b in zip(low, high, strict=True))
    assert all(part.stop - part.start == size for part, size in zip(window, drawn, strict=True))
    shown: Any = classes.reshape(place.padded)[window]
    assert shown.sum() == classes.sum(), "nothing that is there is cut off"


def test_contiguous_arguments_are_plain_and_elements_that_share_a_place_are_one() -> None:
    plain = FakeArgument("x", (2, 3), contiguous_strides((2, 3)))
    access = FakeAccess(plain, "load", 1, [(np.array([[0, 5]]), np.ones((1, 2), bool))])
    assert OverShape(plain, [access]).plain
    expanded = FakeArgument("x", (2, 3), (0, 1))
    place = OverShape(expanded, [FakeAccess(expanded, "load", 1, [(np.array([[1, 2]]), np.ones((1, 2), bool))])])
    signature, counts = np.arange(6).astype(np.uint64), np.array([1, 2, 3, 0, 0, 0])
    place.alias(signature, counts)
    assert signature.tolist() == [0, 1, 2, 0, 1, 2] and counts.tolist() == [1, 2, 3, 1, 2, 3]
