"""What scenes of compilations have in common. See `triton_lab.views.scenes`."""

from __future__ import annotations

from typing import Literal, TypedDict

from triton_lab.views.drawing.scenes import Buffer, HeatmapScene


class StageScene(TypedDict):
    """A stage as it is read: ``text`` has its lines, ``numbers`` those that they have in the whole stage.

    ``trail`` has for each line which of the ``trails`` it comes along, + 1: rows of the source, the innermost first,
    and that in words; ``op`` likewise which of the ``ops`` it is: name and explanation. ``left``: how many lines there
    was no room for.
    """

    name: str
    label: str
    text: str
    numbers: Buffer
    trail: Buffer
    trails: list[tuple[list[int], str]]
    op: Buffer
    ops: list[tuple[str, str]]
    left: int


class StagesScene(TypedDict):
    """``source``: rows of line number, text and why it has no instructions; a row with line 0 names a function.

    ``shown``: the stages that stand beside the source at first.
    """

    kind: Literal["stages"]
    title: str
    source: list[tuple[int, str, str]]
    stages: list[StageScene]
    shown: list[str]
    note: str


class TrafficScene(TypedDict):
    """``counts`` of bytes or words (``unit``) by ``rows`` and ``columns``, which are told in words. Without a heatmap
    the ``note`` says why there is none."""

    kind: Literal["traffic"]
    title: str
    heatmap: HeatmapScene | None
    counts: Buffer
    rows: list[str]
    columns: list[str]
    unit: str
    note: str


class TransactionsScene(TypedDict):
    """``table`` under ``headings``: a row for each access, with its line of the source; ``traffics`` has what each row
    shows of ``program``, None where there was no room; ``programs`` says for which rows programs differ. ``shown`` is
    the row that is open at first; ``worst`` what wastes most, and what to do."""

    kind: Literal["transactions"]
    title: str
    name: str
    grid: list[int]
    worst: str
    headings: list[str]
    table: list[list[str]]
    lines: list[int | None]
    programs: list[bool]
    program: int
    shown: int
    traffics: list[TrafficScene | None]
    problems: list[str]


class RoofScene(TypedDict):
    """A GPU: ``memory`` in bytes and ``peak`` in operations a second, of ``kind`` numbers; ``text`` says where the
    launch stands under it."""

    name: str
    memory: float
    peak: float
    kind: str
    rate: float
    text: str
    source: str


class CostScene(TypedDict):
    """``facts``: names and values. ``roofs``, of which ``shown`` is open; ``intensity`` in operations a byte, None
    where no bytes are moved. ``listing``: line, text and its shares, from 0 to 1, of what ``shares`` names, None where
    that is not known; ``totals`` what they are shares of."""

    kind: Literal["cost"]
    title: str
    facts: list[tuple[str, str]]
    intensity: float | None
    roofs: list[RoofScene]
    shown: int
    shares: list[str]
    totals: list[str]
    listing: list[tuple[int, str, list[float | None]]]
    problem: str
