"""The scenes of the picture of a grid. See `triton_lab.views.scenes`."""

from __future__ import annotations

from typing import Annotated, Literal, TypedDict

from triton_lab.views.drawing.cell_scenes import Buffer, Cells, Key, Marked
from triton_lab.views.drawing.scene_bounds import (
    Few,
    GridShape,
    Levels,
    Many,
    Name,
    Named,
    Number,
    Palette,
    Positive,
    Product,
    Runs,
    Sentence,
    Whole,
)
from triton_lab.views.launch.launch_scenes import AccessesScene

MOST_PROGRAMS = 1 << 18  # of a saved picture: each has a colour, and a place in each input


class TargetScene(TypedDict):
    """The argument beside the grid. ``first``: a program of each class of the accesses, + 1."""

    accesses: AccessesScene
    first: Buffer


class GridRamp(TypedDict):
    """The styles of the levels: the fixed ones, those of the ramp, and a colour for each of a few programs.

    It also has the legend and the ticks of programs.
    """

    styles: Buffer
    start: Palette
    levels: Levels
    programs: Few[Key]
    name: Name
    ticks: Few[tuple[Number, Name]]


class InputScene(TypedDict):
    """Which programs read which parts of an argument, and how many bytes each part has."""

    name: Sentence
    nbytes: Buffer
    starts: Annotated[Buffer, Runs("items")]
    items: Buffer


class StopScene(TypedDict):
    """The place of each program when the launch was stopped, as an index into ``says``, whose first entry is empty."""

    states: Buffer
    says: Many[Sentence]


class _Grid(TypedDict):
    kind: Literal["grid"]
    kernel: Sentence
    says: Named[Sentence]
    grid: Annotated[GridShape, Product(MOST_PROGRAMS)]  # a number for each program
    program: Whole | None
    layer: Sentence
    sms: Positive
    heatmap: Cells
    ramp: GridRamp
    numbers: Named[Buffer]
    masked: Buffer
    loaded: Buffer
    stored: Buffer
    inputs: Few[InputScene]
    target: TargetScene | None


class GridScene(_Grid, total=False):
    """The grid. ``stopped``: where programs stopped, if the launch did; ``marks``: the programs of findings."""

    stopped: StopScene
    marks: Few[Marked]
