"""Finds sizes as expressions of others: a tensor's extent is an argument, the grid is ``cdiv(n, BLOCK)``."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

# Of more sizes than this, products and quotients are not tried; more expressions than the second are not offered.
_MOST_SIZES = 24
_MOST_OPTIONS = 6
# Of three factors, so many pairs are tried.
_MOST_PAIRS = 60
_NAMES = re.compile(r"[A-Za-z_]\w*")
Values = tuple[int, ...]
Named = tuple[str, Values]


@dataclass
class SizeFit:
    """The sizes that are known by name, each with its value in every launch, and constants by name.

    ``passed`` are the extents and strides that the launching code passes, with the parameter that each is passed for.
    """

    sizes: dict[str, Values]
    constants: dict[str, int]
    passed: Mapping[str, str] = field(default_factory=dict)
    # For each tensor, those of its shape and strides.
    twins: Mapping[str, Sequence[str]] = field(default_factory=dict)
    used: set[str] = field(default_factory=set)

    def plain(self, quantity: str, values: Values, strides: bool = False) -> list[str]:
        """The sizes and constants with the values of ``quantity``: strides or no strides.

        What is passed for it comes first, then those that are not used yet.
        """
        own = self.passed.get(quantity)
        passed = [own] if own is not None and self._fits(own, values) else []
        if set(values) == {1}:
            return [*passed, "1"] if passed else ["1"]
        for_others = {name for other, name in self.passed.items() if other != quantity} - {own}
        named = [
            n
            for n, those in self.sizes.items()
            if those == values and self._is_stride(n) == strides and n not in (own, quantity)
        ]
        tensor = re.split(r"[.\[]", quantity)[0]
        word = tensor.removesuffix("_ptr")
        alike = {self.passed.get(twin + quantity[len(tensor) :]) for twin in self.twins.get(tensor, ())}
        named.sort(key=lambda n: (n not in alike, word not in n.split("_"), n in self.used, n in for_others))
        named += [n for n, block in self.constants.items() if set(values) == {block} and n != own]
        found = [*passed, *named]
        self.used.update(found[:1])
        return found

    def _fits(self, name: str, values: Values) -> bool:
        return self.sizes.get(name) == values or (name in self.constants and set(values) == {self.constants[name]})

    def _is_stride(self, name: str) -> bool:
        return is_stride(name) or any(other == name and is_stride(text) for text, other in self.passed.items())

    def derived(self, quantity: str, values: Values) -> list[str]:
        """The simple expressions with the values of ``quantity``, from the simplest on."""
        found = (text for text, those in self._expressions() if those == values and quantity not in text)
        return list(itertools.islice(found, _MOST_OPTIONS))

    def next(self, quantity: str, values: Values) -> list[str]:
        """The sizes that are one less than ``quantity``: the starts of rows are one more than the rows."""
        sizes = [n for n, those in self.sizes.items() if those == tuple(v - 1 for v in values) and n != quantity]
        return [f"{name} + 1" for name in sizes if not self._is_stride(name)][:_MOST_OPTIONS]

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
        sizes = [(name, those) for name, those in self.sizes.items() if not self._is_stride(name)][:_MOST_SIZES]
        return [(f"cdiv({n}, {c})", tuple(-(-v // b) for v in those)) for n, those in sizes for c, b in blocks]

    def _expressions(self) -> Iterator[Named]:
        sizes = [(name, those) for name, those in self.sizes.items() if not self._is_stride(name)][:_MOST_SIZES]
        whole = [(name, (value,) * len(self._one)) for name, value in self.constants.items() if value > 1]
        pairs = [*itertools.islice(_products(sizes, whole), _MOST_PAIRS), *_products(whole, whole)]
        tiles = self._tiles()
        yield from tiles
        yield from _products(sizes, whole)
        yield from _products(sizes, sizes)
        yield from _products(whole, whole)
        yield from _products(tiles, sizes)
        yield from _products(tiles, whole)
        yield from _products(tiles, tiles)
        yield from ((f"{name} * 2", tuple(v * 2 for v in those)) for name, those in sizes)
        yield from _products(tiles, pairs)
        for name, those in sizes:
            for constant, block in self.constants.items():
                if block > 1:
                    yield f"cdiv({name}, {constant}) * {constant}", tuple(-(-v // block) * block for v in those)
                    yield f"{name} // {constant}", tuple(v // block for v in those)
        yield from ((f"{name} + 1", tuple(v + 1 for v in those)) for name, those in sizes)
        yield from ((f"{name} // 2", tuple(v // 2 for v in those)) for name, those in sizes)

    @property
    def _one(self) -> Values:
        """A number for each launch."""
        return next(iter(self.sizes.values()), (1,))


def is_stride(name: str) -> bool:
    """Whether a size is a stride, by its name."""
    return "stride" in name.lower() or ".stride(" in name


def _products(ones: Sequence[Named], others: Sequence[Named]) -> Iterator[Named]:
    """The products of two sizes that have no name in common, and of which none is 1."""
    for position, (one, first) in enumerate(ones):
        for other, second in others[position:] if ones is others else others:
            shared = set(_NAMES.findall(one)) & set(_NAMES.findall(other)) - {"cdiv"}
            if set(first) != {1} and set(second) != {1} and not shared:
                yield f"{one} * {other}", tuple(a * b for a, b in zip(first, second, strict=True))
