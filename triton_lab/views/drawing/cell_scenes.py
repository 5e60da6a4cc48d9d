"""The scenes that pictures of cells consist of: numbers, layouts, heatmaps, blocks of values. See `scenes`."""

from __future__ import annotations

from typing import Annotated, Literal, TypedDict

from triton_lab.views.drawing.scene_bounds import (
    CanvasBound,
    Few,
    Index,
    Levels,
    Many,
    Most,
    Name,
    Number,
    Palette,
    Positive,
    Sentence,
    Times,
    Whole,
    Within,
)

MOST_CELLS = 1 << 20  # of a heatmap

Ends = tuple[Number, Number]
Room = tuple[Annotated[float, Within(1, 1 << 12)], Annotated[float, Within(1, 1 << 12)]]  # pixels across and down
Look = Annotated[list[Palette], Most(4, least=4)]  # three palette indices and a pattern
Key = tuple[Look, Name]  # an entry of the legend
Label = tuple[Whole, Whole, Whole, Whole, Whole, Name]  # panel, row, column, rows, columns, words
Ramp = tuple[Palette, Levels, Number, Number]  # palette start, levels, and the values at both ends


class Buffer(TypedDict):
    """An array of numbers: little-endian bytes and the name of their type."""

    type: Literal["u1", "u2", "u4", "u8", "i4", "i8", "f4", "f8"]
    bytes: Annotated[bytes, Most(1 << 23)]


class Layout(TypedDict):
    """The scene of a `cell_layout.CellLayout`."""

    shape: Index
    origin: Index
    panels: Annotated[int, Within(0, 1 << 10)]
    across: Annotated[int, Within(1, 1 << 10)]
    rows: Annotated[int, Within(0, 1 << 12), Times(("panels", "columns"), MOST_CELLS)]
    columns: Annotated[int, Within(0, 1 << 12)]
    down: Positive
    right: Positive


class _Named(TypedDict, total=False):
    noun: Name
    counted: tuple[Whole, Whole]


class Place(_Named):
    """A heatmap without cells: their arrangement, and the words around them.

    ``noun``: what a position is. ``counted``: column k is labelled k times the first number, divided by the second, if
    that is whole.
    """

    layout: Layout
    title: Sentence
    panelNames: Many[Name]
    right: Name
    down: Name
    room: Annotated[Room, CanvasBound()]
    rules: tuple[Whole, Whole]


# An outline: its words, and its cells as panel, row, column, number of rows, number of columns.
Marked = tuple[Sentence, Annotated[list[tuple[Whole, Whole, Whole, Whole, Whole]], Most(1 << 10)]]


class _Outlined(TypedDict, total=False):
    marks: Few[Marked]
    ticks: Few[tuple[Number, Name]]  # values along the colour bar, with their labels


class Dress(_Outlined):
    """The look of cells: a style for each class (or for each of its levels), labels, legend, colour bar."""

    styles: Buffer
    labels: Annotated[list[Label], Most(1 << 10)]
    legend: Annotated[list[Key], Most(1 << 8)]
    ramp: Ramp | None
    rampName: Name
    groups: Buffer | None


class Cells(Place):
    """A heatmap without its look: ``cells`` has the class of each cell."""

    cells: Buffer


class HeatmapScene(Cells, Dress):
    """The scene of a `heatmap.Heatmap`."""


class DressedPlace(Place, Dress):
    """A heatmap whose cells are sent separately."""


class BlockScene(TypedDict):
    """The data shared by blocks of one shape: ``first`` is the first position in each cell, + 1."""

    layout: Layout
    first: Buffer
    panelNames: Many[Name]
    room: Annotated[Room, CanvasBound()]


class Painting(TypedDict):
    """The palette's entries for painting values: start and levels of the ramps, the marks."""

    sequential: tuple[Palette, Levels]
    diverging: tuple[Palette, Levels]
    marks: Few[Key]
    unknown: Look
