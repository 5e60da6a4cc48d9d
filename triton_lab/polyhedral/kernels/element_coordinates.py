"""Converts byte offsets to elements: the coordinates of an affine address in its tensor."""

from __future__ import annotations

import math
from itertools import islice, product
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from triton_lab.polyhedral.core.affine_expr import AffineExpr
from triton_lab.polyhedral.kernels.symbolic.symbol_facts import EVERYTHING, Case, Facts
from triton_lab.polyhedral.kernels.symbolic.symbolic_values import holds_case

if TYPE_CHECKING:
    from triton_lab.launch.argument import Argument

# How many ways to split an address's terms between an axis and the rest are tried.
_MOST_TRIES = 1000


def elements(offset: AffineExpr, itemsize: int) -> AffineExpr | None:
    """An offset in bytes as an offset in elements; None where it is not whole."""
    if offset.constant % itemsize or any(c % itemsize for _, c in offset.terms):
        return None
    return AffineExpr(tuple((s, c // itemsize) for s, c in offset.terms), offset.constant // itemsize)


def coordinates(offset: AffineExpr, argument: Argument, facts: Facts, when: Case) -> tuple[AffineExpr, ...] | None:
    """The coordinates of the element at ``offset`` (in elements), under the condition ``when``.

    None where the strides do not determine them. A whole multiple of a stride belongs to its axis if the rest stays
    below the stride; otherwise quotients are used.
    """
    axes = [k for k, extent in enumerate(argument.shape) if extent != 1 and argument.strides[k]]
    axes.sort(key=lambda axis: -argument.strides[axis])
    if any(argument.strides[k] == 0 and argument.shape[k] > 1 for k in range(len(argument.shape))):
        return None  # many elements share one place
    result = [AffineExpr()] * len(argument.shape)
    rest = offset
    for position, axis in enumerate(axes):
        stride = argument.strides[axis]
        if position and stride * argument.shape[axis] > argument.strides[axes[position - 1]]:
            return None  # rows overlap: one place has several coordinates
        whole = _whole(rest, stride, facts, when)
        result[axis], rest = whole, rest - whole * stride
    if rest != AffineExpr() and facts.exact(rest, when) not in ((0, 0), (math.inf, -math.inf)):
        return None
    return tuple(result)


def _whole(value: AffineExpr, stride: int, facts: Facts, when: Case) -> AffineExpr:
    """``floor(value / stride)``, without a quotient if possible."""
    choices = []
    for _, coefficient in value.terms:
        below, over = divmod(coefficient, stride)
        choices.append(_nearest([below, below + 1], coefficient, stride) if over else [below])
    choices.append([value.constant // stride, value.constant // stride + 1])
    points = _sample(value, facts, when)
    for chosen in islice(product(*choices), _MOST_TRIES):
        terms = tuple((symbol, c) for (symbol, _), c in zip(value.terms, chosen, strict=False) if c)
        whole = AffineExpr(terms, chosen[-1])
        left = value - whole * stride
        seen = np.asarray(left.evaluate(points))
        if bool(((seen >= 0) & (seen < stride)).all()) and _within(left, stride, facts, when):
            return whole
    return value // stride


def _nearest(numbers: list[int], coefficient: int, stride: int) -> list[int]:
    """The numbers, sorted by how close to a multiple of the stride they bring a coefficient: the likeliest first."""
    return sorted(numbers, key=lambda number: abs(coefficient - number * stride))


def _sample(value: AffineExpr, facts: Facts, when: Case) -> dict[str, NDArray[np.int64]]:
    """Some values of the symbols under ``when``: enough to refute a wrong guess."""
    generator = np.random.default_rng(0)
    names = value.names.union(*(c.expression.names for c in when))
    points = {}
    for name in sorted(names):
        low, high = (int(max(-99, min(99, bound))) for bound in facts.ranges.get(name, EVERYTHING))
        points[name] = generator.integers(low, high + 1, 1000)
    inside = holds_case(when, points)
    return {name: array[inside] for name, array in points.items()} if inside.shape else points


def _within(value: AffineExpr, stride: int, facts: Facts, when: Case) -> bool:
    """Whether ``0 <= value < stride`` always holds."""
    low, high = facts.bounds(value)
    if low >= 0 and high < stride:
        return True
    low, high = facts.exact(value, when)
    return low > high or (low >= 0 and high < stride)
