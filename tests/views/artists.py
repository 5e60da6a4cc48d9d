"""What a matplotlib figure of ours holds, read back: words, strokes, areas, dots and pixels, in CSS pixels from the
figure's upper left corner, from the lowest to the topmost."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from matplotlib.figure import Figure
from matplotlib.text import Text

from triton_lab.views.drawing.drawing import (
    ArrowLines,
    Circles,
    DrawnItem,
    DrawnText,
    Line,
    Polygons,
    Rectangle,
    Segments,
    colour,
)
from triton_lab.views.drawing.drawing import Pixels as PlacedImage
from triton_lab.views.drawing.drawing_figure import DASHES, Backdrop, Shapes

Places = npt.NDArray[np.float64]  # (count, 2)


@dataclass(frozen=True)
class Words:
    x: float
    y: float
    text: str
    size: float  # points
    colour: str
    align: str
    look: tuple[str, ...]  # of bold, mono, halo


@dataclass(frozen=True)
class Strokes:
    """Lines through points; ``dashes`` in CSS pixels."""

    lines: tuple[Places, ...]
    colour: str
    opacity: float
    width: float
    dashes: tuple[float, ...]
    arrow: bool = False


@dataclass(frozen=True)
class Areas:
    """Polygons; for round boxes, ``radius`` of their corners."""

    corners: tuple[Places, ...]
    fill: str
    opacity: float
    edge: str
    width: float
    radius: float = 0.0


@dataclass(frozen=True)
class Dots:
    """``fills``: one colour, or one for each."""

    centres: Places
    radius: float
    fills: tuple[str, ...]
    ring: str
    width: float


@dataclass(frozen=True)
class Pixels:
    """Of an image that fills ``x`` to ``x + width`` and ``y`` to ``y + height``: (rows, columns, 3) from 0 to 255."""

    x: float
    y: float
    width: float
    height: float
    pixels: npt.NDArray[np.int64]


Drawn = Words | Strokes | Areas | Dots | Pixels


def size(figure: Figure) -> tuple[float, float]:
    """CSS pixels across and down."""
    width, height = figure.get_size_inches() * 96
    return float(width), float(height)


def artists(figure: Figure) -> list[Drawn]:
    """All that is drawn."""
    assert not figure.axes, "everything is in CSS pixels of the figure"
    (shapes,) = (one for one in figure.artists if isinstance(one, Shapes))
    images = [_pixels(one, size(figure)) for one in figure.artists if isinstance(one, Backdrop)]
    items = [item for item in shapes.drawing.items if not isinstance(item, PlacedImage)]
    texts = [one.get_text() for one in figure.artists if isinstance(one, Text)]
    assert texts == [item.text for item in items if isinstance(item, DrawnText)]
    parts = (part for item in items for part in (item.parts() if isinstance(item, ArrowLines) else (item,)))
    return [*images, *map(_read, parts)]


def words(figure: Figure) -> list[Words]:
    return [one for one in artists(figure) if isinstance(one, Words)]


def _pixels(artist: Backdrop, whole: tuple[float, float]) -> Pixels:
    packed = np.ascontiguousarray(artist._pixels)
    rgb = packed.view(np.uint8).reshape(*packed.shape, 4)[..., :3].astype(np.int64)
    return Pixels(0, 0, *whole, rgb)


def _read(item: DrawnItem) -> Drawn:
    match item:
        case DrawnText():
            look = [name for name in ("bold", "mono", "halo") if getattr(item, name)]
            return Words(item.x, item.y, item.text, item.size, colour(item.colour), item.align, tuple(look))
        case Rectangle():
            corners = np.array(
                [(item.x, item.y), (item.right, item.y), (item.right, item.bottom), (item.x, item.bottom)]
            )
            edge, opacity = colour(item.edge), item.opacity if item.fill != "none" else 0.0
            return Areas((corners,), colour(item.fill), opacity, edge, item.line, item.radius)
        case Line():
            dashes = DASHES if item.dashed else ()
            points = (np.array(item.points, dtype=float),)
            return Strokes(points, colour(item.colour), item.opacity, item.width, dashes, item.arrow)
        case Segments():
            return Strokes(tuple(item.ends), colour(item.colour), 1.0, item.width, item.dashes)
        case Polygons():
            fill, opacity = colour(item.fill), item.opacity if item.fill != "none" else 0.0
            return Areas(tuple(item.corners), fill, opacity, colour(item.edge), item.line)
        case Circles():
            which = item.which if len(item.which) else [0]
            fills = tuple(colour(item.fills[number]) for number in which)
            return Dots(item.centres, item.radius, fills, colour(item.ring), item.line)
    raise TypeError(f"{item!r} is not read")
