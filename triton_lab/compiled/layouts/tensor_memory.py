"""Layouts in Blackwell's tensor memory: 128 rows ("lanes") and columns of 32 bits (PTX manual, "Tensor Memory").

Places are ``row`` and ``column``. A zero vector in row 32 or 64 means copies; anywhere else it means empty rows or
columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from triton_lab.compiled.layouts import attribute_rules
from triton_lab.compiled.layouts.attribute_rules import CGA
from triton_lab.compiled.layouts.layout_error import LayoutError
from triton_lab.compiled.layouts.layout_kind import TensorMemory
from triton_lab.compiled.layouts.layout_tile import Tile
from triton_lab.compiled.layouts.linear_layout import Linear
from triton_lab.localization import _
from triton_lab.messages import count

PLACES = ("row", "column", "block")


@dataclass(frozen=True)
class Accumulator(TensorMemory):
    """``#ttng.tensor_memory_encoding``: blocks of ``block_m`` rows and ``block_n`` columns, written by tcgen05.mma.

    With 64 rows, two blocks share the 128.
    """

    mnemonic = "ttng.tensor_memory_encoding"
    name = "tensor memory"

    block_m: int
    block_n: int
    col_stride: int
    cga_layout: CGA = ()
    two_ctas: bool = False
    fp4_padded: bool = False
    cta_split_m: int = 1
    cta_split_n: int = 1

    def __post_init__(self) -> None:
        attribute_rules.one_of("blockM", self.block_m, (64, 128))
        attribute_rules.power("blockN", self.block_n, most=512)
        attribute_rules.power("colStride", self.col_stride, most=4)
        attribute_rules.power("CTASplitM", self.cta_split_m)
        attribute_rules.power("CTASplitN", self.cta_split_n)
        attribute_rules.cluster(self.cga_layout, 2)

    @property
    def rank(self) -> int:
        return 2

    @property
    def element_bit_width(self) -> int:
        """The widest element that fits."""
        return 32 // self.col_stride

    def holds(self, bits: int) -> None:
        """Raise LayoutError for elements too wide for their part of a column."""
        if bits > self.element_bit_width:
            raise LayoutError(
                _(
                    "elements of {bits} bits do not fit: a column has 32 bits, of which colStride = "
                    "{col_stride} leaves {element_bit_width} to each"
                ).format(bits=bits, col_stride=self.col_stride, element_bit_width=self.element_bit_width)
            )

    @property
    def cluster(self) -> CGA:
        return self.cga_layout or blocks(self.cta_split_m, self.cta_split_n)

    def linear(self, shape: Sequence[int]) -> Linear:
        self.check(shape)
        if self.fp4_padded:
            raise LayoutError(_("tensor memory with fp4Padded is not supported here"))
        if self.two_ctas and self.block_m == 64:
            raise LayoutError(_("tensor memory with twoCTAs and blockM = 64 is not supported here"))
        rows, columns = attribute_rules.split(self.cluster, shape)
        if rows < self.block_m:
            raise LayoutError(
                _("dimension 0 has {elements} per block, fewer than blockM = {block_m}").format(
                    elements=count(rows, "element"), block_m=self.block_m
                )
            )
        across = min(self.block_n, columns)
        tile = Tile(2, PLACES).copy("column", self.col_stride).grow("row", 0, min(self.block_m, 128))
        if self.block_m == 64:
            tile = self._half(rows, columns, across)
        else:
            tile.grow("column", 1, across)
        tile.grow("column", 0, rows // tile.shape[0]).grow("column", 1, columns // tile.shape[1])
        return tile.fit(shape, (0, 1), self.cluster, filler="column")

    def _half(self, rows: int, columns: int, across: int) -> Tile:
        """Blocks of 64 rows use the lower half of each warp's 32; a second block uses the upper halves."""
        tile = Tile(2, PLACES).copy("column", self.col_stride)
        tile.grow("row", 0, 16).grow("column", 1, across)
        second = [64, 0] if rows > 64 else [0, across] if columns > across else [0, 0]
        tile.bases["row"] += [second, [16, 0], [32, 0]]
        tile.shape = [128 if rows > 64 else 64, across * (2 if second[1] else 1)]
        return tile


@dataclass(frozen=True)
class Scales(TensorMemory):
    """``#ttng.tensor_memory_scales_encoding``: the scales of a block-scaled product, the same 32 rows four times."""

    mnemonic = "ttng.tensor_memory_scales_encoding"
    name = "tensor memory scales"

    cga_layout: CGA = ()
    cta_split_m: int = 1
    cta_split_n: int = 1

    def __post_init__(self) -> None:
        attribute_rules.power("CTASplitM", self.cta_split_m)
        attribute_rules.power("CTASplitN", self.cta_split_n)
        attribute_rules.cluster(self.cga_layout, 2)

    @property
    def rank(self) -> int:
        return 2

    def linear(self, shape: Sequence[int]) -> Linear:
        self.check(shape)
        tile = Tile(2, PLACES).grow("row", 0, 32).copy("row", 4).grow("column", 1, 4).grow("column", 0, 2)
        cluster = self.cga_layout or blocks(self.cta_split_m, self.cta_split_n)
        return tile.fit(shape, (0, 1), cluster, filler="column")


def blocks(rows: int, columns: int) -> CGA:
    """The bases of ``block`` where Triton (3.6) gives the number of blocks along each dimension."""
    tile = Tile(2).grow("block", 0, rows).grow("block", 1, columns)
    return tuple(tuple(basis) for basis in tile.bases["block"])
