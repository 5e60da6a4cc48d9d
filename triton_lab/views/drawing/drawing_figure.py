"""A drawing with matplotlib: the one place that makes shapes and words of a figure.

Nothing here touches pyplot: a figure is an object that the caller owns.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import floor
from typing import cast

import numpy as np
import numpy.typing as npt
from matplotlib.artist import Artist
from matplotlib.backend_bases import GraphicsContextBase, RendererBase
from matplotlib.backends.backend_agg import RendererAgg
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from matplotlib.patches import BoxStyle
from matplotlib.path import Path
from matplotlib.patheffects import withStroke
from matplotlib.text import Text
from matplotlib.transforms import Affine2D, Transform
from numpy.typing import ArrayLike

from triton_lab.views.drawing import style
from triton_lab.views.drawing.drawing import (
    POINTS,
    ArrowLines,
    Circles,
    Drawing,
    DrawnText,
    Line,
    Pixels,
    Places,
    Polygons,
    Rectangle,
    Segments,
    colour,
)
from triton_lab.views.drawing.fonts import family, weight
from triton_lab.views.drawing.png import blank

HALO = 0.3  # the width around letters, in sizes of the letters
DASHES = (4.0, 3.0)  # CSS pixels


def figure_of(drawing: Drawing) -> Figure:
    """The drawing as a figure of its size, on a light ground: images below, then shapes, and words above all.

    The figure has no axes: to make one takes as long as to draw a hundred words.
    """
    figure = blank(drawing.width, drawing.height)
    pixels = Affine2D().scale(1 / drawing.width, -1 / drawing.height).translate(0, 1) + figure.transFigure
    images = [item for item in drawing.items if isinstance(item, Pixels)]
    if images:
        figure.patch.set_visible(False)
        figure.add_artist(_backdrop(drawing, images))
    words = [_text(item) for item in drawing.items if isinstance(item, DrawnText)]
    for level, artist in enumerate((Shapes(drawing), *words)):
        artist.set_transform(pixels)
        artist.set_zorder(level)
        figure.add_artist(artist)
    return figure


def _backdrop(drawing: Drawing, images: Sequence[Pixels]) -> Backdrop:
    """All images in one: an artist for each would take more time than everything else."""
    ground = np.full((round(drawing.height), round(drawing.width), 3), style.rgb(style.LIGHT.ground), dtype=np.uint8)
    for image in images:
        left, top, right, bottom = (
            floor(edge + 0.5) for edge in (image.x, image.y, image.x + image.width, image.y + image.height)
        )
        ground[top:bottom, left:right] = image.pixels
    return Backdrop(ground)


class Backdrop(Artist):
    """An image over the whole figure, without matplotlib's resampling, which takes half a second."""

    def __init__(self, pixels: npt.NDArray[np.uint8]) -> None:
        super().__init__()
        self.set_zorder(-1)
        rgba = np.dstack([pixels, np.full(pixels.shape[:2], 255, dtype=np.uint8)])
        self._pixels = rgba.view(np.uint32)[..., 0]  # so that each pixel is copied as one number

    def draw(self, renderer: RendererBase) -> None:
        figure = self.get_figure(root=True)
        assert figure is not None
        if isinstance(renderer, RendererAgg):  # nothing lies under it, so nothing is blended
            buffer: npt.NDArray[np.uint8] = np.asarray(renderer.buffer_rgba())  # type: ignore[no-untyped-call]
            buffer.view(np.uint32)[..., 0] = self._sized(*buffer.shape[:2])
            return
        dots = figure.dpi * renderer.get_image_magnification()
        height, width = (round(inches * dots) for inches in figure.get_size_inches()[::-1])
        context = renderer.new_gc()
        # Images are drawn from the bottom row up.
        pixels = np.ascontiguousarray(self._sized(height, width)[::-1])
        renderer.draw_image(context, 0, 0, pixels.view(np.uint8).reshape(height, width, 4))
        context.restore()

    def _sized(self, height: int, width: int) -> npt.NDArray[np.uint32]:
        """The pixels of an image of this size; each takes the nearest pixel of the original."""
        y = np.arange(height) * len(self._pixels) // height
        x = np.arange(width) * self._pixels.shape[1] // width
        pixels: npt.NDArray[np.uint32] = self._pixels.take(x, axis=1)[y]
        return pixels


def _text(text: DrawnText) -> Text:
    """One line of words; a dollar sign is a dollar sign, not mathematics."""
    written = Text(
        text.x,
        text.y,
        text.text,
        fontsize=text.size,
        color=colour(text.colour),
        horizontalalignment=text.align,
        verticalalignment="center_baseline",
        fontfamily=family(text.text, text.mono),
        fontweight=weight(text.text, text.bold),
        parse_math=False,
    )
    if text.halo:
        written.set_path_effects([withStroke(linewidth=HALO * text.size, foreground=colour(text.halo))])
    return written


class Shapes(Artist):
    """The shapes of a drawing, in their order. An artist for each would take several times as long."""

    def __init__(self, drawing: Drawing) -> None:
        super().__init__()
        self.drawing = drawing

    def draw(self, renderer: RendererBase) -> None:
        transform = self.get_transform()
        for item in self.drawing.items:
            if isinstance(item, Circles):
                self._circles(renderer, item, transform)
            elif not isinstance(item, DrawnText | Pixels):
                for inked in paths_of(item):
                    renderer.draw_path(_context(renderer, inked), inked.path, transform, _rgba(inked.fill))

    def _circles(self, renderer: RendererBase, circles: Circles, transform: Transform) -> None:
        """Markers: at whole pixels all have the same pixels, which compress well."""
        size = Affine2D().scale(cast(float, renderer.points_to_pixels(circles.radius * POINTS)))
        context = _context(renderer, InkedPath(Path.unit_circle(), ("none", 1), (circles.ring, 1), circles.line))
        for fill, own in _runs(circles):
            renderer.draw_markers(context, Path.unit_circle(), size, Path(own), transform, _rgba((fill, 1)))


def _runs(circles: Circles) -> Iterable[tuple[str, Places]]:
    """The centres of each fill; of circles that overlap, in runs of one fill, in their order."""
    which = circles.which if len(circles.which) else np.zeros(len(circles.centres), dtype=np.int64)
    if not circles.piled:
        return [(circles.fills[number], circles.centres[which == number]) for number in np.unique(which).tolist()]
    starts = np.flatnonzero(np.diff(which)) + 1
    runs = zip(np.split(which, starts), np.split(circles.centres, starts), strict=True)
    return [(circles.fills[run[0]], own) for run, own in runs if len(run)]


Ink = tuple[str, float]  # a drawing's colour, and its opacity


@dataclass(frozen=True)
class InkedPath:
    """A path with the inks of its inside and of its line; ``width`` and ``dashes`` in CSS pixels."""

    path: Path
    fill: Ink
    edge: Ink
    width: float
    dashes: Sequence[float] = ()


def paths_of(item: Rectangle | Line | Segments | ArrowLines | Polygons) -> list[InkedPath]:
    """The paths of a shape, as `front/drawing/drawing.js` has them."""
    clear = ("none", 1.0)
    match item:
        case Rectangle():
            dashes = DASHES if item.dashed else ()
            round_ = BoxStyle.Round(pad=0, rounding_size=item.radius)
            box = round_(item.x, item.y, item.width, item.height, 1)
            return [InkedPath(box, (item.fill, item.opacity), (item.edge, 1.0), item.line, dashes)]
        case Line():
            ink, dashes = (item.colour, item.opacity), DASHES if item.dashed else ()
            line = InkedPath(_polyline([item.points], item.curved), clear, ink, item.width, dashes)
            head = InkedPath(_polyline([_head(item)], closed=True), (item.colour, 1.0), clear, 0)
            return [line, head] if item.arrow else [line]
        case Segments():
            return [InkedPath(_polyline(item.ends), clear, (item.colour, 1.0), item.width, item.dashes)]
        case ArrowLines():
            return [path for part in item.parts() for path in paths_of(part)]
        case Polygons():
            path = _polyline(item.corners, closed=True)
            return [InkedPath(path, (item.fill, item.opacity), (item.edge, item.opacity), item.line)]


def _polyline(lines: Iterable[ArrayLike], curved: bool = False, closed: bool = False) -> Path:
    """Lines through points, (count, 2) each, in one path."""
    places, codes = [np.zeros((0, 2))], [np.zeros(0, dtype=Path.code_type)]
    for line in lines:
        points = np.asarray(line, dtype=np.float64)
        steps = np.full(len(points) + closed, Path.CURVE4 if curved else Path.LINETO, dtype=Path.code_type)
        steps[0], steps[-1] = Path.MOVETO, Path.CLOSEPOLY if closed else steps[-1]
        places.append(np.concatenate([points, points[:1]]) if closed else points)
        codes.append(steps)
    return Path(np.concatenate(places), np.concatenate(codes))


def _head(line: Line) -> Places:
    """The corners of the head of an arrow that ends in the last point, (3, 2)."""
    points = np.array(line.points)
    tip = points[-1]
    before = [point for point in points if (point != tip).any()] or [tip - (0, 1)]
    along = (tip - before[-1]) / np.hypot(*(tip - before[-1]))
    across = np.array([-along[1], along[0]])
    neck, half = tip - along * (5 + line.width), across * (2.5 + line.width / 2)
    return np.array([tip, neck + half, neck - half])


def _context(renderer: RendererBase, inked: InkedPath) -> GraphicsContextBase:
    """The line of an inked for matplotlib."""
    context, edge = renderer.new_gc(), _rgba(inked.edge)
    context.set_linewidth(inked.width * POINTS if edge else 0)
    context.set_foreground(edge or (0, 0, 0, 1), isRGBA=True)
    context.set_joinstyle("round")
    context.set_capstyle("butt")
    if inked.dashes:
        context.set_dashes(0, [dash * POINTS for dash in inked.dashes])
    return context


def _rgba(ink: Ink) -> tuple[float, float, float, float] | None:
    name, opacity = ink
    return None if name == "none" else to_rgba(colour(name), opacity)
