"""A figure as a small PNG: one byte a pixel, and a palette of the figure's own colours.

Flat areas keep their colours exactly. If smoothed letters and dots have more shades than a palette, it keeps few of
these, and some rare shades that are unlike all others. Every other shade becomes the nearest kept one: repeated values
compress to little, and fast.
"""

from __future__ import annotations

import io
from typing import Any
from warnings import catch_warnings, filterwarnings

import numpy as np
import numpy.typing as npt
from matplotlib import rc_context
from matplotlib.backends.backend_agg import FigureCanvasAgg, RendererAgg
from matplotlib.figure import Figure
from PIL import Image

from triton_lab.launch.membership_classes import distinct

MOST = 256  # colours in a PNG's palette
RARE = 32  # of them, for shades that are rare and unlike all others
SMOOTHED = 24  # how far apart, in red, green and blue together, the shades are that edges keep
FLAT = 2  # pixels in a row that a colour has, on average, where it fills areas: a heatmap's cells have as many
LEVEL = 8  # of zlib: a twentieth smaller than 6, and a quarter as slow as 9

SCALE = 2  # pixels to a CSS pixel, so that it stays sharp on dense screens
_DENSE = 0.95  # of `SCALE`: with fewer pixels, rounding makes letters visibly wider
WIDEST = 1800  # pixels: a notebook has some 900 CSS pixels for an output, and scales wider pictures down


class _OnPixels(RendererAgg):
    """Begins words at whole pixels: the same words are the same pixels wherever they stand.

    So a PNG of a card is smaller by a sixth, and a saved notebook with it.
    """

    def draw_text(self, gc: Any, x: float, y: float, *what: Any, **how: Any) -> None:
        super().draw_text(gc, round(x), round(y), *what, **how)  # type: ignore[no-untyped-call]


class _Canvas(FigureCanvasAgg):
    renderer: _OnPixels | None = None

    def get_renderer(self) -> RendererAgg:
        size, made = self.get_width_height(physical=True), self.renderer
        if made is None or (made.width, made.height) != size:
            made = self.renderer = _OnPixels(*size, self.figure.dpi)  # type: ignore[no-untyped-call]
        return made

    def draw(self) -> None:
        """Draw the figure. With few dots to the inch, letters keep their widths: matplotlib would round each to whole
        pixels, and words would be up to a tenth wider than `fonts.width_of` says. Otherwise a PNG is smaller with whole
        pixels, by a quarter."""
        with rc_context({"text.hinting": "none"} if self.figure.dpi < _DENSE * 96 * SCALE else {}), catch_warnings():
            # A letter that no installed font has is drawn as a box: a warning for each would bury the cell.
            filterwarnings("ignore", r"Glyph \d+")
            super().draw()  # type: ignore[no-untyped-call]


def blank(width: float, height: float, ground: str = "white") -> Figure:
    """An empty figure of so many CSS pixels; a figure wider than `WIDEST` gets fewer dots to the inch."""
    figure = Figure(figsize=(width / 96, height / 96), dpi=96 * min(SCALE, WIDEST / width), facecolor=ground)
    _Canvas(figure)
    return figure


def png(figure: Figure) -> bytes:
    """The figure as PNG, at its own resolution."""
    canvas = figure.canvas if isinstance(figure.canvas, FigureCanvasAgg) else FigureCanvasAgg(figure)
    canvas.draw()  # type: ignore[no-untyped-call]
    pixels = np.asarray(canvas.buffer_rgba())  # type: ignore[no-untyped-call]
    return encoded(pixels, figure.dpi)


def encoded(pixels: npt.NDArray[np.uint8], dpi: float) -> bytes:
    """The PNG of opaque pixels (height, width, 4)."""
    height, width = pixels.shape[:2]
    colours = np.ascontiguousarray(pixels).view("<u4")[..., 0] & 0xFFFFFF  # 0xBBGGRR
    line = colours.reshape(-1)
    starts = np.flatnonzero(np.append(True, line[1:] != line[:-1]))
    runs = line[starts]
    found = distinct(runs)
    place = np.zeros(1 << 24, dtype=np.uint8)  # the palette index of each colour; untouched memory costs nothing
    if len(found) > MOST:
        number = np.searchsorted(found, runs)
        frequent = np.bincount(number, weights=np.diff(starts, append=line.size))
        kept = _kept(_channels(found), frequent, frequent >= FLAT * np.bincount(number))
        place[found] = _nearest(_channels(found), _channels(found[kept]))
        found = found[kept]
    else:
        place[found] = np.arange(len(found))
    image = Image.frombuffer("P", (width, height), place[colours].tobytes())
    image.putpalette(_channels(found).astype(np.uint8).tobytes())
    out = io.BytesIO()
    image.save(out, format="PNG", compress_level=LEVEL, dpi=(dpi, dpi))
    return out.getvalue()


def _kept(
    colours: npt.NDArray[np.int64], frequent: npt.NDArray[Any], flat: npt.NDArray[np.bool_]
) -> npt.NDArray[np.int64]:
    """The indices, ascending, of the ``colours`` (n, 3) kept in the palette: the most ``frequent`` ones.

    If most pixels are in ``flat`` areas, the other colours are shades of their edges; a shade close to a kept colour is
    left out.
    """
    most = np.argsort(-frequent, kind="stable")[: MOST - RARE]
    kept = most.tolist()
    if frequent[flat].sum() >= frequent.sum() / 2:
        kept = []
        close = np.zeros(len(colours), dtype=bool)
        for number in most.tolist():
            if flat[number] or not close[number]:
                kept.append(number)
                close |= ((colours - colours[number]) ** 2).sum(axis=1) <= SMOOTHED**2
    # Also keep rare shades that are unlike all of these.
    chosen = colours[kept]
    far = ((colours - chosen[_nearest(colours, chosen)]) ** 2).sum(axis=1)
    for _ in range(RARE):
        kept.append(int(far.argmax()))
        far = np.minimum(far, ((colours - colours[kept[-1]]) ** 2).sum(axis=1))
    return np.sort(np.array(kept))


def _channels(colours: npt.NDArray[np.integer]) -> npt.NDArray[np.int64]:
    """The channels (n, 3) of colours: red, green, blue."""
    return np.stack([colours & 255, colours >> 8 & 255, colours >> 16], axis=1).astype(np.int64)


def _nearest(colours: npt.NDArray[np.int64], palette: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """For each colour, the index of the nearest colour in the palette."""
    # |a - b|² minus |a|², which is the same for all b.
    far = (palette**2).sum(axis=1) - 2.0 * (colours.astype(np.float64) @ palette.T)
    number: npt.NDArray[np.int64] = far.argmin(axis=1)
    return number
