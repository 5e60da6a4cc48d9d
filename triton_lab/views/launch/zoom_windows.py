"""What pictures have in common whose cells stand for several positions: windows of single ones, made when asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple

from triton_lab.views.drawing.cell_layout import CellLayout
from triton_lab.views.drawing.heatmap import Mark
from triton_lab.views.drawing.picture_window import Window
from triton_lab.views.launch.launch_scenes import Finer


def finer_scene(name: str, shown: CellLayout, window: Window | None) -> Finer:
    """Where the single positions are to be had, or which these are."""
    if window is not None:
        return {"window": list(astuple(window))}
    return {"finer": name} if shown.binned else {}


def in_window(marks: Sequence[Mark], window: Window) -> list[Mark]:
    """What of marks over single positions is in a window, where it stands in the whole picture."""
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
