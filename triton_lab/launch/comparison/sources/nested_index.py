"""Nested indices such as ``(row * columns + column) * depth + k``, written with two of them exchanged."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import reduce
from itertools import combinations

from triton_lab.launch.comparison.sources.expression_edits import sum_of, summands

# An index and the number of its values, which the index before it is multiplied by.
_Level = tuple[ast.expr, ast.expr]


def reordered(
    node: ast.expr, counts: Mapping[str, float | None], sizes: Mapping[str, Collection[int]]
) -> Iterator[ast.expr]:
    """A sum with two of its nested indices exchanged, each with the number of its values.

    The outermost index has no number of values there: it is that of the index which it changes places with, or one of
    ``counts``, names with what is known of their values. ``sizes`` are those of the tensors, one of which it is.
    """
    terms = summands(node)
    within = [sizes[name] for _sign, term in terms if (name := ast.unparse(term)) in sizes]
    usual = [name for name, value in counts.items() if value is None or not within or value in within[0]]
    for k, (sign, product) in enumerate(terms):
        if sign < 0 or not isinstance(product, ast.BinOp) or not isinstance(product.op, ast.Mult):
            continue
        if counts and isinstance(product.right, ast.Name) and product.right.id not in counts:
            continue
        for j, (other_sign, index) in enumerate(terms):
            if j != k and other_sign > 0 and ast.unparse(index) not in (*sizes, *counts):
                first, levels = _levels(product.left)
                for made in _orders(first, [*levels, (index, product.right)], usual):
                    yield sum_of([(1, made) if at == k else one for at, one in enumerate(terms) if at != j])


def _orders(first: ast.expr, levels: list[_Level], counts: Sequence[str]) -> Iterator[ast.expr]:
    for one, two in combinations(range(len(levels)), 2):
        order = list(levels)
        order[one], order[two] = order[two], order[one]
        yield _nested(first, order)
    for k, (index, count) in enumerate(levels):
        others = [ast.Name(name, ast.Load()) for name in counts if name != ast.unparse(count)]
        for each in (count, *others):
            order = list(levels)
            order[k] = (first, each)
            yield _nested(index, order)


def _levels(node: ast.expr) -> tuple[ast.expr, list[_Level]]:
    """The outermost index, and the others from there inwards."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        for product, index in ((node.left, node.right), (node.right, node.left)):
            if isinstance(product, ast.BinOp) and isinstance(product.op, ast.Mult):
                first, levels = _levels(product.left)
                return first, [*levels, (index, product.right)]
    return node, []


def _nested(first: ast.expr, levels: list[_Level]) -> ast.expr:
    return reduce(
        lambda sofar, level: ast.BinOp(ast.BinOp(sofar, ast.Mult(), level[1]), ast.Add(), level[0]), levels, first
    )
