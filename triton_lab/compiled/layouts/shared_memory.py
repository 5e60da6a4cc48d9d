"""Layouts in shared memory: swizzled, padded, those of NVIDIA's matrix units, and plain bases.

Places are an ``offset`` in elements, and the ``block`` of a cluster that owns the memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from triton_lab.compiled.layouts import attribute_rules
from triton_lab.compiled.layouts.attribute_rules import CGA
from triton_lab.compiled.layouts.layout_error import LayoutError
from triton_lab.compiled.layouts.layout_kind import Padding, SharedLayout
from triton_lab.compiled.layouts.layout_tile import SHARED, Tile
from triton_lab.compiled.layouts.linear_layout import Linear
from triton_lab.localization import _


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
        tile = Tile(self.rank, SHARED).spread("offset", inner, self.order)
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
        tile = Tile(self.rank, SHARED).spread("offset", inner, self.order)
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
