"""What pictures of layouts share, as plain data."""

from __future__ import annotations

from typing import Literal, TypedDict

from triton_lab.views.drawing.scenes import Buffer, DressedPlace
from triton_lab.views.scenes import Scene


class BitScene(TypedDict):
    """A column: bit ``bit`` of a part of the hardware moves the element by ``vector``; ``empty``: where it is set, no
    element is kept."""

    part: str
    bit: int
    vector: list[int]
    empty: bool


class MatrixScene(TypedDict):
    """``shape`` is the tensor's; the rows are the bits of its dimensions, the lowest first."""

    shape: list[int]
    bits: list[BitScene]


class HeldScene(DressedPlace):
    """A heatmap in which each position (in reading order, + 1) is a class, whose look is one of ``styles``; look 0 is
    that of nothing. A cell that stands for several shows the first."""

    levels: Buffer


class AxisScene(TypedDict):
    name: str
    size: int


class LayoutScene(TypedDict):
    """``axes``: what a position of the hardware is made of, the outermost first; ``inputs``: the parts that the matrix
    names, the one whose bits are the lowest of a position first; ``padding``: so many elements are left free after
    each interval of shared memory. ``bits`` are those of an element. ``element`` (in reading order) or ``picked``
    (numbers by part) is what is picked at first.
    """

    kind: Literal["layout"]
    title: str
    says: list[str]
    heading: str
    where: str
    shape: list[int]
    bits: int
    axes: list[AxisScene]
    inputs: list[str]
    padding: list[tuple[int, int]]
    tensor: HeldScene
    hardware: HeldScene
    matrix: MatrixScene
    element: int | None
    picked: dict[str, int]


class SideScene(TypedDict):
    """A layout of a conversion: its places and bits, as in a `LayoutScene`, and the tensor."""

    axes: list[AxisScene]
    inputs: list[str]
    padding: list[tuple[int, int]]
    matrix: MatrixScene
    tensor: HeldScene


class ConversionScene(TypedDict):
    """``flow``: the places after, by how far what they hold comes; ``moves``: for each bit of a place after, the packed
    place before; ``ways`` tell how what stays, and what comes from a register, lane, warp or CTA, does so.
    ``element`` (in reading order) is picked at first.
    """

    kind: Literal["conversion"]
    title: str
    says: list[str]
    ways: list[str]
    shape: list[int]
    before: SideScene
    after: SideScene
    flow: HeldScene
    moves: list[int]
    element: int | None


class LaidOutScene(TypedDict):
    """A value: what stands in the list, the line of the source, the part that draws it, and whether it is an address,
    a mask or an index, which few look for."""

    cells: list[str]
    line: int | None
    part: str
    minor: bool


class LayoutsScene(TypedDict):
    """The values of a kernel under ``headings``; ``first``: the part that is shown at first."""

    kind: Literal["layouts"]
    title: str
    headings: list[str]
    rows: list[LaidOutScene]
    first: str
    parts: dict[str, Scene]
