"""Where elements stand in a heatmap, and that the picture keeps to its room."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from triton_lab.views.drawing import style
from triton_lab.views.drawing.cell_frame import frame, ticks
from triton_lab.views.drawing.cell_layout import MOST_PANELS, layout
from triton_lab.views.drawing.picture_window import MOST_POSITIONS, Window, asked

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
@example((4, 4, 1, 100), (300.0, 240.0))
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


@settings(deadline=None, max_examples=50)
@given(shapes.filter(bool), st.sampled_from([style.ROOM, (90.0, 60.0)]), st.integers(0, 3))
def test_the_numbers_beside_a_picture_are_those_of_its_first_positions(
    shape: tuple[int, ...], room: tuple[float, float], before: int
) -> None:
    origin = tuple(range(before, before + len(shape)))
    shown = layout(shape, origin, room=room)
    cells, first = shown.first_of_cell()
    for cell, position in list(zip(cells.tolist(), first.tolist(), strict=True))[:: max(1, len(cells) // 25)]:
        row, column = divmod(cell % (shown.rows * shown.columns), shown.columns)
        if len(shape) > 1:
            *_, i, j = (at - low for at, low in zip(np.unravel_index(position, shape), origin, strict=True))
            if math.prod(shape[:-2]) <= MOST_PANELS:
                assert (shown.row_number(row), shown.column_number(column)) == (str(i), str(j))
        elif shown.rows == 1:
            assert shown.column_number(column) == str(position - origin[0])
        else:  # beside a row stands its first element, above a column the steps to it
            steps = int(shown.column_number(column))
            assert int(shown.row_number(row)) + steps == position - origin[0]


@settings(deadline=None, max_examples=100)
@given(shapes, st.sampled_from([style.ROOM, (90.0, 60.0), (290.0, 240.0)]))
def test_cells_are_as_large_as_fit(shape: tuple[int, ...], room: tuple[float, float]) -> None:
    seen = frame(layout(shape, room=room), room)
    columns, rows = max(1, seen.layout.columns), max(1, seen.layout.rows)
    wide = (room[0] - style.PANEL_GAP_RIGHT * (seen.layout.across - 1)) / seen.layout.across
    high = (room[1] - style.PANEL_GAP_DOWN * (max(1, seen.stacked) - 1)) / max(1, seen.stacked)
    across, down = seen.cell_width, seen.cell_height
    assert across == int(across) >= 1 and down == int(down) >= 1 and max(across, down) <= style.LARGEST_CELL
    for cell, many, space, least in ((across, columns, wide, 160), (down, rows, high, 60)):
        assert cell == 1 or cell * many <= space, "it fits"
        larger = (cell + 1) * many > min(space, max(least, 1)) or cell == style.LARGEST_CELL
        assert larger or cell + 1 > min(wide / columns, high / rows), "no larger one fits"
    if across != down:  # one side is stretched so that the picture can be seen
        stretched, many, least = (across, columns, 160) if across > down else (down, rows, 60)
        assert stretched * many <= least


def test_windows_are_those_that_lie_in_a_picture() -> None:
    """All small windows of a picture whose cells stand for several, against its positions."""
    shown = layout((2, 5, 7), room=(60.0, 60.0))
    for numbers in itertools.product(range(-1, 3), range(7), range(9), range(4), range(4)):
        panel, row, column, rows, columns = numbers
        inside = 0 <= panel < 2 and row + rows <= 5 and column + columns <= 7 and rows * columns > 0
        name = f"x/window/{'.'.join(map(str, numbers))}"
        if not inside:
            with pytest.raises(LookupError, match=r"no part|not a window"):
                asked(name, "x", shown)
            continue
        window = asked(name, "x", shown)
        assert f"x/window/{window.name}" == name
        expected = [(panel * 5 + r) * 7 + c for r in range(row, row + rows) for c in range(column, column + columns)]
        assert window.positions(shown.fine).tolist() == expected
        assert (window.layout.rows, window.layout.columns) == (rows, columns)


@pytest.mark.parametrize(
    "name", ["x/window/0.0.0.1", "x/window/0.0.0.1.1.1", "y/window/0.0.0.1.1", "x/0.0.0.1.1", "x/window/0.0.0.1.one",
             "x/window/0.0.0.-1.-1", f"x/window/0.0.0.1.{'1' * 5000}", "x/window/", ""]
)  # fmt: skip
def test_what_is_no_window_is_told_so(name: str) -> None:
    with pytest.raises(LookupError, match="no part"):
        asked(name, "x", layout((100, 100)))


def test_a_window_has_no_more_positions_than_it_may() -> None:
    shown = layout((MOST_POSITIONS, 3))
    assert asked(f"x/window/0.0.0.{MOST_POSITIONS}.1", "x", shown).rows == MOST_POSITIONS
    with pytest.raises(LookupError, match=f" {MOST_POSITIONS} "):
        asked(f"x/window/0.0.0.{MOST_POSITIONS // 3 + 1}.3", "x", shown)


def test_beyond_the_end_of_a_wrapped_line_there_is_nothing() -> None:
    fine = layout((1000,), columns=64, room=(100.0, 100.0)).fine
    assert fine.rows == 16
    found = Window(0, 15, 30, 1, 20).positions(fine)
    assert found.tolist() == [*range(990, 1000), *[-1] * 10]
