"""Windows of pictures whose cells stand for several positions: a window shows single ones, and is made on request."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple

from triton_lab.views.drawing.cell_layout import CellLayout
from triton_lab.views.drawing.heatmap import Mark
from triton_lab.views.drawing.picture_window import Window
from triton_lab.views.launch.launch_scenes import Finer


def finer_scene(name: str, shown: CellLayout, window: Window | None) -> Finer:
    """The name of a picture's windows, or the window that this picture shows."""
    if window is not None:
        return {"window": list(astuple(window))}
    return {"finer": name} if shown.binned else {}


def in_window(marks: Sequence[Mark], window: Window) -> list[Mark]:
    """The part of marks over single positions that lies in a window, at its places in the whole picture."""
    found = []
    for mark in marks:
        runs = []
        for panel, row, column, rows, columns in mark.runs:
            top, left = max(row, window.row), max(column, window.column)
            down = min(row + rows, window.row + window.rows) - top
            right = min(column + columns, window.column + window.columns) - left
            if panel == window.panel and down > 0 and right > 0:
                runs.append((panel, top, left, down, right))
        found.append(Mark(mark.text, runs))
    return found
