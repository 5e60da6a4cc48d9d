"""A layout as positions to draw: the tensor's elements on one side, the places of the hardware on the other.

Both are counted in reading order. Registers are drawn as lanes by registers, with a panel for each warp; shared memory
as lines of its 32 banks; tensor memory as rows by columns.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from triton_lab.compiled.layouts import Layout, gf2
from triton_lab.compiled.layouts.bank_use import BANKS, WORD

Ints = npt.NDArray[np.int64]
LINE = BANKS * WORD  # bytes of one word from every bank


@dataclass(frozen=True)
class LayoutPositions:
    """The hardware's side of a layout.

    ``parts`` are the parts of a place with their sizes, the outermost first; a position is a place in reading order.
    ``held`` (positions,) is the row-major position of the element held there, -1 if there is none. ``shape`` is the
    shape in which positions are drawn. ``inputs`` are the parts as the layout names them, that of a position's lowest
    bits first.
    """

    layout: Layout
    parts: tuple[tuple[str, int], ...]
    shape: tuple[int, ...]
    held: Ints
    inputs: tuple[str, ...]

    @property
    def elements(self) -> int:
        """How many elements the tensor has."""
        return int(np.prod(self.layout.shape, dtype=np.int64))

    @cached_property
    def first(self) -> Ints:
        """(elements,) the first position of each element."""
        found = np.full(self.elements, -1, dtype=np.int64)
        there = np.flatnonzero(self.held >= 0)[::-1]
        found[self.held[there]] = there
        return found

    def part(self, name: str, positions: Ints) -> Ints:
        """The number of a part of the hardware at each of some positions."""
        for part, size in reversed(self.parts):
            if part == name:
                return positions % size
            positions = positions // size
        return np.zeros_like(positions)

    def size(self, name: str) -> int:
        """The size of a part of the hardware."""
        return dict(self.parts).get(name, 1)

    def chosen(self, wanted: dict[str, int]) -> npt.NDArray[np.bool_]:
        """Whether each position (positions,) lies in the parts of the hardware given by number."""
        every = np.arange(len(self.held))
        found = np.ones(len(every), dtype=bool)
        for name, number in wanted.items():
            found &= self.part(name, every) == number
        return found

    @cached_property
    def holders(self) -> Ints:
        """The warps (elements, n) that hold each element, ascending; warps of later blocks are numbered on.

        n is the same for all elements, since each has as many copies as any other.
        """
        linear = self.layout.linear
        warps = self.size("warp")
        lanes = linear.size("register") * linear.size("lane")
        apart = sorted({place // lanes for place in gf2.span(linear.echelon.kernel)})
        own = self.first // (self.size("lane") * self.size("register"))
        assert own.max() < warps * self.size("block")
        return np.sort(own[:, None] ^ np.array(apart, dtype=np.int64), axis=1)


def places_of(layout: Layout) -> LayoutPositions:
    """The hardware's side of a layout."""
    if layout.where == "registers":
        return _registers(layout)
    return _memory(layout) if layout.where == "shared memory" else _tensor_memory(layout)


def _registers(layout: Layout) -> LayoutPositions:
    sizes = layout.linear.sizes
    parts = tuple((name, sizes[name]) for name in ("block", "warp", "lane", "register"))
    panels = sizes["block"] * sizes["warp"]
    shape = (sizes["lane"], sizes["register"])
    return LayoutPositions(
        layout, parts, (panels, *shape) if panels > 1 else shape, layout.linear.table(), layout.linear.names
    )


def _memory(layout: Layout) -> LayoutPositions:
    """The positions of shared memory: lines of 128 bytes, with the gaps that padding leaves."""
    table = layout.linear.table()
    blocks, each = layout.linear.size("block"), layout.linear.size("offset")
    offsets = layout.padded(np.arange(each, dtype=np.int64))
    needed = int(offsets[-1]) + 1
    columns = min(in_a_line(layout), 1 << (needed - 1).bit_length())
    lines = -(-needed // columns)
    held = np.full((blocks, lines * columns), -1, dtype=np.int64)
    held[:, offsets] = table.reshape(blocks, each)
    parts = (("block", blocks), ("line", lines), ("column", columns))
    shape = (blocks, lines, columns) if blocks > 1 else (lines, columns)
    return LayoutPositions(layout, parts, shape, held.reshape(-1), ("offset", "block"))


def in_a_line(layout: Layout) -> int:
    """How many elements fit side by side into one line of all banks."""
    return max(1, 8 * LINE // max(8, layout.bits))


def _tensor_memory(layout: Layout) -> LayoutPositions:
    sizes = layout.linear.sizes
    table = layout.linear.table().reshape(sizes["block"], sizes["column"], sizes["row"])
    kept = layout.kept().reshape(table.shape)
    held = np.where(kept, table, -1).transpose(0, 2, 1)
    parts = tuple((name, sizes[name]) for name in ("block", "row", "column"))
    shape = held.shape if sizes["block"] > 1 else held.shape[1:]
    return LayoutPositions(layout, parts, shape, held.reshape(-1), ("column", "row", "block"))
