"""Blocks of numbers as data for the browser, which paints them itself: one layout serves many blocks."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from triton_lab.launch.maps.value_histogram import Histogram, as_float, histogram
from triton_lab.localization import _
from triton_lab.views.drawing import style
from triton_lab.views.drawing.cell_layout import CellLayout, layout
from triton_lab.views.drawing.cell_scenes import BlockScene, Painting
from triton_lab.views.drawing.drawing_text import number_text, panel_names, shape_text
from triton_lab.views.drawing.heatmap import Heatmap, buffer
from triton_lab.views.drawing.value_cells import MARKS, UNKNOWN, finite_range, value_heatmap

ROOM = (420.0, 320.0)


def block_layout(shape: tuple[int, ...], room: tuple[float, float] = ROOM) -> CellLayout:
    """The layout of a block's elements; a scalar is one cell."""
    return layout(tuple(shape), room=room)


def block_heatmap(
    block: npt.NDArray[Any],
    low: float,
    high: float,
    title: str = "",
    mask: npt.NDArray[np.bool_] | None = None,
    room: tuple[float, float] = ROOM,
) -> Heatmap:
    """The heatmap of one block; a cell that stands for several elements shows the first of them."""
    shown = block_layout(block.shape, room)
    first = first_of_cell(shown)
    numbers = as_float(block).reshape(-1)
    there = first >= 0
    if mask is not None:
        there = there & mask.reshape(-1)[np.maximum(first, 0)]
    values = numbers[np.maximum(first, 0)] if numbers.size else np.zeros(len(first))
    return value_heatmap(shown, values, there, title, low, high, diverging=low < 0 < high, room=room)


def first_of_cell(shown: CellLayout) -> npt.NDArray[np.int64]:
    """The first position in each cell (cells,), -1 for none."""
    cell = shown.cell_of_position()
    first = np.full(shown.cells, -1, dtype=np.int64)
    first[cell[::-1]] = np.arange(len(cell) - 1, -1, -1)
    return first


def block_scene(shape: tuple[int, ...], room: tuple[float, float] = ROOM) -> BlockScene:
    """The data with which the browser paints any block of this shape."""
    shown = block_layout(shape, room)
    return {
        "layout": shown.as_scene(),
        "first": buffer((first_of_cell(shown) + 1).astype(np.uint32)),
        "panelNames": panel_names(shown.shape, shown.origin, shown.panels),
        "room": room,
    }


def painting() -> Painting:
    """The palette's entries that the browser needs to paint values."""
    return {
        "sequential": (style.SEQUENTIAL, style.LEVELS),
        "diverging": (style.DIVERGING, style.DIVERGING_LEVELS),
        "marks": [(list(look), word) for look, word in MARKS],
        "unknown": list(UNKNOWN),
    }


def ends(*blocks: npt.NDArray[Any]) -> tuple[float, float]:
    """The ends of the ramp: symmetric about 0 if there are both signs."""
    low, high = finite_range(*(as_float(block) for block in blocks))
    if low < 0 < high:
        most = max(-low, high)
        return -most, most
    return low, high


def summary(block: npt.NDArray[Any], touched: npt.NDArray[np.bool_] | None = None) -> str:
    """A block in a few words: its number, or shape, type and range.

    If ``touched`` is given, only those elements count.
    """
    left_out = touched is not None and not touched.all()
    if block.shape == ():
        return f"{_('not accessed') if left_out else number_text(as_float(block))} ({block.dtype})"
    told = f"{shape_text(block.shape)} {block.dtype}"
    if touched is not None and left_out:
        told = _("{count} of {things}").format(count=touched.sum(), things=told)
        block = block[touched]
    found: Histogram = histogram(block)
    odd = ((found.nan, "NaN"), (found.plus_infinity, "+∞"), (found.minus_infinity, "-∞"))
    odd_told = [f"{count} {name}" for count, name in odd if count]
    if not found.finite:
        return ", ".join([told, *odd_told])
    low, high = finite_range(as_float(block))
    if high != low:
        return ", ".join([told, _("{low} to {high}").format(low=number_text(low), high=number_text(high)), *odd_told])
    where = _("{value} elsewhere") if odd_told else _("{value} everywhere")
    return ", ".join([told, *odd_told, where.format(value=number_text(low))])
