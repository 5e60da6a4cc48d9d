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
# The scalar that a call as a statement "assigns", so that such calls stay in order.
CALLS = "calls_"
BITWISE = frozenset({"&", "|", "^", "<<", ">>"})


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
    """``-x``, ``~x`` or ``not x``."""

    op: str
    operand: Expr
    span: Span = field(default=_NOWHERE, compare=False)


@dataclass(frozen=True)
class Binary:
    """``+ - *``, ``**``, ``//`` (floor), `BITWISE`; ``/`` and ``%`` with the source language's meaning."""

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
    """``target = value``, or with ``op`` ``target op= value``.

    ``name`` is the statement's: its label, or what the builder gives it. It runs only where ``guard`` holds, which
    reads memory. ``initial``: it is the first value of a variable of its block.
    """

    target: Load
    value: Expr
    op: str = ""
    span: Span = field(default=_NOWHERE, compare=False)
    name: str = ""
    guard: Expr | None = None
    initial: bool = False


@dataclass(frozen=True)
class Jump:
    """``break`` or ``continue`` of the loop around."""

    kind: str
    span: Span = field(default=_NOWHERE, compare=False)


@dataclass(frozen=True)
class Assume:
    """A condition of which the source says that it holds."""

    condition: Expr
    span: Span = field(default=_NOWHERE, compare=False)


@dataclass(frozen=True)
class Declare:
    """A variable local to its block, and its type; ``ndim`` is 0 for a scalar."""

    name: str
    type: str
    span: Span = field(default=_NOWHERE, compare=False)
    ndim: int = 0


@dataclass(frozen=True)
class For:
    """``for (iterator = start; conditions; iterator += step) body``. ``mark``: parallel, vectorize or
    unroll. ``type``: the iterator's, where the loop declares it. ``endless``: it may have no last
    iteration, as data ends it or nothing does."""

    iterator: str
    start: Expr
    conditions: tuple[Compare, ...]
    step: int
    body: tuple[Node, ...]
    span: Span = field(default=_NOWHERE, compare=False)
    mark: str = ""
    type: str = ""
    endless: bool = False


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


Node: TypeAlias = "Assign | Assume | Declare | For | If | Jump | Visit | Opaque"


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


def leave_unless(condition: Expr) -> If:
    """The first statement of a loop that ends where ``condition`` does not hold."""
    return If(Unary("not", condition, condition.span), (Jump("break", condition.span),), (), condition.span)
