"""The scene of a `solid.Solid`. See `triton_lab.views.scenes`."""

from __future__ import annotations

from typing import Annotated, Literal, TypedDict

from triton_lab.views.drawing.cell_scenes import Buffer
from triton_lab.views.drawing.drawing_scenes import Place
from triton_lab.views.drawing.scene_bounds import Coordinate, Few, Most, Name, Numbers, Within

SolidPlace = tuple[Coordinate, Coordinate, Coordinate]
Opacity = Annotated[float, Within(0, 1)]


class SolidAxesItem(TypedDict):
    """An arrow from ``low`` along each coordinate to that of ``high``, with its name."""

    what: Literal["axes"]
    low: SolidPlace
    high: SolidPlace
    names: Annotated[list[Name], Most(3, least=3)]
    colour: Name
    size: Coordinate


class SolidFaceItem(TypedDict):
    """A flat polygon, its corners around it."""

    what: Literal["face"]
    corners: Annotated[list[SolidPlace], Most(1 << 8)]
    fill: Name
    opacity: Opacity
    edge: Name
    edgeOpacity: Opacity


class SolidCirclesItem(TypedDict):
    """Circles around ``places``, the farthest first. ``shift``: how many pixels they are moved."""

    what: Literal["circles"]
    places: Annotated[Buffer, Numbers(200_000)]
    radius: Coordinate
    fill: Name
    ring: Name
    line: Coordinate
    shift: Place
    piled: bool


class SolidArrowsItem(TypedDict):
    """Arrows between places. ``shifts``: how many pixels their ends are moved; the rest as in `ArrowsItem`."""

    what: Literal["arrows"]
    ends: Annotated[Buffer, Numbers(100_000)]
    shifts: tuple[Place, Place]
    colour: Name
    width: Coordinate
    head: Coordinate
    gap: Coordinate
    dashes: Few[Coordinate]
    beside: Coordinate


class SolidNamesItem(TypedDict):
    """Names outside of a body with these ``corners``: words, place and half the width of each."""

    what: Literal["names"]
    names: Annotated[list[tuple[Name, SolidPlace, Coordinate]], Most(1 << 8)]
    corners: Annotated[list[SolidPlace], Most(1 << 12)]
    colour: Name
    size: Coordinate
    room: Coordinate


SolidItemScene = SolidAxesItem | SolidFaceItem | SolidCirclesItem | SolidArrowsItem | SolidNamesItem


class SolidScene(TypedDict):
    """A drawing in space, which a reader can turn."""

    width: Annotated[float, Within(0, 20_000)]
    height: Annotated[float, Within(0, 20_000)]
    items: Annotated[list[SolidItemScene], Most(1 << 10)]
