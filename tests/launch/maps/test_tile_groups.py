"""Pictures made of tiles are those made of positions, cell for cell."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.launch.fakes import FakeAccess, FakeArgument
from tests.launch.maps.test_lane_boxes import LaneByLane, same, tiles
from triton_lab.launch.maps import access_heat as heat_module
from triton_lab.launch.maps.access_heat import heat
from triton_lab.launch.maps.heat import Heat
from triton_lab.launch.maps.picture_cells import heat_bins, heat_fallen
from triton_lab.launch.maps.tile_groups import Tiles
from triton_lab.launch.maps.tiling import touches
from triton_lab.views.drawing.cell_layout import layout
from triton_lab.views.launch.tiling.tiled_cells import TiledCells

ROOMS = st.sampled_from([(640.0, 480.0), (40.0, 30.0), (9.0, 11.0)])


@given(st.lists(st.integers(1, 30), min_size=1, max_size=4), ROOMS)
@settings(max_examples=60, deadline=None)
def test_what_dimensions_add_is_the_cell_of_a_position(shape: list[int], room: tuple[float, float]) -> None:
    shown = layout(tuple(shape), room=room)
    along = shown.along()
    if along is None:
        assert shown.panels == 1 and len(shape) > 2, "panels too many to be shown apart"
        return
    total = np.zeros((1,) * len(shape), dtype=np.int64)
    for axis, own in enumerate(along):
        added = np.arange(own.size) // own.step * own.adds
        total = total + added.reshape((-1,) + (1,) * (len(shape) - axis - 1))
    assert np.array_equal(total.reshape(-1), shown.cell_of_position())


@given(st.integers(1, 60), st.integers(1, 60), st.integers(1, 16), st.booleans(), ROOMS)
@settings(max_examples=80, deadline=None)
def test_cells_of_tiles_are_cells_of_positions(
    rows: int, columns: int, block: int, transposed: bool, room: tuple[float, float]
) -> None:
    argument, access, programs = tiles(rows, columns, block, transposed)
    lanes: Any = [LaneByLane(access)]
    found = touches(argument, [access], programs)
    expected = touches(argument, lanes, programs)
    if argument.strides[0] == argument.strides[1]:  # of a single row or column: a lane may be in the one or the other
        return
    assert found.tiles.edges is not None and expected.tiles.edges is None
    assert np.array_equal(found.elements(), expected.elements())
    shown = layout(found.drawn, found.origin, room=room)
    one, other = TiledCells.of(found, shown), TiledCells.of(expected, shown)
    for name in ("numbers", "class_of", "state"):
        assert np.array_equal(getattr(one, name), getattr(other, name)), name
    for name in ("starts", "items"):
        assert np.array_equal(getattr(one.touches.table, name), getattr(other.touches.table, name)), name
    assert np.array_equal(one.touches.several, other.touches.several)

    warm = heat(argument, [access], programs)
    falls = warm.tiles.falls(shown.along(), shown.cells)
    assert falls is not None
    told, wanted = heat_fallen(warm, falls), heat_bins(warm, shown.cell_of_position(), shown.cells)
    assert np.array_equal(told.numbers, wanted.numbers) and np.array_equal(told.state, wanted.state)
    assert np.array_equal(told.members.starts, wanted.members.starts)
    assert np.array_equal(told.members.items, wanted.members.items)
    assert all(np.array_equal(told.by[what], wanted.by[what]) for what in told.by)


@pytest.mark.parametrize("edges", [None, (np.array([0, 2, 7]),)])
def test_tiles_of_other_dimensions_do_not_fall_into_cells(edges: tuple[np.ndarray] | None) -> None:
    shown = layout((7, 9))
    assert Tiles(edges).falls(shown.along(), shown.cells) is None


@given(st.data())
@settings(max_examples=30, deadline=None)
def test_few_lanes_on_a_long_line_are_told_as_all_positions_are(data: st.DataObject) -> None:
    argument = FakeArgument("x", (300,), (1,), offset=data.draw(st.integers(0, 40)))
    programs, width = data.draw(st.integers(1, 3)), data.draw(st.integers(1, 4))
    turns = [
        (
            np.array(data.draw(st.lists(st.integers(0, 299), min_size=programs * width, max_size=programs * width))),
            np.array(data.draw(st.lists(st.booleans(), min_size=programs * width, max_size=programs * width))),
        )
        for _ in range(data.draw(st.integers(1, 3)))
    ]
    shaped = [(at.reshape(programs, width), mask.reshape(programs, width)) for at, mask in turns]
    access = FakeAccess(argument, data.draw(st.sampled_from(["load", "store"])), 3, shaped)
    for over in ("shape", "storage"):
        found = heat(argument, [access], programs, over)
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(heat_module, "_few", lambda *_: None)
            expected = heat(argument, [access], programs, over)
        assert expected.tiles.edges is None and (found.tiles.edges is not None or over == "shape")
        same(found, expected)
    shown = layout((300,), room=data.draw(ROOMS))
    found = heat(argument, [access], programs)
    falls = found.tiles.falls(shown.along(), shown.cells)
    assume(falls is not None)  # masked lanes may stand beside the line
    told, wanted = heat_fallen(found, falls), heat_bins(expected_of(found), shown.cell_of_position(), shown.cells)
    assert np.array_equal(told.numbers, wanted.numbers) and np.array_equal(told.state, wanted.state)


def expected_of(found: Heat) -> Heat:
    """The same with every position a tile."""
    return replace(found, tiles=Tiles(), tile_classes=found.classes, tile_counts=found.counts)
