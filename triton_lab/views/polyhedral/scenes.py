"""The scene of an iteration domain. See `triton_lab.views.scenes`."""

from __future__ import annotations

from typing import Literal, TypedDict

from triton_lab.views.drawing.scenes import Buffer, Ends
from triton_lab.views.polyhedral.style import Note


class DomainLayer(TypedDict):
    """A statement's instances; polygons and faces by their corners."""

    name: str
    points: Buffer
    polygons: list[list[list[float]]]
    faces: list[tuple[str, list[list[float]]]]


class BorderLine(TypedDict):
    """``ends`` and ``at``, where its label stands, as (x, y) in units."""

    ends: list[list[float]]
    label: str
    at: Ends
    key: str


class DomainArrows(TypedDict):
    """``ends``: from and to, in instances."""

    kind: str
    source: str
    target: str
    violated: bool
    ends: Buffer


class PlaneScene(TypedDict):
    """What lies in the plane (or in space, which has no box). Of each visit: (layer, point), its time, its instant."""

    dims: list[str]
    box: tuple[float, float, float, float] | None
    low: list[float]
    high: list[float]
    layers: list[DomainLayer]
    lines: list[BorderLine]
    arrows: list[DomainArrows]
    tiles: list[list[list[float]]]
    visits: Buffer
    places: Buffer
    instants: Buffer
    fronts: bool


class ArrayScene(TypedDict):
    name: str
    low: list[int]
    shape: list[int]
    rows: int
    columns: int


class AccessScene(TypedDict):
    """Which cell of its array each of these visits touches."""

    statement: str
    key: str
    kind: str
    text: str
    array: int
    visits: Buffer
    cells: Buffer


class FormulaWords(TypedDict):
    text: str
    key: str


class FormulaMatrix(TypedDict):
    rows: list[list[str]]
    keys: list[str]


class FormulaScene(TypedDict):
    name: str
    lines: list[list[FormulaWords | FormulaMatrix]]


class Controls(TypedDict):
    """Parameters as (value, least, most); iterators that are not drawn alike, null where they stand at all values."""

    parameters: dict[str, tuple[int, int, int]]
    iterators: list[str]
    hidden: dict[str, tuple[int | None, int, int]]


class IterationScene(PlaneScene):
    """``chosen``: positions in ``visits`` of the instance that is shown with what it reads and writes."""

    kind: Literal["iteration"]
    title: str
    order: bool
    time: PlaneScene | None
    arrays: list[ArrayScene]
    accesses: list[AccessScene]
    formulas: list[tuple[str, list[FormulaScene]]]
    program: str
    notes: list[Note]
    controls: Controls
    chosen: list[int]
