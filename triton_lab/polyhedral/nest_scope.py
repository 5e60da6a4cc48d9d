"""Where a statement stands in its nest (loops, conditions, known values), and what the nest does to its names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import NoReturn

from triton_lab.localization import _
from triton_lab.polyhedral.core import affine_conditions
from triton_lab.polyhedral.core.affine_conditions import Formula, Value
from triton_lab.polyhedral.core.loop_nest import CALLS, Call, Expr, Load, Logic, Name, Nest, substitute, walk
from triton_lab.polyhedral.core.nest_maps import assignments, declared, every_loop, every_part
from triton_lab.polyhedral.core.source_text import NotAScop, SourceText, Span
from triton_lab.polyhedral.frontends.affine_reader import AffineReader
from triton_lab.polyhedral.frontends.source_limits import refuse_name


@dataclass(frozen=True)
class Stop:
    """A loop that may end early: it runs no iteration after one in ``formula``, in which it is left.

    ``depth`` counts the loops around it; ``forwards``: its iterator grows.
    """

    depth: int
    formula: Formula
    forwards: bool


@dataclass(frozen=True)
class NestScope:
    """The loops, conditions and names around a statement."""

    iterators: tuple[str, ...] = ()
    formula: Formula = affine_conditions.TRUE
    # A scalar -> the affine value that it has here.
    aliases: Mapping[str, Expr] = field(default_factory=dict)
    # A local variable -> the iterators around its declaration: each of their iterations has its own copy.
    locals: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    types: Mapping[str, str] = field(default_factory=dict)
    guards: tuple[Expr, ...] = ()  # the conditions around that read memory
    known: Formula = affine_conditions.TRUE  # what the source assumes
    stops: tuple[Stop, ...] = ()


class NestNames:
    """The names of a nest: what it assigns, its iterators, its types, and the parameters that were found so far."""

    def __init__(self, nest: Nest, source: SourceText) -> None:
        self.nest = nest
        self.source = source
        every = list(assignments(nest.body))
        self.assigned = Counter(a.target.array for a in every if not a.target.indices)
        self.subscripted = {e.array for a in every for e in every_part(a) if isinstance(e, Load) and e.indices}
        for loop in every_loop(nest.body):
            refuse_name(loop.iterator, source, loop.span)
        for part in (part for a in every for part in every_part(a)):
            if isinstance(part, Load):
                refuse_name(part.array, source, part.span)
        self.iterators = {loop.iterator: loop for loop in every_loop(nest.body)}
        local = dict(declared(nest.body))
        self.integers = {name for name, kind in local.items() if kind in ("int32", "int64")}
        self.types = {**dict(nest.types), **local}
        self.parameters: dict[str, None] = dict.fromkeys(nest.parameters)
        self.flags: set[str] = {CALLS}  # scalars of ours, which the text does not have

    def reader(self, scope: NestScope) -> AffineReader:
        """The reader of affine values in ``scope``."""
        context = affine_conditions.conjunction(scope.known, scope.formula)
        types = {**self.types, **scope.types}
        return AffineReader(self.source, self.nest.language, scope.iterators, context, self.assigned.keys(), types)

    def affine(self, expression: Expr, scope: NestScope, role: str) -> Value:
        """``expression`` as an affine value; its names that the nest never changes are parameters."""
        plain = substitute(expression, scope.aliases)
        value = self.reader(scope).value(plain, role)
        self.note_parameters(plain, scope)
        return value

    def condition(self, expression: Expr, scope: NestScope, holds: bool = True) -> Formula:
        """Where ``expression`` holds, or where it does not."""
        plain = substitute(expression, scope.aliases)
        formula = self.reader(scope).condition(plain, holds)
        self.note_parameters(plain, scope)
        return formula

    def note_parameters(self, expression: Expr, scope: NestScope) -> None:
        """The names in an affine ``expression`` that are no iterators are parameters."""
        for part in walk(expression):
            if isinstance(part, Name) and part.id not in scope.iterators and part.id not in self.assigned:
                self.refuse_iterator(part)
                self.parameters.setdefault(part.id)

    def refuse_iterator(self, name: Name) -> None:
        """Refuse an iterator outside of its loops, where it holds its last value, or none yet."""
        loop = self.iterators.get(name.id)
        if loop is not None:
            self.refuse(
                _(
                    "{id} is the iterator of the loop in line {line}, which is not around this: write the "
                    "intended value"
                ).format(id=name.id, line=loop.span.line),
                name.span,
            )

    def reads_memory(self, expression: Expr, scope: NestScope) -> bool:
        """Whether the value of ``expression`` depends on memory, and so is not known before the nest runs."""
        return any(
            isinstance(part, Load | Call)
            or (
                isinstance(part, Name)
                and part.id not in scope.iterators
                and (part.id in self.assigned or self.types.get(part.id, "").startswith("float"))
            )
            for part in walk(substitute(expression, scope.aliases))
        )

    def parts(self, condition: Expr, scope: NestScope) -> tuple[Formula, Expr | None]:
        """``condition`` as an affine formula, and as what remains: the part that reads memory."""
        formula = affine_conditions.TRUE
        data: list[Expr] = []
        for part in _conjuncts(condition):
            try:
                own = self.condition(part, scope)
            except NotAScop:
                if not self.reads_memory(part, scope):
                    raise
                data.append(part)
                continue
            formula = affine_conditions.conjunction(formula, own)
        if not data:
            return formula, None
        return formula, data[0] if len(data) == 1 else Logic("and", tuple(data), condition.span)

    def affine_conjuncts(self, condition: Expr, scope: NestScope) -> tuple[Expr, ...]:
        """The parts of ``condition`` that read no memory."""
        return tuple(part for part in _conjuncts(condition) if not self.reads_memory(part, scope))

    def fresh(self, wanted: str) -> str:
        """A name for a scalar of ours, an integer that the nest assigns."""
        taken = {*self.assigned, *self.subscripted, *self.iterators, *self.types, *self.parameters}
        taken |= {n.id for a in assignments(self.nest.body) for n in every_part(a) if isinstance(n, Name)}
        name = next(f"{wanted}_{k}" for k in range(len(taken) + 1) if f"{wanted}_{k}" not in taken)
        self.types[name] = "int32"
        self.assigned[name] += 2
        self.flags.add(name)
        return name

    def refuse(self, reason: str, span: Span) -> NoReturn:
        """Raise `NotAScop` at ``span``."""
        raise NotAScop(reason, self.source, span)


def _conjuncts(condition: Expr) -> Iterator[Expr]:
    if isinstance(condition, Logic) and condition.op == "and":
        for operand in condition.operands:
            yield from _conjuncts(operand)
    else:
        yield condition
