"""A heatmap as a drawing: title, numbers, cells, labels, colour bar and legend."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from triton_lab.localization import _
from triton_lab.views.drawing import style
from triton_lab.views.drawing.cell_frame import CellFrame, ticks
from triton_lab.views.drawing.cell_layout import layout
from triton_lab.views.drawing.drawing import Drawing, DrawnText, Pixels
from triton_lab.views.drawing.drawing_text import number_text
from triton_lab.views.drawing.fonts import width_of
from triton_lab.views.drawing.heatmap import Heatmap, Key, Mark
from triton_lab.views.drawing.raster import DIMMED, paint
from triton_lab.views.drawing.style import LIGHT, SMALL

LEFT = 46.0  # room for row numbers
TOP = 18.0  # room for column numbers
KEY = SMALL + 0.5  # points of the legend's words
TICKS = 14  # the height of the numbers under a colour bar
LEAST_MARK = 8.0  # the least width and height of a mark
MOST_THICK = 12  # marks: if rows are lower than ROOMY, more marks than this get thin lines, which hide less
ROOMY = 16.0


def _panel_names(heatmap: Heatmap, seen: CellFrame) -> Iterator[tuple[str, float, float]]:
    """The names of panels and where they begin, without those that would run into the one before."""
    end, line = 0.0, 0.0
    for panel, name in enumerate(heatmap.panel_names[: heatmap.layout.panels]):
        right, down = seen.corner(panel)
        if down != line or right >= end:
            yield name, right, down
            end, line = right + width_of(name, SMALL), down


def image(x: float, y: float, pixels: npt.NDArray[np.uint8]) -> list[Pixels]:
    """An image at its own size, (height, width, 3), with a thin line around it."""
    height, width = pixels.shape[:2]
    return [Pixels.flat(x - 1, y - 1, width + 2, height + 2, LIGHT.mark), Pixels(x, y, width, height, pixels)]


def outline(x: float, y: float, width: float, height: float, thin: bool = False) -> list[Pixels]:
    """An empty rectangle: a dark line between light ones, so that it stands out on any colour.

    If ``thin``, the light lines are left out.
    """
    made = []
    for room, thick, colour in ((0, 1, LIGHT.ink),) if thin else ((3, 4, LIGHT.ground), (2, 2, LIGHT.ink)):
        left, top, right, bottom = x - room, y - room, x + width + room, y + height + room
        made += [
            Pixels.flat(left, top, right - left, thick, colour),
            Pixels.flat(left, bottom - thick, right - left, thick, colour),
            Pixels.flat(left, top, thick, bottom - top, colour),
            Pixels.flat(right - thick, top, thick, bottom - top, colour),
        ]
    return made


def swatch(x: float, y: float, look: Sequence[int], side: int = 12) -> list[Pixels]:
    """A small square in a cell's style, centred vertically at y."""
    one = Heatmap(layout((1, 1)), np.ones(1, dtype=np.uint8), np.array([(0, 0, 0, 0), look], dtype=np.uint16))
    return image(x, y - side / 2, paint(one, CellFrame(one.layout, side, side)))


def heatmap_drawing(heatmap: Heatmap, emphasis: npt.NDArray[np.uint8] | None = None) -> Drawing:
    """The whole heatmap; ``emphasis`` as in `raster.paint`."""
    seen, made, y = heatmap.frame, Drawing(), 0.0
    if heatmap.title:
        made.add(DrawnText(0, 9, heatmap.title, bold=True))
        y += 24
    y += (18 if any(heatmap.panel_names) else 0) + TOP
    if not heatmap.layout.positions:
        made.add(DrawnText(LEFT, y, _("no elements"), colour="faint"))
        made.width, made.height = max(LEFT + 80, width_of(heatmap.title, bold=True)), y + 12
        return made
    for panel in range(heatmap.layout.panels):
        right, down = seen.corner(panel)
        made.add(*image(LEFT + right, y + down, paint(heatmap, seen, panel, emphasis)))
    names = list(_panel_names(heatmap, seen))
    for name, right, down in names:
        above = y + down - 8 - (TOP if down == 0 else 0)
        made.add(DrawnText(LEFT + right, above, name, SMALL, "faint"))
    _marks(made, heatmap, seen, y)
    _numbers(made, heatmap, seen, y)
    _labels(made, heatmap, seen, y, emphasis)
    widths = [seen.width, *(right + width_of(name, SMALL) for name, right, _down in names)]
    if heatmap.steps[0]:
        made.add(DrawnText(LEFT + seen.width + 8, y + min(8, seen.height / 2), heatmap.steps[0], SMALL, "accent"))
        widths.append(seen.width + 12 + width_of(heatmap.steps[0], SMALL))
    y += seen.height
    if heatmap.below:
        made.add(DrawnText(LEFT, y + 10, heatmap.below, SMALL, "accent"))
        widths.append(0 if heatmap.steps[1] else width_of(heatmap.below, SMALL))
        y += 20
    if heatmap.ramp:
        widths.append(_colour_bar(made, heatmap, y + 8))
        y += 26 + (TICKS if heatmap.ticks else 0)
    rows = _legend_of(heatmap)
    widths += map(_row_width, rows)
    made.height = y + 22 * len(rows) + (8 if rows else 0)
    made.width = max(LEFT + max(widths), width_of(heatmap.title, bold=True))
    _legend(made, rows, y + 18)
    return made


# Stands in place of a style: the swatch is that of a mark.
_OUTLINED = (-1, -1, -1, -1)


def _row_width(keys: Sequence[Key]) -> float:
    return sum(30 + width_of(key.text, KEY) for key in keys)


def _legend_of(heatmap: Heatmap) -> list[list[Key]]:
    """The legend's entries and those of the marks, broken into rows no wider than the heatmap's room."""
    rows: list[list[Key]] = []
    for key in (*heatmap.legend, *(Key(_OUTLINED, mark.text) for mark in _drawn_marks(heatmap))):
        if not rows or _row_width([*rows[-1], key]) > max(heatmap.room[0], 240):
            rows.append([])
        rows[-1].append(key)
    return rows


def _legend(made: Drawing, rows: Sequence[Sequence[Key]], y: float) -> None:
    for row in rows:
        x = LEFT
        for key in row:
            made.add(*(outline(x + 2, y - 4, 8, 8) if key.style == _OUTLINED else swatch(x, y, key.style)))
            made.add(DrawnText(x + 18, y, key.text, KEY, "faint"))
            x += _row_width([key])
        y += 22


def _is_crowded(heatmap: Heatmap) -> bool:
    return sum(len(mark.runs) for mark in heatmap.marks) > MOST_THICK


def _drawn_marks(heatmap: Heatmap) -> Sequence[Mark]:
    """The marks; none if there are many and rows are lower than an outline, which would cover others."""
    return () if heatmap.frame.cell_height < LEAST_MARK and _is_crowded(heatmap) else heatmap.marks


def _marks(made: Drawing, heatmap: Heatmap, seen: CellFrame, y: float) -> None:
    """Outline what is marked."""
    thin = seen.cell_height < ROOMY and _is_crowded(heatmap)
    for mark in _drawn_marks(heatmap):
        for panel, row, column, rows, columns in mark.runs:
            right, down = seen.corner(panel)
            width, height = max(LEAST_MARK, columns * seen.cell_width), max(LEAST_MARK, rows * seen.cell_height)
            across = LEFT + right + (column + columns / 2) * seen.cell_width
            below = y + down + (row + rows / 2) * seen.cell_height
            made.add(*outline(across - width / 2, below - height / 2, width, height, thin))


def _numbers(made: Drawing, heatmap: Heatmap, seen: CellFrame, y: float) -> None:
    """Row and column indices along the upper left panel."""
    layout = heatmap.layout
    for column in ticks(layout.columns, seen.cell_width, 24 + 6 * len(str(layout.columns * layout.right)) - 6):
        at = LEFT + (column + (0.5 if seen.cell_width >= 8 else 0)) * seen.cell_width
        made.add(DrawnText(at, y - 9, heatmap.column_number(column), SMALL, "faint", "center"))
    for row in ticks(layout.rows, seen.cell_height, 18):
        at = y + (row + (0.5 if seen.cell_height >= 8 else 0)) * seen.cell_height
        made.add(DrawnText(LEFT - 6, at, layout.row_number(row), SMALL, "faint", "right"))


def _labels(made: Drawing, heatmap: Heatmap, seen: CellFrame, y: float, emphasis: npt.NDArray[np.uint8] | None) -> None:
    """Words in the middle of their rectangles."""
    outlined = any(mark.runs for mark in _drawn_marks(heatmap))
    for label in heatmap.labels:
        right, down = seen.corner(label.panel)
        across = LEFT + right + (label.column + label.columns / 2) * seen.cell_width
        below = y + down + (label.row + label.rows / 2) * seen.cell_height
        cell = (label.panel * heatmap.layout.rows + label.row) * heatmap.layout.columns + label.column
        look = heatmap.styles[heatmap.cells[cell]].tolist()
        dimmed = emphasis is not None and emphasis[heatmap.cells[cell]] == DIMMED
        ground = style.label_ground(look, dimmed)
        plain = style.hexadecimal(ground)
        patterned = look[3] not in (style.PLAIN, style.DOTS)
        if patterned:
            # No word could be read on lines (dots are few). `labels` leaves room for words; their ground may take more.
            wide = min(len(label.text) * style.CHARACTER + 8, label.columns * seen.cell_width - 2)
            made.add(Pixels.flat(across - wide / 2, below - 7, wide, 14, plain))
        # A halo cuts the letters out of an outline below them.
        halo = plain if outlined and not patterned else ""
        made.add(DrawnText(across, below, label.text, SMALL, style.label_colour(ground), "center", halo=halo))


def _colour_bar(made: Drawing, heatmap: Heatmap, y: float) -> float:
    """Draw the colour bar; how wide it is with its words."""
    assert heatmap.ramp is not None
    start, levels, low, high = heatmap.ramp
    bar = np.repeat(style.palette()[start : start + levels][None].repeat(10, axis=0), 3, axis=1)
    ticked = bool(heatmap.ticks)
    before = f"{heatmap.ramp_name}  " if ticked else f"{heatmap.ramp_name} {number_text(low)}".strip()
    after = "" if ticked else number_text(high)
    left = LEFT + width_of(before, SMALL) + 4
    end = left + float(bar.shape[1])
    made.add(DrawnText(LEFT, y + 5, before, SMALL, "faint"), *image(left, y, bar))
    made.add(DrawnText(end + 8, y + 5, after, SMALL, "faint"))
    for value, words in heatmap.ticks:
        at = left + (value - low) / (high - low or 1) * (bar.shape[1] - 1)
        made.add(Pixels.flat(at, y + 11, 1, 3, LIGHT.faint))
        made.add(DrawnText(at, y + 20, words, SMALL, "faint", "center"))
    half = max((width_of(words, SMALL) / 2 for _value, words in heatmap.ticks), default=0.0)
    return end + 8 + max(width_of(after, SMALL), half) - LEFT
