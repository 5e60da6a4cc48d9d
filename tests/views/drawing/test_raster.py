"""Pixels of a heatmap: colours, patterns, borders, emphasis."""

from __future__ import annotations

import numpy as np

from triton_lab.views.drawing import style
from triton_lab.views.drawing.cell_layout import layout
from triton_lab.views.drawing.heatmap import Heatmap
from triton_lab.views.drawing.raster import CHOSEN, DIMMED, NORMAL, paint

A, B = style.PROGRAM, style.PROGRAM + 1
PALETTE = style.palette()


def heat(cells: list[list[int]], *looks: tuple[int, int, int, int], groups: list[int] | None = None) -> Heatmap:
    grid = np.array(cells, dtype=np.uint8)
    styles = np.array([(0, 0, 0, 0), *looks], dtype=np.uint16)
    return Heatmap(layout(grid.shape), grid.reshape(-1), styles, groups=None if groups is None else np.array(groups))


def middle(heatmap: Heatmap, row: int, column: int, emphasis: np.ndarray | None = None) -> list[int]:
    seen = heatmap.frame
    image = paint(heatmap, seen, emphasis=emphasis)
    return image[int((row + 0.5) * seen.cell_height), int((column + 0.5) * seen.cell_width)].tolist()


def test_a_plain_cell_has_its_colour_and_no_cell_the_ground() -> None:
    heatmap = heat([[1, 2], [0, 1]], (A, A, A, style.PLAIN), (B, B, B, style.PLAIN))
    assert middle(heatmap, 0, 0) == PALETTE[A].tolist()
    assert middle(heatmap, 0, 1) == PALETTE[B].tolist()
    assert middle(heatmap, 1, 0) == PALETTE[style.GROUND].tolist()


def test_stripes_show_both_colours_in_one_cell() -> None:
    image = paint(heat([[1]], (A, B, B, style.STRIPES)), heat([[1]], (A, B, B, 1)).frame)
    colours = {tuple(pixel) for pixel in image.reshape(-1, 3).tolist()}
    assert {tuple(PALETTE[A].tolist()), tuple(PALETTE[B].tolist())} <= colours


def test_patterns_differ_without_colour() -> None:
    looks = [(A, A, A, pattern) for pattern in (style.PLAIN, style.HATCH, style.DOTS, style.CROSS)]
    images = [paint(heat([[1]], look), heat([[1]], look).frame).tobytes() for look in looks]
    assert len(set(images)) == 4


def test_groups_are_parted_by_a_dark_line_and_classes_of_one_group_are_not() -> None:
    looks = ((A, A, A, style.PLAIN),) * 3
    heatmap = heat([[1, 2, 3]], *looks, groups=[0, 1, 1, 2])
    width = int(heatmap.frame.cell_width)
    row = paint(heatmap, heatmap.frame)[width // 2].sum(axis=1)
    assert row[2 * width] < row[width] < row[width // 2], "edge, then line, then cell"


def test_a_chosen_class_is_outlined_and_a_dimmed_one_pale() -> None:
    heatmap = heat([[1, 2]], (A, A, A, style.PLAIN), (A, A, A, style.PLAIN))
    emphasis = np.array([NORMAL, CHOSEN, DIMMED], dtype=np.uint8)
    assert middle(heatmap, 0, 0, emphasis) == PALETTE[A].tolist()
    assert sum(middle(heatmap, 0, 1, emphasis)) > PALETTE[A].sum()
    image = paint(heatmap, heatmap.frame, emphasis=emphasis)
    assert image[1, 1].tolist() == list(style.rgb(style.LIGHT.ink))
