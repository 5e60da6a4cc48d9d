"""A drawing as plain data: boxes, words and lines in CSS pixels, for matplotlib and for the browser alike.

A colour is a name from the theme (`style.Theme`) or "#rrggbb". A box may be tinted with a colour at low opacity, so
that it can be read on a light and on a dark ground.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal, TypedDict, cast

from triton_lab.views.drawing import style
from triton_lab.views.drawing.scene_bounds import Coordinate, Many, Most, Name, Sentence, Text, Within

if TYPE_CHECKING:  # a scene is shown before matplotlib has been imported
    from matplotlib.figure import Figure
    from matplotlib.patches import FancyArrowPatch, FancyBboxPatch

POINTS = 0.75  # points in a CSS pixel


class BoxItem(TypedDict):
    """A box. A colour is a name from the theme, or "#rrggbb"."""

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


class WordsItem(TypedDict):
    what: Literal["words"]
    x: Coordinate
    y: Coordinate
    text: Sentence
    size: Coordinate
    colour: Name
    align: Literal["left", "center", "right"]
    bold: bool
    mono: bool


class LineItem(TypedDict):
    what: Literal["line"]
    points: Many[tuple[Coordinate, Coordinate]]
    colour: Name
    width: Coordinate
    curved: bool
    dashed: bool
    arrow: bool


Item = BoxItem | WordsItem | LineItem


class DrawingScene(TypedDict):
    """A drawing. ``source``: the generated kernels, "" for none."""

    kind: Literal["drawing"]
    width: Annotated[float, Within(0, 20_000)]
    height: Annotated[float, Within(0, 20_000)]
    items: Annotated[list[Item], Most(1 << 12)]
    source: Text
    label: Sentence


@dataclass(frozen=True)
class Rectangle:
    """A rectangle with round corners; `tag` names the operation that it stands for."""

    what: ClassVar = "box"
    x: float
    y: float
    width: float
    height: float
    fill: str
    edge: str
    opacity: float = 1.0
    line: float = 1.0
    radius: float = 4.0
    dashed: bool = False
    tag: str = ""

    @property
    def middle(self) -> float:
        return self.x + self.width / 2

    @property
    def bottom(self) -> float:
        return self.y + self.height


@dataclass(frozen=True)
class DrawnText:
    """One line of text, centred vertically at y."""

    what: ClassVar = "words"
    x: float
    y: float
    text: str
    size: float = style.TEXT
    colour: str = "ink"
    align: str = "left"
    bold: bool = False
    mono: bool = False


@dataclass(frozen=True)
class Line:
    """A line through points: straight, or (`curved`) Bézier curves of three points each. `arrow`: it ends in a head."""

    what: ClassVar = "line"
    points: tuple[tuple[float, float], ...]
    colour: str
    width: float = 1.0
    curved: bool = False
    dashed: bool = False
    arrow: bool = True


@dataclass
class Drawing:
    """The items of a drawing, in the order in which they are drawn."""

    width: float = 0.0
    height: float = 0.0
    items: list[Rectangle | DrawnText | Line] = field(default_factory=list)

    def add(self, *items: Rectangle | DrawnText | Line) -> None:
        self.items += items

    def place(self, other: Drawing, x: float, y: float) -> None:
        """Put another drawing here, its corner at (x, y), and grow to hold it."""
        for item in other.items:
            if isinstance(item, Line):
                points = tuple((x + px, y + py) for px, py in item.points)
                self.items.append(Line(**{**vars(item), "points": points}))
            else:
                self.items.append(type(item)(**{**vars(item), "x": item.x + x, "y": item.y + y}))
        self.width = max(self.width, x + other.width)
        self.height = max(self.height, y + other.height)

    def scene(self, source: str, label: str) -> DrawingScene:
        """The drawing for `front/drawing/drawing.js`, with its kernels and a label."""
        return {
            "kind": "drawing",
            "width": self.width,
            "height": self.height,
            "items": [cast(Item, {"what": item.what, **asdict(item)}) for item in self.items],
            "source": source,
            "label": label,
        }

    def figure(self) -> Figure:
        """The drawing as a matplotlib figure of its size."""
        from triton_lab.views.drawing.fonts import family, weight
        from triton_lab.views.drawing.png import blank

        figure = blank(self.width, self.height)
        axes = figure.add_axes((0, 0, 1, 1))
        axes.set_xlim(0, self.width)
        axes.set_ylim(self.height, 0)
        axes.set_axis_off()
        for level, item in enumerate(self.items):
            if isinstance(item, DrawnText):
                axes.text(
                    item.x,
                    item.y,
                    item.text,
                    fontsize=item.size,
                    color=colour(item.colour),
                    ha=item.align,
                    va="center_baseline",
                    family=family(item.text, item.mono),
                    weight=weight(item.text, item.bold),
                    parse_math=False,
                    zorder=level,
                )
            else:
                axes.add_patch(_box(item, level) if isinstance(item, Rectangle) else _line(item, level))
        return figure


def colour(name: str) -> str:
    """The value of a theme's colour given by name; other colours stay as they are."""
    return name if name.startswith("#") else str(getattr(style.LIGHT, name))


def widest(lines: Iterable[tuple[str, float, bool]]) -> float:
    """The approximate width in CSS pixels of the widest of some (text, size, mono)."""
    return max((len(text) * size / POINTS * (0.605 if mono else 0.56) for text, size, mono in lines), default=0)


def _box(box: Rectangle, level: int) -> FancyBboxPatch:
    from matplotlib.colors import to_rgba
    from matplotlib.patches import FancyBboxPatch

    return FancyBboxPatch(
        (box.x + box.radius, box.y + box.radius),
        box.width - 2 * box.radius,
        box.height - 2 * box.radius,
        boxstyle=f"round,pad={box.radius},rounding_size={box.radius}",
        facecolor=to_rgba(colour(box.fill), box.opacity),
        edgecolor=colour(box.edge),
        linewidth=box.line * POINTS,
        linestyle=(0, (4, 3)) if box.dashed else "solid",
        zorder=level,
    )


def _line(line: Line, level: int) -> FancyArrowPatch:
    from matplotlib.patches import FancyArrowPatch
    from matplotlib.path import Path

    middle = Path.CURVE4 if line.curved else Path.LINETO
    return FancyArrowPatch(
        path=Path(line.points, [Path.MOVETO] + [middle] * (len(line.points) - 1)),
        arrowstyle="-|>,head_length=4.5,head_width=2.6" if line.arrow else "-",
        color=colour(line.colour),
        linewidth=line.width * POINTS,
        linestyle=(0, (4, 3)) if line.dashed else "solid",
        mutation_scale=1.0,
        shrinkA=0,
        shrinkB=0,
        joinstyle="round",
        capstyle="butt",
        zorder=level,
    )
