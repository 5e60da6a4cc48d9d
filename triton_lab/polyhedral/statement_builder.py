"""Builds the statements of a scop: domains, accesses, and the arrays that they touch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from triton_lab.localization import _
from triton_lab.polyhedral.core import affine_conditions
from triton_lab.polyhedral.core.access_function import Access
from triton_lab.polyhedral.core.affine_conditions import Formula
from triton_lab.polyhedral.core.iteration_domain import Domain, without_empty
from triton_lab.polyhedral.core.loop_nest import (
    BITWISE,
    CALLS,
    Assign,
    Binary,
    Choose,
    Expr,
    Load,
    Logic,
    Name,
    children,
    left_operands,
    rebuild,
    substitute,
    walk,
)
from triton_lab.polyhedral.core.nest_printer import CPrinter
from triton_lab.polyhedral.core.set_constraints import formula_of
from triton_lab.polyhedral.core.source_text import NotAScop
from triton_lab.polyhedral.core.statement import Array, Statement
from triton_lab.polyhedral.frontends.source_limits import refuse_name
from triton_lab.polyhedral.iteration_bounds import before_stops, iteration_set
from triton_lab.polyhedral.nest_scope import NestNames, NestScope

# Choices in one another whose conditions restrict what is read; in deeper ones, all is.
_MOST_CHOICES = 6


class NeedsMemory(Exception):
    """The scalar ``name`` is read where its value is not known, so that it needs a place in memory."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


@dataclass(frozen=True)
class PlacedAssign:
    """An assignment in its scope, and the name of its statement."""

    node: Assign
    scope: NestScope
    name: str


@dataclass(frozen=True)
class _Read:
    """A load of an expression: the condition under which it happens, or ``may`` if that is not known."""

    load: Load
    when: Formula
    may: bool


class StatementBuilder:
    """``dropped`` are the scalars without statements: every read of one is replaced by its value."""

    def __init__(self, names: NestNames, parameters: tuple[str, ...], dropped: set[str]) -> None:
        self.names = names
        self.parameters = parameters
        self.dropped = dropped

    def statement(self, placed: PlacedAssign) -> Statement:
        """The statement of one assignment."""
        node, scope, name = placed.node, placed.scope, placed.name
        domain = Domain(name, scope.iterators, self.parameters, self._pieces(scope))
        target = self._load(node.target, scope)
        value = self._in_memory(node.value, scope)
        guards = list(dict.fromkeys(self._in_memory(guard, scope) for guard in scope.guards))
        accesses: list[Access] = []
        for k, guard in enumerate(guards):
            accesses += self._reads(guard, scope, domain, k > 0)
        if node.op:
            accesses.append(self._access("read", _Read(target, affine_conditions.TRUE, bool(guards)), scope, domain))
        accesses += self._reads(value, scope, domain, bool(guards))
        accesses.append(self._access("write", _Read(target, affine_conditions.TRUE, bool(guards)), scope, domain))
        text = self.names.reader(scope).text(node).strip().rstrip(";")
        if node.target.array in self.names.flags and node.target.array != CALLS:
            text = f"{node.target.array} = {CPrinter().text(node.value)}"
        whole = guards[0] if len(guards) == 1 else Logic("and", tuple(guards), node.span) if guards else None
        body = Assign(target, value, node.op, node.span, name, whole)
        return Statement(name, domain, _distinct(accesses), text, node.span, body)

    def _pieces(self, scope: NestScope) -> Formula:
        if not scope.stops:
            return without_empty(scope.formula, scope.iterators, self.parameters)
        points = iteration_set(scope.formula, scope.iterators, self.parameters)
        return formula_of(before_stops(points, scope.iterators, scope.stops, self.parameters), scope.iterators)

    # Expressions.

    def _in_memory(self, expression: Expr, scope: NestScope) -> Expr:
        """``expression`` with loads from memory for names that are neither iterators nor parameters."""
        values = {name: value for name, value in scope.aliases.items() if name in self.dropped}

        def subscripts(part: Expr) -> Expr:
            if not isinstance(part, Load) or not part.indices:
                return part
            return replace(part, indices=tuple(substitute(i, scope.aliases) for i in part.indices))

        def change(part: Expr) -> Expr:
            match part:
                case Name(id=name) if name not in scope.iterators and name not in self.parameters:
                    self.names.refuse_iterator(part)
                    refuse_name(name, self.names.source, part.span)
                    return self._load(Load(name, (), part.span), scope)
                case Load(indices=(_, *_)):
                    return self._load(part, scope)
            return part

        return rebuild(rebuild(substitute(expression, values), subscripts), change)

    def _load(self, load: Load, scope: NestScope) -> Load:
        """``load`` with the subscripts of a local variable's own copy."""
        own = tuple(Name(i, load.span) for i in scope.locals.get(load.array, ()))
        if load.indices:
            return replace(load, indices=(*own, *(substitute(i, scope.aliases) for i in load.indices)))
        if load.array in self.names.subscripted:
            self.names.refuse(
                _("{array} is an array elsewhere: write its subscripts").format(array=load.array), load.span
            )
        if load.array in self.dropped and load.array not in scope.aliases:
            raise NeedsMemory(load.array)
        return replace(load, indices=own)

    def _reads(self, expression: Expr, scope: NestScope, domain: Domain, may: bool) -> Iterator[Access]:
        for read in self._found(expression, scope, affine_conditions.TRUE, may, 0):
            yield self._access("read", read, scope, domain)

    def _found(self, expression: Expr, scope: NestScope, when: Formula, may: bool, depth: int) -> Iterator[_Read]:
        """The loads of ``expression`` from left to right; what stands in a choice is read where it is chosen."""
        match expression:
            case Load():
                yield _Read(expression, when, may)
            case Binary():
                chain, first = left_operands(expression)
                yield from self._found(first, scope, when, may, depth)
                for operation in reversed(chain):
                    yield from self._found(operation.right, scope, when, may, depth)
            case Choose():
                yield from self._found(expression.condition, scope, when, may, depth)
                for side, holds in ((expression.yes, True), (expression.no, False)):
                    inside = self._also(expression.condition, holds, scope, when, may, depth)
                    yield from self._found(side, scope, *inside, depth + 1)
            case Logic():
                inside = when, may
                for k, operand in enumerate(expression.operands):
                    yield from self._found(operand, scope, *inside, depth + k)
                    inside = self._also(operand, expression.op == "and", scope, *inside, depth + k)
            case _:
                for part in children(expression):
                    yield from self._found(part, scope, when, may, depth)

    def _also(
        self, condition: Expr, holds: bool, scope: NestScope, when: Formula, may: bool, depth: int
    ) -> tuple[Formula, bool]:
        if any(isinstance(part, Load) for part in walk(condition)):
            return when, True
        if depth >= _MOST_CHOICES:
            return when, may
        try:
            own = self.names.reader(scope).condition(condition, holds)
        except NotAScop:
            return when, True
        return affine_conditions.conjunction(when, own), may

    def _access(self, kind: Literal["read", "write"], read: _Read, scope: NestScope, domain: Domain) -> Access:
        reader = self.names.reader(scope)
        load = read.load
        subscripts = tuple(reader.value(i, _("a subscript of {array}").format(array=load.array)) for i in load.indices)
        if read.when != affine_conditions.TRUE:
            pieces = affine_conditions.conjunction(domain.pieces, read.when)
            domain = replace(domain, pieces=without_empty(pieces, domain.iterators, self.parameters))
        text = load.array if load.array in self.names.flags else reader.text(load)
        return Access(kind, load.array, subscripts, domain, text, load.span, read.may)

    # Arrays.

    def arrays(self, found: tuple[Statement, ...], local: set[str], types: Mapping[str, str]) -> tuple[Array, ...]:
        """The arrays of all statements; ``local`` are those that the nest declares."""
        arrays: dict[str, Array] = {}
        types = {**dict.fromkeys(_of_integers(found), "int32"), **types}
        for statement in found:
            for access in statement.accesses:
                rank = len(access.subscripts)
                known = arrays.setdefault(
                    access.array, Array(access.array, rank, types.get(access.array), access.array in local)
                )
                if known.ndim != rank:
                    self.names.refuse(
                        _("{array} has {ndim} subscripts elsewhere").format(array=access.array, ndim=known.ndim),
                        access.span,
                    )
        return tuple(arrays.values())


def _of_integers(found: tuple[Statement, ...]) -> Iterator[str]:
    """The arrays whose elements have bits: operands of ``&`` and the like."""
    for body in (statement.body for statement in found if statement.body is not None):
        if body.op in BITWISE:
            yield body.target.array
        whole = Binary(body.op, body.target, body.value) if body.op else body.value
        for expression in (whole, body.guard):
            for part in walk(expression) if expression is not None else ():
                if isinstance(part, Binary) and part.op in BITWISE:
                    yield from (load.array for load in walk(part) if isinstance(load, Load))


def _distinct(accesses: list[Access]) -> tuple[Access, ...]:
    """``accesses`` once each; one that may happen and surely happens elsewhere in its statement is the sure one."""
    sure = {replace(a, may=False) for a in accesses if not a.may}
    return tuple(dict.fromkeys(a for a in accesses if not a.may or replace(a, may=False) not in sure))
