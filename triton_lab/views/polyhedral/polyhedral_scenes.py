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

MOST_MOVED = 2000  # visits that are placed anew while a border is dragged
MOST_PAIRS = 20_000  # pairs of dependences that are checked meanwhile
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

    ``still``: the plane with all that no order changes; ``over``: tiles, instants and arrows; ``solid``: space, with
    the place that is seen in the ``middle``. ``frame``: the pixels of the plane's origin, or of the middle; of a unit;
    and of a point's radius. Each visit has (layer, point), time and instant.
    """

    name: Sentence
    dims: Annotated[list[Name], Most(3, least=1)]
    still: DrawingScene | None
    over: DrawingScene | None
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
    """The cell of its array that each of these visits touches. ``may``: data decides whether it does."""

    statement: Sentence
    key: Sentence
    kind: Sentence
    text: Sentence
    may: bool
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


class MovableLoop(TypedDict):
    """A loop. ``low`` and ``high``: its least and greatest time. ``line``: the coefficients of its time in the plane,
    and the constant; empty if its iterations are no lines there. ``parallel``: its iterations run at once."""

    name: Name
    low: Whole
    high: Whole
    line: Index
    parallel: bool


class MovablePairs(TypedDict):
    """The pairs of a dependence: the places of source and target in the order. ``may``: data decides whether they
    depend on each other; ``drawn``: whether those that are kept are drawn."""

    kind: Name
    text: Sentence
    may: bool
    drawn: bool
    pairs: Annotated[Buffer, Numbers(2 * MOST_PAIRS)]
    colour: Name
    dashes: Few[Coordinate]
    beside: Coordinate


class MovesScene(TypedDict):
    """The loops around all statements, outermost first, and what follows from their order.

    ``times``: for each place in the order the time in each loop; ``rest``: in the dimensions within, called ``names``;
    ``fixed``: the same, 0 where iterations run at once. ``statement``: the number of its statement in ``statements``;
    ``points``: its iterators, (places, most iterators). ``rows``: the half spaces of the domain over the loops' times,
    (coefficients, constant); empty if the loops cannot be written without Python. ``bodies``: each statement's text
    and, for each of its iterators, (name, coefficients and constant). ``where``: the values of parameters; ``sizes``:
    the tiles that the picture shows.
    """

    loops: Annotated[list[MovableLoop], Most(4, least=1)]
    names: Annotated[list[Name], Most(32)]
    times: Annotated[Buffer, Numbers(4 * MOST_MOVED)]
    rest: Annotated[Buffer, Numbers(32 * MOST_MOVED)]
    fixed: Annotated[Buffer, Numbers(32 * MOST_MOVED)]
    statements: Few[Name]
    statement: Annotated[Buffer, Numbers(MOST_MOVED)]
    points: Annotated[Buffer, Numbers(32 * MOST_MOVED)]
    pairs: Many[MovablePairs]
    rows: Many[Index]
    bodies: Many[tuple[Text, Many[tuple[Name, Index]]]]
    language: Literal["c", "python"]
    where: Sentence
    sizes: Index
    violated: Name
    tile: Name


class MovedScene(TypedDict):
    """The loops of an order that the reader made, and whether it is legal. ``runs``: as in `IterationScene`."""

    kind: Literal["moved"]
    program: Text
    runs: Many[Name]
    notes: Many[Note]


class IterationScene(PlaneScene):
    """An iteration domain. ``chosen``: positions in ``visits`` of the instance shown with what it reads and writes.

    ``runs``: for each line of ``program``, the statement that it runs, "" for none.
    """

    kind: Literal["iteration"]
    title: Sentence
    order: bool
    time: PlaneScene | None
    arrays: Few[ArrayScene]
    accesses: Few[AccessScene]
    formulas: Many[tuple[Sentence, Many[FormulaScene]]]
    program: Text
    runs: Many[Name]
    notes: Many[Note]
    legend: DrawingScene
    controls: Controls
    moves: MovesScene | None
    chosen: Annotated[list[Whole], Most(1 << 8)]
