"""A loop nest as data: what the front ends read, and the form of isl's generated programs.

Expressions keep their place in the source, so that an error can point at it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from triton_lab.polyhedral.core.source_text import NotAScop, Span

_NOWHERE = Span(0, 0, 0)

# Mathematical functions by their C names for doubles, and their number of arguments.
MATHEMATICS = {
    **dict.fromkeys((
        "sqrt", "cbrt", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "asin", "acos",
        "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "floor", "ceil", "trunc", "erf",
    ), 1),
    **dict.fromkeys(("pow", "atan2", "fmod", "hypot", "copysign"), 2),
}  # fmt: skip


@dataclass(frozen=True)
class Number:
    value: int | float
    span: Span = field(default=_NOWHERE, compare=False)


@dataclass(frozen=True)
class Name:
    id: str
    span: Span = field(default=_NOWHERE, compare=False)


@dataclass(frozen=True)
class Unary:
    """``-x`` or ``not x``."""

    op: str
    operand: Expr
    span: Span = field(default=_NOWHERE, compare=False)


@dataclass(frozen=True)
class Binary:
    """``+ - *``, ``**``, ``//`` (floor); ``/`` and ``%`` with the source language's meaning."""

    op: str
    left: Expr
    right: Expr
    span: Span = field(default=_NOWHERE, compare=False)


@dataclass(frozen=True)
class Compare:
    """``< <= > >= == !=``."""

    op: str
    left: Expr
    right: Expr
    span: Span = field(default=_NOWHERE, compare=False)


@dataclass(frozen=True)
class Logic:
    """``and`` or ``or`` of its operands."""

    op: str
    operands: tuple[Expr, ...]
    span: Span = field(default=_NOWHERE, compare=False)


@dataclass(frozen=True)
class Choose:
    """``condition ? yes : no``."""

    condition: Expr
    yes: Expr
    no: Expr
    span: Span = field(default=_NOWHERE, compare=False)


@dataclass(frozen=True)
class Call:
    """A mathematical function, without side effects."""

    function: str
    arguments: tuple[Expr, ...]
    span: Span = field(default=_NOWHERE, compare=False)


@dataclass(frozen=True)
class Load:
    """``array[indices]``; for a scalar that the program changes, without indices."""

    array: str
    indices: tuple[Expr, ...]
    span: Span = field(default=_NOWHERE, compare=False)


Expr: TypeAlias = "Number | Name | Unary | Binary | Compare | Logic | Choose | Call | Load"


@dataclass(frozen=True)
class Assign:
    """``target = value``, or with ``op`` ``target op= value``. ``name`` is the statement's name, once assigned."""

    target: Load
    value: Expr
    op: str = ""
    span: Span = field(default=_NOWHERE, compare=False)
    name: str = ""


@dataclass(frozen=True)
class Declare:
    """A scalar local to its block, and its C type."""

    name: str
    type: str
    span: Span = field(default=_NOWHERE, compare=False)


@dataclass(frozen=True)
class For:
    """``for (iterator = start; conditions; iterator += step) body``. ``mark``: parallel, vectorize or unroll."""

    iterator: str
    start: Expr
    conditions: tuple[Compare, ...]
    step: int
    body: tuple[Node, ...]
    span: Span = field(default=_NOWHERE, compare=False)
    mark: str = ""


@dataclass(frozen=True)
class If:
    condition: Expr
    body: tuple[Node, ...]
    orelse: tuple[Node, ...] = ()
    span: Span = field(default=_NOWHERE, compare=False)


@dataclass(frozen=True)
class Visit:
    """One instance of a statement, at the iteration given by ``arguments``."""

    statement: str
    arguments: tuple[Expr, ...]


@dataclass(frozen=True)
class Opaque:
    """A part that a lenient front end refused.

    ``body`` is what stands in it; ``iterators`` are the variables that it changes around the body.
    """

    refused: NotAScop
    body: tuple[Node, ...] = ()
    iterators: tuple[str, ...] = ()
    span: Span = field(default=_NOWHERE, compare=False)


Node: TypeAlias = "Assign | Declare | For | If | Visit | Opaque"


@dataclass(frozen=True)
class Nest:
    """A program: its nodes in order, and its language ("c" or "python").

    It also has the types that it declares for arrays, and names that are always parameters.
    """

    body: tuple[Node, ...]
    language: str
    types: tuple[tuple[str, str], ...] = ()
    parameters: tuple[str, ...] = ()


def children(expression: Expr) -> tuple[Expr, ...]:
    """The operands of ``expression``, in the order of the source."""
    match expression:
        case Unary():
            return (expression.operand,)
        case Binary() | Compare():
            return (expression.left, expression.right)
        case Logic():
            return expression.operands
        case Choose():
            return (expression.condition, expression.yes, expression.no)
        case Call():
            return expression.arguments
        case Load():
            return expression.indices
    return ()


def walk(expression: Expr) -> Iterator[Expr]:
    """``expression`` and everything in it, outside first."""
    waiting = [expression]
    while waiting:
        part = waiting.pop()
        yield part
        waiting.extend(reversed(children(part)))


def left_operands(expression: Expr) -> tuple[list[Binary], Expr]:
    """The operations whose first operand is the next one, from outside, and the first operand of all.

    ``a + b + c`` is as deep as it is long, and programs that others generate have long sums: what goes down by calls
    goes down on the right alone.
    """
    chain: list[Binary] = []
    while isinstance(expression, Binary):
        chain.append(expression)
        expression = expression.left
    return chain, expression


def assignments(nodes: tuple[Node, ...]) -> Iterator[Assign]:
    """The assignments below ``nodes``, in textual order."""
    for node in nodes:
        match node:
            case Assign():
                yield node
            case For():
                yield from assignments(node.body)
            case If():
                yield from assignments(node.body)
                yield from assignments(node.orelse)


def every_loop(nodes: tuple[Node, ...]) -> Iterator[For]:
    """The loops below ``nodes``, outer before inner."""
    for node in nodes:
        match node:
            case For():
                yield node
                yield from every_loop(node.body)
            case If():
                yield from every_loop((*node.body, *node.orelse))


def every_part(node: Assign) -> Iterator[Expr]:
    """The expressions in ``node``: its target, its value, and what is in them."""
    yield from walk(node.target)
    yield from walk(node.value)


def declared(nodes: tuple[Node, ...]) -> Iterator[tuple[str, str]]:
    """The scalars that are declared below ``nodes``, each with its type."""
    for node in nodes:
        match node:
            case Declare():
                yield node.name, node.type
            case For():
                yield from declared(node.body)
            case If():
                yield from declared((*node.body, *node.orelse))


def rebuild(expression: Expr, change: Callable[[Expr], Expr]) -> Expr:
    """``expression`` with ``change`` applied to every part of it, inner before outer."""
    match expression:
        case Binary():
            chain, left = left_operands(expression)
            left = rebuild(left, change)
            for part in reversed(chain):
                left = change(replace(part, left=left, right=rebuild(part.right, change)))
            return left
        case Unary():
            expression = replace(expression, operand=rebuild(expression.operand, change))
        case Compare():
            left, right = rebuild(expression.left, change), rebuild(expression.right, change)
            expression = replace(expression, left=left, right=right)
        case Logic():
            expression = replace(expression, operands=tuple(rebuild(e, change) for e in expression.operands))
        case Choose():
            condition, yes, no = (rebuild(e, change) for e in children(expression))
            expression = replace(expression, condition=condition, yes=yes, no=no)
        case Call():
            expression = replace(expression, arguments=tuple(rebuild(e, change) for e in expression.arguments))
        case Load():
            expression = replace(expression, indices=tuple(rebuild(e, change) for e in expression.indices))
    return change(expression)


def substitute(expression: Expr, values: Mapping[str, Expr]) -> Expr:
    """``expression`` with names replaced, also in subscripts."""
    return rebuild(expression, lambda part: values.get(part.id, part) if isinstance(part, Name) else part)
