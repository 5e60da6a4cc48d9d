"""Nested indices such as ``(row * columns + column) * depth + k``, written with two of them exchanged."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import reduce
from itertools import combinations

# An index and the number of its values, which the index before it is multiplied by.
_Level = tuple[ast.expr, ast.expr]


def reordered(node: ast.BinOp) -> Iterator[ast.expr]:
    """The expression with two of its nested indices exchanged, each with the number of its values."""
    inner, factors = node, []
    while isinstance(inner, ast.BinOp) and isinstance(inner.op, ast.Mult):
        factors.append(inner.right)
        inner = inner.left  # type: ignore[assignment]
    first, levels = _levels(inner)
    for one, two in combinations(range(len(levels)), 2):
        order = list(levels)
        order[one], order[two] = order[two], order[one]
        yield _nested(first, order, factors)
    for k, (index, count) in enumerate(levels):
        # The outermost index has no number of values here: that of the one which it changes places with is taken.
        order = list(levels)
        order[k] = (first, count)
        yield _nested(index, order, factors)


def _levels(node: ast.expr) -> tuple[ast.expr, list[_Level]]:
    """The outermost index, and the others from there inwards."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        for product, index in ((node.left, node.right), (node.right, node.left)):
            if isinstance(product, ast.BinOp) and isinstance(product.op, ast.Mult):
                first, levels = _levels(product.left)
                return first, [*levels, (index, product.right)]
    return node, []


def _nested(first: ast.expr, levels: list[_Level], factors: list[ast.expr]) -> ast.expr:
    made = reduce(
        lambda sofar, level: ast.BinOp(ast.BinOp(sofar, ast.Mult(), level[1]), ast.Add(), level[0]), levels, first
    )
    return reduce(lambda sofar, factor: ast.BinOp(sofar, ast.Mult(), factor), reversed(factors), made)
