"""Layouts in shared memory: swizzled, padded, those of NVIDIA's matrix units, and plain bases.

Places are an ``offset`` in elements, and the ``block`` of a cluster that owns the memory.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from triton_lab.compiled.layouts import attribute_rules
from triton_lab.compiled.layouts.attribute_rules import CGA
from triton_lab.compiled.layouts.layout_error import LayoutError
from triton_lab.compiled.layouts.layout_kind import Padding, SharedLayout
from triton_lab.compiled.layouts.layout_tile import Tile
from triton_lab.compiled.layouts.linear_layout import Linear
from triton_lab.localization import _
from triton_lab.messages import count

OFFSETS = ("offset", "block")


@dataclass(frozen=True)
class Swizzled(SharedLayout):
    """``#ttg.swizzled_shared``: rows in order, where groups of ``vec`` elements change places from row to row.

    The group at column c of row r lies at ``c ^ (r / per_phase % max_phase)``, so that a column's elements lie in
    different banks.
    """

    mnemonic = "ttg.swizzled_shared"
    name = "swizzled shared"

    vec: int
    per_phase: int
    max_phase: int
    order: tuple[int, ...]
    cga_layout: CGA = ()

    def __post_init__(self) -> None:
        attribute_rules.permutation(self.order)
        attribute_rules.power("vec", self.vec)
        attribute_rules.power("perPhase", self.per_phase)
        attribute_rules.power("maxPhase", self.max_phase)
        attribute_rules.cluster(self.cga_layout, self.rank)

    @property
    def rank(self) -> int:
        return len(self.order)

    def phase(self, row: int) -> int:
        """By how many groups a row (a power of two) is shifted; a sum of rows has the XOR of their shifts."""
        return row // self.per_phase % self.max_phase

    def linear(self, shape: Sequence[int]) -> Linear:
        self.check(shape)
        inner = attribute_rules.split(self.cga_layout, shape)
        tile = Tile(self.rank, OFFSETS).spread("offset", inner, self.order)
        if self.rank > 1:
            across, down = self.order[:2]
            for basis in tile.bases["offset"]:
                if basis[down]:
                    basis[across] ^= self.vec * self.phase(basis[down]) % inner[across]
        return tile.fit(shape, self.order, self.cga_layout, filler="offset")


@dataclass(frozen=True)
class Rotating(Swizzled):
    """``#ttg.amd_rotating_shared``: like swizzled, but the groups' places also rotate after each ``max_phase`` rows.

    So rows that are far apart differ, too.
    """

    mnemonic = "ttg.amd_rotating_shared"
    name = "rotating shared"

    def phase(self, row: int) -> int:
        return super().phase(row) ^ (row // self.per_phase // self.max_phase % self.max_phase)


@dataclass(frozen=True)
class Padded(SharedLayout):
    """``#ttg.padded_shared``: elements in the order of ``offset``'s bases (or of ``order``), with gaps.

    ``pairs`` has (interval, padding) in elements: the gap after each interval.
    """

    mnemonic = "ttg.padded_shared"
    name = "padded shared"

    pairs: tuple[tuple[int, int], ...]
    order: tuple[int, ...] = ()
    shape: tuple[int, ...] = ()
    offset: CGA = ()
    block: CGA = ()
    cga_layout: CGA = ()

    def __post_init__(self) -> None:
        if not self.pairs:
            raise LayoutError(_("a padded layout needs an interval and its padding, as [64:+4]"))
        for interval, padding in self.pairs:
            attribute_rules.power("an interval", interval)
            attribute_rules.power("a padding", padding)
        if len({interval for interval, _unused in self.pairs}) != len(self.pairs):
            raise LayoutError(_("a padded layout names an interval twice"))
        if bool(self.order) == bool(self.offset):
            raise LayoutError(_("a padded layout needs either order and shape, or the bases of offset"))
        if self.order:
            attribute_rules.permutation(self.order)
            attribute_rules.powers("shape", self.shape, self.rank)
            attribute_rules.cluster(self.cga_layout, self.rank)
        else:
            attribute_rules.covers(self.linear(self.own_shape), self.name)

    @property
    def rank(self) -> int:
        return len(self.order or self.offset[0])

    @property
    def own_shape(self) -> tuple[int, ...]:
        """The shape that the layout was made for."""
        if self.order:
            return self.shape
        bases = (*self.offset, *self.block)
        if len({len(basis) for basis in bases}) != 1:
            raise LayoutError(
                _("the basis vectors {value} are not of one length").format(value=[list(basis) for basis in bases])
            )
        return tuple(1 << max(values).bit_length() for values in zip(*bases, strict=True))

    @property
    def padding(self) -> Padding:
        return self.pairs

    def linear(self, shape: Sequence[int]) -> Linear:
        self.check(shape)
        if tuple(shape) != self.own_shape:
            raise LayoutError(
                _("this padded layout is for a tensor of shape {own_shape}, not {shape}").format(
                    own_shape=self.own_shape, shape=tuple(shape)
                )
            )
        if not self.order:
            return Linear.of({"offset": self.offset, "block": self.block}, shape)
        inner = attribute_rules.split(self.cga_layout, shape)
        tile = Tile(self.rank, OFFSETS).spread("offset", inner, self.order)
        return tile.fit(shape, self.order, self.cga_layout, filler="offset")


@dataclass(frozen=True)
class SharedBases(SharedLayout):
    """``#ttg.shared_linear``: the basis vectors themselves."""

    mnemonic = "ttg.shared_linear"
    name = "shared linear"

    offset: CGA
    block: CGA = ()
    alignment: int = 16

    def __post_init__(self) -> None:
        if not self.offset:
            raise LayoutError(_("a shared linear layout needs the basis vectors of offset"))
        attribute_rules.power("alignment", self.alignment)
        bases = (*self.offset, *self.block)
        if len({len(basis) for basis in bases}) != 1:
            raise LayoutError(
                _("the basis vectors {value} are not of one length").format(value=[list(basis) for basis in bases])
            )
        linear = self.linear(self.own_shape)
        attribute_rules.covers(linear, self.name)
        if not linear.injective:
            raise LayoutError(
                _("a shared linear layout holds each element once: its basis vectors must be independent")
            )

    @property
    def rank(self) -> int:
        return len(self.offset[0])

    @property
    def own_shape(self) -> tuple[int, ...]:
        """The shape that the bases fill."""
        return tuple(1 << max(values).bit_length() for values in zip(*self.offset, *self.block, strict=True))

    def linear(self, shape: Sequence[int]) -> Linear:
        self.check(shape)
        if tuple(shape) != self.own_shape:
            raise LayoutError(
                _("the bases are for a tensor of shape {own_shape}, not {shape}").format(
                    own_shape=self.own_shape, shape=tuple(shape)
                )
            )
        return Linear.of({"offset": self.offset, "block": self.block}, shape)


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
        tile = Tile(self.rank, OFFSETS)
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
