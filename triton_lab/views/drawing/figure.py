"""Figure parts for matplotlib: a sheet measured in CSS pixels, and a heatmap drawn on it.

Nothing here touches pyplot: a figure is an object that the caller owns.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from matplotlib.artist import Artist
from matplotlib.backend_bases import RendererBase
from matplotlib.backends.backend_agg import RendererAgg
from matplotlib.figure import Figure

from triton_lab.views.drawing import style
from triton_lab.views.drawing.cell_frame import CellFrame, ticks
from triton_lab.views.drawing.cell_layout import layout
from triton_lab.views.drawing.drawing import Align, Drawing, DrawnText
from triton_lab.views.drawing.drawing_figure import figure_of
from triton_lab.views.drawing.drawing_text import number_text
from triton_lab.views.drawing.fonts import letters
from triton_lab.views.drawing.heatmap import Heatmap, Key
from triton_lab.views.drawing.raster import DIMMED, paint

MARGIN = 16.0
LEFT = 46.0  # room for row numbers
TOP = 18.0  # room for column numbers


class Sheet:
    """A figure of fixed size; places are CSS pixels from its upper left corner.

    Images, swatches and rules are collected in one raster, and words are drawn over it: an axes for each would take
    more time than everything else.
    """

    def __init__(self, width: float, height: float) -> None:
        self._over = Drawing(width, height)
        self._pixels = np.full((round(height), round(width), 3), style.rgb(style.LIGHT.ground), dtype=np.uint8)

    def text(
        self,
        x: float,
        y: float,
        words: str,
        size: float = style.TEXT,
        colour: str = style.LIGHT.ink,
        align: Align = "left",
        bold: bool = False,
        mono: bool = False,
        halo: str = "",
    ) -> None:
        """Add one line of words, centred vertically at y.

        ``halo`` is a colour around the letters, so that they can be read across a line.
        """
        self._over.add(DrawnText(x, y, words, size, colour, align, bold, mono, halo))

    def place(self, drawing: Drawing, x: float, y: float) -> None:
        """Add a drawing over the raster, its upper left corner at (x, y)."""
        self._over.place(drawing, x, y)

    def image(self, x: float, y: float, pixels: npt.NDArray[np.uint8]) -> None:
        """Add an RGB image at its own size, with a thin line around it."""
        height, width = pixels.shape[:2]
        self.rectangle(x - 1, y - 1, width + 2, height + 2, style.LIGHT.mark)
        self._pixels[round(y) : round(y) + height, round(x) : round(x) + width] = pixels

    def rectangle(self, x: float, y: float, width: float, height: float, colour: str) -> None:
        """Add a filled rectangle."""
        rows, columns = slice(round(y), round(y + height)), slice(round(x), round(x + width))
        self._pixels[rows, columns] = style.rgb(colour)

    def outline(self, x: float, y: float, width: float, height: float, thin: bool = False) -> None:
        """Add an empty rectangle: a dark line between light ones, so that it stands out on any colour.

        If ``thin``, the light lines are left out.
        """
        for room, thick, colour in ((0, 1, style.LIGHT.ink),) if thin else (
            (3, 4, style.LIGHT.ground), (2, 2, style.LIGHT.ink)
        ):  # fmt: skip
            left, top, right, bottom = x - room, y - room, x + width + room, y + height + room
            self.rectangle(left, top, right - left, thick, colour)
            self.rectangle(left, bottom - thick, right - left, thick, colour)
            self.rectangle(left, top, thick, bottom - top, colour)
            self.rectangle(right - thick, top, thick, bottom - top, colour)

    def swatch(self, x: float, y: float, look: tuple[int, int, int, int], side: int = 12) -> None:
        """Add a small square in a cell's style, centred vertically at y."""
        styles = np.array([(0, 0, 0, 0), look], dtype=np.uint16)
        one = Heatmap(layout((1, 1)), np.ones(1, dtype=np.uint8), styles)
        self.image(x, y - side / 2, paint(one, CellFrame(one.layout, side, side)))

    def finish(self) -> Figure:
        """The figure, with everything in it."""
        figure = figure_of(self._over)
        figure.patch.set_visible(False)
        figure.add_artist(Backdrop(self._pixels))
        return figure


class Backdrop(Artist):
    """An image over the whole figure, without matplotlib's resampling, which takes half a second."""

    def __init__(self, pixels: npt.NDArray[np.uint8]) -> None:
        super().__init__()
        self.set_zorder(-1)
        rgba = np.dstack([pixels, np.full(pixels.shape[:2], 255, dtype=np.uint8)])
        self._pixels = rgba.view(np.uint32)[..., 0]  # so that each pixel is copied as one number

    def draw(self, renderer: RendererBase) -> None:
        figure = self.get_figure(root=True)
        assert figure is not None
        if isinstance(renderer, RendererAgg):  # nothing lies under it, so nothing is blended
            buffer: npt.NDArray[np.uint8] = np.asarray(renderer.buffer_rgba())  # type: ignore[no-untyped-call]
            buffer.view(np.uint32)[..., 0] = self._sized(*buffer.shape[:2])
            return
        dots = figure.dpi * renderer.get_image_magnification()
        height, width = (round(inches * dots) for inches in figure.get_size_inches()[::-1])
        context = renderer.new_gc()
        # Images are drawn from the bottom row up.
        pixels = np.ascontiguousarray(self._sized(height, width)[::-1])
        renderer.draw_image(context, 0, 0, pixels.view(np.uint8).reshape(height, width, 4))
        context.restore()

    def _sized(self, height: int, width: int) -> npt.NDArray[np.uint32]:
        """The pixels of an image of this size; each takes the nearest pixel of the original."""
        y = np.arange(height) * len(self._pixels) // height
        x = np.arange(width) * self._pixels.shape[1] // width
        pixels: npt.NDArray[np.uint32] = self._pixels.take(x, axis=1)[y]
        return pixels


def text_width(words: str, size: float = style.TEXT, mono: bool = False) -> float:
    """The approximate width of the words in CSS pixels, slightly overestimated."""
    return letters(words) * size * 4 / 3 * (0.62 if mono else 0.58)


def _key_width(key: Key) -> float:
    return 30 + text_width(key.text, style.SMALL + 0.5)


def _row_width(keys: Sequence[Key]) -> float:
    return sum(map(_key_width, keys))


# Stands in place of a style: the swatch is that of a mark.
_OUTLINED = (-1, -1, -1, -1)


def _legend_of(heatmap: Heatmap) -> list[list[Key]]:
    """The legend's entries and those of the marks, broken into rows no wider than the heatmap's room."""
    rows: list[list[Key]] = []
    for key in (*heatmap.legend, *(Key(_OUTLINED, mark.text) for mark in heatmap.marks)):
        if not rows or _row_width([*rows[-1], key]) > max(heatmap.room[0], 240):
            rows.append([])
        rows[-1].append(key)
    return rows


def _bar_words(heatmap: Heatmap) -> tuple[str, str]:
    """The words before and after the colour bar."""
    if heatmap.ramp is None:
        return "", ""
    _, _, low, high = heatmap.ramp
    if heatmap.ticks:
        return f"{heatmap.ramp_name}  ", ""
    return f"{heatmap.ramp_name} {number_text(low)}".strip(), number_text(high)


def _bar_width(heatmap: Heatmap) -> float:
    """The width of the colour bar, including its words."""
    if heatmap.ramp is None:
        return 0
    before, after = (text_width(words, style.SMALL) for words in _bar_words(heatmap))
    return before + 4 + 3 * heatmap.ramp[1] + 8 + max(after, _half_a_tick(heatmap))


TICKS = 14  # the height of the numbers under a colour bar


def _half_a_tick(heatmap: Heatmap) -> float:
    """How far a number under the bar may reach beyond the bar's end."""
    return max((text_width(words, style.SMALL) / 2 for _, words in heatmap.ticks), default=0)


def width_of(heatmap: Heatmap) -> float:
    """The pixels that `draw` needs to the right of ``x``."""
    wrapped = "" if heatmap.steps[1] else heatmap.below
    note = 12 + text_width(heatmap.steps[0], style.SMALL) if heatmap.steps[0] else 0
    below = max(
        heatmap.frame.width + note,
        _bar_width(heatmap),
        *map(_row_width, _legend_of(heatmap)),
        text_width(wrapped, style.SMALL),
    )
    return max(LEFT + below, text_width(heatmap.title))


def height_of(heatmap: Heatmap) -> float:
    """The pixels that `draw` needs below ``y``."""
    seen = heatmap.frame
    title = 24 if heatmap.title else 0
    names = 18 if any(heatmap.panel_names) else 0
    legend = 22 * len(_legend_of(heatmap)) + (8 if heatmap.legend or heatmap.marks else 0)
    return title + names + TOP + seen.height + legend + _bar_height(heatmap) + (20 if heatmap.below else 0)


def _bar_height(heatmap: Heatmap) -> float:
    if heatmap.ramp is None:
        return 0
    return 26 + (TICKS if heatmap.ticks else 0)


def draw(
    sheet: Sheet,
    heatmap: Heatmap,
    x: float,
    y: float,
    emphasis: npt.NDArray[np.uint8] | None = None,
) -> None:
    """Draw title, numbers, cells, labels and legend; (x, y) is the upper left corner of the whole."""
    seen = heatmap.frame
    if heatmap.title:
        sheet.text(x, y + 9, heatmap.title, bold=True)
        y += 24
    if any(heatmap.panel_names):
        y += 18
    y += TOP
    left = x + LEFT
    if not heatmap.layout.positions:
        sheet.text(left, y, "no elements", colour=style.LIGHT.faint)
        return
    for panel in range(heatmap.layout.panels):
        right, down = seen.corner(panel)
        sheet.image(left + right, y + down, paint(heatmap, seen, panel, emphasis))
        if panel < len(heatmap.panel_names):
            numbered = TOP if down == 0 else 0
            sheet.text(
                left + right, y + down - 8 - numbered, heatmap.panel_names[panel], style.SMALL, style.LIGHT.faint
            )
    _marks(sheet, heatmap, seen, left, y)
    _numbers(sheet, heatmap, seen, left, y)
    _labels(sheet, heatmap, seen, left, y, emphasis)
    if heatmap.steps[0]:
        sheet.text(
            left + seen.width + 8, y + min(8, seen.height / 2), heatmap.steps[0], style.SMALL, style.LIGHT.accent
        )
    if heatmap.below:
        sheet.text(left, y + seen.height + 10, heatmap.below, style.SMALL, style.LIGHT.accent)
    y += seen.height + (20 if heatmap.below else 0)
    if heatmap.ramp:
        _colour_bar(sheet, heatmap, left, y + 8)
        y += _bar_height(heatmap)
    _legend(sheet, _legend_of(heatmap), left, y + 18)


LEAST_MARK = 8.0  # the least width and height of a mark
MOST_THICK = 12  # marks: if rows are lower than ROOMY, more marks than this get thin lines, which hide less
ROOMY = 16.0


def _marks(sheet: Sheet, heatmap: Heatmap, seen: CellFrame, x: float, y: float) -> None:
    """Outline what is marked."""
    thin = seen.cell_height < ROOMY and sum(len(mark.runs) for mark in heatmap.marks) > MOST_THICK
    for mark in heatmap.marks:
        for panel, row, column, rows, columns in mark.runs:
            right, down = seen.corner(panel)
            width, height = max(LEAST_MARK, columns * seen.cell_width), max(LEAST_MARK, rows * seen.cell_height)
            across = x + right + (column + columns / 2) * seen.cell_width
            below = y + down + (row + rows / 2) * seen.cell_height
            sheet.outline(across - width / 2, below - height / 2, width, height, thin)


def _numbers(sheet: Sheet, heatmap: Heatmap, seen: CellFrame, x: float, y: float) -> None:
    """Row and column indices along the upper left panel."""
    layout = heatmap.layout
    for column in ticks(layout.columns, seen.cell_width, 24 + 6 * len(str(layout.columns * layout.right)) - 6):
        at = x + (column + 0.5) * seen.cell_width if seen.cell_width >= 8 else x + column * seen.cell_width
        number = heatmap.column_number(column)
        sheet.text(at, y - 9, number, style.SMALL, style.LIGHT.faint, "center")
    for row in ticks(layout.rows, seen.cell_height, 18):
        at = y + (row + 0.5) * seen.cell_height if seen.cell_height >= 8 else y + row * seen.cell_height
        sheet.text(x - 6, at, layout.row_number(row), style.SMALL, style.LIGHT.faint, "right")


def _labels(
    sheet: Sheet, heatmap: Heatmap, seen: CellFrame, x: float, y: float, emphasis: npt.NDArray[np.uint8] | None
) -> None:
    """Words in the middle of their rectangles."""
    outlined = any(mark.runs for mark in heatmap.marks)
    for label in heatmap.labels:
        right, down = seen.corner(label.panel)
        middle = (label.column + label.columns / 2) * seen.cell_width, (label.row + label.rows / 2) * seen.cell_height
        cell = (label.panel * heatmap.layout.rows + label.row) * heatmap.layout.columns + label.column
        look = heatmap.styles[heatmap.cells[cell]].tolist()
        colour = style.label_colour(look)
        if emphasis is not None and emphasis[heatmap.cells[cell]] == DIMMED:
            colour = style.LIGHT.faint
        plain = "#{:02x}{:02x}{:02x}".format(*style.palette()[look[0]].tolist())
        crossed = look[3] in (style.CROSS, style.STRIPES)  # patterns on which no word could be read
        if crossed:
            wide = len(label.text) * style.CHARACTER + 10
            sheet.rectangle(x + right + middle[0] - wide / 2, y + down + middle[1] - 6, wide, 12, plain)
        # A halo cuts the letters out of an outline below them.
        halo = plain if outlined and not crossed else ""
        across, below = x + right + middle[0], y + down + middle[1]
        sheet.text(across, below, label.text, style.SMALL, colour, "center", halo=halo)


def _legend(sheet: Sheet, rows: Sequence[Sequence[Key]], x: float, y: float) -> None:
    for row in rows:
        at = x
        for key in row:
            if key.style == _OUTLINED:
                sheet.outline(at + 2, y - 4, 8, 8)
            else:
                sheet.swatch(at, y, key.style)
            sheet.text(at + 18, y, key.text, style.SMALL + 0.5, style.LIGHT.faint)
            at += _key_width(key)
        y += 22


def _colour_bar(sheet: Sheet, heatmap: Heatmap, x: float, y: float) -> None:
    assert heatmap.ramp is not None
    start, levels, low, high = heatmap.ramp
    bar = np.repeat(style.palette()[start : start + levels][None].repeat(10, axis=0), 3, axis=1)
    before, after = _bar_words(heatmap)
    left = x + text_width(before, style.SMALL) + 4
    sheet.text(x, y + 5, before, style.SMALL, style.LIGHT.faint)
    sheet.image(left, y, bar)
    sheet.text(left + bar.shape[1] + 8, y + 5, after, style.SMALL, style.LIGHT.faint)
    for value, words in heatmap.ticks:
        at = left + (value - low) / (high - low or 1) * (bar.shape[1] - 1)
        sheet.rectangle(at, y + 11, 1, 3, style.LIGHT.faint)
        sheet.text(at, y + 20, words, style.SMALL, style.LIGHT.faint, "center")
