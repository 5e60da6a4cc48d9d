"""The boxed legend of a polyhedral picture; its title is bold and underlined."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from triton_lab.views.polyhedral import polyhedral_style as look
from triton_lab.views.polyhedral.canvas import Canvas, mixed
from triton_lab.views.polyhedral.formula_figure import width_of
from triton_lab.views.polyhedral.iteration_picture import Picture
from triton_lab.views.polyhedral.plane_plot import MOST_STEPS
from triton_lab.views.polyhedral.polyhedral_style import LIGHT, Look

SIZE = 10.0
ROW = 22.0


@dataclass(frozen=True)
class LegendEntry:
    """A sign and what it means."""

    sign: Literal["circle", "arrow", "line", "ramp"]
    colour: str
    text: str
    dashes: tuple[float, ...] = ()


def entries(picture: Picture, coloured: bool, colours: Look = LIGHT) -> tuple[LegendEntry, ...]:
    """The entries of the legend of ``picture``."""
    layers = picture.layers
    found: list[LegendEntry] = []
    if coloured:
        found.append(LegendEntry("ramp", "", "first to last visit"))
    elif len(layers) == 1:
        found.append(LegendEntry("circle", colours.statement, "statement"))
    else:
        for k, layer in enumerate(layers):
            found.append(
                LegendEntry("circle", colours.statements[k % len(colours.statements)], f"statement {layer.statement}")
            )
    for kind, colour in colours.arrows.items():
        if any(a.kind == kind and not a.violated for a in picture.arrows):
            found.append(LegendEntry("arrow", colour, f"{kind} dependence", look.DASHES[kind]))
    for text in dict.fromkeys("race" if a.kind == "race" else "violated" for a in picture.arrows if a.violated):
        found.append(LegendEntry("arrow", colours.violated, text))
    if picture.tiles:
        found.append(LegendEntry("line", colours.tile, "tile"))
    if picture.fronts and len(picture.dims) < 3 and len(picture.visits) <= MOST_STEPS:
        found.append(LegendEntry("line", colours.axis, "one instant"))
    hidden = sum(a.total - len(a.ends) for a in picture.arrows)
    if hidden:
        found.append(LegendEntry("arrow", colours.grid, f"{hidden} more not drawn"))
    return tuple(found)


def legend_size(signs: Sequence[LegendEntry]) -> tuple[float, float]:
    """The legend's width and height in CSS pixels."""
    return max(width_of(e.text, SIZE) for e in signs) + 60, ROW * (len(signs) + 1) + 12


def draw_legend(canvas: Canvas, signs: Sequence[LegendEntry], x: float, y: float) -> None:
    """Draw the legend with its upper left corner at (x, y)."""
    width, height = legend_size(signs)
    canvas.rectangle(x, y, width, height, canvas.look.ground, canvas.look.axis, 1.5)
    middle, under = x + width / 2, y + 24
    canvas.text(middle, y + 6 + ROW / 2, "legend", SIZE + 1, canvas.look.strong, "center", bold=True)
    half = width_of("legend", SIZE + 1) * 0.56
    canvas.lines([[(middle - half, under), (middle + half, under)]], canvas.look.strong, 1.3)
    for k, entry in enumerate(signs):
        at = y + 6 + ROW * (k + 1.5)
        if entry.sign == "circle":
            canvas.circles(np.array([[x + 24, at]]), 8.0, entry.colour, canvas.look.ring, 1.5)
        elif entry.sign == "arrow":
            canvas.arrows(np.array([[[x + 8, at], [x + 42, at]]]), entry.colour, 1.5, 9.0, 0.0, entry.dashes)
        elif entry.sign == "line":
            canvas.lines([[(x + 8, at), (x + 42, at)]], entry.colour, 2.0)
        else:
            for c, colour in enumerate(mixed(canvas.look.order, 32)):
                canvas.rectangle(x + 8 + c, at - 5, 1.5, 10, "#" + "".join(f"{round(v * 255):02x}" for v in colour))
        canvas.text(x + 50, at, entry.text, SIZE, canvas.look.strong)
