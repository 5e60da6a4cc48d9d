"""The scene of an iteration domain. See `triton_lab.views.scenes`."""

from __future__ import annotations

from typing import Annotated, Literal, TypedDict

from triton_lab.views.drawing.cell_scenes import MOST_CELLS, Buffer
from triton_lab.views.drawing.drawing_scenes import DrawingScene
from triton_lab.views.drawing.scene_bounds import (
    Coordinate,
    Few,
    Index,
    Many,
    Most,
    Name,
    Numbers,
    Sentence,
    Text,
    Times,
    Whole,
    Within,
)
from triton_lab.views.drawing.solid_scenes import SolidScene
from triton_lab.views.polyhedral.polyhedral_style import Note

Points = Annotated[Buffer, Numbers(200_000)]  # instances are found, sorted and painted one by one
Place = Annotated[list[Coordinate], Most(3)]


class DomainLayer(TypedDict):
    """A statement's instances, and how many pixels they are moved. In space, its circles have the points."""

    name: Sentence
    points: Points
    shift: tuple[Coordinate, Coordinate]


class BorderLine(TypedDict):
    """A border: ``ends``, and ``at``, the place of its label, as (x, y) in units."""

    ends: Annotated[list[Place], Most(2, least=2)]
    label: Name
    at: tuple[Coordinate, Coordinate]
    key: Sentence


class PlaneScene(TypedDict):
    """The contents of the plane, or of space.

    ``still``: the plane with all that does not move; ``solid``: space, with the place that is seen in the ``middle``.
    ``frame``: the pixels of the plane's origin, or of the middle; of a unit; and of a point's radius. Each visit has
    (layer, point), time and instant.
    """

    name: Sentence
    dims: Annotated[list[Name], Most(3, least=1)]
    still: DrawingScene | None
    solid: SolidScene | None
    middle: Place
    frame: tuple[Coordinate, Coordinate, Coordinate, Coordinate]
    layers: Few[DomainLayer]
    lines: Annotated[list[BorderLine], Most(1 << 8)]
    visits: Points
    places: Points
    instants: Points
    fronts: bool


class ArrayScene(TypedDict):
    """An array. ``picture``: its name and cells. ``size``: the pixels of a cell; the first cell is ``top`` down."""

    name: Name
    low: Index
    shape: Index
    rows: Annotated[int, Within(1, 1 << 12)]
    columns: Annotated[int, Within(1, 1 << 12), Times(("rows",), MOST_CELLS)]
    picture: DrawingScene
    size: tuple[Coordinate, Coordinate]
    top: Coordinate


class AccessScene(TypedDict):
    """The cell of its array that each of these visits touches."""

    statement: Sentence
    key: Sentence
    kind: Sentence
    text: Sentence
    array: Whole
    visits: Buffer
    cells: Buffer


class FormulaWords(TypedDict):
    text: Sentence
    key: Sentence


class FormulaMatrix(TypedDict):
    rows: Many[Few[Sentence]]
    keys: Many[Sentence]


class FormulaScene(TypedDict):
    name: Sentence
    lines: Many[Many[FormulaWords | FormulaMatrix]]


class Controls(TypedDict):
    """Parameters as (value, least, most), and the iterators that are not drawn likewise; null stands for all values."""

    parameters: Annotated[dict[str, tuple[Whole, Whole, Whole]], Most(16)]
    iterators: Annotated[list[Name], Most(16)]
    hidden: Annotated[dict[str, tuple[Whole | None, Whole, Whole]], Most(16)]


class IterationScene(PlaneScene):
    """An iteration domain. ``chosen``: positions in ``visits`` of the instance shown with what it reads and writes."""

    kind: Literal["iteration"]
    title: Sentence
    order: bool
    time: PlaneScene | None
    arrays: Few[ArrayScene]
    accesses: Few[AccessScene]
    formulas: Many[tuple[Sentence, Many[FormulaScene]]]
    program: Text
    notes: Many[Note]
    legend: DrawingScene
    controls: Controls
    chosen: Annotated[list[Whole], Most(1 << 8)]
