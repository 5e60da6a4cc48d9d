"""Finds sizes as expressions of others: a tensor's extent is an argument, the grid is ``cdiv(n, BLOCK)``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

# Of more sizes than this, products and quotients are not tried.
_MOST_SIZES = 24
_NAMES = re.compile(r"[A-Za-z_]\w*")


@dataclass
class SizeFit:
    """The sizes that are known by name, each with its value in every launch, and constants by name."""

    sizes: dict[str, tuple[int, ...]]
    constants: dict[str, int]
    used: set[str] = field(default_factory=set)

    def find(self, values: tuple[int, ...], avoid: str = "") -> str | None:
        """An expression that has these ``values`` in the launches; None if no simple one has.

        A size that is not used yet is preferred, and one without ``avoid`` in its name.
        """
        if set(values) == {1}:
            return "1"
        found = [text for text, those in self._expressions() if those == values]
        if not found:
            return None
        first = found[0]
        plain = [name for name in found if name in self.sizes]
        if plain:
            order = [n for n in plain if not (avoid and avoid in n.lower())] or plain
            first = next((n for n in order if n not in self.used), order[0])
            self.used.add(first)
        return first

    def _expressions(self) -> Iterator[tuple[str, tuple[int, ...]]]:
        """All simple expressions, from the simplest on."""
        sizes = list(self.sizes.items())[:_MOST_SIZES]
        blocks = [(name, value) for name, value in self.constants.items() if value > 1]
        count = len(next(iter(self.sizes.values()), (0,)))
        yield from self.sizes.items()
        tiles = [(f"cdiv({n}, {c})", tuple(-(-v // b) for v in those)) for n, those in sizes for c, b in blocks]
        yield from tiles
        for name, those in sizes:
            for constant, block in blocks:
                yield f"{name} * {constant}", tuple(v * block for v in those)
                yield f"cdiv({name}, {constant}) * {constant}", tuple(-(-v // block) * block for v in those)
                yield f"{name} // {constant}", tuple(v // block for v in those)
        for constant, block in blocks:
            yield constant, (block,) * count
        yield from _products(sizes, sizes)
        yield from _products(tiles, sizes)
        yield from _products(tiles, tiles)
        for name, those in sizes:
            yield f"{name} + 1", tuple(v + 1 for v in those)


def _products(
    ones: Sequence[tuple[str, tuple[int, ...]]], others: Sequence[tuple[str, tuple[int, ...]]]
) -> Iterator[tuple[str, tuple[int, ...]]]:
    """The products of two sizes: first those with no name in common, then the others."""
    pairs = [
        (one, other, tuple(a * b for a, b in zip(first, second, strict=True)))
        for position, (one, first) in enumerate(ones)
        for other, second in (others[position:] if ones is others else others)
    ]
    pairs.sort(key=lambda pair: not set(_NAMES.findall(pair[0])).isdisjoint(set(_NAMES.findall(pair[1])) - {"cdiv"}))
    yield from ((f"{one} * {other}", values) for one, other, values in pairs)
