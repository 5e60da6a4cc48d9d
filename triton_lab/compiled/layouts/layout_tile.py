"""Builds layouts: a tile that starts as one element and grows, dimension by dimension.

It grows in the order of the bits: what grows first is adjacent.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from triton_lab.compiled.layouts.linear_layout import Linear

HARDWARE = ("register", "lane", "warp", "block")
SHARED = ("offset", "block")


def log2(number: int) -> int:
    """The exponent of a power of two."""
    return number.bit_length() - 1


@dataclass
class Tile:
    """A box of ``shape`` elements, and the basis vectors of each input that fill it so far."""

    rank: int
    inputs: tuple[str, ...] = HARDWARE
    bases: dict[str, list[list[int]]] = field(init=False)
    shape: list[int] = field(init=False)

    def __post_init__(self) -> None:
        self.bases = {name: [] for name in self.inputs}
        self.shape = [1] * self.rank

    def grow(self, name: str, axis: int, count: int) -> Tile:
        """Put ``count`` tiles side by side along an axis, numbered by input ``name``."""
        for _ in range(log2(count)):
            basis = [0] * self.rank
            basis[axis] = self.shape[axis]
            self.bases[name].append(basis)
            self.shape[axis] *= 2
        return self

    def copy(self, name: str, count: int) -> Tile:
        """Let ``count`` numbers of an input hold the same elements."""
        self.bases[name] += [[0] * self.rank for _ in range(log2(count))]
        return self

    def spread(self, name: str, counts: Sequence[int], order: Iterable[int]) -> Tile:
        """Put ``counts`` tiles side by side along each axis, the first axis of ``order`` fastest."""
        for axis in order:
            self.grow(name, axis, counts[axis])
        return self

    def spread_but(self, name: str, counts: Sequence[int], order: Sequence[int], shared: int) -> Tile:
        """Like ``spread``, but tiles along the axis ``shared`` hold the same elements."""
        for axis in order:
            if axis == shared:
                self.copy(name, counts[axis])
            else:
                self.grow(name, axis, counts[axis])
        return self

    def fit(
        self, shape: Sequence[int], order: Sequence[int], cga: Sequence[Sequence[int]], *, filler: str = "register"
    ) -> Linear:
        """Repeat or cut the tile to fit a tensor that a cluster's blocks share.

        ``cga`` has the bases of ``block`` on a tensor of one element per block; ``filler`` is the input that repeats
        the tile, along the first axis of ``order`` first. Where the tensor is smaller, bases that lead out of it
        become copies.
        """
        blocks = [[value if value < size else 0 for value, size in zip(basis, shape, strict=True)] for basis in cga]
        split = [max([1] + [2 * basis[axis] for basis in blocks]) for axis in range(self.rank)]
        inner = [max(1, size // parts) for size, parts in zip(shape, split, strict=True)]
        self.repeat(inner, order, filler)
        self.cut(inner)
        self.bases["block"] = [[value * size for value, size in zip(basis, inner, strict=True)] for basis in blocks]
        return Linear.of(self.bases, shape)

    def repeat(self, shape: Sequence[int], order: Sequence[int], filler: str = "register") -> Tile:
        """Grow to at least a shape, along the first axis of ``order`` first."""
        for axis in order:
            self.grow(filler, axis, max(1, shape[axis] // self.shape[axis]))
        return self

    def cut(self, shape: Sequence[int]) -> Linear:
        """The map onto a shape that is no larger: bases that would lead out of it become copies."""
        for bases in self.bases.values():
            for basis in bases:
                basis[:] = [value if value < size else 0 for value, size in zip(basis, shape, strict=True)]
        return Linear.of(self.bases, shape)
