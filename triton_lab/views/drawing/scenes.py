"""What pictures of cells are made of, as plain data: numbers, layouts, heatmaps, blocks of values. See `scenes`."""

from __future__ import annotations

from typing import Literal, TypedDict

Ends = tuple[float, float]
Look = list[int]  # three palette indices and a pattern
Key = tuple[Look, str]  # an entry of the legend
Label = tuple[int, int, int, int, int, str]  # panel, row, column, rows, columns, words
Ramp = tuple[int, int, float, float]  # palette start, levels, and the values at both ends


class Buffer(TypedDict):
    """Numbers: little-endian bytes and the name of their type."""

    type: Literal["u1", "u2", "u4", "u8", "i4", "i8", "f4", "f8"]
    bytes: bytes


class Layout(TypedDict):
    """See `layout.Layout`."""

    shape: list[int]
    origin: list[int]
    panels: int
    across: int
    rows: int
    columns: int
    down: int
    right: int


class _Named(TypedDict, total=False):
    noun: str
    counted: tuple[int, int]


class Place(_Named):
    """A heatmap without cells: how they are arranged, and the words around them; ``noun``: what a position is;
    ``counted``: column k bears the number k times the first by the second, where that is whole."""

    layout: Layout
    title: str
    panelNames: list[str]
    right: str
    down: str
    room: Ends
    rules: tuple[int, int]


# What is outlined, in words, and its cells: panel, row, column, how many rows and columns.
Marked = tuple[str, list[tuple[int, int, int, int, int]]]


class _Outlined(TypedDict, total=False):
    marks: list[Marked]
    ticks: list[tuple[float, str]]  # values along the colour bar and what they are called


class Dress(_Outlined):
    """What cells look like: a style for each class (or for each of its levels), labels, legend, colour bar."""

    styles: Buffer
    labels: list[Label]
    legend: list[Key]
    ramp: Ramp | None
    rampName: str
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
    panelNames: list[str]
    room: Ends


class Painting(TypedDict):
    """Where the palette has what values are painted with: start and levels of the ramps, the marks."""

    sequential: tuple[int, int]
    diverging: tuple[int, int]
    marks: list[Key]
    unknown: Look
