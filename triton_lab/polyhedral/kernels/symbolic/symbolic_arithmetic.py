"""Integer arithmetic on symbolic values: exact, or `Unknown` with the reason."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Literal

from triton_lab.localization import _
from triton_lab.polyhedral.core import affine_conditions
from triton_lab.polyhedral.core.affine_conditions import Constraint, Extremum
from triton_lab.polyhedral.core.affine_expr import AffineExpr
from triton_lab.polyhedral.kernels.symbolic.nonlinear_terms import product
from triton_lab.polyhedral.kernels.symbolic.nonlinear_terms import quotient as floor_quotient
from triton_lab.polyhedral.kernels.symbolic.symbol_facts import Case, Facts
from triton_lab.polyhedral.kernels.symbolic.symbolic_values import (
    SymbolicCase,
    SymbolicNumber,
    Truth,
    Unknown,
    combine,
    each,
    pruned,
    simplified,
)

# At most so many values of a divisor or factor are treated one by one.
_MOST_VALUES = 64

Result = SymbolicNumber | Unknown


def add(a: SymbolicNumber, b: SymbolicNumber, facts: Facts) -> Result:
    total = combine(a, b, lambda x, y: x + y, facts)
    return _with_extremum(total, lambda: affine_conditions.add(_value(a), _value(b)), a, b)


def scaled(a: SymbolicNumber, factor: int) -> SymbolicNumber:
    pieces = tuple(SymbolicCase(p.when, p.value * factor, p.root) for p in a.pieces)
    extremum = None if a.extremum is None else affine_conditions.scale(a.extremum, factor)
    return SymbolicNumber(pieces, extremum if isinstance(extremum, Extremum) else None)


def subtract(a: SymbolicNumber, b: SymbolicNumber, facts: Facts) -> Result:
    return add(a, scaled(b, -1), facts)


def _value(number: SymbolicNumber) -> affine_conditions.Value:
    assert number.value is not None
    return number.value


def _with_extremum(total: Result, make: Callable[[], affine_conditions.Value], *operands: SymbolicNumber) -> Result:
    """``total``, also expressed with min and max if the operands are."""
    if isinstance(total, Unknown) or len(total.pieces) < 2 or any(x.value is None for x in operands):
        return total
    found = make()
    return SymbolicNumber(total.pieces, found) if isinstance(found, Extremum) else total


def multiply(a: SymbolicNumber, b: SymbolicNumber, facts: Facts) -> Result:
    for one, other in ((a, b), (b, a)):
        factor = constant(one, facts)
        if factor is not None:
            return scaled(other, factor)
    if facts.unknown is not None:
        return combine(a, b, product, facts)
    few = [(_count(x, facts), k, x, y) for k, (x, y) in enumerate(((a, b), (b, a)))]
    _unused, _unused, chosen, other = min(few)
    values = _values(chosen, facts) if not _has_parameters(other) else None
    if values is None:
        return Unknown(_("a product of two variables"), names=a.names | b.names)
    return pruned(
        [SymbolicCase((*when, *p.when), p.value * value, p.root) for when, value in values for p in other.pieces], facts
    )


def constant(number: SymbolicNumber, facts: Facts) -> int | None:
    """The number, if it can have only one value."""
    if len(number.pieces) != 1:
        return None
    low, high = facts.bounds(number.pieces[0].value)
    return int(low) if low == high else None


def _count(number: SymbolicNumber, facts: Facts) -> float:
    return sum(1 + high - low for low, high in (facts.bounds(p.value) for p in number.pieces))


def _has_parameters(number: SymbolicNumber) -> bool:
    return any(not name.startswith("_") for name in number.names)


def _values(number: SymbolicNumber, facts: Facts) -> list[tuple[Case, int]] | None:
    """The possible values of ``number``, each with its condition; None if there are too many."""
    if _has_parameters(number):
        return None  # a value for the parameter is better than many cases
    found: list[tuple[Case, int]] = []
    for piece in number.pieces:
        low, high = facts.bounds(piece.value)
        if high - low >= _MOST_VALUES:
            low, high = facts.exact(piece.value, piece.when)
        if not high - low < _MOST_VALUES or (math.isinf(high) and low <= high):
            return None
        if low > high:
            continue
        found += [
            ((*piece.when, Constraint(piece.value - value, equality=True)), value)
            for value in range(int(low), int(high) + 1)
        ]
    kept = [(facts.trim(when), value) for when, value in found]
    return [(when, value) for when, value in kept if when is not None and (len(kept) == 1 or facts.feasible(when))]


def _divisors(number: SymbolicNumber, facts: Facts) -> list[tuple[Case, int]] | Unknown:
    """The possible values of a divisor, each with its condition."""
    divisor = constant(number, facts)
    values: list[tuple[Case, int]] | None = [((), divisor)] if divisor is not None else _values(number, facts)
    if values is None:
        return Unknown(_("a divisor that is a variable"), names=number.names)
    if any(value == 0 for _unused, value in values):
        return Unknown(_("a divisor that may be zero"))
    return values


def divide(a: SymbolicNumber, b: SymbolicNumber, facts: Facts, rounding: Literal["floor", "zero"] = "zero") -> Result:
    """The quotient, rounded down or towards zero."""
    values = _divisors(b, facts)
    if isinstance(values, Unknown) and facts.unknown is not None:
        return _quotient_of_variables(a, b, facts, rounding)
    if isinstance(values, Unknown):
        return values

    def quotients(piece: SymbolicCase) -> Iterator[SymbolicCase]:
        for when, value in values:
            for sign, quotient in _quotient(piece, value, facts, rounding):
                yield SymbolicCase((*piece.when, *when, *sign), quotient)

    return each(a, lambda piece: list(quotients(piece)), facts)


def _quotient_of_variables(
    a: SymbolicNumber, b: SymbolicNumber, facts: Facts, rounding: Literal["floor", "zero"]
) -> Result:
    """The quotient by a number that is at least 1 in each case, as far as isl can prove it."""
    for piece in b.pieces:
        if not not_negative(piece.value - 1, facts, piece.when):
            return Unknown(_("a divisor that may be zero or negative"), names=b.names)
    pieces = []
    for x in a.pieces:
        for y in b.pieces:
            when = (*x.when, *y.when)
            positive = not_negative(x.value, facts, when)
            if rounding == "zero" and not positive:
                return Unknown(_("a quotient of a number that may be negative"), names=a.names)
            pieces.append(SymbolicCase(when, floor_quotient(x.value, y.value, positive)))
    return pruned(pieces, facts)


def _quotient(piece: SymbolicCase, divisor: int, facts: Facts, rounding: str) -> list[tuple[Case, AffineExpr]]:
    """The quotient by a number; two cases if it depends on the dividend's sign."""
    value = piece.value if divisor > 0 else -piece.value
    size = abs(divisor)
    if rounding == "floor" or not_negative(value, facts, piece.when):
        return [((), floor(value, size, facts))]
    return [
        ((Constraint(value),), floor(value, size, facts)),
        ((Constraint(-value - 1),), -floor(-value, size, facts)),
    ]


def not_negative(value: AffineExpr, facts: Facts, when: Case = ()) -> bool:
    if facts.bounds(value)[0] >= 0:
        return True
    if facts.unknown is not None:  # products with the opposite help where the least value does not
        return not facts.feasible((*when, Constraint(-value - 1)))
    return facts.exact(value, when)[0] >= 0


def floor(value: AffineExpr, divisor: int, facts: Facts) -> AffineExpr:
    """``floor(value / divisor)``, without quotients that are constant."""
    quotient = value // divisor
    for symbol in quotient.quotients:
        low, high = facts.bounds(AffineExpr(((symbol, 1),)))
        if low == high:
            term = AffineExpr(((symbol, quotient.coefficients[symbol]),))
            quotient = quotient - term + int(low) * quotient.coefficients[symbol]
    return quotient


def remainder(
    a: SymbolicNumber, b: SymbolicNumber, facts: Facts, rounding: Literal["floor", "zero"] = "zero"
) -> Result:
    """The remainder of the division by ``|b|``: with the sign of ``a``, or for "floor" never negative."""
    values = _divisors(b, facts)
    if isinstance(values, Unknown) and facts.unknown is not None:
        whole = _quotient_of_variables(a, b, facts, rounding)
        back = whole if isinstance(whole, Unknown) else multiply(whole, b, facts)
        return back if isinstance(back, Unknown) else subtract(a, back, facts)
    if isinstance(values, Unknown):
        return values
    pieces = [
        SymbolicCase((*p.when, *when, *sign), p.value - quotient * abs(value))
        for p in a.pieces
        for when, value in values
        for sign, quotient in _quotient(p, abs(value), facts, rounding)
    ]
    return pruned(pieces, facts)


def extremum(kind: Literal["min", "max"], a: SymbolicNumber, b: SymbolicNumber, facts: Facts) -> Result:
    """The least or the greatest of two."""
    pieces = []
    for x in a.pieces:
        for y in b.pieces:
            below = x.value - y.value if kind == "max" else y.value - x.value  # >= 0: x is taken
            pieces.append(SymbolicCase((*x.when, *y.when, Constraint(below)), x.value, x.root))
            pieces.append(SymbolicCase((*x.when, *y.when, Constraint(-below - 1)), y.value, y.root))
    total = pruned(pieces, facts)
    return _with_extremum(total, lambda: Extremum(kind, (_value(a), _value(b))), a, b)


def compare(op: str, a: SymbolicNumber, b: SymbolicNumber, facts: Facts) -> Truth:
    """``a op b`` for the six comparisons."""
    if a.value is not None and b.value is not None:
        return Truth(simplified(affine_conditions.compare(op, a.value, b.value), facts))
    cases = [
        (*x.when, *y.when, *case)
        for x in a.pieces
        for y in b.pieces
        for case in affine_conditions.compare(op, x.value, y.value)
    ]
    return Truth(simplified(tuple(cases), facts))


def fits(value: SymbolicNumber, bits: int, facts: Facts) -> bool:
    """Whether the number fits a signed integer of ``bits`` bits, in this launch."""
    limit = 1 << (bits - 1)
    for piece in value.pieces:
        low, high = facts.bounds_here(piece.value)
        if -limit <= low and high < limit:
            continue
        if any(name.startswith("_c") for name in piece.value.names):
            continue  # not its final form, which is checked again
        if facts.leaves_here(piece.value, -limit, limit - 1, piece.when):
            return False
    return True


def always_fits(value: SymbolicNumber, bits: int, facts: Facts) -> bool:
    """Whether intervals show that the number fits a signed integer of ``bits`` bits, at all sizes."""
    limit = 1 << (bits - 1)
    return all(-limit <= low and high < limit for low, high in (facts.bounds(p.value) for p in value.pieces))
