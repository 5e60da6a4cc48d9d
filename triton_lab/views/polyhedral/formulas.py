"""Formulas as data: the text beside the picture, for matplotlib and for the browser."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from triton_lab.localization import _, translated
from triton_lab.polyhedral import Access, Schedule, Statement
from triton_lab.polyhedral.core.access_function import KINDS
from triton_lab.polyhedral.core.affine_conditions import Extremum, Piecewise, formula_words
from triton_lab.polyhedral.core.affine_expr import AffineExpr, Symbol
from triton_lab.polyhedral.core.integer_matrix import AffineMatrix


@dataclass(frozen=True)
class FormulaText:
    """A piece of a line; ``key`` names what is highlighted with it (see `Formula`)."""

    text: str
    key: str = ""


@dataclass(frozen=True)
class MatrixBlock:
    """A matrix or a column vector in round brackets; ``keys`` names what each row stands for."""

    rows: tuple[tuple[str, ...], ...]
    keys: tuple[str, ...] = ()


Part: TypeAlias = "FormulaText | MatrixBlock"


@dataclass(frozen=True)
class Formula:
    """A formula: ``name`` is its title; ``lines`` are its parts.

    Keys link it to the picture: ``border:S0:0:2`` is the third constraint of the first polyhedron of S0,
    ``access:S0:1`` the second access of S0, ``time:S0:0`` its first time dimension.
    """

    name: str
    lines: tuple[tuple[Part, ...], ...]


def formulas(schedule: Schedule, statement: Statement) -> tuple[Formula, ...]:
    """Domain, access functions and schedule of ``statement``."""
    accesses = tuple(_access(statement, k, access) for k, access in enumerate(statement.accesses))
    return (_domain(statement), *accesses, _schedule(schedule, statement))


def minus(number: int) -> str:
    """A number with a true minus sign."""
    return str(number).replace("-", "−")


def spoken(expression: AffineExpr) -> str:
    return str(expression).replace("-", "−")


def _product(matrix: AffineMatrix, keep: Sequence[Symbol], keys: tuple[str, ...]) -> tuple[Part, ...]:
    """``M x + b`` without zero columns and without a ``b`` that is zero."""
    small = matrix.trimmed(keep)
    constants = MatrixBlock(tuple((minus(row[-1]),) for row in small.rows), keys)
    if not small.columns:
        return (constants,)
    coefficients = MatrixBlock(tuple(tuple(map(minus, row[:-1])) for row in small.rows), keys)
    vector = MatrixBlock(tuple((str(c),) for c in small.columns))
    shift: tuple[Part, ...] = (FormulaText("+"), constants) if any(row[-1] for row in small.rows) else ()
    return (coefficients, vector, *shift)


def _domain(statement: Statement) -> Formula:
    domain = statement.domain
    power = {1: "", 2: "²", 3: "³"}.get(len(domain.iterators), f"^{len(domain.iterators)}")
    names = ", ".join(domain.iterators) or "()"
    lines: list[tuple[Part, ...]] = [(FormulaText(f"P = {{ {names} ∈ ℤ{power} |"),)]
    for p, piece in enumerate(domain.pieces):
        last = "}" if p == len(domain.pieces) - 1 else _("or")
        keys = tuple(f"border:{statement.name}:{p}:{r}" for r in range(len(piece)))
        if not piece:
            lines.append((FormulaText(_("everywhere {last}").format(last=last)),))
            continue
        signs = ["=" if c.equality else "≥" for c in piece]
        relation: Part = (
            FormulaText(signs[0]) if len(set(signs)) == 1 else MatrixBlock(tuple((s,) for s in signs), keys)
        )
        product = _product(domain.piece_matrix(p), domain.iterators, keys)
        lines.append((*product, relation, FormulaText(f"0 {last}")))
    return Formula(_("Iteration domain"), tuple(lines))


def _access(statement: Statement, number: int, access: Access) -> Formula:
    key = f"access:{statement.name}:{number}"
    head = FormulaText(f"{access.array}[f({', '.join(statement.iterators)})],  f = ", key)
    name = _("Access function: {kind} of {text}").format(kind=translated(KINDS[access.kind]), text=access.text)
    if not access.subscripts:
        return Formula(name, ((FormulaText(_("{array}, one element").format(array=access.array), key),),))
    if not access.is_affine:
        return Formula(name, ((FormulaText(" , ".join(_spoken_value(s) for s in access.subscripts), key),),))
    keys = (key,) * len(access.subscripts)
    values = ", ".join(spoken(e) for e in access.expressions)
    product = _product(access.matrix, statement.iterators, keys)
    return Formula(name, ((head, *product, FormulaText(f"= ({values})", key)),))


def _spoken_value(value: object) -> str:
    if isinstance(value, Extremum):
        return f"{value.kind}({', '.join(map(_spoken_value, value.arguments))})"
    if isinstance(value, Piecewise):
        cases = _("{value} where {condition}")
        return "; ".join(cases.format(value=_spoken_value(v), condition=formula_words(when)) for when, v in value.cases)
    return str(value)


def _schedule(schedule: Schedule, statement: Statement) -> Formula:
    expressions = schedule.expressions(statement.name)
    keys = tuple(f"time:{statement.name}:{k}" for k in range(len(expressions)))
    head = FormulaText(f"Θ({', '.join(statement.iterators)}) = ")
    matrix = schedule.theta(statement.name)
    values = ", ".join(spoken(e) for e in expressions)
    return Formula(_("Schedule"), ((head, *_product(matrix, statement.iterators, keys), FormulaText(f"= ({values})")),))
