"""Where elements stand in a heatmap, and that the picture keeps to its room."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from triton_lab.views.drawing import style
from triton_lab.views.drawing.frame import frame, ticks
from triton_lab.views.drawing.layout import MOST_PANELS, layout

shapes = st.lists(st.one_of(st.integers(0, 9), st.integers(100, 1500)), max_size=2).flatmap(
    lambda tail: st.lists(st.integers(1, 4), max_size=2).map(
        lambda head: (*head, *tail) if len(tail) == 2 else tuple(tail)
    )
)


@settings(deadline=None, max_examples=50)
@given(shapes)
def test_every_position_has_a_cell_and_no_cell_more_than_its_share(shape: tuple[int, ...]) -> None:
    shown = layout(shape)
    cells = shown.cell_of_position()
    assert len(cells) == math.prod(shape)
    if len(cells):
        assert cells.min() >= 0 and cells.max() < shown.cells
        assert np.bincount(cells).max() <= shown.down * shown.right


@settings(deadline=None, max_examples=50)
@given(shapes)
def test_a_cell_tells_all_positions_that_it_stands_for(shape: tuple[int, ...]) -> None:
    shown = layout(shape, room=(90.0, 60.0))
    of_position = shown.cell_of_position()
    some = np.unique(of_position)[:: max(1, shown.cells // 7)]
    for cell, found in zip(some.tolist(), shown.positions_in(some).tolist(), strict=True):
        assert [one for one in found if one >= 0] == np.flatnonzero(of_position == cell).tolist()


@settings(deadline=None, max_examples=50)
@given(shapes)
def test_the_first_position_of_each_cell_is_the_least(shape: tuple[int, ...]) -> None:
    shown = layout(shape)
    of_position = shown.cell_of_position()
    cells, first = shown.first_of_cell()
    expected, least = np.unique(of_position, return_index=True)
    order = np.argsort(cells)
    assert cells[order].tolist() == expected.tolist() and first[order].tolist() == least.tolist()


@settings(deadline=None)
@given(st.integers(1, 50), st.integers(1, 50), st.integers(1, 3))
def test_a_matrix_stands_in_its_own_shape(rows: int, columns: int, panels: int) -> None:
    shown = layout((panels, rows, columns))
    assert (shown.panels, shown.rows, shown.columns) == (panels, rows, columns)
    assert shown.cell_of_position().tolist() == list(range(panels * rows * columns))


@settings(deadline=None, max_examples=50)
@given(shapes, st.sampled_from([style.ROOM, (300.0, 240.0)]))
def test_a_picture_keeps_to_its_room_with_cells_of_a_pixel_at_least(
    shape: tuple[int, ...], room: tuple[float, float]
) -> None:
    seen = frame(layout(shape, room=room), room)
    assert seen.cell_width >= 1 and seen.cell_height >= 1
    assert seen.width <= room[0] and seen.height <= room[1]


def test_a_line_of_a_million_is_wrapped_at_a_power_of_two() -> None:
    shown = layout((1 << 20,))
    assert shown.columns == 512 and shown.right == 4 and shown.rows == 512


def test_very_many_slices_become_one_tall_panel() -> None:
    assert layout((MOST_PANELS + 1, 2, 3)).panels == 1
    assert layout((MOST_PANELS, 2, 3)).panels == MOST_PANELS


def test_numbers_at_the_edges_count_from_the_origin() -> None:
    shown = layout((5, 8), origin=(1, 2))
    assert shown.row_number(0) == "-1" and shown.column_number(2) == "0"
    wrapped = layout((100,))
    assert wrapped.row_number(1) == str(wrapped.columns) and wrapped.column_number(3) == "3"


def test_ticks_are_a_power_of_two_apart() -> None:
    assert list(ticks(10, 5, 18)) == [0, 4, 8]
    assert list(ticks(3, 30, 18)) == [0, 1, 2]
