"""The layouts of NVIDIA's tensor cores: accumulators of mma (version 2) and wgmma (version 3), and operands, in shared
memory, too.

The PTX manual draws the fragments in "Matrix Fragments for mma.m16n8k16" and "Register Fragments for wgmma": four
lanes share a row of 8 numbers of 32 bits, and eight rows make a core matrix.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from triton_lab.compiled.layouts import attribute_rules
from triton_lab.compiled.layouts.attribute_rules import CGA
from triton_lab.compiled.layouts.layout_error import LayoutError
from triton_lab.compiled.layouts.layout_kind import Distributed, SharedLayout
from triton_lab.compiled.layouts.layout_tile import SHARED, Tile
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


@dataclass(frozen=True)
class Nvmma(SharedLayout):
    """``#ttg.nvmma_shared``: the layout that TMA writes, and wgmma or tcgen05 read.

    Boxes are ``swizzling_byte_width`` bytes wide; in a box, each eight rows form a core matrix whose 16-byte groups
    change places (PTX manual, "Shared Memory Matrix Layout": the swizzling modes).
    """

    mnemonic = "ttg.nvmma_shared"
    name = "NVMMA shared"

    swizzling_byte_width: int
    transposed: bool
    element_bit_width: int
    fp4_padded: bool = False
    cga_layout: CGA = ()
    rank_: int = 2

    def __post_init__(self) -> None:
        attribute_rules.one_of("swizzlingByteWidth", self.swizzling_byte_width, (0, 32, 64, 128))
        attribute_rules.one_of("elementBitWidth", self.element_bit_width, (8, 16, 32, 64))
        attribute_rules.one_of("rank", self.rank_, range(1, 6))  # what TMA can copy
        if self.fp4_padded and (self.element_bit_width, self.swizzling_byte_width) != (8, 128):
            raise LayoutError(_("fp4Padded needs elementBitWidth 8 and swizzlingByteWidth 128"))
        if self.transposed and not self.swizzling_byte_width and self.rank > 2:
            raise LayoutError(
                _("transposed with three dimensions and no swizzle: Triton itself has no sound map for it")
            )
        if self.swizzling_byte_width and self.rank < 2:
            raise LayoutError(_("a tensor of one dimension has no rows to swizzle: swizzlingByteWidth must be 0"))
        attribute_rules.cluster(self.cga_layout, self.rank)

    @property
    def rank(self) -> int:
        return len(self.cga_layout[0]) if self.cga_layout else self.rank_

    def linear(self, shape: Sequence[int]) -> Linear:
        self.check(shape)
        inner = attribute_rules.split(self.cga_layout, shape)
        box = self._box(inner)
        tile = Tile(self.rank, SHARED)
        axes = range(self.rank)  # from the axis along which the next box lies
        if not self.swizzling_byte_width:
            tile.spread("offset", box, axes if self.transposed else axes[::-1])
            axes = axes[::-1]
        else:
            tile.bases["offset"] = self._swizzled(box)
            tile.shape = list(box)
        return tile.fit(shape, axes, self.cga_layout, filler="offset")

    def _box(self, inner: Sequence[int]) -> list[int]:
        """The box of one TMA instruction: at most 256 along each axis, and one swizzled line along the last."""
        packing = 2 if self.fp4_padded else 1
        box = [min(size, 256) for size in inner]
        if not self.swizzling_byte_width:
            return box
        contiguous = 0 if self.transposed else self.rank - 1
        line = 8 * self.swizzling_byte_width // self.element_bit_width // packing
        if inner[contiguous] < line:
            raise LayoutError(
                _(
                    "dimension {contiguous} has {elements} per block, but a line of {swizzling_byte_width} "
                    "swizzled bytes holds {line} of {element_bit_width} bits"
                ).format(
                    contiguous=contiguous,
                    elements=count(inner[contiguous], "element"),
                    swizzling_byte_width=self.swizzling_byte_width,
                    line=line,
                    element_bit_width=self.element_bit_width,
                )
            )
        box[contiguous] = line
        rows, _unused = self._collapsed(box)
        if rows < 8:
            raise LayoutError(
                _("swizzling needs 8 lines or more, but there are {rows} of {elements}").format(
                    rows=rows, elements=count(line, "element")
                )
            )
        return box

    def _collapsed(self, box: Sequence[int]) -> tuple[int, int]:
        """Rows and columns of a box, with all dimensions but the last taken together."""
        rows, columns = math.prod(box[:-1]), box[-1]
        return (columns, rows) if self.transposed else (rows, columns)

    def _swizzled(self, box: Sequence[int]) -> list[list[int]]:
        """The bases of ``offset`` over one box: core matrices one below the other, then side by side, unfolded."""
        rows, columns = self._collapsed(box)
        line = 8 * self.swizzling_byte_width // self.element_bit_width // (2 if self.fp4_padded else 1)
        bits = self._core()
        bits += [[1 << bit, 0] for bit in range(3, rows.bit_length() - 1)]
        bits += [[0, 1 << bit] for bit in range(line.bit_length() - 1, columns.bit_length() - 1)]
        unfolded = [*box[1:], box[0]] if self.transposed else list(box)
        found = []
        for row, column in bits:
            number, coordinate = row * columns + column, []
            for size in reversed(unfolded):
                coordinate.append(number % size)
                number //= size
            coordinate.reverse()
            found.append([coordinate[-1], *coordinate[:-1]] if self.transposed else coordinate)
        return found

    def _core(self) -> list[list[int]]:
        """The row and column of each offset bit in eight swizzled lines."""
        columns = 8 * self.swizzling_byte_width // self.element_bit_width
        phases = self.swizzling_byte_width // 16
        vec, per_phase = 128 // self.element_bit_width, 8 // phases
        core = [[0, self._packed(1 << bit)] for bit in range(columns.bit_length() - 1)]
        core += [[1 << bit, self._packed(vec * ((1 << bit) // per_phase % phases))] for bit in range(3)]
        return core

    def _packed(self, column: int) -> int:
        """The position of a padded column in the packed tensor: fp4 uses 8 of each 16 bytes."""
        return column // 16 * 8 + column % 8 if self.fp4_padded else column
