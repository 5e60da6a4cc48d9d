"""A drawing as plain data: boxes, words, lines and circles in CSS pixels, for matplotlib and for the browser alike.

A colour is a name from the theme (`style.Theme`), "#rrggbb", "none", or two of these with a slash between them: for a
light and for a dark page. A box may be tinted with a colour at low opacity, so that it can be read on a light and on a
dark ground.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from dataclasses import fields as dataclass_fields
from typing import Any, ClassVar, cast

import numpy as np
import numpy.typing as npt

from triton_lab.views.drawing import style
from triton_lab.views.drawing.drawing_scenes import Align, DrawingScene, Item
from triton_lab.views.drawing.fonts import width_of
from triton_lab.views.drawing.heatmap import buffer

Places = npt.NDArray[np.float64]

POINTS = 0.75  # points in a CSS pixel
MARGIN = 16.0  # CSS pixels around a static picture


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
    def right(self) -> float:
        return self.x + self.width

    @property
    def bottom(self) -> float:
        return self.y + self.height

    def moved(self, x: float, y: float) -> Rectangle:
        return replace(self, x=self.x + x, y=self.y + y)


@dataclass(frozen=True)
class DrawnText:
    """One line of text, centred vertically at y. `halo`: a colour around the letters, so that they can be read across
    lines."""

    what: ClassVar = "words"
    x: float
    y: float
    text: str
    size: float = style.TEXT
    colour: str = "ink"
    align: Align = "left"
    bold: bool = False
    mono: bool = False
    halo: str = ""

    @property
    def wide(self) -> float:
        """The width in CSS pixels."""
        return width_of(self.text, self.size, self.mono, self.bold)

    @property
    def right(self) -> float:
        """The right end."""
        return self.x + self.wide * {"left": 1.0, "center": 0.5, "right": 0.0}[self.align]

    def moved(self, x: float, y: float) -> DrawnText:
        return replace(self, x=self.x + x, y=self.y + y)


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
    opacity: float = 1.0

    def moved(self, x: float, y: float) -> Line:
        return replace(self, points=tuple((x + px, y + py) for px, py in self.points))


@dataclass(frozen=True)
class Segments:
    """Straight lines of one look: `ends` is (count, 2, 2). `dashes`: drawn and left out, in turns, in CSS pixels."""

    what: ClassVar = "segments"
    ends: Places
    colour: str
    width: float = 1.0
    dashes: tuple[float, ...] = ()

    def moved(self, x: float, y: float) -> Segments:
        return replace(self, ends=self.ends + np.array([x, y]))


@dataclass(frozen=True)
class ArrowLines:
    """Straight arrows of one look: `ends` is (count, 2, 2).

    Each starts and ends `gap` before the centres that it joins; `beside` shifts it sideways. `head` is the length of a
    head. All lengths are CSS pixels.
    """

    what: ClassVar = "arrows"
    ends: Places
    colour: str
    width: float = 1.0
    head: float = 9.0
    gap: float = 0.0
    dashes: tuple[float, ...] = ()
    beside: float = 0.0

    def moved(self, x: float, y: float) -> ArrowLines:
        return replace(self, ends=self.ends + np.array([x, y]))

    def parts(self) -> tuple[Segments, Polygons]:
        """The lines and the heads."""
        along = self.ends[:, 1] - self.ends[:, 0]
        unit = along / np.maximum(np.hypot(along[:, 0], along[:, 1])[:, None], 1e-9)
        across = np.stack([-unit[:, 1], unit[:, 0]], axis=1)
        start = self.ends[:, 0] + unit * self.gap + across * self.beside
        tip = self.ends[:, 1] - unit * self.gap + across * self.beside
        neck = tip - unit * self.head
        side = across * self.head * 0.42
        heads = np.stack([tip, neck + side, neck - side], axis=1)
        return Segments(np.stack([start, neck], axis=1), self.colour, self.width, self.dashes), Polygons(
            tuple(heads), self.colour
        )


@dataclass(frozen=True)
class Polygons:
    """Polygons of one look, each as its corners (count, 2)."""

    what: ClassVar = "polygons"
    corners: Sequence[Places]
    fill: str
    opacity: float = 1.0
    edge: str = "none"
    line: float = 0.0

    def moved(self, x: float, y: float) -> Polygons:
        return replace(self, corners=tuple(each + np.array([x, y]) for each in self.corners))


@dataclass(frozen=True)
class Circles:
    """Circles of one size around `centres`, (count, 2). `which`, (count,): the index in `fills` of each.

    `piled`: they overlap, so that each covers those before it.
    """

    what: ClassVar = "circles"
    centres: Places
    radius: float
    fills: Sequence[str]
    ring: str
    line: float
    which: npt.NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    piled: bool = False

    def moved(self, x: float, y: float) -> Circles:
        return replace(self, centres=self.centres + np.array([x, y]))


@dataclass(frozen=True)
class Pixels:
    """An image, (height, width, 3) or one colour for all of it. Images lie below all other items, in static pictures
    alone: the browser paints its own."""

    what: ClassVar = "pixels"
    x: float
    y: float
    width: float
    height: float
    pixels: npt.NDArray[np.uint8]

    @classmethod
    def flat(cls, x: float, y: float, width: float, height: float, colour: str) -> Pixels:
        """A rectangle of one colour ("#rrggbb")."""
        return cls(x, y, width, height, np.array([[style.rgb(colour)]], dtype=np.uint8))

    def moved(self, x: float, y: float) -> Pixels:
        return replace(self, x=self.x + x, y=self.y + y)


DrawnItem = Rectangle | DrawnText | Line | Segments | ArrowLines | Polygons | Circles | Pixels


@dataclass
class Drawing:
    """The items of a drawing, in the order in which they are drawn."""

    width: float = 0.0
    height: float = 0.0
    items: list[DrawnItem] = field(default_factory=list)

    def add(self, *items: DrawnItem) -> None:
        self.items += items

    def place(self, other: Drawing, x: float, y: float) -> None:
        """Put another drawing here, its corner at (x, y), and grow to hold it."""
        self.items += [item.moved(x, y) for item in other.items]
        self.width = max(self.width, x + other.width)
        self.height = max(self.height, y + other.height)

    def fitted(self) -> Drawing:
        """The drawing, grown to the right until it holds all its words."""
        self.width = max([self.width, *(item.right for item in self.items if isinstance(item, DrawnText))])
        return self

    def framed(self, margin: float = MARGIN) -> Drawing:
        """The drawing with so much room around it."""
        page = Drawing()
        page.place(self, margin, margin)
        page.width, page.height = page.width + margin, page.height + margin
        return page

    def scene(self, source: str, label: str) -> DrawingScene:
        """The drawing for `front/drawing/drawing.js`, with its kernels and a label."""
        return {
            "kind": "drawing",
            "width": self.width,
            "height": self.height,
            "items": [_scene(item) for item in self.items],
            "source": source,
            "label": label,
        }


def _scene(item: DrawnItem) -> Item:
    """An item with what it is; many numbers as bytes, others to hundredths of a pixel."""
    fields = _plain({each.name: getattr(item, each.name) for each in dataclass_fields(item)})
    if isinstance(item, Circles):
        numbers = item.which.astype(np.uint16 if len(item.fills) > 256 else np.uint8)
        fields |= {"centres": buffer(item.centres.astype(np.float32)), "which": buffer(numbers)}
    if isinstance(item, ArrowLines):
        fields |= {"ends": buffer(item.ends.astype(np.float32))}
    return cast(Item, {"what": item.what, **fields})


def _plain(value: Any) -> Any:
    """Arrays as lists, to hundredths."""
    if isinstance(value, dict):
        return {name: _plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return np.round(value, 2).tolist() if isinstance(value, np.ndarray) else value


def colour(name: str, theme: style.Theme = style.LIGHT) -> str:
    """The value of a colour of a drawing in a theme, as matplotlib reads it."""
    light, _, dark = name.partition("/")
    one = dark if dark and theme is style.DARK else light
    return one if one.startswith("#") or one == "none" else str(getattr(theme, one))
