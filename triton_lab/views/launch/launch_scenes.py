"""What scenes of a launch have in common, and those whose views are long as they are. See `triton_lab.views.scenes`."""

from __future__ import annotations

from typing import Annotated, Literal, TypedDict

from triton_lab.views.drawing.cell_scenes import (
    Buffer,
    Cells,
    Dress,
    DressedPlace,
    HeatmapScene,
    Key,
    Layout,
    Look,
    Ramp,
    Room,
)
from triton_lab.views.drawing.scene_bounds import (
    CanvasBound,
    Few,
    GridShape,
    Index,
    Many,
    Most,
    Name,
    Named,
    Positive,
    Runs,
    Sentence,
    Text,
    Whole,
    Within,
)
from triton_lab.views.scenes import Scene, Whereabouts

Moment = tuple[Whole, Whole | None, Name]  # iteration, line, kind of access


class Touches(TypedDict):
    """Who touches the cells of each class, and when: runs of ``items`` from ``starts``."""

    starts: Annotated[Buffer, Runs("items")]
    items: Buffer
    moments: Many[Moment]


class ToldTouches(Touches):
    """``of``: the class here of each class of a heatmap."""

    of: Buffer


class ArgumentScene(TypedDict):
    """A tensor argument; strides and offset in elements."""

    name: Sentence
    shape: Index
    strides: Annotated[list[Annotated[int, Within(0, 2**53)]], Most(16)]
    offset: Whole


class StoredArgument(ArgumentScene):
    """``itemsize`` in bytes."""

    itemsize: Annotated[int, Within(1, 1 << 10)]


class Finer(TypedDict, total=False):
    """``finer``: what windows of the picture are called, where its cells stand for several positions.

    ``window`` of single positions (panel, row, column, rows, columns), where the cells are those of one alone.
    """

    finer: Sentence
    window: Annotated[list[Whole], Most(5)]


class StorageHeatmap(HeatmapScene, Finer):
    """Where a launch touches the cells, classes tell that apart; ``levels`` has their styles then."""

    levels: Buffer | None
    touched: ToldTouches | None


class TilingScene(Finer):
    kind: Literal["tiling"]
    title: Sentence
    argument: ArgumentScene
    grid: GridShape
    program: Whole | None
    layer: Sentence
    layers: Annotated[dict[str, DressedPlace], Most(16)]
    verbs: Named[Sentence]
    cells: Buffer
    classOf: Buffer
    starts: Annotated[Buffer, Runs("items")]
    items: Buffer
    accesses: Many[tuple[Whole | None, Sentence]]
    elsewhere: tuple[Whole, Whole]
    nobody: Sentence
    astray: Many[Sentence]


class LayerScene(Dress):
    """``levels``: which style each class has."""

    levels: Buffer


class AccessesScene(Touches, Finer):
    """``elsewhere``: active and masked lanes outside the argument."""

    kind: Literal["accesses"]
    title: Sentence
    says: Named[Sentence]
    over: Sentence
    unit: Annotated[int, Within(0, 2**53)]
    argument: StoredArgument
    grid: GridShape
    program: Whole | None
    iteration: Whole | None
    layer: Sentence
    heatmap: Cells
    layers: Annotated[dict[str, LayerScene], Most(16)]
    counts: Buffer
    elsewhere: tuple[Whole, Whole]
    nobody: Sentence


class TensorScene(StoredArgument):
    """``start``: bytes from the start of the memory to the tensor's storage."""

    memory: Whole
    start: Whole


class MemoryScene(TypedDict):
    letter: Sentence
    unit: Positive
    tensors: Many[Whole]


class TouchedScene(TypedDict):
    """``launchGrid``: of the launch that touches the cells, null for none."""

    strips: Few[StorageHeatmap]
    grids: Few[StorageHeatmap]
    launchGrid: GridShape | None
    overlaps: Many[Sentence]
    nobody: Sentence


class StorageScene(TouchedScene):
    kind: Literal["storage"]
    headings: Few[Sentence]
    table: Many[Few[Sentence]]
    tensors: Few[TensorScene]
    memories: Few[MemoryScene]


class WindowScene(TypedDict):
    """Single positions of a picture, as its `Finer` part."""

    kind: Literal["window"]
    heatmap: StorageHeatmap


class MarkedScene(Finer):
    """An argument's marked cells; ``there`` is how many cells it has."""

    layout: Layout
    room: Annotated[Room, CanvasBound()]
    title: Sentence
    there: Annotated[int, Within(0, 2**53)]
    cells: Buffer
    levels: Buffer
    legend: Annotated[list[Key], Most(1 << 8)]
    ramp: Ramp | None
    panelNames: Many[Name]


class LoadedScene(MarkedScene, total=False):
    """What was loaded: by which ``lines``, ascending, and, where they are not one for all, each one's cells."""

    # Not in notebooks that were saved earlier.
    lines: Many[Whole]
    loads: Few[Buffer]


class StoredScene(MarkedScene):
    """What was stored: the first element in each cell, + 1, and each program's."""

    argument: Sentence
    shape: Index
    line: Whole | None
    elements: Buffer
    first: Buffer
    grid: GridShape


class OriginScene(TypedDict):
    """One element's origins."""

    kind: Literal["origin"]
    title: Sentence
    stored: Sentence
    program: Whole
    element: Whole | None
    pictures: Few[LoadedScene]
    lines: Many[Sentence]


class OriginsScene(TypedDict):
    kind: Literal["origins"]
    name: Sentence
    stored: StoredScene | None
    looks: Annotated[list[Look], Most(1 << 10)]
    shown: OriginScene
    parts: Named[OriginScene]


class _Source(TypedDict):
    first: Whole
    lines: Many[tuple[Sentence, Many[Sentence], Sentence | None]]


class MarkedSource(_Source, total=False):
    """Lines, each with the kinds of its accesses and the worst finding."""

    place: Whereabouts  # not in notebooks that were saved earlier


class _Finding(TypedDict):
    severity: Sentence
    icon: Sentence
    line: Whole | None
    program: Whole | None
    message: Sentence
    hint: Sentence
    excerpt: Many[Sentence]
    stopped: bool
    orders: Many[Sentence]
    fix: Many[tuple[Whole, Sentence, Sentence]] | None


class FindingScene(_Finding, total=False):
    """``hint``: what to do. ``stopped``: whether it is what ended the launch, as an error.

    ``where``: its line in words. ``orders``: what a race may leave, a line each. ``fix``: for each edit its line,
    before and after.
    """

    where: Sentence  # not in notebooks that were saved earlier


class _Tab(TypedDict):
    name: Name
    label: Name


class TabScene(_Tab, total=False):
    """``window``: how many programs a part of it covers, where it follows the picked program."""

    window: Positive


class ItemScene(TabScene):
    """``lines`` that the part concerns."""

    lines: Many[Whole]


class ChoiceScene(TypedDict):
    kind: Literal["choice"]
    items: Many[ItemScene]


class CardScene(TypedDict):
    """``told``: whether a finding says what ``failure`` does."""

    kind: Literal["card"]
    title: Sentence
    facts: Many[Sentence]
    grid: GridShape
    headings: Few[Sentence]
    table: Many[Few[Sentence]]
    scalars: Many[Sentence]
    findings: Annotated[list[FindingScene], Most(1 << 10)]
    failure: Text
    told: bool
    remarks: Many[Sentence]
    show: Many[Sentence]
    source: MarkedSource
    unchecked: Sentence
    tabs: Few[TabScene]
    opened: Sentence | None
    parts: Named[Scene]
