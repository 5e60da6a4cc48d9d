"""What scenes of compilations have in common. See `triton_lab.views.scenes`."""

from __future__ import annotations

from typing import Literal, TypedDict

from triton_lab.views.drawing.scenes import Buffer


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
    kernel: int
    stages: list[StageScene]
    shown: list[str]
    note: str
