"""Layouts in registers other than those of matrix instructions: blocked, slice, linear."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import metadata

from triton_lab.compiled.layouts import attribute_rules
from triton_lab.compiled.layouts.attribute_rules import CGA
from triton_lab.compiled.layouts.layout_error import LayoutError
from triton_lab.compiled.layouts.layout_kind import Distributed
from triton_lab.compiled.layouts.layout_tile import HARDWARE, Tile
from triton_lab.compiled.layouts.linear_layout import Linear
from triton_lab.localization import _


@dataclass(frozen=True)
class Blocked(Distributed):
    """``#ttg.blocked``: each thread has a box of elements, a warp a box of threads, a program a box of warps."""

    mnemonic = "ttg.blocked"
    name = "blocked"

    size_per_thread: tuple[int, ...]
    threads_per_warp: tuple[int, ...]
    warps_per_cta: tuple[int, ...]
    order: tuple[int, ...]
    cga_layout: CGA = ()

    def __post_init__(self) -> None:
        attribute_rules.permutation(self.order)
        attribute_rules.powers("sizePerThread", self.size_per_thread, self.rank)
        attribute_rules.powers("threadsPerWarp", self.threads_per_warp, self.rank)
        attribute_rules.powers("warpsPerCTA", self.warps_per_cta, self.rank)
        attribute_rules.cluster(self.cga_layout, self.rank)

    @property
    def rank(self) -> int:
        return len(self.order)

    def linear(self, shape: Sequence[int]) -> Linear:
        self.check(shape)
        tile = Tile(self.rank).spread("register", self.size_per_thread, self.order)
        tile.spread("lane", self.threads_per_warp, self.order).spread("warp", self.warps_per_cta, self.order)
        return held_once(tile.fit(shape, self.order, self.cga_layout))


@dataclass(frozen=True)
class Slice(Distributed):
    """``#ttg.slice``: a layout without one of its dimensions, which was reduced or is not expanded yet."""

    mnemonic = "ttg.slice"
    name = "slice"

    dim: int
    parent: Distributed

    def __post_init__(self) -> None:
        if not isinstance(self.parent, Distributed):
            raise LayoutError(_("the parent of a slice layout must be a layout of registers"))
        if not 0 <= self.dim < self.parent.rank:
            raise LayoutError(
                _("dim = {dim} is no dimension of its parent, which has {rank}").format(
                    dim=self.dim, rank=self.parent.rank
                )
            )
        if self.parent.rank < 2:
            raise LayoutError(_("the parent of a slice layout needs two dimensions or more, so that one is left"))

    @property
    def rank(self) -> int:
        return self.parent.rank - 1

    def linear(self, shape: Sequence[int]) -> Linear:
        self.check(shape)
        whole = self.parent.linear((*shape[: self.dim], 1, *shape[self.dim :]))
        bases = {
            name: [basis[: self.dim] + basis[self.dim + 1 :] for basis in whole.bases(name)] for name in whole.names
        }
        bases["register"] = [basis for basis in bases["register"] if any(basis)]
        return Linear.of(bases, shape)


def held_once(linear: Linear) -> Linear:
    """A blocked layout without copies inside a thread's registers.

    Where a thread's box is larger than the tensor, Triton 3.6 keeps copies in its registers; 3.9 keeps each element
    once. (Layouts of matrix instructions keep copies in both.)
    """
    if BEFORE_3_7:
        return linear
    bases = dict(linear.ins)
    bases["register"] = tuple(basis for basis in bases["register"] if any(basis))
    return Linear(tuple(bases.items()), linear.outs)


BEFORE_3_7 = tuple(map(int, metadata.version("triton").split(".")[:2])) < (3, 7)


@dataclass(frozen=True)
class Bases(Distributed):
    """``#ttg.linear``: the basis vectors themselves."""

    mnemonic = "ttg.linear"
    name = "linear"

    register: CGA
    lane: CGA
    warp: CGA
    block: CGA = ()

    def __post_init__(self) -> None:
        bases = [basis for name in HARDWARE for basis in getattr(self, name)]
        if not bases:
            raise LayoutError(_("a linear layout needs basis vectors to know how many dimensions it has"))
        linear = Linear.of({name: getattr(self, name) for name in HARDWARE}, self.own_shape)
        for basis in bases:
            if sum(value != 0 for value in basis) > 1 or any(value & (value - 1) for value in basis):
                raise LayoutError(
                    _(
                        "the basis {basis} moves more than one bit; in #ttg.linear each is zero or one power of two"
                    ).format(basis=list(basis))
                )
        attribute_rules.covers(linear, self.name)
        if linear.echelon.rank != sum(any(basis) for basis in bases):
            raise LayoutError(_("two basis vectors are equal; write copies of an element as zero vectors"))

    @property
    def rank(self) -> int:
        return next(len(basis) for name in HARDWARE for basis in getattr(self, name))

    @property
    def own_shape(self) -> tuple[int, ...]:
        """The smallest tensor that the bases fill."""
        bases = [basis for name in HARDWARE for basis in getattr(self, name)]
        if len({len(basis) for basis in bases}) != 1:
            raise LayoutError(
                _("the basis vectors {value} are not of one length").format(value=[list(basis) for basis in bases])
            )
        return tuple(1 << max(values).bit_length() for values in zip(*bases, strict=True))

    @property
    def order(self) -> tuple[int, ...]:
        """The dimensions in the order in which registers run along them, then those without registers."""
        moved = [axis for basis in self.register for axis, value in enumerate(basis) if value]
        return tuple(dict.fromkeys([*moved, *reversed(range(self.rank))]))

    def linear(self, shape: Sequence[int]) -> Linear:
        """The bases repeated in further registers, or cut, to fit another shape than their own."""
        self.check(shape)
        tile = Tile(self.rank)
        tile.bases = {name: [list(basis) for basis in getattr(self, name)] for name in HARDWARE}
        tile.shape = list(self.own_shape)
        tile.repeat(shape, self.order)
        tile.bases["register"] = [
            basis for basis in tile.bases["register"] if all(map(int.__lt__, basis, shape))
        ]  # a cut element is not kept twice
        return tile.cut(shape)
