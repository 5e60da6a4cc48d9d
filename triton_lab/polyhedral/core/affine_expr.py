"""Affine expressions over iterators and parameters, with integer quotients.

All of `polyhedral` uses them: a constraint is an affine expression that must not be negative, an access function is
one expression per subscript, a schedule one per time dimension. Tiling also needs the quotient ``floor(i / 4)``. A
quotient is a symbol like any other, so that matrices simply get a column for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeAlias

from triton_lab.polyhedral.core.loop_nest import Binary, Expr, Name, Number

# Reserved words of isl's language.
_ISL_WORDS = frozenset({
    "and", "or", "not", "exists", "mod", "floor", "ceil", "floord", "ceild", "min", "max", "implies", "infty", "true",
    "false", "rat", "NaN",
})  # fmt: skip


def isl_name(name: str) -> str:
    """``name`` as an identifier that isl's parser does not read as a keyword."""
    return f"{name}_" if name.rstrip("_") in _ISL_WORDS else name


def source_name(name: str) -> str:
    """The inverse of `isl_name`."""
    return name[:-1] if name.endswith("_") and name.rstrip("_") in _ISL_WORDS else name


@dataclass(frozen=True, order=True)
class Quotient:
    """``floor(numerator / divisor)``, with a positive divisor."""

    numerator: AffineExpr
    divisor: int

    def __str__(self) -> str:
        return self._text

    @cached_property
    def _text(self) -> str:
        return f"⌊{_bracketed(self.numerator)}/{self.divisor}⌋"

    @property
    def latex(self) -> str:
        numerator = self.numerator.latex
        return rf"\lfloor {f'({numerator})' if self.numerator.is_sum else numerator} / {self.divisor} \rfloor"


class Term(str):
    """A symbol for a value that is not affine in other symbols, such as their product.

    As text it is an identifier that two terms share only if they are equal. ``inner`` are the names in it.
    """

    inner: frozenset[str] = frozenset()

    def substitute(self, values: Mapping[str, AffineExpr]) -> AffineExpr:
        raise NotImplementedError

    def evaluate(self, values: Mapping[str, Any]) -> Any:
        raise NotImplementedError


Symbol: TypeAlias = "str | Quotient"


def _key(symbol: Symbol) -> tuple[bool, str]:
    return (isinstance(symbol, Quotient), str(symbol))


def _bracketed(expression: AffineExpr) -> str:
    return f"({expression})" if expression.is_sum else str(expression)


@dataclass(frozen=True, order=True)
class AffineExpr:
    """``sum(coefficient * symbol) + constant`` over the integers; symbols are sorted and coefficients not zero."""

    terms: tuple[tuple[Symbol, int], ...] = field(default=())
    constant: int = 0

    @staticmethod
    def of(value: AffineExpr | Symbol | int) -> AffineExpr:
        if isinstance(value, AffineExpr):
            return value
        return AffineExpr((), value) if isinstance(value, int) else AffineExpr(((value, 1),))

    @staticmethod
    def make(coefficients: Mapping[Symbol, int], constant: int = 0) -> AffineExpr:
        kept = sorted(((s, c) for s, c in coefficients.items() if c), key=lambda term: _key(term[0]))
        return AffineExpr(tuple(kept), constant)

    @cached_property
    def coefficients(self) -> dict[Symbol, int]:
        return dict(self.terms)

    @property
    def is_constant(self) -> bool:
        return not self.terms

    @property
    def is_sum(self) -> bool:
        return len(self.terms) + bool(self.constant) > 1

    @cached_property
    def names(self) -> frozenset[str]:
        """The iterators and parameters that occur, also inside quotients."""
        found: set[str] = set()
        for symbol, _ in self.terms:
            found |= symbol.numerator.names if isinstance(symbol, Quotient) else {symbol}
            if isinstance(symbol, Term):
                found |= symbol.inner
        return frozenset(found)

    @property
    def quotients(self) -> tuple[Quotient, ...]:
        return tuple(s for s, _ in self.terms if isinstance(s, Quotient))

    def __add__(self, other: AffineExpr | int) -> AffineExpr:
        right = AffineExpr.of(other)
        total = dict(self.terms)
        for symbol, coefficient in right.terms:
            total[symbol] = total.get(symbol, 0) + coefficient
        return AffineExpr.make(total, self.constant + right.constant)

    def __neg__(self) -> AffineExpr:
        return self * -1

    def __sub__(self, other: AffineExpr | int) -> AffineExpr:
        return self + -AffineExpr.of(other)

    def __mul__(self, factor: int) -> AffineExpr:
        return AffineExpr.make({s: c * factor for s, c in self.terms}, self.constant * factor)

    def __floordiv__(self, divisor: int) -> AffineExpr:
        """``floor(self / divisor)``; terms that divide evenly move out of the quotient."""
        if divisor < 0:
            return (-self) // -divisor
        whole = {s: c // divisor for s, c in self.terms if c % divisor == 0}
        rest = {s: c for s, c in self.terms if c % divisor}
        outside = AffineExpr.make(whole, self.constant // divisor)
        if not rest:
            return outside
        inner = AffineExpr.make(rest, self.constant % divisor)
        if (
            len(inner.terms) == 1
            and not inner.constant
            and isinstance(inner.terms[0][0], Quotient)
            and inner.terms[0][1] == 1
        ):
            # floor(floor(x / a) / b) = floor(x / (a b))
            nested = inner.terms[0][0]
            return outside + AffineExpr.of(Quotient(nested.numerator, nested.divisor * divisor))
        return outside + AffineExpr.of(Quotient(inner, divisor))

    def __mod__(self, divisor: int) -> AffineExpr:
        return self - (self // divisor) * divisor

    def substitute(self, values: Mapping[str, AffineExpr]) -> AffineExpr:
        total = AffineExpr((), self.constant)
        for symbol, coefficient in self.terms:
            if isinstance(symbol, Quotient):
                total += (symbol.numerator.substitute(values) // symbol.divisor) * coefficient
            elif isinstance(symbol, Term) and not symbol.inner.isdisjoint(values):
                total += symbol.substitute(values) * coefficient
            else:
                total += values.get(symbol, AffineExpr.of(symbol)) * coefficient
        return total

    def evaluate(self, values: Mapping[str, Any]) -> Any:
        """The value where every name is an integer or an integer array."""
        total: Any = self.constant
        for symbol, coefficient in self.terms:
            if isinstance(symbol, Quotient):
                value = symbol.numerator.evaluate(values) // symbol.divisor
            elif isinstance(symbol, Term) and symbol not in values:
                value = symbol.evaluate(values)
            else:
                value = values[symbol]
            total = total + coefficient * value
        return total

    @property
    def isl(self) -> str:
        """The expression in isl's language."""
        return self.written(
            lambda s: f"floor(({s.numerator.isl})/{s.divisor})" if isinstance(s, Quotient) else isl_name(s), "*"
        )

    @property
    def latex(self) -> str:
        return self.written(lambda s: s.latex if isinstance(s, Quotient) else latex_name(s), " ")

    def __str__(self) -> str:
        return self.written(str, "")

    def written(self, show: Callable[[Symbol], str], times: str) -> str:
        """The expression as text: ``show`` prints symbols, and ``times`` stands between coefficient and symbol."""
        # Positive terms first: "j - i" reads better than "-i + j".
        ordered = sorted(self.terms, key=lambda term: term[1] < 0)
        parts: list[str] = []
        for symbol, coefficient in ordered:
            size = abs(coefficient)
            body = show(symbol) if size == 1 else f"{size}{times}{show(symbol)}"
            sign = ("-" if coefficient < 0 else "") if not parts else (" - " if coefficient < 0 else " + ")
            parts.append(sign + body)
        if self.constant or not parts:
            size = abs(self.constant)
            sign = ("-" if self.constant < 0 else "") if not parts else (" - " if self.constant < 0 else " + ")
            parts.append(f"{sign}{size}")
        return "".join(parts)

    def as_expression(self) -> Expr:
        """The expression as nodes of a loop nest."""
        total: Expr = Number(self.constant)
        for symbol, coefficient in self.terms:
            if isinstance(symbol, Quotient):
                value: Expr = Binary("//", symbol.numerator.as_expression(), Number(symbol.divisor))
            else:
                value = Name(symbol)
            total = Binary("+", total, value if coefficient == 1 else Binary("*", Number(coefficient), value))
        return total

    def row(self, columns: Iterable[Symbol]) -> tuple[int, ...]:
        """The coefficients of ``columns``, in their order."""
        return tuple(self.coefficients.get(column, 0) for column in columns)


def latex_name(name: str) -> str:
    """``name`` in LaTeX: one letter as it is, a word upright, an underscore escaped."""
    return name if len(name) == 1 else rf"\mathrm{{{name}}}".replace("_", r"\_")


def quotient_columns(expressions: Iterable[AffineExpr]) -> tuple[Quotient, ...]:
    """The quotients of ``expressions`` in order of first appearance: the extra columns of their matrix."""
    return tuple(dict.fromkeys(q for expression in expressions for q in expression.quotients))
