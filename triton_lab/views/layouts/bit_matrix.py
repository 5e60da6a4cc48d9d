"""The bit matrix of a layout: a column for each bit of a place, which says how far that bit moves the element."""

from __future__ import annotations

from triton_lab.compiled.layouts import Layout, Linear
from triton_lab.localization import N_, translated
from triton_lab.views.drawing.drawing import Drawing, DrawnText, Rectangle
from triton_lab.views.drawing.fonts import width_of
from triton_lab.views.drawing.style import SMALL
from triton_lab.views.layouts.layout_scenes import BitScene, MatrixScene

CELL, HEAD, SIDE = 22.0, 42.0, 96.0
GAP = 10.0  # between the parts of the hardware, and between dimensions


def matrix_scene(layout: Layout) -> MatrixScene:
    """The bit matrix as a scene."""
    places = [(name, bit, basis) for name, bases in layout.linear.ins for bit, basis in enumerate(bases)]
    empty = layout.kind.empty(layout.linear)
    bits: list[BitScene] = [
        {"part": name, "bit": bit, "vector": list(basis), "empty": bool(empty >> number & 1)}
        for number, (name, bit, basis) in enumerate(places)
    ]
    return {"shape": list(layout.shape), "bits": bits}


def called(part: str) -> str:
    """The name of a part of the hardware: a block of a cluster is a CTA."""
    return "CTA" if part == "block" else part


def matrix_drawing(linear: Linear, lit: int = 0) -> Drawing:
    """The bit matrix in a static picture; ``lit`` is the packed place whose columns stand out."""
    rows = [(axis, bit) for axis, size in enumerate(linear.shape) for bit in range(size.bit_length() - 1)]
    parts = [(name, bases) for name, bases in linear.ins if bases]
    height = HEAD + 20 + len(rows) * CELL + GAP * len(linear.shape)
    width = SIDE + CELL * sum(len(bases) for _, bases in parts) + GAP * len(parts)
    made = Drawing(max(width, width_of(translated(HEADING))), height)
    made.add(DrawnText(0, 8, translated(HEADING), bold=True))
    top = 20 + HEAD
    for number, (axis, bit) in enumerate(rows):
        y = top + number * CELL + axis * GAP + CELL / 2
        made.add(DrawnText(SIDE - 8, y, f"index {axis}: {1 << bit}", SMALL, "faint", "right"))
    x, column = SIDE, 0
    for name, bases in parts:
        made.add(DrawnText(x, top - 30, called(name), SMALL, bold=True))
        for bit, basis in enumerate(bases):
            chosen = bool(lit >> column & 1)
            colour = "accent" if chosen else "faint"
            made.add(DrawnText(x + CELL / 2, top - 10, _short(1 << bit), SMALL, colour, "center", chosen))
            made.add(*_column(x, top, basis, rows, chosen))
            x, column = x + CELL, column + 1
        x += max(GAP, width_of(called(name), SMALL) - CELL * len(bases) + GAP)
    return made


HEADING = N_("The layout as a bit matrix: each set bit moves the element by its column (1 and 1 cancel)")


def _short(number: int) -> str:
    """A number short enough to stand over a column: ``512``, ``1k``."""
    return str(number) if number < 1000 else f"{number >> 10}k"


def _column(x: float, top: float, basis: tuple[int, ...], rows: list[tuple[int, int]], chosen: bool) -> list[Rectangle]:
    """The bits that a place's bit sets and leaves."""
    edge, one = ("accent", "accent") if chosen else ("line", "ink")
    found = []
    for number, (axis, bit) in enumerate(rows):
        y = top + number * CELL + axis * GAP
        fill = one if basis[axis] >> bit & 1 else "untouched"
        found.append(Rectangle(x + 1.5, y + 1.5, CELL - 3, CELL - 3, fill, edge, radius=0))
    return found
