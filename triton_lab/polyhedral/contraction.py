"""Sums of products as block programs: an accumulator, a loop over blocks of the summed iterator, one store."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .access import Access
from .affine import Affine
from .block_shape import Axis, NotABlockProgram
from .block_text import View, shape
from .nest import Binary, Expr, Load, Number, Unary

if TYPE_CHECKING:
    from .scop import Scop, Statement

# Triton's dot wants at least this many rows, columns and products.
_SMALLEST_DOT = 16


@dataclass(frozen=True)
class Contraction:
    """``target += left * right`` over ``iterator``; ``start`` sets the target to ``first`` before that."""

    update: Statement
    iterator: str
    left: Access
    right: Access
    start: Statement | None
    first: float | None


def contraction_of(scop: Scop) -> Contraction | None:
    """The sum of products that ``scop`` is, or None."""
    update = scop.statements[-1]
    body = update.body
    if body is None or body.op != "+" or not isinstance(body.value, Binary) or body.value.op != "*":
        return None
    left, right = body.value.left, body.value.right
    summed = [i for i in update.iterators if i not in _names(update.writes[0])]
    if not isinstance(left, Load) or not isinstance(right, Load) or len(summed) != 1:
        return None
    factors = update.access(left), update.access(right)
    if len(scop.statements) == 1:
        return Contraction(update, summed[0], *factors, None, None)
    start = scop.statements[0]
    first = _constant(start.body.value) if start.body and not start.body.op else None
    if len(scop.statements) == 2 and first is not None and start.writes[0].array == update.writes[0].array:
        return Contraction(update, summed[0], *factors, start, first)
    return None


def sum_lines(c: Contraction, axes: tuple[Axis, ...]) -> list[str]:
    """The kernel's body after the lines that place the program."""
    summed = next(a for a in axes if a.iterator == c.iterator)
    kept = [a for a in axes if a.block > 1 and a is not summed]
    view = View(tuple(a.iterator for a in kept))
    holder = c.start or c.update
    others = set(c.update.iterators) - {c.iterator}
    if c.start and set(c.start.iterators) != others:
        raise NotABlockProgram(f"{c.start.name} and {c.update.name} call their iterators differently")
    mask = view.mask(holder.domain.constraints, holder.iterators, others)
    suffix = ", mask=c_mask" if mask else ""
    target = view.pointer(c.update.writes[0])
    lines = [f"c_mask = {mask}"] if mask else []
    lines += [_accumulator(c.first, kept, f"tl.load({target}{suffix}{', other=0.0' if mask else ''})")]
    lines.append(_loop(c, summed))
    lines += [f"    {line}" for line in _products(c, kept, summed)]
    return [*lines, f"tl.store({target}, acc{suffix})"]


def _accumulator(first: float | None, kept: list[Axis], load: str) -> str:
    if first is None:
        return f"acc = {load}.to(tl.float32)"
    if not kept:
        return f"acc = {float(first)!r}"
    return f"acc = tl.full({shape(kept)}, {float(first)!r}, dtype=tl.float32)"


def _products(c: Contraction, kept: list[Axis], summed: Axis) -> list[str]:
    k = c.iterator
    rows = [a for a in kept if a.iterator in _names(c.left) and a.iterator not in _names(c.right)]
    columns = [a for a in kept if a.iterator in _names(c.right) and a.iterator not in _names(c.left)]
    blocks = [a.block for a in (*rows, *columns, summed)]
    is_dot = len(rows) == len(columns) == 1 and min(blocks) >= _SMALLEST_DOT and len(kept) == 2
    lines = [f"{k} = {k}0 + tl.arange(0, {summed.size})" if summed.block > 1 else f"{k} = {k}0"]
    if is_dot:
        return lines + _dot(c, rows[0], columns[0], kept)
    block = (*(a.iterator for a in kept), *([k] if summed.block > 1 else []))
    mask = View(block).mask(c.update.domain.constraints, c.update.iterators, c.update.iterators)
    lines += [f"mask = {mask}"] if mask else []
    lines += [_load(name, access, View(block), mask and "mask") for name, access in (("a", c.left), ("b", c.right))]
    if summed.block == 1:
        return [*lines, "acc += a.to(tl.float32) * b"]
    return [*lines, f"acc += tl.sum(a.to(tl.float32) * b, axis={len(kept)})"]


def _dot(c: Contraction, row: Axis, column: Axis, kept: list[Axis]) -> list[str]:
    """Each factor is loaded under the conditions on its own iterators; its zeros then drop the products."""
    k, domain = c.iterator, c.update.domain
    iterators = set(c.update.iterators)
    single = iterators - {row.iterator, column.iterator, k}
    visible = {row.iterator, k} | single, {k, column.iterator} | single
    for constraint in domain.constraints:
        names = constraint.expression.names & iterators
        if k in names and not any(names <= v for v in visible):
            raise NotABlockProgram(f"the condition {constraint} concerns both factors: a dot has no mask of its own")
    views = View((row.iterator, k)), View((k, column.iterator))
    masks = [view.mask(domain.constraints, domain.iterators, v) for view, v in zip(views, visible, strict=True)]
    lines: list[str] = []
    for name, access, view, mask in zip("ab", (c.left, c.right), views, masks, strict=True):
        lines += [f"{name}_mask = {mask}"] if mask else []
        lines.append(_load(name, access, view, f"{name}_mask" if mask else ""))
    if kept[0] is row:
        return [*lines, "acc = tl.dot(a, b, acc)"]
    return [*lines, "acc += tl.trans(tl.dot(a, b))"]


def _load(name: str, access: Access, view: View, mask: str) -> str:
    return f"{name} = tl.load({view.pointer(access)}{f', mask={mask}, other=0.0' if mask else ''})"


def _loop(c: Contraction, summed: Axis) -> str:
    """The loop over the summed iterator; its bounds must not change with the other iterators."""
    k, iterators = Affine.of(c.iterator), set(c.update.iterators)
    lows, highs = [], []
    for constraint in c.update.domain.constraints:
        expression = constraint.expression
        if expression.names & iterators != {c.iterator} or constraint.equality:
            continue
        match expression.coefficients[c.iterator]:
            case 1:
                lows.append(str(k - expression))
            case -1:
                highs.append(str(expression + k + 1))
    if not lows or not highs:
        raise NotABlockProgram(f"the bounds of {c.iterator} change with other iterators: a block has one range for all")
    low = lows[0] if len(lows) == 1 else f"max({', '.join(lows)})"
    high = highs[0] if len(highs) == 1 else f"min({', '.join(highs)})"
    step = f", {summed.size}" if summed.block > 1 else ""
    return f"for {c.iterator}0 in range({low}, {high}{step}):"


def _names(access: Access) -> Collection[str]:
    return frozenset(name for e in access.expressions for name in e.names)


def _constant(value: Expr) -> float | None:
    match value:
        case Number():
            return value.value
        case Unary(op="-", operand=Number(value=number)):
            return -number
    return None
