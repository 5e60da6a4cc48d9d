"""What a matplotlib figure of ours holds, read back: words, strokes, areas, dots and pixels, in CSS pixels from the
figure's upper left corner, from the lowest to the topmost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.collections import LineCollection, PathCollection, PolyCollection
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch, Polygon
from matplotlib.text import Text

from triton_lab.views.drawing.drawing_figure import Backdrop

Places = npt.NDArray[np.float64]  # (count, 2)
POINTS = 0.75  # to a CSS pixel


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
    """Lines through points; ``dashes`` in widths of the line."""

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
    """All that is drawn. Raises TypeError for what is none of the above."""
    assert not figure.axes, "everything is in CSS pixels of the figure"
    return [_read(one, size(figure)) for one in sorted(figure.artists, key=lambda one: one.get_zorder())]


def words(figure: Figure) -> list[Words]:
    return [one for one in artists(figure) if isinstance(one, Words)]


def _hex(colour: Any) -> str:
    """``none`` for what is not to be seen."""
    rgba = np.asarray(colour, dtype=float).reshape(-1)
    return "none" if rgba.size < 3 or (rgba.size == 4 and rgba[3] == 0) else to_hex(rgba[:3].tolist())


def _word(text: Text, x: float, y: float) -> Words:
    look = [
        name for name, there in (
            ("bold", text.get_fontweight() == "bold"),
            ("mono", "Mono" in text.get_fontfamily()[0]),
            ("halo", bool(text.get_path_effects())),
        ) if there
    ]  # fmt: skip
    assert text.get_va() == "center_baseline" and not text.get_parse_math(), text
    size = text.get_fontsize()
    return Words(x, y, text.get_text(), float(size), to_hex(text.get_color()), text.get_ha(), tuple(look))


def _read(artist: Any, whole: tuple[float, float]) -> Drawn:
    match artist:
        case Backdrop():
            packed = np.ascontiguousarray(artist._pixels)
            rgb = packed.view(np.uint8).reshape(*packed.shape, 4)[..., :3].astype(np.int64)
            return Pixels(0, 0, *whole, rgb)
        case Text():
            return _word(artist, *map(float, artist.get_position()))
        case LineCollection():
            (width,), (colour,) = artist.get_linewidth(), artist.get_colors()
            ((_, dashes),) = artist.get_linestyle()
            # matplotlib counts dashes in points, and thin lines as if they were one point wide.
            steps = tuple(float(dash) / float(width) for dash in dashes or ())
            return Strokes(tuple(artist.get_segments()), _hex(colour), float(colour[3]), width / POINTS, steps)
        case PolyCollection():
            corners = tuple(path.vertices[:-1] for path in artist.get_paths())
            (fill,) = artist.get_facecolor()
            return Areas(corners, _hex(fill), float(fill[3]), "none", 0.0)
        case PathCollection():
            (area,), (ring,), (width,) = artist.get_sizes(), artist.get_edgecolor(), artist.get_linewidth()
            fills = tuple(map(_hex, artist.get_facecolor()))
            centres = np.asarray(artist.get_offsets(), dtype=float)
            return Dots(centres, float(np.sqrt(area)) / 2 / POINTS, fills, _hex(ring), width / POINTS)
        case Line2D():
            if artist.get_marker() == "o":
                fill, ring = artist.get_markerfacecolor(), artist.get_markeredgecolor()
                radius, width = artist.get_markersize() / 2 / POINTS, artist.get_markeredgewidth() / POINTS
                return Dots(artist.get_xydata(), radius, (to_hex(fill),), to_hex(ring), width)
            opacity = 1.0 if artist.get_alpha() is None else artist.get_alpha()
            dashes = (1.0,) if artist.is_dashed() else ()
            colour, width = to_hex(artist.get_color()), artist.get_linewidth() / POINTS
            return Strokes((artist.get_xydata(),), colour, opacity, width, dashes)
        case Polygon():
            fill, edge = artist.get_facecolor(), artist.get_edgecolor()
            return Areas(
                (artist.get_xy()[:-1],), _hex(fill), float(fill[3]), _hex(edge), artist.get_linewidth() / POINTS
            )
        case FancyBboxPatch():
            radius = artist.get_boxstyle().pad
            x, y = artist.get_x() - radius, artist.get_y() - radius
            right, down = x + artist.get_width() + 2 * radius, y + artist.get_height() + 2 * radius
            fill, edge, width = artist.get_facecolor(), artist.get_edgecolor(), artist.get_linewidth() / POINTS
            box = np.array([(x, y), (right, y), (right, down), (x, down)])
            return Areas((box,), _hex(fill), float(fill[3]), _hex(edge), width, radius)
        case FancyArrowPatch():
            dashes = (1.0,) if artist.get_linestyle() != "solid" else ()
            style = type(artist.get_arrowstyle()).__name__
            colour, width = artist.get_edgecolor(), artist.get_linewidth() / POINTS
            points = np.asarray(artist._path_original.vertices, dtype=float)
            opacity = 1.0 if artist.get_alpha() is None else artist.get_alpha()
            return Strokes((points,), _hex(colour), opacity, width, dashes, style != "Curve")
    raise TypeError(f"{artist!r} is drawn, and nobody reads it back")
