"""Finds sizes as expressions of others: a tensor's extent is an argument, the grid is ``cdiv(n, BLOCK)``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

# Of more sizes than this, products and quotients are not tried; more expressions than the second are not offered.
_MOST_SIZES = 24
_MOST_OPTIONS = 6
_NAMES = re.compile(r"[A-Za-z_]\w*")
Values = tuple[int, ...]
Named = tuple[str, Values]


@dataclass
class SizeFit:
    """The sizes that are known by name, each with its value in every launch, and constants by name."""

    sizes: dict[str, Values]
    constants: dict[str, int]
    used: set[str] = field(default_factory=set)

    def plain(self, values: Values, strides: bool = False) -> list[str]:
        """The sizes and constants with these values: strides or no strides, those that are not used yet first."""
        if set(values) == {1}:
            return ["1"]
        named = [n for n, those in self.sizes.items() if those == values and is_stride(n) == strides]
        named.sort(key=lambda name: name in self.used)
        named += [n for n, block in self.constants.items() if set(values) == {block}]
        self.used.update(named[:1])
        return named

    def derived(self, values: Values) -> list[str]:
        """The simple expressions with these values, from the simplest on."""
        return [text for text, those in self._expressions() if those == values][:_MOST_OPTIONS]

    def tilings(self, values: Values) -> list[str]:
        """Products of two sizes over blocks with these values, also where one of them is 1 tile high."""
        tiles = self._tiles()
        return [
            f"{one} * {other}"
            for position, (one, first) in enumerate(tiles)
            for other, second in tiles[position + 1 :]
            if set(_NAMES.findall(one)) & set(_NAMES.findall(other)) == {"cdiv"}
            and tuple(a * b for a, b in zip(first, second, strict=True)) == values
        ][:_MOST_OPTIONS]

    def _tiles(self) -> list[Named]:
        blocks = [(name, value) for name, value in self.constants.items() if value > 1]
        sizes = [(name, those) for name, those in self.sizes.items() if not is_stride(name)][:_MOST_SIZES]
        return [(f"cdiv({n}, {c})", tuple(-(-v // b) for v in those)) for n, those in sizes for c, b in blocks]

    def _expressions(self) -> Iterator[Named]:
        sizes = [(name, those) for name, those in self.sizes.items() if not is_stride(name)][:_MOST_SIZES]
        blocks = [(name, value) for name, value in self.constants.items() if value > 1]
        tiles = self._tiles()
        yield from tiles
        for name, those in sizes:
            for constant, block in blocks:
                yield f"{name} * {constant}", tuple(v * block for v in those)
                yield f"cdiv({name}, {constant}) * {constant}", tuple(-(-v // block) * block for v in those)
                yield f"{name} // {constant}", tuple(v // block for v in those)
        yield from _products(sizes, sizes)
        yield from _products(tiles, sizes)
        yield from _products(tiles, tiles)
        for name, those in sizes:
            yield f"{name} + 1", tuple(v + 1 for v in those)


def is_stride(name: str) -> bool:
    """Whether a size is a stride, by its name."""
    return "stride" in name.lower()


def _products(ones: Sequence[Named], others: Sequence[Named]) -> Iterator[Named]:
    """The products of two sizes that have no name in common, and of which none is 1."""
    for position, (one, first) in enumerate(ones):
        for other, second in others[position:] if ones is others else others:
            shared = set(_NAMES.findall(one)) & set(_NAMES.findall(other)) - {"cdiv"}
            if set(first) != {1} and set(second) != {1} and not shared:
                yield f"{one} * {other}", tuple(a * b for a, b in zip(first, second, strict=True))
