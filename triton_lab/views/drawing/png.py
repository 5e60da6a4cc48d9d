"""A figure as a small PNG: one byte a pixel, and a palette of the figure's own colours.

Flat areas keep their colours exactly. Where smoothed letters bring more shades than a palette has, the most frequent
have their place in it, then some that are unlike all of those, and the rest take the nearest.
"""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from PIL import Image

from triton_lab.launch.classes import distinct

MOST = 256  # colours in a PNG's palette
RARE = 32  # of them, for shades that are rare and unlike all others
LEVEL = 4  # of zlib: a fifth smaller than 3, and little larger than 6


def png(figure: Figure) -> bytes:
    """The figure as PNG, at its own resolution."""
    canvas = figure.canvas if isinstance(figure.canvas, FigureCanvasAgg) else FigureCanvasAgg(figure)
    canvas.draw()  # type: ignore[no-untyped-call]
    pixels = np.asarray(canvas.buffer_rgba())  # type: ignore[no-untyped-call]
    return encoded(pixels, figure.dpi)


def encoded(pixels: npt.NDArray[np.uint8], dpi: float) -> bytes:
    """(height, width, 4) opaque pixels as PNG."""
    height, width = pixels.shape[:2]
    colours = np.ascontiguousarray(pixels).view("<u4")[..., 0] & 0xFFFFFF  # 0xBBGGRR
    line = colours.reshape(-1)
    starts = np.flatnonzero(np.append(True, line[1:] != line[:-1]))
    runs = line[starts]
    found = distinct(runs)
    place = np.zeros(1 << 24, dtype=np.uint8)  # of each colour; memory that is not touched costs nothing
    if len(found) > MOST:
        lengths = np.diff(starts, append=line.size)
        frequent = np.bincount(np.searchsorted(found, runs), weights=lengths)
        kept = np.sort(_kept(_channels(found), frequent))
        place[found] = _nearest(_channels(found), _channels(found[kept]))
        found = found[kept]
    else:
        place[found] = np.arange(len(found))
    image = Image.frombuffer("P", (width, height), place[colours].tobytes())
    image.putpalette(_channels(found).astype(np.uint8).tobytes())
    out = io.BytesIO()
    image.save(out, format="PNG", compress_level=LEVEL, dpi=(dpi, dpi))
    return out.getvalue()


def _kept(colours: npt.NDArray[np.int64], frequent: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """(MOST,) the numbers of the colours that make the palette."""
    kept = np.empty(MOST, dtype=np.int64)
    kept[: MOST - RARE] = np.argpartition(frequent, RARE - MOST)[RARE - MOST :]
    chosen = colours[kept[: MOST - RARE]]
    far = ((colours - chosen[_nearest(colours, chosen)]) ** 2).sum(axis=1)
    for place in range(MOST - RARE, MOST):
        kept[place] = far.argmax()
        far = np.minimum(far, ((colours - colours[kept[place]]) ** 2).sum(axis=1))
    return kept


def _channels(colours: npt.NDArray[np.integer]) -> npt.NDArray[np.int64]:
    """(n, 3) red, green, blue."""
    return np.stack([colours & 255, colours >> 8 & 255, colours >> 16], axis=1).astype(np.int64)


def _nearest(colours: npt.NDArray[np.int64], palette: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """For each colour, the number of the palette's colour that is least far away."""
    # |a - b|² less |a|², which is the same for all b.
    far = (palette**2).sum(axis=1) - 2.0 * (colours.astype(np.float64) @ palette.T)
    number: npt.NDArray[np.int64] = far.argmin(axis=1)
    return number
