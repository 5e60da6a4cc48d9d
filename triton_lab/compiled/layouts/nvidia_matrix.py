"""The register layouts of NVIDIA's tensor cores: accumulators of mma (version 2) and wgmma (version 3), and operands.

The PTX manual draws the fragments in "Matrix Fragments for mma.m16n8k16" and "Register Fragments for wgmma": four
lanes share a row of 8 numbers of 32 bits, and eight rows make a core matrix.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from triton_lab.compiled.layouts import attribute_rules
from triton_lab.compiled.layouts.attribute_rules import CGA
from triton_lab.compiled.layouts.layout_error import LayoutError
from triton_lab.compiled.layouts.layout_kind import Distributed
from triton_lab.compiled.layouts.layout_tile import Tile
from triton_lab.compiled.layouts.linear_layout import Linear
from triton_lab.localization import _
from triton_lab.messages import count


def matrix_order(rank: int, *, rows: bool = True) -> tuple[int, ...]:
    """The dimensions from the fastest, along rows or along columns; batches are the slowest."""
    order = list(reversed(range(rank)))
    if not rows:
        order[:2] = reversed(order[:2])
    return tuple(order)


@dataclass(frozen=True)
class NvidiaMma(Distributed):
    """``#ttg.nvidia_mma``: the accumulator of a matrix product on tensor cores."""

    mnemonic = "ttg.nvidia_mma"
    name = "MMA"

    version_major: int
    version_minor: int
    warps_per_cta: tuple[int, ...]
    instr_shape: tuple[int, ...]
    cga_layout: CGA = ()

    def __post_init__(self) -> None:
        if self.version_major == 5:
            raise LayoutError(
                _(
                    "version 5 (Blackwell) has no layout in registers: its accumulator is in tensor memory, "
                    "#ttng.tensor_memory_encoding"
                )
            )
        attribute_rules.one_of("versionMajor", self.version_major, (2, 3))
        if self.version_minor < 0:
            raise LayoutError(
                _("versionMinor is {version_minor}, but must be 0 or more").format(version_minor=self.version_minor)
            )
        if self.rank not in (2, 3):
            raise LayoutError(
                _("an MMA layout has 2 dimensions, or 3 with batches; warpsPerCTA has {rank}").format(rank=self.rank)
            )
        attribute_rules.powers("warpsPerCTA", self.warps_per_cta, self.rank)
        attribute_rules.cluster(self.cga_layout, self.rank)
        expected = self.rank if self.version_major == 2 else 3
        if len(self.instr_shape) != expected:
            raise LayoutError(
                _("instrShape = {instr_shape} of version {version_major} must have {numbers}").format(
                    instr_shape=list(self.instr_shape),
                    version_major=self.version_major,
                    numbers=count(expected, "number"),
                )
            )
        if self.version_major == 3 and self.rank != 2:
            raise LayoutError(_("version 3 (wgmma) has no batches: its layouts have 2 dimensions"))
        rows, columns = self.tile
        if rows != 16 or not attribute_rules.is_power(columns) or columns < 8:
            raise LayoutError(
                _(
                    "instrShape = {instr_shape}: an instruction has 16 rows, and 8 columns or more, a power of two"
                ).format(instr_shape=list(self.instr_shape))
            )

    @property
    def rank(self) -> int:
        return len(self.warps_per_cta)

    @property
    def tile(self) -> tuple[int, int]:
        """Rows and columns of one warp's part of an instruction's result."""
        rows, columns = self.instr_shape[-2:] if self.version_major == 2 else self.instr_shape[:2]
        return rows, columns

    @property
    def warp_order(self) -> tuple[int, ...]:
        return matrix_order(self.rank, rows=self.version_major == 2)

    def linear(self, shape: Sequence[int]) -> Linear:
        self.check(shape)
        order = matrix_order(self.rank)
        tile = fragment(Tile(self.rank), order, *self.tile, 2)
        return tile.spread("warp", self.warps_per_cta, self.warp_order).fit(shape, order, self.cga_layout)

    def operand(self, which: int, k_width: int, shape: Sequence[int]) -> Linear:
        """The layout of an operand (0: left, 1: right) of such a product."""
        if k_width < 1 or not attribute_rules.is_power(k_width):
            raise LayoutError(
                _("kWidth is {k_width}, but must be a power of two: how many numbers a thread has in a row").format(
                    k_width=k_width
                )
            )
        if self.version_major == 3 and which == 1:
            raise LayoutError(_("version 3 (wgmma) takes its right operand from shared memory: opIdx must be 0"))
        order = matrix_order(self.rank, rows=which == 0)  # along k first
        tile = fragment(Tile(self.rank), order, 16 if which == 0 else 8, 8 * k_width, k_width)
        k = order[0]
        tile.spread_but("warp", self.warps_per_cta, self.warp_order, k)
        return tile.fit(shape, order, without(self.cga_layout, k))


def fragment(tile: Tile, order: Sequence[int], rows: int, columns: int, width: int) -> Tile:
    """The part of an instruction's matrix that a warp's lanes hold.

    ``width`` numbers are adjacent, four lanes share a row, eight rows follow; further rows and columns are in further
    registers. ``order`` names the axis of columns, then of rows.
    """
    across, down = order[0], order[1]
    tile.grow("register", across, width).grow("lane", across, 4).grow("lane", down, 8)
    return tile.grow("register", down, rows // 8).grow("register", across, columns // (4 * width))


def without(cga: CGA, axis: int) -> CGA:
    """The bases of a cluster whose blocks hold the same elements along an axis."""
    return tuple(tuple(0 if at == axis else value for at, value in enumerate(basis)) for basis in cga)
