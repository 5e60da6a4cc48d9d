"""The scene of a `drawing.Drawing`. See `triton_lab.views.scenes`."""

from __future__ import annotations

from typing import Annotated, Literal, TypedDict

from triton_lab.views.drawing.cell_scenes import Buffer
from triton_lab.views.drawing.scene_bounds import (
    Coordinate,
    Few,
    Many,
    Most,
    Name,
    Numbers,
    Sentence,
    Text,
    Within,
)  # fmt: skip

Place = tuple[Coordinate, Coordinate]
Align = Literal["left", "center", "right"]


class BoxItem(TypedDict):
    what: Literal["box"]
    x: Coordinate
    y: Coordinate
    width: Coordinate
    height: Coordinate
    fill: Name
    edge: Name
    opacity: Annotated[float, Within(0, 1)]
    line: Coordinate
    radius: Coordinate
    dashed: bool
    tag: Name


class _Haloed(TypedDict, total=False):
    halo: Name


class WordsItem(_Haloed):
    """Words. ``halo``: the colour around the letters, "" for none."""

    what: Literal["words"]
    x: Coordinate
    y: Coordinate
    text: Sentence
    size: Coordinate
    colour: Name
    align: Align
    bold: bool
    mono: bool


class _Translucent(TypedDict, total=False):
    opacity: Annotated[float, Within(0, 1)]


class LineItem(_Translucent):
    what: Literal["line"]
    points: Many[Place]
    colour: Name
    width: Coordinate
    curved: bool
    dashed: bool
    arrow: bool


class SegmentsItem(TypedDict):
    """Straight lines. ``dashes``: how much is drawn and how much is left out, in turns."""

    what: Literal["segments"]
    ends: Many[tuple[Place, Place]]
    colour: Name
    width: Coordinate
    dashes: Few[Coordinate]


class ArrowsItem(TypedDict):
    """Straight arrows. ``ends``: x and y of both ends of each; see `drawing.ArrowLines`."""

    what: Literal["arrows"]
    ends: Annotated[Buffer, Numbers(100_000)]
    colour: Name
    width: Coordinate
    head: Coordinate
    gap: Coordinate
    dashes: Few[Coordinate]
    beside: Coordinate


class PolygonsItem(TypedDict):
    what: Literal["polygons"]
    corners: Many[Many[Place]]
    fill: Name
    opacity: Annotated[float, Within(0, 1)]
    edge: Name
    line: Coordinate


class _Piled(TypedDict, total=False):
    piled: bool


class CirclesItem(_Piled):
    """Circles. ``centres``: x and y of each; ``which``: the index in ``fills`` of each, empty if all have the first.

    ``piled``: they overlap, so that each covers those before it.
    """

    what: Literal["circles"]
    centres: Annotated[Buffer, Numbers(400_000)]
    radius: Coordinate
    fills: Many[Name]
    which: Annotated[Buffer, Numbers(200_000)]
    ring: Name
    line: Coordinate


Item = BoxItem | WordsItem | LineItem | SegmentsItem | ArrowsItem | PolygonsItem | CirclesItem


class DrawingScene(TypedDict):
    """A drawing. ``source``: the generated kernels, "" for none."""

    kind: Literal["drawing"]
    width: Annotated[float, Within(0, 20_000)]
    height: Annotated[float, Within(0, 20_000)]
    items: Annotated[list[Item], Most(1 << 12)]
    source: Text
    label: Sentence
