"""How much of anything a scene may have: bounds that stand in the types of scenes, as annotations.

A saved scene is data of a stranger. The browser holds it to these bounds before it draws anything (`front/check.js`).
`declarations` refuses a scene's type in which a number, a text, a list, a map or bytes have none. A bound is several
times what the views send: it keeps a page alive, it is no limit of a view.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, TypeVar

T = TypeVar("T")


@dataclass(frozen=True)
class Within:
    """The ends of a number, both included."""

    low: float
    high: float


@dataclass(frozen=True)
class Most:
    """How many: characters of a text, items of a list, entries of a map, bytes."""

    count: int
    least: int = 0


@dataclass(frozen=True)
class Times:
    """The product of this field with ``others`` of its record is at most ``most``."""

    others: tuple[str, ...]
    most: int


@dataclass(frozen=True)
class Product:
    """The product of a list's numbers is at most ``most``; of that field, where the list has records."""

    most: int
    field: str = ""


@dataclass(frozen=True)
class Numbers:
    """So many numbers in a buffer, and in all such buffers of a scene together `MOST_POINTS`."""

    most: int


@dataclass(frozen=True)
class Runs:
    """A buffer of where runs begin in the field ``items``: ascending, none beyond its end."""

    items: str


@dataclass(frozen=True)
class CanvasBound:
    """A room of which a canvas is made with the record's ``layout``: it has at most `MOST_PIXELS`."""


@dataclass(frozen=True)
class Png:
    """Bytes of a PNG of at most `MOST_PIXELS`."""


@dataclass(frozen=True)
class Rows:
    """A text of which only the lines in sight are drawn: it counts for `MOST_CODE`, not for `MOST_LETTERS`."""


# Of one scene with all that is drawn at once with it: what is behind a tab is another.
MOST_VALUES = 1 << 15  # numbers, texts and so on; each may be an element of the page
MOST_LETTERS = 1 << 19  # that the page lays out
MOST_CODE = 1 << 22  # letters of which it lays out those in sight
MOST_PIXELS = 1 << 21  # CSS pixels of one canvas
MOST_SIDE = 1 << 14  # of a canvas, across or down
MOST_PAINTED = 3 << 20  # of all canvases of heatmaps
MOST_NUMBERS = 1 << 22  # in all buffers
MOST_POINTS = 600_000
MOST_SCENES = 16  # scenes in scenes
MOST_PARTS = 4096

_EXACT = 2**53  # integers up to here are exact in a browser
_LARGEST = 1.7976931348623157e308  # JSON has no infinity

# Numbers that are told or computed with: none of them is counted up to.
Whole = Annotated[int, Within(-_EXACT, _EXACT)]
Number = Annotated[float, Within(-_LARGEST, _LARGEST)]
# Numbers that are counted up to, allocated or painted.
Positive = Annotated[int, Within(1, _EXACT)]
Palette = Annotated[int, Within(0, 1 << 16)]  # a place in the palette
Levels = Annotated[int, Within(0, 1 << 10)]  # of a ramp
Coordinate = Annotated[float, Within(-1e6, 1e6)]  # in units of a domain, or pixels of a drawing

Name = Annotated[str, Most(256)]  # stands on a canvas, or in a control
Sentence = Annotated[str, Most(1 << 13)]
Text = Annotated[str, Most(1 << 17)]
Code = Annotated[str, Most(1 << 20), Rows()]

Few = Annotated[list[T], Most(1 << 6)]
Many = Annotated[list[T], Most(1 << 14)]
Named = Annotated[dict[str, T], Most(MOST_PARTS)]
Index = Annotated[list[Whole], Most(16)]  # a number for each dimension
GridShape = Annotated[list[Annotated[int, Within(0, 1 << 31)]], Most(3, least=3)]
