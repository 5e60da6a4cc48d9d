"""The matrices of a product: A, with B above and to the right of it, and C below B: a tile lies beside its inputs."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from triton_lab.compiled.cost.tiled_product import TiledProduct
from triton_lab.views.drawing import style
from triton_lab.views.drawing.drawing import Drawing, DrawnItem, DrawnText, Rectangle, Segments

ROOM = (560.0, 400.0)  # CSS pixels for the three matrices
GAP, NAME, SHORTEST = 26.0, 20.0, 10.0  # between matrices, for the name above B, and of the shortest side
CLOSEST, MOST_RULES = 4.0, 64  # CSS pixels between the borders of tiles that are drawn, and how many are
HUES = style.TENSOR_COLOURS[:3]  # of A, B and C, as in pictures of storage


class Box(NamedTuple):
    """A matrix in the drawing, in CSS pixels."""

    x: float
    y: float
    width: float
    height: float


def boxes(product: TiledProduct) -> tuple[Box, Box, Box]:
    """The places of A, B and C, to one scale where no side gets too short."""
    m, n, k = product.m, product.n, product.k
    scale = min((ROOM[0] - GAP) / (k + n), (ROOM[1] - GAP) / (k + m))
    tall, wide, deep = (max(SHORTEST, size * scale) for size in (m, n, k))
    left, top = 1 + deep + GAP, NAME + deep + GAP
    return Box(1, top, deep, tall), Box(left, NAME, wide, deep), Box(left, top, wide, tall)


def bare_matrices(product: TiledProduct) -> Drawing:
    """The three matrices with their names."""
    m, n, k = product.m, product.n, product.k
    (a, b, c), size = boxes(product), "{name}: {rows} × {columns}"
    names = [
        DrawnText(a.x, a.y - 12, size.format(name="A", rows=m, columns=k), style.SMALL, "ink"),
        DrawnText(b.x, b.y - 10, size.format(name="B", rows=k, columns=n), style.SMALL, "ink"),
        DrawnText(c.x, c.y + c.height + 13, size.format(name="C", rows=m, columns=n), style.SMALL, "ink"),
    ]
    right = max(c.x + c.width, *(name.right for name in names))
    made = Drawing(right + 12, c.y + c.height + 24)  # room for the corner of a tile
    made.add(*(Rectangle(*box, "none", "faint", line=1.2, radius=0) for box in (a, b, c)), *names)
    return made


def marked(product: TiledProduct, inside: tuple[range, range]) -> list[DrawnItem]:
    """The borders of the tiles, a program's tile of these rows and columns, and the strips of A and B that it loads."""
    (a, b, c), (rows, columns) = boxes(product), inside
    down, across = product.tiles
    tall, wide = product.tile[0] * c.height / product.m, product.tile[1] * c.width / product.n
    rules = []
    if tall >= CLOSEST and down <= MOST_RULES:
        rules += [((c.x, c.y + k * tall), (c.x + c.width, c.y + k * tall)) for k in range(1, down)]
    if wide >= CLOSEST and across <= MOST_RULES:
        rules += [((c.x + k * wide, c.y), (c.x + k * wide, c.y + c.height)) for k in range(1, across)]
    top, height = rows[0] * c.height / product.m, len(rows) * c.height / product.m
    left, width = columns[0] * c.width / product.n, len(columns) * c.width / product.n
    return [
        *([Segments(np.array(rules), "line")] if rules else []),
        Rectangle(a.x, a.y + top, a.width, height, HUES[0], "ink", radius=0, tag="A"),
        Rectangle(b.x + left, b.y, width, b.height, HUES[1], "ink", radius=0, tag="B"),
        Rectangle(c.x + left, c.y + top, width, height, HUES[2], "ink", radius=0, tag="C"),
    ]
