"""A heatmap's pixels: classes, patterns, borders and emphasis as one RGB image.

`front/drawing/raster.js` paints by the same rules, pixel for pixel.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from triton_lab.views.drawing import style
from triton_lab.views.drawing.cell_frame import CellFrame
from triton_lab.views.drawing.heatmap import Heatmap

NORMAL, CHOSEN, DIMMED = range(3)  # the emphasis on a class
PERIOD = 6  # of hatches and dots, CSS pixels
STRIPE, STRIPE_GROUND = 7, 4  # the distance between two stripes, and how much of it has the first colour
OUTLINE = 2
LINED_CELL = 8  # a cell at least this wide and high gets a line around it

Image = npt.NDArray[np.uint8]
Flags = npt.NDArray[np.bool_]


def paint(
    heatmap: Heatmap,
    frame: CellFrame,
    panel: int = 0,
    emphasis: npt.NDArray[np.uint8] | None = None,
    theme: style.Theme = style.LIGHT,
) -> Image:
    """The image of one panel, (height, width, 3), one image pixel to a CSS pixel.

    ``emphasis`` gives each class NORMAL, CHOSEN or DIMMED.
    """
    layout = heatmap.layout
    grid = heatmap.cells.reshape(layout.panels, layout.rows, layout.columns)[panel]
    y = np.arange(int(frame.panel_height))
    x = np.arange(int(frame.panel_width))
    row, column = y // int(frame.cell_height), x // int(frame.cell_width)
    classes = grid[row[:, None], column]
    image = style.palette(theme).astype(np.int16)[_colours(heatmap, classes, y, x)]
    _mark(image, heatmap.styles[classes, 3], y, x, theme)
    there = classes != 0
    if emphasis is not None:
        dim = emphasis[classes] == DIMMED
        image[dim] = style.dimmed(image[dim], theme)
    starts = (y % int(frame.cell_height) == 0)[:, None], x % int(frame.cell_width) == 0
    if min(frame.cell_width, frame.cell_height) >= LINED_CELL:
        line = (starts[0] | starts[1]) & there
        image[line] = image[line] * 7 // 8
    if heatmap.groups is not None:
        above, left = _changes(heatmap.groups[grid])
        edge = (above[row[:, None], column] & starts[0]) | (left[row[:, None], column] & starts[1])
        image[edge & there] = image[edge & there] * 5 // 8
    _rule(image, heatmap.rules, column, x % int(frame.cell_width), there, theme)
    if emphasis is not None:
        image[_rim(emphasis[classes] == CHOSEN)] = style.rgb(theme.ink)
    return image.astype(np.uint8)


def _colours(
    heatmap: Heatmap, classes: npt.NDArray[np.unsignedinteger], y: npt.NDArray[np.int64], x: npt.NDArray[np.int64]
) -> npt.NDArray[np.uint16]:
    """The palette index of every pixel; stripes of a style's other two colours cross its first."""
    styles = heatmap.styles
    colours: npt.NDArray[np.uint16] = styles[:, 0][classes]
    striped = styles[:, 3] == style.STRIPES
    if striped.any():
        at = (y[:, None] + x) % (2 * STRIPE)
        turn = np.where(at % STRIPE < STRIPE_GROUND, 0, 1 + at // STRIPE)
        turn[~striped[classes]] = 0
        colours = styles[classes, turn]
    return colours


def _mark(
    image: npt.NDArray[np.int16],
    pattern: npt.NDArray[np.uint16],
    y: npt.NDArray[np.int64],
    x: npt.NDArray[np.int64],
    theme: style.Theme,
) -> None:
    """Draw hatches, dots and crosses."""
    falling = (y[:, None] - x) % PERIOD == 0
    rising = (y[:, None] + x) % PERIOD == 0
    dot = ((y % PERIOD == PERIOD // 2)[:, None]) & (x % PERIOD == PERIOD // 2)
    mark = ((pattern == style.HATCH) & falling) | ((pattern == style.DOTS) & dot)
    image[mark] = style.rgb(theme.mark)
    image[(pattern == style.CROSS) & (falling | rising)] = style.rgb(theme.ground)


def _rule(
    image: npt.NDArray[np.int16],
    rules: tuple[int, int],
    column: npt.NDArray[np.int64],
    within: npt.NDArray[np.int64],
    there: Flags,
    theme: style.Theme,
) -> None:
    """Draw vertical rules where a column begins: a thin one at half strength, a strong one two pixels wide."""
    ink = np.array(style.rgb(theme.ink))
    thin, strong = (
        (column > 0) & (column % step == 0) if step else np.zeros(len(column), dtype=bool) for step in rules
    )
    half = there & (thin & (within == 0))
    image[half] = (image[half] + ink) // 2
    image[there & (strong & (within < 2))] = ink


def _changes(grid: npt.NDArray[Any]) -> tuple[Flags, Flags]:
    """Whether a cell's group differs from that of the cell above, and of the cell to its left."""
    above, left = np.zeros(grid.shape, dtype=bool), np.zeros(grid.shape, dtype=bool)
    above[1:] = grid[1:] != grid[:-1]
    left[:, 1:] = grid[:, 1:] != grid[:, :-1]
    return above, left


def _rim(chosen: Flags) -> Flags:
    """The pixels of the chosen area that are at most OUTLINE pixels from its border."""
    height, width = chosen.shape
    padded = np.pad(chosen, OUTLINE)
    inner = chosen.copy()
    for dy, dx in ((0, OUTLINE), (2 * OUTLINE, OUTLINE), (OUTLINE, 0), (OUTLINE, 2 * OUTLINE)):
        inner &= padded[dy : dy + height, dx : dx + width]
    return chosen & ~inner
