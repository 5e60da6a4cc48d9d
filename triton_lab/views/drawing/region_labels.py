"""Labels for regions of equal cells: a word in the middle of each rectangle that is large enough for it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from triton_lab.views.drawing import style
from triton_lab.views.drawing.cell_frame import CellFrame, frame
from triton_lab.views.drawing.cell_layout import CellLayout
from triton_lab.views.drawing.heatmap import Label

MOST = 400
LINE = style.SMALL * 4 / 3 + 3


def labels(seen: CellFrame, cells: npt.NDArray[Any], word: Callable[[int], str]) -> list[Label]:
    """A label for each number's region in each panel, if ``word(number)`` fits into it.

    Number 0 gets no label. If there would be more than MOST labels, there are none at all: so crowded a picture is read
    by its colours and under the pointer.
    """
    layout = seen.layout
    smallest = LINE * style.CHARACTER / (seen.cell_height * seen.cell_width)
    found: list[Label] = []
    for panel, grid in enumerate(cells.reshape(layout.panels, layout.rows, layout.columns)):
        numbers, counts = np.unique(grid, return_counts=True)
        large = numbers[(counts >= smallest) & (numbers > 0)]
        if len(found) + len(large) > MOST:
            return []
        for number, box in zip(large.tolist(), _boxes(grid, large), strict=True):
            text = word(number)
            room = _room_for(seen, grid, number, box, len(text) * style.CHARACTER + 3) if text else None
            if room is not None:
                found.append(Label(panel, *room, text))
    return found


def _room_for(
    seen: CellFrame, grid: npt.NDArray[Any], number: int, box: tuple[int, ...], wide: float
) -> tuple[int, int, int, int] | None:
    """A rectangle (row, column, rows, columns) within a region that is large enough for words; None if there is none.

    It has all of the region's height. If a line is wrapped and its ends are shorter, it has as many rows as the words
    need: in the middle, at the top or at the bottom.
    """
    top, left, bottom, right = box
    need = min(math.ceil(LINE / seen.cell_height), bottom - top)
    if need * seen.cell_height < LINE:
        return None
    own = grid[top:bottom, left:right] == number
    for row, rows in ((top, bottom - top), ((top + bottom - need) // 2, need), (top, need), (bottom - need, need)):
        start, end = _longest_run(own[row - top : row - top + rows].all(axis=0))
        if (end - start) * seen.cell_width >= wide:
            return row, left + start, rows, end - start
    return None


def run_labels(seen: CellFrame, cells: npt.NDArray[Any], word: Callable[[int], str]) -> list[Label]:
    """A label for each stretch of equal numbers within a row, if ``word(number)`` fits into it; MOST as in `labels`.

    Stretches that stand exactly below each other share one label.
    """
    layout = seen.layout
    rows = cells.reshape(-1, layout.columns)
    begins = np.ones(rows.shape, dtype=bool)
    begins[:, 1:] = rows[:, 1:] != rows[:, :-1]
    first = np.flatnonzero(begins)
    lengths = np.diff(np.append(first, rows.size))
    numbers = rows.reshape(-1)[first]
    wide = (numbers > 0) & (lengths * seen.cell_width >= style.CHARACTER + 3)
    if wide.sum() * seen.cell_height > MOST * LINE:
        return []
    stacks: dict[tuple[int, int, int, int], int] = {}  # number, row below, column and columns: the first row
    for start, columns, number in zip(
        first[wide].tolist(), lengths[wide].tolist(), numbers[wide].tolist(), strict=True
    ):
        row, column = divmod(start, layout.columns)
        top = stacks.pop((number, row, column, columns), row) if row % layout.rows else row
        stacks[number, row + 1, column, columns] = top
    found: list[Label] = []
    for (number, below, column, columns), top in stacks.items():
        text = word(number)
        room = columns * seen.cell_width >= len(text) * style.CHARACTER + 3 and (below - top) * seen.cell_height >= LINE
        if text and room:
            found.append(Label(top // layout.rows, top % layout.rows, column, below - top, columns, text))
    return found


def _boxes(grid: npt.NDArray[Any], numbers: npt.NDArray[Any]) -> list[tuple[int, ...]]:
    """The bounding box (top, left, bottom, right), ends exclusive, of each number."""
    flat = grid.reshape(-1)
    order = np.argsort(flat, kind="stable")
    starts = np.searchsorted(flat, numbers, sorter=order)
    ends = np.searchsorted(flat, numbers, side="right", sorter=order)
    boxes: list[tuple[int, ...]] = []
    for start, end in zip(starts, ends, strict=True):
        row, column = np.divmod(order[start:end], grid.shape[1])
        boxes.append((int(row[0]), int(column.min()), int(row[-1]) + 1, int(column.max()) + 1))
    return boxes


def _longest_run(flags: npt.NDArray[np.bool_]) -> tuple[int, int]:
    """The start and end of the longest stretch of True, (0, 0) if there is none."""
    changes = np.flatnonzero(np.diff(np.concatenate([[False], flags, [False]])))
    if not len(changes):
        return 0, 0
    lengths = changes[1::2] - changes[::2]
    longest = int(np.argmax(lengths))
    return int(changes[2 * longest]), int(changes[2 * longest + 1])


def crowded(cells: npt.NDArray[Any], seen: CellFrame) -> bool:
    """Whether regions are too small (6 pixels on average, across or down) for lines between them."""
    layout = seen.layout
    grid = cells.reshape(layout.panels, layout.rows, layout.columns)
    for axis, size in ((1, seen.cell_height), (2, seen.cell_width)):
        other = grid.size // max(1, grid.shape[axis])
        changes = int((np.diff(grid.astype(np.int64), axis=axis) != 0).sum()) + other
        if grid.size * size < 6 * changes:
            return True
    return False


def cell_labels(layout: CellLayout, words: Iterable[str], room: tuple[float, float] = style.ROOM) -> list[Label]:
    """Words in single cells, ``words`` (cells,), if cells are few and all wide enough."""
    seen = frame(layout, room)
    if layout.binned or layout.cells > MOST or seen.cell_height < LINE:
        return []
    words = list(words)
    if seen.cell_width < max(map(len, words), default=0) * style.CHARACTER + 2:
        return []
    panel, inner = np.divmod(np.arange(layout.cells), max(1, layout.rows * layout.columns))
    row, column = np.divmod(inner, max(1, layout.columns))
    places = zip(panel.tolist(), row.tolist(), column.tolist(), words, strict=True)
    return [Label(p, r, c, 1, 1, word) for p, r, c, word in places if word]
