"""What pictures of cells are made of, as plain data: numbers, layouts, heatmaps, blocks of values. See `scenes`."""

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
    """Numbers: little-endian bytes and the name of their type."""

    type: Literal["u1", "u2", "u4", "u8", "i4", "i8", "f4", "f8"]
    bytes: Annotated[bytes, Most(1 << 23)]


class Layout(TypedDict):
    """See `layout.Layout`."""

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
    """A heatmap without cells: how they are arranged, and the words around them; ``noun``: what a position is;
    ``counted``: column k bears the number k times the first by the second, where that is whole."""

    layout: Layout
    title: Sentence
    panelNames: Many[Name]
    right: Name
    down: Name
    room: Annotated[Room, CanvasBound()]
    rules: tuple[Whole, Whole]


# What is outlined, in words, and its cells: panel, row, column, how many rows and columns.
Marked = tuple[Sentence, Annotated[list[tuple[Whole, Whole, Whole, Whole, Whole]], Most(1 << 10)]]


class _Outlined(TypedDict, total=False):
    marks: Few[Marked]
    ticks: Few[tuple[Number, Name]]  # values along the colour bar and what they are called


class Dress(_Outlined):
    """What cells look like: a style for each class (or for each of its levels), labels, legend, colour bar."""

    styles: Buffer
    labels: Annotated[list[Label], Most(1 << 10)]
    legend: Annotated[list[Key], Most(1 << 8)]
    ramp: Ramp | None
    rampName: Name
    groups: Buffer | None


class Cells(Place):
    """A heatmap that is still to be dressed: ``cells`` has the class of each cell."""

    cells: Buffer


class HeatmapScene(Cells, Dress):
    """See `heatmap.Heatmap`."""


class DressedPlace(Place, Dress):
    """A heatmap whose cells stand elsewhere."""


class BlockScene(TypedDict):
    """What any block of one shape needs: ``first`` is the first position in each cell, + 1."""

    layout: Layout
    first: Buffer
    panelNames: Many[Name]
    room: Annotated[Room, CanvasBound()]


class Painting(TypedDict):
    """Where the palette has what values are painted with: start and levels of the ramps, the marks."""

    sequential: tuple[Palette, Levels]
    diverging: tuple[Palette, Levels]
    marks: Few[Key]
    unknown: Look
