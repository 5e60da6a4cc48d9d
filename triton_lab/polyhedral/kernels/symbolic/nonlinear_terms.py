"""Symbols for values that are not affine: products, quotients by a variable, and values that only memory knows.

With them every integer of a kernel is an affine expression. What holds of a term is in `product_constraints`.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from typing import Any, TypeAlias

from triton_lab.localization import _
from triton_lab.polyhedral.core.affine_expr import AffineExpr, Quotient, Symbol, Term

# Bounds are integers, or infinite.
Interval: TypeAlias = "tuple[float, float]"


def _identifier(kind: str, *parts: object) -> str:
    """A name that only equal parts share."""
    return f"_{kind}{hashlib.blake2b(repr(parts).encode(), digest_size=9).hexdigest()}"


def factors_of(symbol: Symbol) -> tuple[Symbol, ...]:
    """The factors of a product; any other symbol is its only factor."""
    return symbol.factors if isinstance(symbol, ProductTerm) else (symbol,)


class ProductTerm(Term):
    """The product of two or more symbols."""

    factors: tuple[Symbol, ...]

    def __new__(cls, factors: tuple[Symbol, ...]) -> ProductTerm:
        ordered = tuple(sorted(factors, key=lambda one: (isinstance(one, Quotient), str(one))))
        made = super().__new__(cls, _identifier("x", *map(_spelled, ordered)))
        made.factors = ordered
        made.inner = frozenset().union(*(AffineExpr.of(one).names for one in ordered))
        return made

    def substitute(self, values: Mapping[str, AffineExpr]) -> AffineExpr:
        total = AffineExpr((), 1)
        for factor in self.factors:
            total = product(total, AffineExpr.of(factor).substitute(values))
        return total

    def evaluate(self, values: Mapping[str, Any]) -> Any:
        return math.prod(AffineExpr.of(factor).evaluate(values) for factor in self.factors)


class QuotientTerm(Term):
    """``floor(numerator / divisor)`` for a divisor of at least 1; ``positive``: and for a numerator of at least 0.

    Both hold where the value is computed, in the iterations that run.
    """

    numerator: AffineExpr
    divisor: AffineExpr
    positive: bool

    def __new__(cls, numerator: AffineExpr, divisor: AffineExpr, positive: bool) -> QuotientTerm:
        made = super().__new__(cls, _identifier("d", spelled(numerator), spelled(divisor), positive))
        made.numerator, made.divisor, made.positive = numerator, divisor, positive
        made.inner = numerator.names | divisor.names
        return made

    def substitute(self, values: Mapping[str, AffineExpr]) -> AffineExpr:
        numerator, divisor = self.numerator.substitute(values), self.divisor.substitute(values)
        # In an iteration that does not run, nothing is known of their signs.
        rounds = {name for name in values if name.startswith("_t")}
        if not rounds.isdisjoint(self.divisor.names) and not divisor.is_constant:
            number = int.from_bytes(hashlib.blake2b(self.encode(), digest_size=6).digest(), "big")
            reason = _("a quotient whose divisor changes in a loop")
            return AffineExpr.of(UnknownTerm(-number, (numerator, divisor), (-math.inf, math.inf), reason))
        return quotient(numerator, divisor, self.positive and rounds.isdisjoint(self.numerator.names))

    def evaluate(self, values: Mapping[str, Any]) -> Any:
        return self.numerator.evaluate(values) // self.divisor.evaluate(values)


class UnknownTerm(Term):
    """Value ``number`` of those that only a run knows, as a function of ``arguments``: lanes and iterations, say.

    ``reach`` bounds it by numbers, and ``least`` and ``most`` by expressions of parameters; ``reason`` says what it is,
    and ``op`` is the operation that it comes from.
    """

    number: int
    arguments: tuple[AffineExpr, ...]
    reach: Interval
    least: AffineExpr | None
    most: AffineExpr | None
    reason: str
    op: int | None

    def __new__(
        cls,
        number: int,
        arguments: tuple[AffineExpr, ...],
        reach: Interval,
        reason: str,
        op: int | None = None,
        least: AffineExpr | None = None,
        most: AffineExpr | None = None,
    ) -> UnknownTerm:
        limits = tuple("" if one is None else spelled(one) for one in (least, most))
        made = super().__new__(cls, _identifier("o", number, *map(spelled, arguments), *limits))
        made.number, made.arguments, made.reach, made.reason, made.op = number, arguments, reach, reason, op
        made.least, made.most = least, most
        made.inner = frozenset().union(*(one.names for one in (*arguments, least, most) if one is not None))
        return made

    def substitute(self, values: Mapping[str, AffineExpr]) -> AffineExpr:
        arguments = tuple(one.substitute(values) for one in self.arguments)
        least, most = (None if one is None else one.substitute(values) for one in (self.least, self.most))
        return AffineExpr.of(UnknownTerm(self.number, arguments, self.reach, self.reason, self.op, least, most))

    def evaluate(self, values: Mapping[str, Any]) -> Any:
        raise LookupError(self.reason)


def spelled(expression: AffineExpr) -> str:
    """The expression as text that tells symbols of all kinds apart."""
    return "+".join([*(f"{c}*{_spelled(s)}" for s, c in expression.terms), str(expression.constant)])


def _spelled(symbol: Symbol) -> str:
    return f"[{spelled(symbol.numerator)}/{symbol.divisor}]" if isinstance(symbol, Quotient) else str(symbol)


def product(a: AffineExpr, b: AffineExpr) -> AffineExpr:
    """The product, multiplied out."""
    if a.is_constant or b.is_constant:
        return b * a.constant if a.is_constant else a * b.constant
    total: dict[Symbol, int] = {}
    for one, c in (*a.terms, (None, a.constant)):
        for other, d in (*b.terms, (None, b.constant)):
            if one is None or other is None:
                symbol = other if one is None else one
                if symbol is None:
                    continue
            else:
                symbol = ProductTerm((*factors_of(one), *factors_of(other)))
            total[symbol] = total.get(symbol, 0) + c * d
    return AffineExpr.make(total, a.constant * b.constant)


def quotient(numerator: AffineExpr, divisor: AffineExpr, positive: bool = False) -> AffineExpr:
    """``floor(numerator / divisor)`` for a divisor of at least 1, without a `QuotientTerm` where that is simple."""
    if divisor.is_constant:
        return numerator // max(1, divisor.constant)
    if numerator == divisor:
        return AffineExpr((), 1)
    whole = exact_quotient(numerator, divisor)
    return AffineExpr.of(QuotientTerm(numerator, divisor, positive)) if whole is None else whole


def exact_quotient(numerator: AffineExpr, divisor: AffineExpr) -> AffineExpr | None:
    """The quotient of polynomials if the divisor is one term that divides each term of the numerator."""
    if len(divisor.terms) != 1 or divisor.constant or divisor.terms[0][1] < 1 or numerator.constant:
        return None
    ((divide, factor_of_all),) = divisor.terms
    if any(coefficient % factor_of_all for _symbol, coefficient in numerator.terms):
        return None
    numerator = AffineExpr.make({symbol: coefficient // factor_of_all for symbol, coefficient in numerator.terms})
    total: dict[Symbol, int] = {}
    rest = 0
    for symbol, coefficient in numerator.terms:
        left = list(factors_of(symbol))
        for factor in factors_of(divide):
            if factor not in left:
                return None
            left.remove(factor)
        if not left:
            rest += coefficient
        else:
            total[left[0] if len(left) == 1 else ProductTerm(tuple(left))] = coefficient
    return AffineExpr.make(total, rest)


def terms_in(expression: AffineExpr) -> set[Term]:
    """All terms in it, also inside quotients and other terms."""
    found: set[Term] = set()
    _collect(expression, found)
    return found


def _collect(expression: AffineExpr, found: set[Term]) -> None:
    for symbol, _coefficient in expression.terms:
        _collect_symbol(symbol, found)


def _collect_symbol(symbol: Symbol, found: set[Term]) -> None:
    if isinstance(symbol, Quotient):
        _collect(symbol.numerator, found)
    elif isinstance(symbol, Term) and symbol not in found:
        found.add(symbol)
        if isinstance(symbol, ProductTerm):
            for factor in symbol.factors:
                _collect_symbol(factor, found)
        elif isinstance(symbol, QuotientTerm):
            _collect(symbol.numerator, found)
            _collect(symbol.divisor, found)
