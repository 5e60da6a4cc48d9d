"""The bit matrix of a layout: a column for each bit of a place, which says how far that bit moves the element."""

from __future__ import annotations

from dataclasses import replace

from triton_lab.compiled.layouts import Layout, Linear
from triton_lab.compiled.layouts.linear_layout import part_name
from triton_lab.localization import N_, _, translated
from triton_lab.views.drawing.drawing import Drawing, DrawnText, Rectangle
from triton_lab.views.drawing.fonts import width_of
from triton_lab.views.drawing.style import SMALL
from triton_lab.views.layouts.layout_scenes import BitScene, MatrixScene

CELL, HEAD = 22.0, 44.0  # CSS pixels of a cell, and of what stands over the first row: a part's name, and its bits
ROUND = 3.0  # the corners of the bits over the columns, which a reader can pick
GAP = 10.0  # between the parts of the hardware, and between dimensions
HEADING = N_("The layout as a bit matrix: each set bit moves the element by its column (1 and 1 cancel)")


def matrix_scene(layout: Layout) -> MatrixScene:
    """The bit matrix as a scene."""
    places = [(name, bit, basis) for name, bases in layout.linear.ins for bit, basis in enumerate(bases)]
    empty = layout.kind.empty(layout.linear)
    bits: list[BitScene] = [
        {"part": name, "bit": bit, "vector": list(basis), "empty": bool(empty >> number & 1)}
        for number, (name, bit, basis) in enumerate(places)
    ]
    return {"shape": list(layout.shape), "bits": bits}


def matrix_drawing(linear: Linear, lit: int = 0) -> Drawing:
    """The bit matrix; ``lit`` is the packed place whose columns stand out. All boxes of a column have its number as
    their tag, that with its bit first."""
    rows = [(axis, bit) for axis, size in enumerate(linear.shape) for bit in range(size.bit_length() - 1)]
    names = [_("index {axis}: {number}").format(axis=axis, number=1 << bit) for axis, bit in rows]
    left = max((width_of(name, SMALL) for name in names), default=0.0) + 12
    made = Drawing(left, HEAD + len(rows) * CELL + GAP * len(linear.shape))
    for name, y in zip(names, _tops(rows), strict=True):
        made.add(DrawnText(left - 8, y + CELL / 2, name, SMALL, "faint", "right"))
    x, column = left, 0
    for part, bases in linear.ins:
        if not bases:
            continue
        word = translated(part_name(part))
        made.add(DrawnText(x + 1.5, 8, word, SMALL, bold=True))
        for bit, basis in enumerate(bases):
            _add_column(made, x, column, 1 << bit, [basis[axis] >> row & 1 for axis, row in rows], _tops(rows))
            x, column = x + CELL, column + 1
        x += max(GAP, width_of(word, SMALL, bold=True) - CELL * len(bases) + GAP)
    made.width = x
    made.items = [_picked(item) if isinstance(item, Rectangle) and lit >> int(item.tag) & 1 else item
                  for item in made.items]  # fmt: skip
    return made


def _tops(rows: list[tuple[int, int]]) -> list[float]:
    return [HEAD + number * CELL + axis * GAP for number, (axis, _bit) in enumerate(rows)]


def _add_column(made: Drawing, x: float, column: int, bit: int, ones: list[int], tops: list[float]) -> None:
    """A bit of a place, and the bits of the element that it sets."""
    made.add(_cell(x, HEAD - CELL - 2, "panel", str(column), ROUND))
    made.add(DrawnText(x + CELL / 2, HEAD - CELL / 2 - 2, _short(bit), SMALL, align="center"))
    for one, y in zip(ones, tops, strict=True):
        made.add(_cell(x, y, "ink" if one else "untouched", str(column)))
        if one:
            made.add(DrawnText(x + CELL / 2, y + CELL / 2, "1", SMALL, "ground", "center", bold=True))


def _cell(x: float, y: float, fill: str, tag: str, radius: float = 0.0) -> Rectangle:
    return Rectangle(x + 1.5, y + 1.5, CELL - 3, CELL - 3, fill, "line", radius=radius, tag=tag)


def _picked(box: Rectangle) -> Rectangle:
    """A box of a column that stands out, as `.tl-lit-bit` in `view.css`."""
    return replace(box, edge="accent", line=2.5)


def _short(number: int) -> str:
    """A number short enough to stand over a column: ``512``, ``1k``."""
    return str(number) if number < 1000 else f"{number >> 10}k"
