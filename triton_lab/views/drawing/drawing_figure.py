"""A drawing with matplotlib: the one place that makes shapes and words of a figure.

Nothing here touches pyplot: a figure is an object that the caller owns.
"""

from __future__ import annotations

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch, Polygon
from matplotlib.path import Path
from matplotlib.patheffects import withStroke
from matplotlib.text import Text

from triton_lab.views.drawing import style
from triton_lab.views.drawing.drawing import (
    POINTS,
    Circles,
    Drawing,
    DrawnItem,
    DrawnText,
    Line,
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


def figure_of(drawing: Drawing) -> Figure:
    """The drawing as a figure of its size, on a light ground."""
    figure = blank(drawing.width, drawing.height)
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_xlim(0, drawing.width)
    axes.set_ylim(drawing.height, 0)
    axes.set_axis_off()
    for level, item in enumerate(drawing.items):
        _add(axes, item).set_zorder(level)
    return figure


def _add(axes: Axes, item: DrawnItem) -> Artist:
    match item:
        case DrawnText():
            return _text(axes, item)
        case Rectangle():
            return axes.add_patch(_box(item))
        case Line(arrow=False, curved=False):
            return axes.add_line(_line(item))
        case Line():
            return axes.add_patch(_arrow(item))
        case Segments():
            return axes.add_collection(_segments(item), autolim=False)
        case Polygons(corners=[one]):
            return axes.add_patch(_polygon(item, one))
        case Polygons():
            return axes.add_collection(_polygons(item), autolim=False)
        case Circles():
            return _circles(axes, item)


def _text(axes: Axes, text: DrawnText) -> Text:
    """One line of words; a dollar sign is a dollar sign, not mathematics."""
    written = axes.text(
        text.x,
        text.y,
        text.text,
        fontsize=text.size,
        color=colour(text.colour),
        ha=text.align,
        va="center_baseline",
        family=family(text.text, text.mono),
        weight=weight(text.text, text.bold),
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


def _circles(axes: Axes, dots: Circles) -> Artist:
    ring, width = colour(dots.ring), dots.line * POINTS
    if not len(dots.which):
        # `plot` draws one marker many times, in a tenth of the time that `scatter` takes.
        (plotted,) = axes.plot(
            dots.centres[:, 0], dots.centres[:, 1], "o", markersize=2 * dots.radius * POINTS, linestyle="none",
            markerfacecolor=colour(dots.fills[0]), markeredgecolor=ring, markeredgewidth=width,
        )  # fmt: skip
        return plotted
    fills = np.array([style.rgb(colour(fill)) for fill in dots.fills])[dots.which] / 255
    # In the middle of pixels all circles have the same pixels, as markers do, and equal pixels compress well.
    pixels = axes.figure.dpi / 96
    x, y = (np.round(dots.centres * pixels) / pixels).T
    area = (2 * dots.radius * POINTS) ** 2
    return axes.scatter(x, y, s=area, c=fills, edgecolors=ring, linewidths=width)
