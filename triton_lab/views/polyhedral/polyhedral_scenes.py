"""The scene of an iteration domain. See `triton_lab.views.scenes`."""

from __future__ import annotations

from typing import Annotated, Literal, TypedDict

from triton_lab.views.drawing.cell_scenes import MOST_CELLS, Buffer
from triton_lab.views.drawing.drawing import DrawingScene
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
from triton_lab.views.polyhedral.polyhedral_style import Note

Points = Annotated[Buffer, Numbers(200_000)]  # instances are found, sorted and painted one by one
Place = Annotated[list[Coordinate], Most(3)]


class DomainLayer(TypedDict):
    """A statement's instances, and its polygons and faces by their corners."""

    name: Sentence
    points: Points
    polygons: Few[Many[Place]]
    faces: Annotated[list[tuple[Sentence, Many[Place]]], Most(1 << 8)]


class BorderLine(TypedDict):
    """A border: ``ends``, and ``at``, the place of its label, as (x, y) in units."""

    ends: Annotated[list[Place], Most(2, least=2)]
    label: Name
    at: tuple[Coordinate, Coordinate]
    key: Sentence


class DomainArrows(TypedDict):
    """Dependences as arrows. ``ends``: from and to, in instances."""

    kind: Sentence
    source: Sentence
    target: Sentence
    violated: bool
    ends: Points


class PlaneScene(TypedDict):
    """The contents of the plane (or of space, which has no box). Each visit has (layer, point), time and instant."""

    dims: Annotated[list[Name], Most(3, least=1)]
    box: tuple[Coordinate, Coordinate, Coordinate, Coordinate] | None
    low: Place
    high: Place
    layers: Few[DomainLayer]
    lines: Annotated[list[BorderLine], Most(1 << 8)]
    arrows: Few[DomainArrows]
    tiles: Annotated[list[Annotated[list[Place], Most(16)]], Most(1 << 11)]
    visits: Points
    places: Points
    instants: Points
    fronts: bool


class ArrayScene(TypedDict):
    name: Name
    low: Index
    shape: Index
    rows: Annotated[int, Within(1, 1 << 12)]
    columns: Annotated[int, Within(1, 1 << 12), Times(("rows",), MOST_CELLS)]


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
