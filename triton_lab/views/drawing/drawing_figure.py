"""A drawing with matplotlib: the one place that makes shapes and words of a figure.

Nothing here touches pyplot: a figure is an object that the caller owns.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import floor

import numpy as np
import numpy.typing as npt
from matplotlib.artist import Artist
from matplotlib.backend_bases import RendererBase
from matplotlib.backends.backend_agg import RendererAgg
from matplotlib.collections import LineCollection, PathCollection, PolyCollection
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch, Polygon
from matplotlib.path import Path
from matplotlib.patheffects import withStroke
from matplotlib.text import Text
from matplotlib.transforms import Affine2D, IdentityTransform, Transform

from triton_lab.views.drawing import style
from triton_lab.views.drawing.drawing import (
    POINTS,
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
_DASHES = (0, (4, 3))
Shape = Rectangle | DrawnText | Line | Segments | Polygons | Circles


def figure_of(drawing: Drawing) -> Figure:
    """The drawing as a figure of its size, on a light ground.

    The figure has no axes: to make one takes as long as to draw a hundred words.
    """
    figure = blank(drawing.width, drawing.height)
    pixels = Affine2D().scale(1 / drawing.width, -1 / drawing.height).translate(0, 1) + figure.transFigure
    images = [item for item in drawing.items if isinstance(item, Pixels)]
    if images:
        figure.patch.set_visible(False)
        figure.add_artist(_backdrop(drawing, images))
    for level, item in enumerate(item for item in drawing.items if not isinstance(item, Pixels)):
        artist = _artist(item, pixels, figure.dpi / 96)
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


def _artist(item: Shape, pixels: Transform, dots: float) -> Artist:
    """What draws an item. ``pixels`` leads from CSS pixels to the figure, in which each has so many ``dots``."""
    if isinstance(item, Circles) and len(item.which):
        return _coloured_circles(item, pixels, dots)
    artist = _plain(item)
    artist.set_transform(pixels)
    return artist


def _plain(item: Shape) -> Artist:
    match item:
        case DrawnText():
            return _text(item)
        case Rectangle():
            return _box(item)
        case Line(arrow=False, curved=False):
            return _line(item)
        case Line():
            return _arrow(item)
        case Segments():
            return _segments(item)
        case Polygons(corners=[one]):
            return _polygon(item, one)
        case Polygons():
            return _polygons(item)
        case Circles():
            return _circles(item)


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


def _box(box: Rectangle) -> FancyBboxPatch:
    return FancyBboxPatch(
        (box.x + box.radius, box.y + box.radius),
        box.width - 2 * box.radius,
        box.height - 2 * box.radius,
        boxstyle=f"round,pad={box.radius},rounding_size={box.radius}",
        facecolor=to_rgba(colour(box.fill), box.opacity) if box.fill != "none" else "none",
        edgecolor=colour(box.edge),
        linewidth=box.line * POINTS,
        linestyle=_DASHES if box.dashed else "solid",
    )


def _line(line: Line) -> Line2D:
    x, y = np.array(line.points, dtype=np.float64).reshape(-1, 2).T
    return Line2D(
        x.tolist(),
        y.tolist(),
        color=colour(line.colour),
        linewidth=line.width * POINTS,
        linestyle=_DASHES if line.dashed else "solid",
        alpha=line.opacity,
        solid_capstyle="butt",
        solid_joinstyle="round",
    )


def _arrow(line: Line) -> FancyArrowPatch:
    middle = Path.CURVE4 if line.curved else Path.LINETO
    return FancyArrowPatch(
        path=Path(line.points, [Path.MOVETO] + [middle] * (len(line.points) - 1)),
        arrowstyle="-|>,head_length=4.5,head_width=2.6" if line.arrow else "-",
        color=colour(line.colour),
        linewidth=line.width * POINTS,
        linestyle=_DASHES if line.dashed else "solid",
        alpha=line.opacity,
        mutation_scale=1.0,
        shrinkA=0,
        shrinkB=0,
        joinstyle="round",
        capstyle="butt",
    )


def _segments(lines: Segments) -> LineCollection:
    # matplotlib counts dashes in widths of the line.
    dashes = (0, tuple(dash / lines.width for dash in lines.dashes)) if lines.dashes else "solid"
    width = lines.width * POINTS
    return LineCollection(list(lines.ends), colors=colour(lines.colour), linewidths=width, linestyles=[dashes])


def _polygon(shape: Polygons, corners: Places) -> Polygon:
    patch = Polygon(corners, closed=True, facecolor=colour(shape.fill), edgecolor=colour(shape.edge))
    patch.set_linewidth(shape.line * POINTS)
    patch.set_alpha(shape.opacity)
    return patch


def _polygons(shapes: Polygons) -> PolyCollection:
    return PolyCollection(
        list(shapes.corners),
        facecolors=colour(shapes.fill),
        edgecolors=colour(shapes.edge),
        linewidths=shapes.line * POINTS,
        alpha=shapes.opacity,
    )


def _circles(dots: Circles) -> Line2D:
    """Markers of one look, which are drawn in a tenth of the time that a collection takes."""
    x, y = dots.centres.T
    return Line2D(
        x.tolist(),
        y.tolist(),
        linestyle="none",
        marker="o",
        markersize=2 * dots.radius * POINTS,
        markerfacecolor=colour(dots.fills[0]),
        markeredgecolor=colour(dots.ring),
        markeredgewidth=dots.line * POINTS,
    )


def _coloured_circles(circles: Circles, pixels: Transform, dots: float) -> PathCollection:
    fills = np.array([style.rgb(colour(fill)) for fill in circles.fills])[circles.which] / 255
    # In the middle of pixels all circles have the same pixels, as markers do, and equal pixels compress well.
    made = PathCollection(
        [Path.unit_circle().transformed(Affine2D().scale(0.5))],
        [(2 * circles.radius * POINTS) ** 2],
        facecolors=fills,
        edgecolors=colour(circles.ring),
        linewidths=circles.line * POINTS,
        offsets=np.round(circles.centres * dots) / dots,
        offset_transform=pixels,
    )
    made.set_transform(IdentityTransform())
    return made
