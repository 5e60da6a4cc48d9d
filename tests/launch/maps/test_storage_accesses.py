"""Who touches the cells of tensors and of the storage that they share, against brute force lane by lane."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.launch.fakes import FakeAccess, FakeArgument, tile
from tests.launch.maps.test_lane_boxes import LaneByLane, launches, tiles
from triton_lab.launch.access import Access
from triton_lab.launch.element_index import offsets
from triton_lab.launch.maps.storage_accesses import CellTouches, CoverPlace, StorageTouches
from triton_lab.launch.maps.tile_groups import Tiles
from triton_lab.views.drawing.cell_layout import layout

PROGRAMS = 6
X = FakeArgument("x", (5, 4), (1, 8), offset=3)  # transposed, with gaps
Y = FakeArgument("y", (7,), (2,), offset=1)  # every other element of the same storage
ACCESSES = [
    tile(X, "load", 3, (3, 2, 1), (2, 3), lambda x, y, z, i: (2 * x, 2 * y + i), iterations=2),
    tile(Y, "store", 4, (3, 2, 1), (4,), lambda x, y, z, i: (2 * x + y,)),
]


def lanes(access: FakeAccess) -> list[tuple[int, int, int, bool]]:
    """(program, iteration, address, active) of every lane."""
    return [
        (program, turn, int(address), bool(active))
        for turn in range(access.iterations)
        for program in range(PROGRAMS)
        for address, active in zip(
            access.address(turn)[program].reshape(-1), access.mask(turn)[program].reshape(-1), strict=True
        )
    ]


def active_at(touched: CellTouches, cell: int) -> set[tuple[int, int, int | None]]:
    """(program, iteration, line) of the active lanes at a cell."""
    count = len(touched.moments)
    members = touched.table.members(int(touched.classes[cell]))
    told = [(int(m) // count, touched.moments[int(m) % count]) for m in members if m < PROGRAMS * count]
    return {(program, moment.iteration, moment.line) for program, moment in told}


def expected(addresses: list[int], accesses: list[FakeAccess]) -> set[tuple[int, int, int | None]]:
    return {
        (program, turn, access.line)
        for access in accesses
        for program, turn, address, active in lanes(access)
        if active and address in addresses
    }


@pytest.mark.parametrize(("number", "tensor"), [(0, X), (1, Y)])
@pytest.mark.parametrize("right", [1, 3])
def test_cells_of_a_tensor_know_the_lanes_of_all_their_elements(number: int, tensor: FakeArgument, right: int) -> None:
    places = tensor.address + 4 * offsets(tensor.shape, tensor.strides)
    cells = -(-len(places) // right)
    found = StorageTouches([X, Y], ACCESSES, PROGRAMS).of_elements(number, np.arange(len(places)) // right, cells)
    own = [access for access in ACCESSES if access.argument == tensor.name]
    for cell in range(cells):
        assert active_at(found, cell) == expected(places[cell * right : (cell + 1) * right].tolist(), own)


def test_cells_of_a_storage_know_the_lanes_of_all_tensors_that_lie_there() -> None:
    units = 40
    touches = StorageTouches([X, Y], ACCESSES, PROGRAMS)
    there = [touches.along_storage(k, tensor, CoverPlace(tensor.offset, 1), 1) for k, tensor in enumerate((X, Y))]
    found = touches.of_cells(there, units)
    for unit in range(units):
        assert active_at(found, unit) == expected([X.storage_address + 4 * unit], ACCESSES)
    shared = [unit for unit in range(units) if {line for _, _, line in active_at(found, unit)} == {3, 4}]
    assert shared, "the example has places that both tensors touch"


def members_of(touched: CellTouches, cell: int) -> list[int]:
    return touched.table.members(int(touched.classes[cell])).tolist()


@given(launches(), st.integers(1, 2), st.integers(1, 5), st.sampled_from([(640.0, 480.0), (9.0, 11.0)]))
@settings(max_examples=150, deadline=None)
def test_what_is_told_of_tiles_is_what_each_element_tells(
    launch: tuple[FakeArgument, list[Access], int], wide: int, right: int, room: tuple[float, float]
) -> None:
    """In every form in which a picture, or a window of it, asks: an element's members are those of its position."""
    argument, accesses, programs = launch
    lanes: Any = [LaneByLane(one) for one in accesses]
    found, brute = StorageTouches([argument], accesses, programs), StorageTouches([argument], lanes, programs)
    assert found.heats[0].moments == brute.heats[0].moments
    warm = brute.heats[0]
    classes = warm.classes[warm.inside]
    of_element = [set(warm.table.members(number).tolist()) for number in classes.tolist()]

    shown = layout(argument.shape, room=room)
    of_shape = found.of_shape(0, shown.along(), shown.cells)
    assert of_shape is None or found.heats[0].tiles.edges is not None
    for told in [of_shape, found.of_elements(0, shown.cell_of_position(), shown.cells)]:
        for cell in range(shown.cells if told else 0):
            wanted = set().union(*(of_element[e] for e in np.flatnonzero(shown.cell_of_position() == cell)))
            assert told is not None and members_of(told, cell) == sorted(wanted)

    some = np.array([-1, *range(len(of_element))])[::-1]
    for cell, element in enumerate(some.tolist()):
        wanted = of_element[element] if element >= 0 else set()
        assert members_of(found.of_some(0, some), cell) == sorted(wanted)

    own = offsets(argument.shape, argument.strides)
    place = CoverPlace(7 - wide * int(own.min()), wide)
    units = [place.base + wide * int(at) + part for at in own for part in range(wide)]
    cells = max(units) // right + 2
    along = found.of_cells([found.along_storage(0, argument, place, right)], cells)
    asked = np.array([-1, *range(max(units) + 3)])[::-1]
    single = found.of_cells([found.at_units(0, argument, place, asked)], len(asked))
    for told, cell_of in ((along, lambda unit: unit // right), (single, lambda unit: len(asked) - 2 - unit)):
        wanted_of: dict[int, set[int]] = {}
        for k, unit in enumerate(units):
            wanted_of.setdefault(cell_of(unit), set()).update(of_element[k // wide])
        for cell in range(len(told.classes)):
            assert members_of(told, cell) == sorted(wanted_of.get(cell, set()))


@pytest.mark.parametrize("transposed", [False, True])
def test_a_tiled_tensor_is_not_looked_at_element_by_element(transposed: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    argument, access, programs = tiles(300, 500, 16, transposed)
    found = StorageTouches([argument], [access], programs)

    def no_elements(*_: object) -> None:
        raise AssertionError("all elements were asked for")

    monkeypatch.setattr(Tiles, "spread", no_elements)
    shown = layout(argument.shape, room=(40.0, 30.0))
    assert found.of_shape(0, shown.along(), shown.cells) is not None
    _, classes, _ = found.along_storage(0, argument, CoverPlace(0, 1), 64)
    assert len(classes) < 300 * 500 // 8
    assert len(found.of_some(0, np.arange(50)).classes) == 50
    assert len(found.at_units(0, argument, CoverPlace(0, 1), np.arange(50))[1]) == 50


def test_what_lies_beyond_the_units_that_are_asked_for_is_left_out() -> None:
    """Also of a tensor whose elements share their places."""
    argument = FakeArgument("x", (2, 6), (0, 1))
    access = tile(argument, "load", 3, (1, 1, 1), (1, 6), lambda x, y, z, i: (0, 0))
    found = StorageTouches([argument], [access], 1)
    touched = found.of_cells([found.at_units(0, argument, CoverPlace(0, 1), np.array([0, 1]))], 2)
    assert [bool(members_of(touched, cell)) for cell in range(2)] == [True, True]
