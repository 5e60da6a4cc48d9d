"""Numbers as colours: where each stands on its ramp, what has none, and the colours themselves."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from triton_lab.views.drawing import style
from triton_lab.views.drawing.cell_frame import CellFrame, frame
from triton_lab.views.drawing.cell_layout import layout as lay_out
from triton_lab.views.drawing.heatmap import Heatmap
from triton_lab.views.drawing.region_labels import _boxes, _longest_run
from triton_lab.views.drawing.value_cells import NAN, PLUS_INFINITY, finite_range, value_heatmap


def heatmap(values, low, high, diverging=False, there=None) -> Heatmap:
    numbers = np.array(values, np.float64)
    shown = np.ones(len(numbers), bool) if there is None else np.array(there)
    return value_heatmap(lay_out((len(numbers),)), numbers, shown, "title", low, high, diverging)


def colours(found: Heatmap) -> list[int]:
    """The palette index of each cell."""
    return found.styles[found.cells, 0].tolist()


def test_a_ramp_goes_evenly_from_its_low_end_to_its_high_one():
    found = heatmap([2.0, 4.0, 10.0, 18.0, 99.0, -99.0], 2.0, 18.0)
    start, last = style.SEQUENTIAL, style.SEQUENTIAL + style.LEVELS - 1
    assert colours(found) == [start, start + round(63 / 8), start + round(63 / 2), last, last, start]
    assert found.ramp == (style.SEQUENTIAL, style.LEVELS, 2.0, 18.0) and not found.legend
    same = heatmap([3.0, 3.0], 3.0, 3.0)
    assert colours(same) == [start, start] and same.ramp is None


def test_in_a_diverging_ramp_only_zero_has_the_colour_of_the_middle():
    middle, half = style.DIVERGING + 32, 32
    found = heatmap([0.0, 1e-9, -1e-9, 8.0, -8.0, 4.0, -4.0, 16.0, -16.0], -8.0, 8.0, diverging=True)
    expected = [0, 1, -1, half, -half, half // 2, -half // 2, half, -half]
    assert colours(found) == [middle + step for step in expected]
    assert colours(heatmap([0.0], 0.0, 0.0, diverging=True)) == [middle]


def test_what_is_no_number_has_a_look_of_its_own_and_what_is_not_there_none():
    found = heatmap([1.0, np.nan, np.inf, -np.inf, 2.0], 1.0, 2.0, there=[True, True, True, False, False])
    assert colours(found)[1:3] == [style.NAN, style.PLUS_INFINITY]
    assert found.cells[3:].tolist() == [0, 0] and found.styles[0].tolist() == [0, 0, 0, 0]
    assert [key.style for key in found.legend] == [NAN, PLUS_INFINITY]


def test_the_range_is_of_finite_numbers_alone():
    assert finite_range(np.array([3.0, np.nan, -np.inf]), np.array([np.inf]), np.array([-2, 9])) == (-2.0, 9.0)
    assert finite_range(np.array([np.nan]), np.zeros(0)) == (0.0, 0.0)


@pytest.mark.parametrize("theme", [style.LIGHT, style.DARK])
def test_every_colour_has_its_place_in_the_palette(theme):
    table = style.palette(theme)
    assert table.shape == (style.PALETTE_SIZE, 3)
    assert table[style.GROUND].tolist() == list(style.rgb(theme.ground))
    assert table[style.ERROR].tolist() == list(style.rgb(theme.error))
    for start, count, ends in (
        (style.SEQUENTIAL, style.LEVELS, style.VIRIDIS),
        (style.DIVERGING, style.DIVERGING_LEVELS, style.BLUE_RED),
    ):
        if theme is style.LIGHT or ends is style.BLUE_RED:
            assert table[start].tolist() == list(style.rgb(ends[0]))
        else:
            first, ground = (style.luminance(one) for one in (table[start].tolist(), style.rgb(theme.ground)))
            assert (first + 0.05) / (ground + 0.05) > 1.5, "the darkest can be told from the ground"
        assert table[start + count - 1].tolist() == list(style.rgb(ends[-1]))
        assert len({tuple(row) for row in table[start : start + count].tolist()}) == count
    for index, hue in enumerate(style.TENSOR_COLOURS):
        strong, pale = table[style.tensor_colour(index)], table[style.tensor_colour(index, 0)]
        ground = np.array(style.rgb(theme.ground), int)
        assert strong.tolist() == list(style.rgb(hue)) and pale.tolist() != strong.tolist()
        # The pale end lies towards the page's ground, near it: lighter on a light page, darker on a dark one.
        towards = (pale >= strong) if theme is style.LIGHT else (pale <= strong)
        share = np.abs(pale - ground).sum() / np.abs(strong - ground).sum()
        assert towards.all() and 0.3 < share < 0.4, "a third of the colour is left: the first elements have one, too"
        assert style.tensor_colour(index + len(style.TENSOR_COLOURS)) == style.tensor_colour(index)
    for index, hue in enumerate(style.PROGRAM_COLOURS):
        assert table[style.PROGRAM + index].tolist() == list(style.rgb(hue))


def test_labels_can_be_read_on_every_ground():
    """By the contrast that WCAG defines: the better of black and white, or nearly as good."""

    def light(colour) -> float:
        parts = np.array(colour) / 255
        linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
        return float(linear @ [0.2126, 0.7152, 0.0722])

    for index, colour in enumerate(style.palette().tolist()):
        contrasts = {style.DARK_LABEL: (light(colour) + 0.05) / 0.05, style.LIGHT_LABEL: 1.05 / (light(colour) + 0.05)}
        assert contrasts[style.label_colour(style.palette()[index].tolist())] >= 3, (index, colour)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(1, 6), min_size=1, max_size=4).map(tuple))
def test_panels_stand_side_by_side_and_none_over_another(shape):
    layout = lay_out(shape)
    seen = frame(layout)
    assert isinstance(seen, CellFrame)
    assert seen.panel_width == layout.columns * seen.cell_width and seen.panel_height == layout.rows * seen.cell_height
    corners = [seen.corner(panel) for panel in range(layout.panels)]
    assert corners[0] == (0, 0)
    for (x, y), (u, v) in itertools.combinations(corners, 2):
        assert abs(x - u) >= seen.panel_width + style.PANEL_GAP_RIGHT or abs(y - v) >= seen.panel_height + 1
    assert max(x for x, _ in corners) + seen.panel_width <= seen.width
    assert max(y for _, y in corners) + seen.panel_height == seen.height
    assert seen.stacked == len({y for _, y in corners})


@given(st.lists(st.booleans(), max_size=12))
def test_the_longest_run_of_flags(flags):
    start, end = _longest_run(np.array(flags, bool))
    runs = [(a, b) for a in range(len(flags)) for b in range(a + 1, len(flags) + 1) if all(flags[a:b])]
    longest = max((b - a for a, b in runs), default=0)
    assert end - start == longest and ((start, end) in runs or (start, end) == (0, 0))


@given(st.data())
def test_boxes_hold_all_cells_of_their_number_and_no_more(data):
    rows, columns = data.draw(st.integers(1, 5)), data.draw(st.integers(1, 5))
    cells = st.lists(st.integers(0, 3), min_size=rows * columns, max_size=rows * columns)
    grid = np.array(data.draw(cells)).reshape(rows, columns)
    numbers = np.unique(grid)
    for number, box in zip(numbers, _boxes(grid, numbers), strict=True):
        row, column = np.nonzero(grid == number)
        assert box == (row.min(), column.min(), row.max() + 1, column.max() + 1)
