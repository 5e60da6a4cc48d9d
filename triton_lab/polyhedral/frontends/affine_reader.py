"""Reads a nest's expressions as affine values; a non-affine one is refused at its character."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import NoReturn

import islpy as isl

from triton_lab.localization import _
from triton_lab.polyhedral.core import affine_conditions
from triton_lab.polyhedral.core.affine_conditions import (
    Extremum,
    Formula,
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
from triton_lab.polyhedral.frontends.source_limits import refuse_name

_MOST = 2**63 - 1


@dataclass(frozen=True)
class AffineReader:
    """Reads expressions where ``iterators`` run over ``context``; ``changed`` are the scalars that the nest assigns."""

    source: SourceText
    language: str
    iterators: tuple[str, ...]
    context: Formula
    changed: Collection[str]

    def value(self, expression: Expr, role: str) -> Value:
        """``expression`` as an affine value. ``role`` names its purpose in errors: "a bound of i"."""
        match expression:
            case Number(value=int() as number):
                return self._bounded(AffineExpr((), number), role, expression)
            case Name(id=name) if name not in self.changed or name in self.iterators:
                refuse_name(name, self.source, expression.span)
                return AffineExpr.of(name)
            case Name(id=name):
                self.refuse(
                    _("{role} must be affine, but the program changes {name}").format(role=role, name=name), expression
                )
            case Unary(op="-"):
                return scale(self.value(expression.operand, role), -1)
            case Binary(op=("+" | "-")):
                return self._sum(expression, role)
            case Binary(op="*"):
                return self._product(expression, role)
            case Binary(op=("/" | "//" | "%")):
                return self._quotient(expression, role)
            case Call(function=("min" | "max") as kind, arguments=arguments):
                return Extremum(kind, tuple(self.value(a, role) for a in arguments))
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
        divisor = right.constant
        if divisor <= 0:
            self.refuse(_("{role}: a divisor must be positive").format(role=role), expression.right)
        if expression.op == "/" and self.language == "python":
            self.refuse(_("{role} must be an integer, but / gives a float: write //").format(role=role), expression)
        truncates = self.language == "c" and expression.op != "//" and not self._never_negative(left, expression.left)
        quotient = truncate_divide(left, divisor) if truncates else floor_divide(left, divisor)
        return add(left, scale(quotient, -divisor)) if expression.op == "%" else quotient

    def _never_negative(self, value: Value, expression: Expr) -> bool:
        negative = affine_conditions.at_least_zero(add(scale(value, -1), AffineExpr((), -1)))
        both = affine_conditions.conjunction(self.context, negative)
        names = sorted({n for case in both for c in case for n in c.expression.names} - set(self.iterators))
        head = f"[{', '.join(isl_name(i) for i in self.iterators)}]"
        try:
            with effort(_("whether {text} is negative").format(text=self.text(expression))):
                return isl.Set(f"{space_text(names)}{{ {head} : {formula_text(both)} }}").is_empty()
        except TooHard:
            return False

    def condition(self, expression: Expr, holds: bool = True) -> Formula:
        """The set where ``expression`` is true (with ``holds=False``, where it is false)."""
        match expression:
            case Compare():
                role = "a condition"
                left, right = self.value(expression.left, role), self.value(expression.right, role)
                op = expression.op if holds else affine_conditions.opposite(expression.op)
                return affine_conditions.compare(op, left, right, self.text(expression), expression.span)
            case Logic():
                parts = [self.condition(operand, holds) for operand in expression.operands]
                both = (expression.op == "and") == holds
                return affine_conditions.conjunction(*parts) if both else affine_conditions.disjunction(*parts)
            case Unary(op="not"):
                return self.condition(expression.operand, not holds)
        memory = next((e for e in walk(expression) if isinstance(e, Load)), None)
        if memory is not None:
            self.refuse(_("a condition must be affine in iterators and parameters, but this reads memory"), memory)
        self.refuse(_("a condition must compare affine expressions"), expression)

    def text(self, expression: Expr | Assign) -> str:
        """The source's text of ``expression``."""
        span = expression.span
        return self.source.line(span.line)[span.column - 1 : span.end - 1]

    def refuse(self, reason: str, expression: Expr) -> NoReturn:
        raise NotAScop(reason, self.source, expression.span)
