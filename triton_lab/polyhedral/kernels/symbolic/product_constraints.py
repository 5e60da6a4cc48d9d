"""What holds of terms that are not affine: constraints that are affine in the terms themselves.

A product of two expressions that are not negative is not negative: multiplied out, that is affine in the products of
symbols (the reformulation-linearization of Sherali and Adams, 1990). Only products of symbols that occur are made.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import combinations

from triton_lab.polyhedral.core.affine_conditions import Constraint
from triton_lab.polyhedral.core.affine_expr import AffineExpr, Quotient, Symbol, Term
from triton_lab.polyhedral.kernels.symbolic.nonlinear_terms import (
    Interval,
    ProductTerm,
    QuotientTerm,
    UnknownTerm,
    exact_quotient,
    factors_of,
    product,
    terms_in,
)

# Pairs of more expressions than this are not multiplied.
_MOST_EXPRESSIONS = 80

# Products on the way to a product have at most so many factors.
_MOST_FACTORS = 3
Key = tuple[str, ...]
Bounds = Callable[[AffineExpr], Interval]


def lifted(constraints: Sequence[Constraint], more: Iterable[AffineExpr], bounds: Bounds) -> list[Constraint]:
    """Constraints that follow from ``constraints`` and from what the terms mean; ``more`` are other expressions in use.

    ``bounds`` gives an interval of an expression. Empty if there are no terms.
    """
    expressions = [c.expression for c in constraints]
    terms = set[Term]().union(*map(terms_in, (*expressions, *more)))
    if not terms:
        return []
    known: dict[AffineExpr, None] = {}
    for c in constraints:
        known[c.expression] = None
        if c.equality:
            known[-c.expression] = None
    new: dict[AffineExpr, None] = {}
    done: set[Term] = set()
    while terms - done:
        for term in sorted(terms - done):
            done.add(term)
            for fact in _meaning(term, bounds):
                new[fact] = None
                terms |= terms_in(fact)
    products = {term for term in terms if isinstance(term, ProductTerm)}
    factors: set[Symbol] = set()
    for one in products:
        factors.update(one.factors)
    for symbol in sorted(factors, key=str):
        for fact in _limits(symbol, bounds):
            new[fact] = None
    for given in list(known):
        for fact in (*_without_unknown(given), *_ends(given, factors, bounds)):
            new[fact] = None
    equal = [c.expression for c in constraints if c.equality]
    quotients = sorted(_quotients([*factors, *terms]), key=_depth)
    for quotient in quotients:
        for fact in _with_quotient(quotient, known):
            new[fact] = None
        for fact in _tops(quotient, [*known, *new], equal):
            new[fact] = None
            for given in known:  # with the bound in its place
                times = given.coefficients.get(quotient, 0)
                if times > 0:
                    new[given + fact * times] = None
    for fact in _digits([q for q in quotients if isinstance(q, Quotient)]):
        new[fact] = None
    if products:
        parts = {_key(some) for p in products for some in _subsets(p.factors)}
        useful = [e for e in (*known, *new) if any(factors.issuperset(factors_of(s)) for s, _ in e.terms)]
        pairs = _multiplied(useful[:_MOST_EXPRESSIONS], useful[:_MOST_EXPRESSIONS], parts)
        new |= dict.fromkeys(pairs)
        if any(len(p.factors) > 2 for p in products):
            new |= dict.fromkeys(_multiplied(pairs[:_MOST_EXPRESSIONS], useful[:_MOST_EXPRESSIONS], parts))
    return [Constraint(one) for one in new if one not in known and not (one.is_constant and one.constant >= 0)]


def _meaning(term: Term, bounds: Bounds) -> list[AffineExpr]:
    """What is not negative because of what the term is."""
    symbol = AffineExpr.of(term)
    if isinstance(term, QuotientTerm):
        rest = term.numerator - product(term.divisor, symbol)
        found = [rest, term.divisor - rest - 1, term.divisor - 1]
        if term.positive or bounds(term.numerator)[0] >= 0:
            found.append(symbol)
        return found
    found = []
    if isinstance(term, UnknownTerm):
        if term.least is not None:
            found.append(symbol - term.least)
        if term.most is not None:
            found.append(term.most - symbol)
    return found + _limits(term, bounds)


def _limits(symbol: Symbol, bounds: Bounds) -> list[AffineExpr]:
    """The symbol's interval, and for a quotient by a number its definition."""
    whole = AffineExpr.of(symbol)
    low, high = bounds(whole)
    found = []
    if math.isfinite(low):
        found.append(whole - int(low))
    if math.isfinite(high):
        found.append(AffineExpr((), int(high)) - whole)
    if isinstance(symbol, Quotient):
        rest = symbol.numerator - whole * symbol.divisor
        found += [rest, AffineExpr((), symbol.divisor - 1) - rest]
    return found


def _without_unknown(one: AffineExpr) -> list[AffineExpr]:
    """What follows from an expression and from the bounds of a value from memory in it, which then drops out.

    isl finds it, too, but products with it need it written out.
    """
    found = []
    for symbol, coefficient in one.terms:
        if isinstance(symbol, UnknownTerm):
            bound = symbol.most if coefficient > 0 else symbol.least
            if bound is not None:
                found.append(one + (bound - AffineExpr.of(symbol)) * coefficient)
    return found


def _ends(one: AffineExpr, factors: set[Symbol], bounds: Bounds) -> Iterator[AffineExpr]:
    """What an expression says of a factor alone: n - i - 1 >= 0 and i >= 0 give n - 1 >= 0."""
    for symbol, coefficient in one.terms:
        if symbol in factors and abs(coefficient) == 1 and len(one.terms) > 1:
            most = bounds(one - AffineExpr.of(symbol) * coefficient)[1]
            if math.isfinite(most):
                yield AffineExpr.of(symbol) * coefficient + int(most)


def _with_quotient(quotient: Quotient | QuotientTerm, known: Iterable[AffineExpr]) -> Iterator[AffineExpr]:
    """Bounds of a size as bounds of its quotient: h - d >= 0 gives h - 2 floor(d / 2) >= 0.

    isl finds them, too, but products with the quotient need them written out.
    """
    if isinstance(quotient, Quotient) and len(quotient.numerator.terms) == 1:
        ((symbol, factor),) = quotient.numerator.terms
        rest = quotient.numerator - AffineExpr.of(quotient) * quotient.divisor
        for one in known:
            times = -one.coefficients.get(symbol, 0)
            if times > 0 and factor == 1 and len(one.terms) > 1:
                yield one + rest * times


def _quotients(symbols: Iterable[Symbol]) -> set[Quotient | QuotientTerm]:
    """The quotients among these symbols, with those in their numerators."""
    found: set[Quotient | QuotientTerm] = set()
    for symbol in symbols:
        if isinstance(symbol, (Quotient, QuotientTerm)) and symbol not in found:
            found |= {symbol, *_quotients(inner for inner, _c in symbol.numerator.terms)}
    return found


def _depth(quotient: Quotient | QuotientTerm) -> tuple[int, str]:
    """Sorts quotients behind those in their numerators."""
    inner = [s for s, _c in quotient.numerator.terms if isinstance(s, (Quotient, QuotientTerm))]
    return 1 + max((_depth(one)[0] for one in inner), default=0), str(quotient)


def _tops(
    quotient: Quotient | QuotientTerm, known: Sequence[AffineExpr], equal: Sequence[AffineExpr]
) -> list[AffineExpr]:
    """Bounds of a quotient from above: its numerator is below a multiple of its divisor.

    isl finds them, too, but products need them written out.
    """
    symbol, numerator = AffineExpr.of(quotient), quotient.numerator
    own = {s for s, _c in numerator.terms}
    divides = {s for s, _c in quotient.divisor.terms} if isinstance(quotient, QuotientTerm) else set()
    found = []
    for one in known:
        top = one + numerator  # numerator <= top
        for limit in (top, *(top + each * sign for each in equal for sign in (1, -1))):
            if own and own.isdisjoint(s for s, _c in limit.terms if s not in divides):
                whole = _below(limit, quotient.divisor)
                if whole is not None:
                    found.append(whole - symbol)
    return found


def _digits(quotients: Sequence[Quotient]) -> list[AffineExpr]:
    """The bounds of ``n // a % (b / a)``, written as quotients of one number n by a and by a multiple b."""
    found = []
    for inner in quotients:
        for outer in quotients:
            if inner.numerator == outer.numerator and inner.divisor < outer.divisor:
                base, rest = divmod(outer.divisor, inner.divisor)
                digit = AffineExpr.of(inner) - AffineExpr.of(outer) * base
                found += [] if rest else [digit, AffineExpr((), base - 1) - digit]
    return found


def _below(limit: AffineExpr, divisor: int | AffineExpr) -> AffineExpr | None:
    """``floor(limit / divisor)`` where that is a polynomial, or that of a number below the divisor's next multiple."""
    if isinstance(divisor, int):
        if any(c % divisor for _s, c in limit.terms):
            return None
        return AffineExpr(tuple((s, c // divisor) for s, c in limit.terms), limit.constant // divisor)
    whole = exact_quotient(limit + 1, divisor)
    return None if whole is None else whole - 1


def _multiplied(ones: Sequence[AffineExpr], others: Sequence[AffineExpr], parts: set[Key]) -> list[AffineExpr]:
    """The products of two expressions that need no products of symbols but ``parts``."""
    keys = {symbol: _key(factors_of(symbol)) for one in (*ones, *others) for symbol, _ in one.terms}
    fits = {
        (s, t): tuple(sorted((*first, *second))) in parts for s, first in keys.items() for t, second in keys.items()
    }
    found: dict[AffineExpr, None] = {}
    for position, one in enumerate(ones):
        for other in others[position:] if ones == others else others:
            if all(fits[s, t] for s, _ in one.terms for t, _ in other.terms):
                found[product(one, other)] = None
    return list(found)


def _subsets(factors: tuple[Symbol, ...]) -> Iterator[tuple[Symbol, ...]]:
    """All factors, and some of them: the products on the way to a product of three."""
    for count in range(2, min(len(factors), _MOST_FACTORS) + 1):
        yield from combinations(factors, count)
    yield factors


def _key(factors: tuple[Symbol, ...]) -> Key:
    return tuple(sorted(map(str, factors)))
