"""The scenes of layouts and of conversions between them."""

from __future__ import annotations

from typing import Annotated, Literal, TypedDict

from triton_lab.views.drawing.cell_scenes import Buffer, DressedPlace
from triton_lab.views.drawing.drawing_scenes import DrawingScene
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
    """A column: bit ``bit`` of a part of the hardware moves the element by ``vector``.

    ``empty``: where the bit is set, the place keeps no element.
    """

    part: Name
    bit: Annotated[int, Within(0, 63)]
    vector: Index
    empty: bool


class MatrixScene(TypedDict):
    """``shape`` is the tensor's; the rows are the bits of its dimensions, the lowest first."""

    shape: Index
    bits: Annotated[list[BitScene], Most(MOST_BITS)]


class HeldScene(DressedPlace):
    """A heatmap in which each position (in reading order, + 1) is a class; ``styles`` has the looks of classes.

    Look 0 is that of nothing. A cell that stands for several positions shows the first.
    """

    levels: Buffer


class AxisScene(TypedDict):
    name: Name
    size: Annotated[int, Within(1, MOST_PLACES)]


Axes = Annotated[list[AxisScene], Most(8, least=1), Product(MOST_PLACES, "size")]
Elements = Annotated[Index, Product(MOST_PLACES)]


class LayoutScene(TypedDict):
    """A layout. ``axes``: the parts of the hardware that make up a position, the outermost first.

    ``inputs``: the parts that the matrix names, that of a position's lowest bits first. ``padding``: how many elements
    are left free after each interval of shared memory. ``bits`` are those of an element. ``columns``: a drawing of
    the matrix, whose boxes have the numbers of their columns as tags. ``element`` (in reading order) or ``picked``
    (numbers by part) is picked at first.
    """

    kind: Literal["layout"]
    title: Sentence
    says: Many[Sentence]
    where: Sentence
    shape: Elements
    bits: Annotated[int, Within(0, 1 << 10)]
    axes: Axes
    inputs: Annotated[list[Name], Most(8)]
    padding: Annotated[list[tuple[Positive, Whole]], Most(8)]
    tensor: HeldScene
    hardware: HeldScene
    matrix: MatrixScene
    columns: DrawingScene
    element: Whole | None
    picked: Named[Whole]


class SideScene(TypedDict):
    """One layout of a conversion: its places and bits, as in a `LayoutScene`, and the tensor."""

    axes: Axes
    inputs: Annotated[list[Name], Most(8)]
    padding: Annotated[list[tuple[Positive, Whole]], Most(8)]
    matrix: MatrixScene
    tensor: HeldScene


class ConversionScene(TypedDict):
    """A conversion. ``flow``: the places after it, coloured by how far their elements have to come.

    ``moves``: for each bit of a place after, the packed place before. ``ways`` say how an element gets there if it
    stays, or comes from another register, lane, warp or CTA. ``element`` (in reading order) is picked at first.
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
    """A value of the kernel: its text in the list, its source line, and the part that draws it.

    It also says whether the value is an address, a mask or an index, which few readers look for.
    """

    cells: Few[Sentence]
    line: Whole | None
    part: Sentence
    minor: bool


class LayoutsScene(TypedDict):
    """The values of a kernel in a table under ``headings``; ``first`` is the part that is shown at first."""

    kind: Literal["layouts"]
    title: Sentence
    headings: Few[Sentence]
    rows: Many[LaidOutScene]
    first: Sentence
    parts: Named[Scene]
