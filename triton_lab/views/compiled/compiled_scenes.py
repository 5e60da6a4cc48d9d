"""The scenes of compilations. See `triton_lab.views.scenes`."""

from __future__ import annotations

from typing import Annotated, Literal, TypedDict

from triton_lab.views.drawing.cell_scenes import Buffer, HeatmapScene
from triton_lab.views.drawing.drawing_scenes import DrawingScene
from triton_lab.views.drawing.scene_bounds import Code, Few, GridShape, Many, Name, Sentence, Whole, Within
from triton_lab.views.launch.launch_scenes import LastValues


class StageScene(TypedDict):
    """A stage as text: ``text`` has its lines, ``numbers`` their line numbers in the whole stage.

    ``trail`` has for each line the index of its entry in ``trails``, + 1: rows of the source, the innermost first, and
    the same in words. ``op`` likewise is an index into ``ops``: name and explanation. ``left``: how many lines did not
    fit.
    """

    name: Sentence
    label: Sentence
    text: Code
    numbers: Buffer
    trail: Buffer
    trails: Many[tuple[Many[Whole], Sentence]]
    op: Buffer
    ops: Many[tuple[Sentence, Sentence]]
    left: Whole


class StagesScene(TypedDict):
    """A source and its stages.

    ``source``: rows of line number, text, and why the line has no instructions; a row with line 0 names a function.
    ``shown``: the stages that stand beside the source at first.
    """

    kind: Literal["stages"]
    title: Sentence
    source: Many[tuple[Whole, Sentence, Sentence]]
    stages: Few[StageScene]
    shown: Many[Sentence]
    note: Sentence


class _Traffic(TypedDict):
    kind: Literal["traffic"]
    title: Sentence
    heatmap: HeatmapScene | None
    counts: Buffer
    rows: Many[Sentence]
    columns: Many[Sentence]
    unit: Sentence
    note: Sentence


class TrafficScene(_Traffic, LastValues, total=False):
    """The traffic of an access: ``counts`` of bytes or words (``unit``) by ``rows`` and ``columns``.

    Rows and columns have names in words. Without a heatmap the ``note`` says why there is none. ``ends``: the first and
    the last element that is used of each column, with their ``values`` (columns, 2).
    """

    ends: Many[tuple[Name, Name]]


class TransactionsScene(TypedDict):
    """The accesses of a launch: ``table``, under ``headings``, has a row for each, with its source line.

    ``traffics`` has the picture of ``program`` for each row, None if it did not fit; ``programs`` says for which rows
    programs differ. ``shown`` is the row that is open at first; ``worst`` names the access that wastes most, and what
    to do.
    """

    kind: Literal["transactions"]
    title: Sentence
    name: Sentence
    grid: GridShape
    worst: Sentence
    headings: Few[Sentence]
    table: Many[Few[Sentence]]
    lines: Many[Whole | None]
    programs: Many[bool]
    program: Whole
    shown: Whole
    traffics: Many[TrafficScene | None]
    problems: Many[Sentence]


class RoofScene(TypedDict):
    """A GPU's roof; ``text`` says where the launch stands under it."""

    name: Sentence
    drawing: DrawingScene
    text: Sentence
    source: Sentence


class CostScene(TypedDict):
    """The cost of a launch. ``facts``: names and values. ``roofs``, of which ``shown`` is open.

    ``listing``: line, text and its shares, from 0 to 1, of the totals that ``shares`` names, None where a share is not
    known; ``totals`` are these totals.
    """

    kind: Literal["cost"]
    title: Sentence
    facts: Many[tuple[Sentence, Sentence]]
    roofs: Few[RoofScene]
    shown: Whole
    shares: Many[Sentence]
    totals: Many[Sentence]
    listing: Many[tuple[Whole, Sentence, Few[Annotated[float, Within(0, 1e6)] | None]]]
    problem: Sentence
