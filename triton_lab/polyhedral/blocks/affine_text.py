"""Affine expressions as text in a block program."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from triton_lab.polyhedral.core.access_function import Access
from triton_lab.polyhedral.core.affine_expr import AffineExpr, Symbol


@dataclass(frozen=True)
class IteratorPlaces:
    """Iterators as text in a block with the dimensions ``block``: ``y[:, None]`` and ``x[None, :]``."""

    block: tuple[str, ...]

    def __call__(self, symbol: Symbol) -> str:
        if isinstance(symbol, str) and symbol in self.block and len(self.block) > 1:
            index = ", ".join(":" if name == symbol else "None" for name in self.block)
            return f"{symbol}[{index}]"
        return str(symbol)

    def affine(self, expression: AffineExpr) -> str:
        return expression.written(self, " * ")

    def pointer(self, access: Access, argument: str, strides: Mapping[tuple[str, int], str]) -> str:
        """``A + y[:, None] * stride_A_0 + ...``."""
        parts = [argument]
        for k, subscript in enumerate(access.expressions):
            if subscript != AffineExpr():
                text = self.affine(subscript)
                parts.append(f"{f'({text})' if subscript.is_sum else text} * {strides[access.array, k]}")
        return " + ".join(parts)
