"""What scenes of compilations have in common. See `triton_lab.views.scenes`."""

from __future__ import annotations

from typing import Annotated, Literal, TypedDict

from triton_lab.views.drawing.cell_scenes import Buffer, HeatmapScene
from triton_lab.views.drawing.scene_bounds import Code, Few, GridShape, Many, Name, Sentence, Whole, Within


class StageScene(TypedDict):
    """A stage as it is read: ``text`` has its lines, ``numbers`` those that they have in the whole stage.

    ``trail`` has for each line which of the ``trails`` it comes along, + 1: rows of the source, the innermost first,
    and that in words; ``op`` likewise which of the ``ops`` it is: name and explanation. ``left``: how many lines there
    was no room for.
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
    """``source``: rows of line number, text and why it has no instructions; a row with line 0 names a function.

    ``shown``: the stages that stand beside the source at first.
    """

    kind: Literal["stages"]
    title: Sentence
    source: Many[tuple[Whole, Sentence, Sentence]]
    stages: Few[StageScene]
    shown: Many[Sentence]
    note: Sentence


class TrafficScene(TypedDict):
    """``counts`` of bytes or words (``unit``) by ``rows`` and ``columns``, which are told in words. Without a heatmap
    the ``note`` says why there is none."""

    kind: Literal["traffic"]
    title: Sentence
    heatmap: HeatmapScene | None
    counts: Buffer
    rows: Many[Sentence]
    columns: Many[Sentence]
    unit: Sentence
    note: Sentence


class TransactionsScene(TypedDict):
    """``table`` under ``headings``: a row for each access, with its line of the source; ``traffics`` has what each row
    shows of ``program``, None where there was no room; ``programs`` says for which rows programs differ. ``shown`` is
    the row that is open at first; ``worst`` what wastes most, and what to do."""

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


Rate = Annotated[float, Within(1, 1e24)]  # a roofline has a line for each power of ten


class RoofScene(TypedDict):
    """A GPU: ``memory`` in bytes and ``peak`` in operations a second, of ``kind`` numbers; ``text`` says where the
    launch stands under it."""

    name: Sentence
    memory: Rate
    peak: Rate
    kind: Name
    rate: Annotated[float, Within(0, 1e24)]
    text: Sentence
    source: Sentence


class CostScene(TypedDict):
    """``facts``: names and values. ``roofs``, of which ``shown`` is open; ``intensity`` in operations a byte, None
    where no bytes are moved. ``listing``: line, text and its shares, from 0 to 1, of what ``shares`` names, None where
    that is not known; ``totals`` what they are shares of."""

    kind: Literal["cost"]
    title: Sentence
    facts: Many[tuple[Sentence, Sentence]]
    intensity: Annotated[float, Within(0, 1e15)] | None
    roofs: Few[RoofScene]
    shown: Whole
    shares: Many[Sentence]
    totals: Many[Sentence]
    listing: Many[tuple[Whole, Sentence, Few[Annotated[float, Within(0, 1e6)] | None]]]
    problem: Sentence
