"""Bounds on the sizes in a scene, written as annotations in the types of scenes.

A saved scene is untrusted data. The browser checks it against these bounds before it draws anything (`front/check.js`).
`declarations` refuses a scene's type in which a number, a text, a list, a map or bytes have no bound. A bound is
several times what the views send: it protects the page, and does not limit a view.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, TypeVar

T = TypeVar("T")


@dataclass(frozen=True)
class Within:
    """The smallest and the largest value of a number, both included."""

    low: float
    high: float


@dataclass(frozen=True)
class Most:
    """The largest number of characters of a text, items of a list, entries of a map, or bytes."""

    count: int
    least: int = 0


@dataclass(frozen=True)
class Times:
    """The product of this field and ``others`` of its record is at most ``most``."""

    others: tuple[str, ...]
    most: int


@dataclass(frozen=True)
class Product:
    """The product of a list's numbers is at most ``most``; in a list of records, the product of that field."""

    most: int
    field: str = ""


@dataclass(frozen=True)
class Numbers:
    """The largest number of items in a buffer; all such buffers of a scene together have at most `MOST_POINTS`."""

    most: int


@dataclass(frozen=True)
class Runs:
    """A buffer of the indices at which runs begin in the field ``items``: ascending, none beyond its end."""

    items: str


@dataclass(frozen=True)
class CanvasBound:
    """The room for a canvas with the record's ``layout``: the canvas has at most `MOST_PIXELS`."""


@dataclass(frozen=True)
class Rows:
    """A text of which only the visible lines are drawn: it counts for `MOST_CODE`, not for `MOST_LETTERS`."""


# Bounds on one scene with everything drawn at once; the picture behind a tab is another scene.
MOST_VALUES = 1 << 15  # numbers, texts and so on; each may become an element of the page
MOST_LETTERS = 1 << 19  # laid out by the page
MOST_CODE = 1 << 22  # letters of code, of which the page lays out only those in sight
MOST_PIXELS = 1 << 21  # CSS pixels of one canvas
MOST_SIDE = 1 << 14  # of a canvas, across or down
MOST_PAINTED = 5 << 19  # of all canvases of heatmaps; more needs over 300 MB of a browser
MOST_NUMBERS = 1 << 22  # in all buffers
MOST_POINTS = 600_000
MOST_SCENES = 16  # scenes in scenes
MOST_PARTS = 4096

_EXACT = 2**53  # a browser has exact integers up to here
_LARGEST = 1.7976931348623157e308  # JSON has no infinity

# Numbers that are shown or computed with, but never used as a count.
Whole = Annotated[int, Within(-_EXACT, _EXACT)]
Number = Annotated[float, Within(-_LARGEST, _LARGEST)]
# Numbers that are used as counts, to allocate or to paint.
Positive = Annotated[int, Within(1, _EXACT)]
Palette = Annotated[int, Within(0, 1 << 16)]  # a place in the palette
Levels = Annotated[int, Within(0, 1 << 10)]  # of a ramp
Coordinate = Annotated[float, Within(-1e6, 1e6)]  # in units of a domain, or pixels of a drawing

Name = Annotated[str, Most(256)]  # a text on a canvas, or in a control
Sentence = Annotated[str, Most(1 << 13)]
Text = Annotated[str, Most(1 << 17)]
Code = Annotated[str, Most(1 << 20), Rows()]

Few = Annotated[list[T], Most(1 << 6)]
Many = Annotated[list[T], Most(1 << 14)]
Named = Annotated[dict[str, T], Most(MOST_PARTS)]
Index = Annotated[list[Whole], Most(16)]  # one number for each dimension
GridShape = Annotated[list[Annotated[int, Within(0, 1 << 31)]], Most(3, least=3)]
