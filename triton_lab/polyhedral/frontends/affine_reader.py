"""Reads a nest's expressions as affine values; a non-affine one is refused at its character."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import NoReturn

import islpy as isl

from triton_lab.localization import _
from triton_lab.polyhedral.core import affine_conditions
from triton_lab.polyhedral.core.affine_conditions import (
    Extremum,
    Formula,
    Piecewise,
    Value,
    add,
    floor_divide,
    scale,
    truncate_divide,
)
from triton_lab.polyhedral.core.affine_expr import AffineExpr, isl_name
from triton_lab.polyhedral.core.isl_effort import TooHard, effort
from triton_lab.polyhedral.core.iteration_domain import formula_text, space_text
from triton_lab.polyhedral.core.loop_nest import (
    Assign,
    Binary,
    Call,
    Choose,
    Compare,
    Expr,
    Load,
    Logic,
    Name,
    Number,
    Unary,
    walk,
)
from triton_lab.polyhedral.core.source_text import NotAScop, SourceText
from triton_lab.polyhedral.frontends.c_types import limits
from triton_lab.polyhedral.frontends.source_limits import refuse_name

_MOST = 2**63 - 1


@dataclass(frozen=True)
class AffineReader:
    """Reads expressions where ``iterators`` run over ``context``; ``changed`` are the scalars that the nest assigns.

    ``types`` has NumPy's names of the types that the source declares: a float is no affine value, and unsigned
    arithmetic must not wrap around.
    """

    source: SourceText
    language: str
    iterators: tuple[str, ...]
    context: Formula
    changed: Collection[str]
    types: Mapping[str, str] = field(default_factory=dict)

    def value(self, expression: Expr, role: str) -> Value:
        """``expression`` as an affine value. ``role`` names its purpose in errors: "a bound of i"."""
        value = self._value(expression, role)
        if isinstance(expression, Binary | Unary | Call) and self._width(expression):
            self._refuse_wrap(value, expression)
        return value

    def _value(self, expression: Expr, role: str) -> Value:
        match expression:
            case Number(value=int() as number):
                return self._bounded(AffineExpr((), number), role, expression)
            case Name(id=name) if name not in self.changed or name in self.iterators:
                refuse_name(name, self.source, expression.span)
                if self.types.get(name, "").startswith("float"):
                    self.refuse(
                        _("{role} must be an integer, but {name} is a float").format(role=role, name=name), expression
                    )
                return AffineExpr.of(name)
            case Name(id=name):
                self.refuse(
                    _("{role} must be affine, but the program changes {name}").format(role=role, name=name), expression
                )
            case Unary(op="-"):
                return scale(self.value(expression.operand, role), -1)
            case Unary(op="~"):
                return add(scale(self.value(expression.operand, role), -1), AffineExpr((), -1))
            case Binary(op=("+" | "-")):
                return self._sum(expression, role)
            case Binary(op="*"):
                return self._product(expression, role)
            case Binary(op=("/" | "//" | "%")):
                return self._quotient(expression, role)
            case Binary(op=("<<" | ">>" | "&"), right=Number(value=int() as bits)) if 0 <= bits < _MOST:
                return self._bits(expression, bits, role)
            case Compare() | Logic() | Unary(op="not"):
                yes, no = self.condition(expression), self.condition(expression, False)
                return Piecewise(((yes, AffineExpr((), 1)), (no, AffineExpr())))
            case Choose():
                return self._choice(expression, role)
            case Call(function=("min" | "max") as kind, arguments=arguments):
                return Extremum(kind, tuple(self.value(a, role) for a in arguments))
            case Call(function="abs", arguments=(argument,)):
                value = self.value(argument, role)
                return Extremum("max", (value, scale(value, -1)))
            case Call(function=("int32" | "int64"), arguments=(argument,)):
                return self._value(argument, role)
            case Call(function=("uint8" | "uint16" | "uint32") as kind, arguments=(argument,)):
                value, size = self._value(argument, role), 1 << int(kind[4:])
                return add(value, scale(floor_divide(value, size), -size))
            case Call(function=("floord" | "ceild"), arguments=(numerator, Number(value=int() as divisor))):
                if divisor > 0:
                    value = self.value(numerator, role)
                    if expression.function == "floord":
                        return floor_divide(value, divisor)
                    return scale(floor_divide(scale(value, -1), divisor), -1)
            case Load():
                self.refuse(
                    _("{role} must be affine in iterators and parameters, but this reads memory").format(role=role),
                    expression,
                )
        self.refuse(_("{role} must be affine in iterators and parameters").format(role=role), expression)

    def _choice(self, expression: Choose, role: str) -> Value:
        """``condition ? yes : no``; each side is read where it is chosen."""
        cases = []
        for side, holds in ((expression.yes, True), (expression.no, False)):
            when = self.condition(expression.condition, holds)
            inside = replace(self, context=affine_conditions.conjunction(self.context, when))
            cases.append((when, inside.value(side, role)))
        return Piecewise(tuple(cases))

    def _bits(self, expression: Binary, bits: int, role: str) -> Value:
        """Shifts by a number of bits, and the lowest bits of a number: ``i & 7``."""
        value = self.value(expression.left, role)
        if expression.op == "&":
            if bits & (bits + 1):
                self.refuse(_("{role} must be affine: & takes only 1, 3, 7, ... here").format(role=role), expression)
            return add(value, scale(floor_divide(value, bits + 1), -bits - 1))
        if bits > 62:
            self.refuse(_("{role} has a number beyond 64 bits").format(role=role), expression)
        return scale(value, 1 << bits) if expression.op == "<<" else floor_divide(value, 1 << bits)

    # Unsigned arithmetic.

    def _width(self, expression: Expr) -> str:
        """The unsigned type in which C computes ``expression``; "" for signed (shorter types are widened to int)."""
        match expression:
            case Call(function=("int32" | "int64")) | Compare() | Logic() | Unary(op="not"):
                return ""
            case Call(function=("uint32" | "uint64") as kind):
                return kind
        found = ""
        for part in walk(expression):
            own = self.types.get(part.id, "") if isinstance(part, Name) else ""
            own = part.function if isinstance(part, Call) else own
            if own in ("uint32", "uint64"):
                found = max(found, own, key=lambda k: k[-2:])
        return found

    def _refuse_wrap(self, value: Value, expression: Expr) -> None:
        if not self.stays(value, self._width(expression), expression):
            self.refuse(
                _("{text} may wrap around, as it is unsigned: use int, or a condition that excludes it").format(
                    text=self.text(expression)
                ),
                expression,
            )

    def stays(self, value: Value, kind: str, expression: Expr) -> bool:
        """Whether ``value`` is in the range of the type ``kind`` wherever it is computed."""
        ends = limits(kind)
        if ends is None:
            return True
        below = affine_conditions.compare("<", value, AffineExpr((), ends[0]))
        above = affine_conditions.compare(">", value, AffineExpr((), ends[1]))
        return self.never(affine_conditions.disjunction(below, above), self.text(expression))

    def _ranges(self, formula: Formula) -> Formula:
        """What the types say of the names in ``formula``."""
        total = affine_conditions.TRUE
        for name in sorted({n for case in formula for c in case for n in c.expression.names}):
            ends = limits(self.types.get(name, ""))
            if ends is not None and self.types[name].startswith("u"):
                low = affine_conditions.compare(">=", AffineExpr.of(name), AffineExpr((), ends[0]))
                high = affine_conditions.compare("<=", AffineExpr.of(name), AffineExpr((), ends[1]))
                total = affine_conditions.conjunction(total, low, high)
        return total

    def never(self, formula: Formula, text: str) -> bool:
        """Whether ``formula`` holds nowhere; False where that is too hard to say."""
        if not formula:
            return True
        both = affine_conditions.conjunction(self.context, formula)
        both = affine_conditions.conjunction(both, self._ranges(both))
        names = sorted({n for case in both for c in case for n in c.expression.names} - set(self.iterators))
        head = f"[{', '.join(isl_name(i) for i in self.iterators)}]"
        try:
            with effort(_("whether {text} is negative").format(text=text)):
                return isl.Set(f"{space_text(names)}{{ {head} : {formula_text(both)} }}").is_empty()
        except TooHard:
            return False

    def _sum(self, expression: Expr, role: str) -> Value:
        """A sum of any length."""
        terms: list[Binary] = []
        while isinstance(expression, Binary) and expression.op in "+-":
            terms.append(expression)
            expression = expression.left
        total = self.value(expression, role)
        for term in reversed(terms):
            right = self.value(term.right, role)
            total = self._bounded(add(total, right if term.op == "+" else scale(right, -1)), role, term)
        return total

    def _bounded(self, value: Value, role: str, expression: Expr) -> Value:
        """``value``, whose numbers must be those of a machine: what counts and draws instances has no others."""
        if isinstance(value, AffineExpr):
            numbers = (value.constant, *(c for _unused, c in value.terms), *(q.divisor for q in value.quotients))
            if any(not -_MOST <= number <= _MOST for number in numbers):
                self.refuse(_("{role} has a number beyond 64 bits").format(role=role), expression)
        return value

    def _product(self, expression: Binary, role: str) -> Value:
        left, right = self.value(expression.left, role), self.value(expression.right, role)
        for value, factor in ((left, right), (right, left)):
            if isinstance(factor, AffineExpr) and factor.is_constant:
                return self._bounded(scale(value, factor.constant), role, expression)
        self.refuse(_("{role} must be affine, but this multiplies two variables").format(role=role), expression)

    def _quotient(self, expression: Binary, role: str) -> Value:
        left, right = self.value(expression.left, role), self.value(expression.right, role)
        if not isinstance(right, AffineExpr) or not right.is_constant:
            self.refuse(_("{role} must be affine, but this divides by a variable").format(role=role), expression)
        divisor, sign = abs(right.constant), 1 if right.constant > 0 else -1
        if divisor == 0 or (sign < 0 and self.language != "c"):
            self.refuse(_("{role}: a divisor must be positive").format(role=role), expression.right)
        if expression.op == "/" and self.language == "python":
            self.refuse(_("{role} must be an integer, but / gives a float: write //").format(role=role), expression)
        truncates = self.language == "c" and expression.op != "//" and not self._never_negative(left, expression.left)
        quotient = truncate_divide(left, divisor) if truncates else floor_divide(left, divisor)
        return add(left, scale(quotient, -divisor)) if expression.op == "%" else scale(quotient, sign)

    def _never_negative(self, value: Value, expression: Expr) -> bool:
        negative = affine_conditions.at_least_zero(add(scale(value, -1), AffineExpr((), -1)))
        return self.never(negative, self.text(expression))

    def condition(self, expression: Expr, holds: bool = True) -> Formula:
        """The set where ``expression`` is true (with ``holds=False``, where it is false)."""
        match expression:
            case Compare():
                role = _("a condition")
                left, right = self.value(expression.left, role), self.value(expression.right, role)
                if self._width(expression.left) or self._width(expression.right):
                    self._refuse_signed(left, right, expression)
                op = expression.op if holds else affine_conditions.opposite(expression.op)
                return affine_conditions.compare(op, left, right, self.text(expression), expression.span)
            case Logic():
                parts = [self.condition(operand, holds) for operand in expression.operands]
                both = (expression.op == "and") == holds
                return affine_conditions.conjunction(*parts) if both else affine_conditions.disjunction(*parts)
            case Unary(op="not"):
                return self.condition(expression.operand, not holds)
            case Choose():
                sides = ((expression.yes, True), (expression.no, False))
                parts = [
                    affine_conditions.conjunction(
                        self.condition(expression.condition, chosen), self.condition(side, holds)
                    )
                    for side, chosen in sides
                ]
                return affine_conditions.disjunction(*parts)
        memory = next((e for e in walk(expression) if isinstance(e, Load)), None)
        if memory is not None:
            self.refuse(_("a condition must be affine in iterators and parameters, but this reads memory"), memory)
        if isinstance(expression, Call) and expression.function not in ("int32", "int64"):
            self.refuse(_("a condition must compare affine expressions"), expression)
        value = self.value(expression, _("a condition"))
        return affine_conditions.compare(
            "!=" if holds else "==", value, AffineExpr(), self.text(expression), expression.span
        )

    def _refuse_signed(self, left: Value, right: Value, expression: Compare) -> None:
        """C compares a signed with an unsigned number as unsigned ones: neither may be negative."""
        for value, side in ((left, expression.left), (right, expression.right)):
            if not self._never_negative(value, side):
                self.refuse(
                    _("{text} may be negative, but C compares it as unsigned: use int on both sides").format(
                        text=self.text(side)
                    ),
                    side,
                )

    def text(self, expression: Expr | Assign) -> str:
        """The source's text of ``expression``."""
        span = expression.span
        return self.source.line(span.line)[span.column - 1 : span.end - 1]

    def refuse(self, reason: str, expression: Expr) -> NoReturn:
        raise NotAScop(reason, self.source, expression.span)
