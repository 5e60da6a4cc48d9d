"""What scenes of a launch have in common, and those whose views are long as they are. See `triton_lab.views.scenes`."""

from __future__ import annotations

from typing import Literal, TypedDict

from triton_lab.views.drawing.scenes import (
    Buffer,
    Cells,
    Dress,
    DressedPlace,
    Ends,
    HeatmapScene,
    Key,
    Layout,
    Look,
    Ramp,
)
from triton_lab.views.scenes import Scene, Whereabouts

Moment = tuple[int, int | None, str]  # iteration, line, kind of access


class Touches(TypedDict):
    """Who touches the cells of each class, and when: runs of ``items`` from ``starts``."""

    starts: Buffer
    items: Buffer
    moments: list[Moment]


class ToldTouches(Touches):
    """``of``: the class here of each class of a heatmap."""

    of: Buffer


class ArgumentScene(TypedDict):
    """A tensor argument; strides and offset in elements."""

    name: str
    shape: list[int]
    strides: list[int]
    offset: int


class StoredArgument(ArgumentScene):
    """``itemsize`` in bytes."""

    itemsize: int


class Finer(TypedDict, total=False):
    """``finer``: what windows of the picture are called, where its cells stand for several positions.

    ``window`` of single positions (panel, row, column, rows, columns), where the cells are those of one alone.
    """

    finer: str
    window: list[int]


class StorageHeatmap(HeatmapScene, Finer):
    """Where a launch touches the cells, classes tell that apart; ``levels`` has their styles then."""

    levels: Buffer | None
    touched: ToldTouches | None


class TilingScene(Finer):
    kind: Literal["tiling"]
    title: str
    argument: ArgumentScene
    grid: list[int]
    program: int | None
    layer: str
    layers: dict[str, DressedPlace]
    verbs: dict[str, str]
    cells: Buffer
    classOf: Buffer
    starts: Buffer
    items: Buffer
    accesses: list[tuple[int | None, str]]
    elsewhere: tuple[int, int]
    nobody: str
    astray: list[str]


class LayerScene(Dress):
    """``levels``: which style each class has."""

    levels: Buffer


class AccessesScene(Touches, Finer):
    """``elsewhere``: active and masked lanes outside the argument."""

    kind: Literal["accesses"]
    title: str
    says: dict[str, str]
    over: str
    unit: int
    argument: StoredArgument
    grid: list[int]
    program: int | None
    iteration: int | None
    layer: str
    heatmap: Cells
    layers: dict[str, LayerScene]
    counts: Buffer
    elsewhere: tuple[int, int]
    nobody: str


class TensorScene(StoredArgument):
    """``start``: bytes from the start of the memory to the tensor's storage."""

    memory: int
    start: int


class MemoryScene(TypedDict):
    letter: str
    unit: int
    tensors: list[int]


class TouchedScene(TypedDict):
    """``launchGrid``: of the launch that touches the cells, null for none."""

    strips: list[StorageHeatmap]
    grids: list[StorageHeatmap]
    launchGrid: list[int] | None
    overlaps: list[str]
    nobody: str


class StorageScene(TouchedScene):
    kind: Literal["storage"]
    headings: list[str]
    table: list[list[str]]
    tensors: list[TensorScene]
    memories: list[MemoryScene]


class WindowScene(TypedDict):
    """Single positions of a picture, as its `Finer` part."""

    kind: Literal["window"]
    heatmap: StorageHeatmap


class MarkedScene(Finer):
    """An argument's marked cells; ``there`` is how many cells it has."""

    layout: Layout
    room: Ends
    title: str
    there: int
    cells: Buffer
    levels: Buffer
    legend: list[Key]
    ramp: Ramp | None
    panelNames: list[str]


class LoadedScene(MarkedScene, total=False):
    """What was loaded: by which ``lines``, ascending, and, where they are not one for all, each one's cells."""

    # Not in notebooks that were saved earlier.
    lines: list[int]
    loads: list[Buffer]


class StoredScene(MarkedScene):
    """What was stored: the first element in each cell, + 1, and each program's."""

    argument: str
    shape: list[int]
    line: int | None
    elements: Buffer
    first: Buffer
    grid: list[int]


class OriginScene(TypedDict):
    """One element's origins."""

    kind: Literal["origin"]
    title: str
    stored: str
    program: int
    element: int | None
    pictures: list[LoadedScene]
    lines: list[str]


class OriginsScene(TypedDict):
    kind: Literal["origins"]
    name: str
    stored: StoredScene | None
    looks: list[Look]
    shown: OriginScene
    parts: dict[str, OriginScene]


class _Source(TypedDict):
    first: int
    lines: list[tuple[str, list[str], str | None]]


class MarkedSource(_Source, total=False):
    """Lines, each with the kinds of its accesses and the worst finding."""

    place: Whereabouts  # not in notebooks that were saved earlier


class _Finding(TypedDict):
    severity: str
    icon: str
    line: int | None
    program: int | None
    message: str
    hint: str
    excerpt: list[str]
    stopped: bool
    orders: list[str]
    fix: list[tuple[int, str, str]] | None


class FindingScene(_Finding, total=False):
    """``hint``: what to do. ``stopped``: whether it is what ended the launch, as an error.

    ``where``: its line in words. ``orders``: what a race may leave, a line each. ``fix``: for each edit its line,
    before and after.
    """

    where: str  # not in notebooks that were saved earlier


class _Tab(TypedDict):
    name: str
    label: str


class TabScene(_Tab, total=False):
    """``window``: how many programs a part of it covers, where it follows the picked program."""

    window: int


class ItemScene(TabScene):
    """``lines`` that the part concerns."""

    lines: list[int]


class ChoiceScene(TypedDict):
    kind: Literal["choice"]
    items: list[ItemScene]


class CardScene(TypedDict):
    """``told``: whether a finding says what ``failure`` does."""

    kind: Literal["card"]
    title: str
    facts: list[str]
    grid: list[int]
    headings: list[str]
    table: list[list[str]]
    scalars: list[str]
    findings: list[FindingScene]
    failure: str
    told: bool
    remarks: list[str]
    show: list[str]
    source: MarkedSource
    unchecked: str
    tabs: list[TabScene]
    opened: str | None
    parts: dict[str, Scene]
