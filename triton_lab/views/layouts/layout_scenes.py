"""What pictures of layouts share, as plain data."""

from __future__ import annotations

from typing import Annotated, Literal, TypedDict

from triton_lab.views.drawing.cell_scenes import Buffer, DressedPlace
from triton_lab.views.drawing.scene_bounds import (
    Few,
    Index,
    Many,
    Most,
    Name,
    Named,
    Positive,
    Product,
    Sentence,
    Whole,
    Within,
)
from triton_lab.views.scenes import Scene

MOST_PLACES = 1 << 19  # of the hardware, and elements of a tensor, in a saved picture: each is worked out
MOST_BITS = 21


class BitScene(TypedDict):
    """A column: bit ``bit`` of a part of the hardware moves the element by ``vector``; ``empty``: where it is set, no
    element is kept."""

    part: Name
    bit: Annotated[int, Within(0, 63)]
    vector: Index
    empty: bool


class MatrixScene(TypedDict):
    """``shape`` is the tensor's; the rows are the bits of its dimensions, the lowest first."""

    shape: Index
    bits: Annotated[list[BitScene], Most(MOST_BITS)]


class HeldScene(DressedPlace):
    """A heatmap in which each position (in reading order, + 1) is a class, whose look is one of ``styles``; look 0 is
    that of nothing. A cell that stands for several shows the first."""

    levels: Buffer


class AxisScene(TypedDict):
    name: Name
    size: Annotated[int, Within(1, MOST_PLACES)]


Axes = Annotated[list[AxisScene], Most(8, least=1), Product(MOST_PLACES, "size")]
Elements = Annotated[Index, Product(MOST_PLACES)]


class LayoutScene(TypedDict):
    """``axes``: what a position of the hardware is made of, the outermost first; ``inputs``: the parts that the matrix
    names, the one whose bits are the lowest of a position first; ``padding``: so many elements are left free after
    each interval of shared memory. ``bits`` are those of an element. ``element`` (in reading order) or ``picked``
    (numbers by part) is what is picked at first.
    """

    kind: Literal["layout"]
    title: Sentence
    says: Many[Sentence]
    heading: Sentence
    where: Sentence
    shape: Elements
    bits: Annotated[int, Within(0, 1 << 10)]
    axes: Axes
    inputs: Annotated[list[Name], Most(8)]
    padding: Annotated[list[tuple[Positive, Whole]], Most(8)]
    tensor: HeldScene
    hardware: HeldScene
    matrix: MatrixScene
    element: Whole | None
    picked: Named[Whole]


class SideScene(TypedDict):
    """A layout of a conversion: its places and bits, as in a `LayoutScene`, and the tensor."""

    axes: Axes
    inputs: Annotated[list[Name], Most(8)]
    padding: Annotated[list[tuple[Positive, Whole]], Most(8)]
    matrix: MatrixScene
    tensor: HeldScene


class ConversionScene(TypedDict):
    """``flow``: the places after, by how far what they hold comes; ``moves``: for each bit of a place after, the packed
    place before; ``ways`` tell how what stays, and what comes from a register, lane, warp or CTA, does so.
    ``element`` (in reading order) is picked at first.
    """

    kind: Literal["conversion"]
    title: Sentence
    says: Many[Sentence]
    ways: Many[Sentence]
    shape: Elements
    before: SideScene
    after: SideScene
    flow: HeldScene
    moves: Annotated[list[Whole], Most(MOST_BITS)]
    element: Whole | None


class LaidOutScene(TypedDict):
    """A value: what stands in the list, the line of the source, the part that draws it, and whether it is an address,
    a mask or an index, which few look for."""

    cells: Few[Sentence]
    line: Whole | None
    part: Sentence
    minor: bool


class LayoutsScene(TypedDict):
    """The values of a kernel under ``headings``; ``first``: the part that is shown at first."""

    kind: Literal["layouts"]
    title: Sentence
    headings: Few[Sentence]
    rows: Many[LaidOutScene]
    first: Sentence
    parts: Named[Scene]
