"""A heatmap as plain data: cells of few classes, each class with a style. Both drawing programs read it.

A view passes a `Heatmap` to `heatmap_drawing` and, through `as_scene`, to the browser. In a sequential
heatmap, the classes are the levels of a ramp.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast

import numpy as np
import numpy.typing as npt

from triton_lab.views.drawing import cell_scenes, style
from triton_lab.views.drawing.cell_frame import CellFrame, frame
from triton_lab.views.drawing.cell_layout import CellLayout, wrapped_words
from triton_lab.views.drawing.cell_scenes import Buffer, Cells, Dress, HeatmapScene, Place


@dataclass(frozen=True)
class Label:
    """Words over a rectangle of cells in one panel."""

    panel: int
    row: int
    column: int
    rows: int
    columns: int
    text: str

    def as_scene(self) -> cell_scenes.Label:
        return self.panel, self.row, self.column, self.rows, self.columns, self.text


@dataclass(frozen=True)
class Key:
    """One entry of the legend: a style and what it means."""

    style: tuple[int, int, int, int]
    text: str

    def as_scene(self) -> cell_scenes.Key:
        return list(self.style), self.text


@dataclass(frozen=True)
class Mark:
    """An outline: its words, and its cells as panel, row, column, number of rows, number of columns."""

    text: str
    runs: Sequence[tuple[int, int, int, int, int]]

    def as_scene(self) -> cell_scenes.Marked:
        return self.text, list(self.runs)


Noun = Literal["element", "byte", "unit", "program", "word"]  # the browser needs their translations


@dataclass(frozen=True)
class Heatmap:
    """Cells and their looks.

    ``cells``: (layout.cells,) unsigned, the class of each cell; class 0 means that there is no cell. ``styles``:
    (classes, 4) uint16: three palette indices and a pattern. ``ramp``: palette start, levels, and the values at both
    ends, for a heatmap with a colour bar.
    """

    layout: CellLayout
    cells: npt.NDArray[Any]
    styles: npt.NDArray[np.uint16]
    title: str = ""
    labels: Sequence[Label] = ()
    legend: Sequence[Key] = ()
    ramp: tuple[int, int, float, float] | None = None
    ramp_name: str = ""
    ticks: Sequence[tuple[float, str]] = ()  # values along the colour bar, with their labels
    steps: tuple[str, str] = ("", "")  # what a step right and a step down mean, in words
    panel_names: Sequence[str] = ()
    room: tuple[float, float] = style.ROOM
    groups: npt.NDArray[Any] | None = None  # (classes,): a dark line parts cells of different groups
    rules: tuple[int, int] = (0, 0)  # columns between thin vertical lines, and between strong ones; 0 for none
    marks: Sequence[Mark] = ()
    noun: Noun = "element"  # what a position is
    counted: tuple[int, int] = (1, 1)  # column k is labelled k times the first, divided by the second: 1, 2 for pairs

    @property
    def below(self) -> str:
        """The words below the heatmap: what a step down means, or that a line is wrapped."""
        return self.steps[1] or wrapped_words(self.layout, self.noun)

    def column_number(self, column: int) -> str:
        """The label above a column; "" if another column has the number."""
        times, each = self.counted
        if times == each:
            return self.layout.column_number(column)
        whole, rest = divmod(column * self.layout.right * times, each)
        return "" if rest else str(whole)

    @property
    def frame(self) -> CellFrame:
        """The places of the cells."""
        return frame(self.layout, self.room)

    def as_scene(self) -> HeatmapScene:
        """The heatmap as plain numbers, words and bytes."""
        return {**self.place_scene(), **self.dress_scene(), "cells": buffer(self.cells)}

    def cells_scene(self) -> Cells:
        """The scene without the looks of the cells."""
        return {**self.place_scene(), "cells": buffer(self.cells)}

    def place_scene(self) -> Place:
        """The arrangement of the cells, and the words around them."""
        place: Place = {
            "layout": self.layout.as_scene(),
            "title": self.title,
            "right": self.steps[0],
            "down": self.steps[1],
            "panelNames": list(self.panel_names),
            "room": self.room,
            "rules": self.rules,
            "noun": self.noun,
        }
        if self.counted != (1, 1):
            place["counted"] = self.counted
        return place

    def dress_scene(self) -> Dress:
        """The looks of the cells."""
        return {
            "styles": buffer(self.styles),
            "labels": [label.as_scene() for label in self.labels],
            "legend": [key.as_scene() for key in self.legend],
            "ramp": self.ramp,
            "rampName": self.ramp_name,
            "ticks": list(self.ticks),
            "groups": None if self.groups is None else buffer(narrow(self.groups)),
            "marks": [mark.as_scene() for mark in self.marks],
        }


def buffer(array: npt.NDArray[Any]) -> Buffer:
    """An array as bytes with the name of its type, such as ``"u2"``; the browser makes a typed array of it."""
    little = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
    return cast(Buffer, {"type": array.dtype.str[1:], "bytes": little.tobytes()})


def narrow(numbers: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The same unsigned numbers in the smallest type that holds them all."""
    most = int(numbers.max(initial=0))
    return numbers.astype(np.min_scalar_type(most))
