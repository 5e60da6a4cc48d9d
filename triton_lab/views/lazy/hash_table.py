"""The hash of a step as a table: each ingredient, and where it differs from the nearest cached graph."""

from __future__ import annotations

import textwrap

from triton_lab.lazy.step import Step
from triton_lab.lazy.step_text import reason
from triton_lab.localization import _
from triton_lab.views.drawing import style
from triton_lab.views.drawing.drawing import Drawing, DrawnText, Rectangle

WIDTH, LABEL, LINE = 440.0, 92.0, 15.0
CHARACTERS = 52  # of an ingredient on a line
LINES = 3  # of one ingredient


def draw_card(step: Step) -> Drawing:
    """The table: hit or miss and why, the key, and its ingredients."""
    drawing = Drawing(width=WIDTH)
    colour = "good" if step.hit and not step.stale else "error" if step.stale else "warning"
    badge = _("HIT") if step.hit else _("MISS")
    drawing.add(
        Rectangle(0, 0, 46, 20, colour, colour, 0.14, radius=5),
        DrawnText(23, 10, badge, style.TEXT, colour, "center", bold=True),
        DrawnText(56, 10, _("hash {key}").format(key=step.key[:16]), style.TEXT, "ink", mono=True),
    )
    y = 34.0
    for line in textwrap.wrap(reason(step), 66):
        drawing.add(DrawnText(0, y, line, style.TEXT, "error" if step.stale else "ink"))
        y += LINE
    y += 6
    there = {name: text for name, _here, text in step.nearest.differences} if step.nearest else {}
    for name in step.ingredients.names():
        # If the operations differ, all else does too: then only they are worth comparing.
        other = there.get(name) if "ops" not in there or name == "ops" else None
        y = _ingredient(drawing, y, name, getattr(step.ingredients, name), other, _left_out(step, name))
    drawing.height = y
    return drawing


def _left_out(step: Step, name: str) -> bool:
    return name == "donors" and not step.donors_hashed


def _ingredient(drawing: Drawing, y: float, name: str, text: str, there: str | None, left_out: bool) -> float:
    lines = [(line, "ink") for line in _clipped(text)]
    if there is not None:
        lines += [(line, "warning") for line in _clipped(_("nearest: {text}").format(text=there))]
    if left_out:
        lines.append((_("left out of the hash"), "error"))
    height = LINE * len(lines) + 8
    edge = "error" if left_out else "warning" if there is not None else "line"
    drawing.add(
        Rectangle(
            0, y, WIDTH, height, "warning" if there is not None else "panel", edge, 0.10 if there is not None else 1.0
        ),
        DrawnText(10, y + 4 + LINE / 2, name, style.TEXT, "faint", bold=there is not None),
    )
    for row, (line, colour) in enumerate(lines):
        drawing.add(DrawnText(LABEL, y + 4 + LINE * (row + 0.5), line, style.SMALL, colour, mono=True))
    return y + height + 3


def _clipped(text: str) -> list[str]:
    lines = textwrap.wrap(text, CHARACTERS) or [""]
    if len(lines) > LINES:
        lines = [*lines[: LINES - 1], lines[LINES - 1][: CHARACTERS - 2] + " …"]
    return lines
