"""Numbers as a heatmap: finite ones on a ramp, NaN and infinities with marks of their own."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from triton_lab.views.drawing import style
from triton_lab.views.drawing.cell_layout import CellLayout
from triton_lab.views.drawing.drawing_text import number_text, panel_names
from triton_lab.views.drawing.heatmap import Heatmap, Key
from triton_lab.views.drawing.region_labels import cell_labels

NAN = (style.NAN, style.NAN, style.NAN, style.CROSS)
PLUS_INFINITY = (style.PLUS_INFINITY, style.GROUND, style.GROUND, style.STRIPES)
MINUS_INFINITY = (style.MINUS_INFINITY, style.GROUND, style.GROUND, style.STRIPES)
UNKNOWN = (style.UNTOUCHED, style.UNTOUCHED, style.UNTOUCHED, style.DOTS)
MARKS = ((NAN, "NaN"), (PLUS_INFINITY, "+∞"), (MINUS_INFINITY, "-∞"))


def finite_range(*arrays: npt.NDArray[Any]) -> tuple[float, float]:
    """The smallest and the largest finite number in all arrays; (0, 0) if there is none."""
    lows, highs = [], []
    for array in arrays:
        ends = _ends(array)
        # If there is NaN, it is both the least and the greatest number.
        if not np.isfinite(ends).all():
            ends = _ends(array[np.isfinite(array)])
        lows += ends[:1]
        highs += ends[1:]
    return (float(min(lows)), float(max(highs))) if lows else (0.0, 0.0)


def _ends(array: npt.NDArray[Any]) -> list[Any]:
    """The least and the greatest number; none of an empty array."""
    return [array.min(), array.max()] if array.size else []


def value_heatmap(
    layout: CellLayout,
    values: npt.NDArray[Any],
    there: npt.NDArray[np.bool_],
    title: str,
    low: float,
    high: float,
    diverging: bool = False,
    room: tuple[float, float] = style.ROOM,
) -> Heatmap:
    """The heatmap of ``values`` (cells,), one number for each cell; ``there`` says which cells exist.

    ``low`` and ``high`` are the ends of the ramp. A diverging ramp has 0 in its middle, and only 0 itself gets the
    middle's colour.
    """
    start, levels = (style.DIVERGING, style.DIVERGING_LEVELS) if diverging else (style.SEQUENTIAL, style.LEVELS)
    numbers = np.asarray(values, dtype=np.float64)
    finite = np.isfinite(numbers)
    if diverging:
        half = levels // 2
        share = np.where(finite, numbers, 0) / (high or 1.0)
        level = half + np.sign(share) * np.ceil(np.abs(share).clip(0, 1) * half)
    else:
        level = (np.where(finite, numbers, low) - low) / ((high - low) or 1.0) * (levels - 1)
    cells = 1 + np.rint(level).clip(0, levels - 1).astype(np.int64)
    cells[np.isnan(numbers)] = levels + 1
    cells[np.isposinf(numbers)] = levels + 2
    cells[np.isneginf(numbers)] = levels + 3
    marks = [look for look, _ in MARKS]
    styles = [(0, 0, 0, 0), *((start + k,) * 3 + (style.PLAIN,) for k in range(levels)), *marks]
    used = np.isin(np.arange(levels + 1, levels + 4), cells[there])
    cells[~there] = 0
    words = (
        number_text(value) if here and np.isfinite(value) else "" for value, here in zip(numbers, there, strict=True)
    )
    return Heatmap(
        layout,
        cells.astype(np.uint8),
        np.array(styles, dtype=np.uint16),
        title=title,
        labels=cell_labels(layout, words, room),
        legend=[Key(look, word) for (look, word), seen in zip(MARKS, used, strict=True) if seen],
        ramp=(start, levels, low, high) if low < high else None,
        panel_names=panel_names(layout.shape, layout.origin, layout.panels),
        room=room,
    )
