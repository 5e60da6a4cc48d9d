"""The buffers of a step, before and after: a row for each piece of memory, a cell for each element."""

from __future__ import annotations

import math
import textwrap

from triton_lab.lazy.graph import short
from triton_lab.lazy.step import BufferState, Step
from triton_lab.lazy.step_text import fate
from triton_lab.localization import _
from triton_lab.messages import count
from triton_lab.views.drawing import style
from triton_lab.views.drawing.drawing import Drawing, DrawnText, Line, Rectangle
from triton_lab.views.drawing.fonts import width_of
from triton_lab.views.lazy.graph_picture import memory_colour

CELL, ROW = 26.0, 58.0
CELLS = 8  # of a buffer
CHARACTERS = 62  # of a line of words
BAR = 180.0  # CSS pixels of a buffer with too many elements for cells


def draw_buffers(step: Step) -> Drawing:
    """Two columns, before and after, and what happened; entries in one row are the same memory."""
    rows: dict[int, tuple[list[BufferState], list[BufferState]]] = {}
    for column, sights in enumerate((step.before, step.after)):
        for sight in sights:
            rows.setdefault(sight.place, ([], []))[column].append(sight)
    widths = [max(map(_width, sights), default=0.0) for sights in (step.before, step.after)]
    left, second = 116.0, 116.0 + widths[0] + 56
    third = second + widths[1] + 30
    drawing = Drawing(third, height=26 + ROW * len(rows))
    for x, title in ((left, _("before")), (second, _("after"))):
        drawing.add(DrawnText(x, 8, title, style.TEXT, "faint", bold=True))
    for row, (place, (before, after)) in enumerate(rows.items()):
        y = 34 + ROW * row
        shown = (before or after)[0]
        colour = memory_colour(_slot(step, shown.role))
        drawing.add(
            DrawnText(0, y + 6, _("memory {place}").format(place=place), style.SMALL, "faint"),
            DrawnText(0, y + 20, f"{short(shown.dtype)} x {shown.numel}", style.SMALL, "faint"),
        )
        outputs = [sight for sight in after if sight.role.startswith("out")]
        shared = bool(outputs) and len(after) > len(outputs)  # a live input and an output share it
        if before:
            _cells(drawing, left, y, before[0], colour, before[0].name, None)
        if after:
            names = ", ".join(dict.fromkeys(sight.name or sight.role for sight in after))
            was = before[0].values if before else None
            _cells(drawing, second, y, after[-1], colour, names, was, wrong=shared)
        if before and after:
            start = left + _width(before[0])
            drawing.add(Line(((start + 8, y + 13), (second - 8, y + 13)), "error" if shared else "mark", 1.2))
        told = (
            fate(step, step.before.index(before[0]))
            if before
            else _("new memory, holds {role}").format(role=after[0].role)
        )
        lines = textwrap.wrap(told, CHARACTERS)
        for number, line in enumerate(lines):
            at = y + 13 + (number - (len(lines) - 1) / 2) * 14
            drawing.add(DrawnText(third, at, line, style.SMALL, "error" if shared else "faint"))
    return drawing.fitted()


def _slot(step: Step, role: str) -> int:
    graph, placement = step.graph, step.executable.placement
    index = int(role.lstrip("inout"))
    return placement.slot_of[(graph.inputs if role.startswith("in") else graph.outputs)[index]]


def _width(sight: BufferState) -> float:
    return (
        _cell(sight) * min(len(sight.values), CELLS) + (24 if len(sight.values) > CELLS else 0) if sight.values else BAR
    )


def _cell(sight: BufferState) -> float:
    return max([CELL, *(width_of(_number(value), bold=True) + 10 for value in sight.values[:CELLS])])


def _cells(
    drawing: Drawing,
    x: float,
    y: float,
    sight: BufferState,
    colour: str,
    words: str,
    was: tuple[float | int | bool, ...] | None,
    wrong: bool = False,
) -> None:
    """A row of cells; elements that differ from `was` are bold."""
    if not sight.values:
        told = "empty" if not sight.numel else count(sight.numel, "element")
        drawing.add(
            Rectangle(x, y, BAR, 26, colour, colour, 0.16, radius=1),
            DrawnText(x + BAR / 2, y + 13, told, style.SMALL, "faint", "center"),
        )
    size = _cell(sight)
    if len(sight.values) > CELLS:
        drawing.add(DrawnText(x + CELLS * size + 6, y + 13, "…", style.TEXT, "faint"))
    for index, value in enumerate(sight.values[:CELLS]):
        changed = was is not None and not _equal(was[index], value)
        drawing.add(
            Rectangle(x + index * size, y, size, 26, colour, colour, 0.3 if changed else 0.12, radius=1),
            DrawnText(x + (index + 0.5) * size, y + 13, _number(value), style.TEXT, "ink", "center", bold=changed),
        )
    drawing.add(DrawnText(x, y + 37, words, style.SMALL, "error" if wrong else "ink", bold=wrong))


def _equal(old: float, new: float) -> bool:
    return old == new or (math.isnan(old) and math.isnan(new))


def _number(value: float | int | bool) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)
