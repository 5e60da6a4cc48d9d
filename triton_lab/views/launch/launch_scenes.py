"""The scenes of arguments that several views share, and those of the longest views. See `triton_lab.views.scenes`."""

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
    Whole,
    Within,
)

Moment = tuple[Whole, Whole | None, Name]  # iteration, line, kind of access


class Touches(TypedDict):
    """Who touches the cells of each class, and when: runs of ``items``, each beginning at ``starts``."""

    starts: Annotated[Buffer, Runs("items")]
    items: Buffer
    moments: Many[Moment]


class ToldTouches(Touches):
    """The touches of a heatmap's classes. ``of``: for each class of the heatmap, its class here."""

    of: Buffer


class ArgumentScene(TypedDict):
    """A tensor argument; strides and offset in elements."""

    name: Sentence
    shape: Index
    strides: Annotated[list[Annotated[int, Within(0, 2**53)]], Most(16)]
    offset: Whole


class StoredArgument(ArgumentScene):
    """A tensor argument in storage; ``itemsize`` is in bytes."""

    itemsize: Annotated[int, Within(1, 1 << 10)]


class Finer(TypedDict, total=False):
    """A picture with windows of single positions, if its cells stand for several.

    ``finer``: the name of such windows. ``window``: the single positions that this picture shows (panel, row, column,
    rows, columns), if it is a window.
    """

    finer: Sentence
    window: Annotated[list[Whole], Most(5)]


class LastValues(TypedDict, total=False):
    """``values``: of each element at its last access. Scenes of large arguments, and of older notebooks, lack them."""

    values: Buffer


class StorageHeatmap(HeatmapScene, Finer):
    """A heatmap of storage. If a launch touches its cells, classes differ by touches, too; ``levels`` are styles."""

    levels: Buffer | None
    touched: ToldTouches | None


class _Tiling(TypedDict):
    kind: Literal["tiling"]
    title: Sentence
    argument: ArgumentScene
    grid: GridShape
    program: Whole | None
    layer: Sentence
    layers: Annotated[dict[str, DressedPlace], Most(16)]
    cells: Buffer
    classOf: Buffer
    starts: Annotated[Buffer, Runs("items")]
    items: Buffer
    accesses: Many[tuple[Whole | None, Sentence]]
    elsewhere: tuple[Whole, Whole]
    nobody: Sentence
    astray: Many[Sentence]


class TilingScene(_Tiling, Finer, LastValues):
    """A tiling: for each class of elements the programs that touch them."""


class LayerScene(Dress):
    """One way of colouring. ``levels``: the style of each class."""

    levels: Buffer


class AccessesScene(Touches, Finer, LastValues):
    """Accesses to an argument. ``elsewhere``: active and masked lanes outside the argument."""

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
    """A tensor in storage. ``start``: bytes from the start of the memory to the tensor's storage."""

    memory: Whole
    start: Whole


class MemoryScene(TypedDict):
    letter: Sentence
    unit: Positive
    tensors: Many[Whole]


class TouchedScene(TypedDict):
    """Storage, and who touches it. ``launchGrid``: the grid of the launch that touches the cells, null for none."""

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
    """Single positions of a picture: the part that its `Finer` names."""

    kind: Literal["window"]
    heatmap: StorageHeatmap


class MarkedScene(Finer):
    """An argument's marked cells; ``there`` is the number of its cells."""

    layout: Layout
    room: Annotated[Room, CanvasBound()]
    title: Sentence
    there: Annotated[int, Within(0, 2**53)]
    cells: Buffer
    levels: Buffer
    legend: Annotated[list[Key], Most(1 << 8)]
    ramp: Ramp | None
    panelNames: Many[Name]


class LoadedScene(MarkedScene, LastValues, total=False):
    """Elements that were loaded: by which ``lines``, ascending, and, if these differ, the lines of each cell."""

    # Older saved notebooks lack this.
    lines: Many[Whole]
    loads: Few[Buffer]


class StoredScene(MarkedScene, LastValues):
    """Elements that were stored: the first element in each cell, + 1, and that of each program."""

    argument: Sentence
    shape: Index
    line: Whole | None
    elements: Buffer
    first: Buffer
    grid: GridShape


class OriginScene(TypedDict):
    """The origins of one element."""

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
