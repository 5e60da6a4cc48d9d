"""Builds a scop from a loop nest: domains from the loops around, access functions from the subscripts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Literal, NoReturn

from triton_lab.localization import _
from triton_lab.polyhedral.core import affine_conditions
from triton_lab.polyhedral.core.access_function import Access
from triton_lab.polyhedral.core.affine_conditions import Formula, Value
from triton_lab.polyhedral.core.affine_expr import AffineExpr
from triton_lab.polyhedral.core.isl_effort import TooHard, check_time
from triton_lab.polyhedral.core.iteration_domain import Domain, without_empty
from triton_lab.polyhedral.core.loop_nest import (
    Assign,
    Compare,
    Declare,
    Expr,
    For,
    If,
    Load,
    Name,
    Nest,
    Node,
    Visit,
    assignments,
    declared,
    every_loop,
    every_part,
    rebuild,
    substitute,
    walk,
)
from triton_lab.polyhedral.core.loop_tree import Leaf, Loop, Tree, sequence, statements
from triton_lab.polyhedral.core.source_text import NotAScop, SourceText, Span
from triton_lab.polyhedral.core.statement import Array, Statement
from triton_lab.polyhedral.frontends.affine_reader import AffineReader
from triton_lab.polyhedral.frontends.source_limits import refuse_name
from triton_lab.polyhedral.scop import Scop


@dataclass(frozen=True)
class _Scope:
    """The loops, conditions and names around a statement."""

    iterators: tuple[str, ...] = ()
    formula: Formula = affine_conditions.TRUE
    aliases: Mapping[str, Expr] = field(default_factory=dict)
    # A local scalar -> the iterators around its declaration: each of their iterations has its own copy.
    locals: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def build(nest: Nest, source: SourceText) -> Scop:
    """The scop of ``nest``. Raises `NotAScop` at the first part that is not affine."""
    return _Builder(nest, source).scop()


class _Builder:
    def __init__(self, nest: Nest, source: SourceText) -> None:
        self.nest = nest
        self.source = source
        every = list(assignments(nest.body))
        self.assigned = Counter(a.target.array for a in every if not a.target.indices)
        self.subscripted = {e.array for a in every for e in every_part(a) if isinstance(e, Load) and e.indices}
        self.aliased: set[str] = set()
        for loop in every_loop(nest.body):
            refuse_name(loop.iterator, source, loop.span)
        for part in (part for a in every for part in every_part(a)):
            if isinstance(part, Load):
                refuse_name(part.array, source, part.span)
        self.iterators = {loop.iterator: loop for loop in every_loop(nest.body)}
        self.integers = {name for name, kind in declared(nest.body) if kind.startswith("int")}
        self.dtypes = {**dict(nest.types), **dict(declared(nest.body))}
        self.parameters: dict[str, None] = dict.fromkeys(nest.parameters)
        self.pending: list[tuple[Assign, _Scope, str]] = []

    def scop(self) -> Scop:
        tree = self._block(self.nest.body, _Scope())
        if tree is None:
            raise NotAScop(_("there is no statement in it"), self.source, Span(self.source.first_line, 1, 2), True)
        parameters = tuple(self.parameters)
        found: list[Statement] = []
        for assign, scope, name in self.pending:
            with self._placed(assign.span):
                found.append(self._statement(assign, scope, name, parameters))
        statements = tuple(found)
        return Scop(statements, parameters, self._arrays(statements), tree, self.source, self.nest.language)

    # Descent through loops and conditions.

    def _block(self, nodes: tuple[Node, ...], scope: _Scope) -> Tree | None:
        children: list[Tree] = []
        for node in nodes:
            child: Tree | None = None
            with self._placed(_span(node)):
                match node:
                    case Declare():
                        scope = replace(scope, locals={**scope.locals, node.name: scope.iterators})
                    case Assign() if self._is_alias(node, scope):
                        self.aliased.add(node.target.array)
                        value = substitute(node.value, scope.aliases)
                        scope = replace(scope, aliases={**scope.aliases, node.target.array: value})
                    case Assign():
                        child = self._enter(node, scope)
                    case For():
                        child = self._for(node, scope)
                    case If():
                        child = self._if(node, scope)
            if child is not None:
                children.append(child)
        return sequence(tuple(children)) if children else None

    @contextmanager
    def _placed(self, span: Span) -> Iterator[None]:
        """What is too hard within is so at ``span``."""
        try:
            check_time("this nest")
            yield
        except TooHard as hard:
            if hard.line is not None:
                raise
            placed = TooHard(self.source.message(str(hard), span))
            placed.line, placed.column = span.line, span.column
            raise placed from None

    def _reader(self, scope: _Scope) -> AffineReader:
        return AffineReader(self.source, self.nest.language, scope.iterators, scope.formula, self.assigned.keys())

    def _is_alias(self, node: Assign, scope: _Scope) -> bool:
        """Whether the node names an affine value: an integer that is assigned once, ``int m = n - 1;``."""
        name = node.target.array
        if node.op or node.target.indices or self.assigned[name] != 1 or name in scope.iterators:
            return False
        if self.nest.language == "c" and name not in self.integers:
            return False
        try:
            self._reader(scope).value(substitute(node.value, scope.aliases), "a value")
        except NotAScop:
            return False
        return True

    def _for(self, node: For, scope: _Scope) -> Tree | None:
        name = node.iterator
        if name in scope.iterators:
            self._refuse(_("the loop over {name} stands inside another loop over {name}").format(name=name), node.span)
        if self.assigned[name]:
            self._refuse(
                _("a statement changes the loop's iterator {name}").format(name=name), self._assignment_to(name).span
            )
        start = self._affine(node.start, scope, _("a bound of {name}").format(name=name))
        aliases = {k: v for k, v in scope.aliases.items() if k != name}
        inner = replace(scope, iterators=(*scope.iterators, name), aliases=aliases)
        one_by_one = Compare(">=" if node.step > 0 else "<=", Name(name), node.start, node.start.span)
        text = f"{name} {one_by_one.op} {self._reader(scope).text(node.start)}"
        formula = affine_conditions.compare(one_by_one.op, AffineExpr.of(name), start, text, node.start.span)
        for condition in node.conditions:
            formula = affine_conditions.conjunction(formula, self._bound(condition, node, inner))
        if abs(node.step) > 1:
            offset = affine_conditions.add(AffineExpr.of(name), affine_conditions.scale(start, -1))
            whole = affine_conditions.scale(affine_conditions.floor_divide(offset, abs(node.step)), abs(node.step))
            text = _("{name} advances by {step}").format(name=name, step=node.step)
            formula = affine_conditions.conjunction(
                formula, affine_conditions.compare("==", offset, whole, text, node.span)
            )
        body = self._block(node.body, replace(inner, formula=affine_conditions.conjunction(scope.formula, formula)))
        if body is None:
            return None
        direction = AffineExpr.of(name) if node.step > 0 else -AffineExpr.of(name)
        return Loop(name, dict.fromkeys(statements(body), direction), body)

    def _bound(self, condition: Compare, node: For, scope: _Scope) -> Formula:
        left, right = (
            self._affine(e, scope, _("a bound of {iterator}").format(iterator=node.iterator))
            for e in (condition.left, condition.right)
        )
        text = self._reader(scope).text(condition)
        if not text or node.iterator not in text:  # Python's range gives only the stop
            text = f"{node.iterator} {condition.op} {self._reader(scope).text(condition.right)}"
        formula = affine_conditions.compare(condition.op, left, right, text, condition.span)
        for case in formula:
            signs = [c.slope(node.iterator) for c in case]
            if not all(sign * node.step < 0 for sign in signs):
                self._refuse(
                    _("the condition does not end the loop over {iterator}").format(iterator=node.iterator),
                    condition.span,
                )
        return formula

    def _if(self, node: If, scope: _Scope) -> Tree | None:
        condition = substitute(node.condition, scope.aliases)
        self._note_parameters(condition, scope)
        children: list[Tree] = []
        for body, holds in ((node.body, True), (node.orelse, False)):
            formula = self._reader(scope).condition(condition, holds)
            inside = replace(scope, formula=affine_conditions.conjunction(scope.formula, formula))
            child = self._block(body, inside) if body else None
            children += [child] if child is not None else []
        return sequence(tuple(children)) if children else None

    def _affine(self, expression: Expr, scope: _Scope, role: str) -> Value:
        plain = substitute(expression, scope.aliases)
        value = self._reader(scope).value(plain, role)
        self._note_parameters(plain, scope)
        return value

    def _note_parameters(self, expression: Expr, scope: _Scope) -> None:
        for part in walk(expression):
            if isinstance(part, Name) and part.id not in scope.iterators and part.id not in self.assigned:
                self._refuse_iterator(part)
                self.parameters.setdefault(part.id)

    def _refuse_iterator(self, name: Name) -> None:
        """Refuse an iterator outside of its loops, where it holds its last value, or none yet."""
        loop = self.iterators.get(name.id)
        if loop is not None:
            self._refuse(
                _(
                    "{id} is the iterator of the loop in line {line}, which is not around this: write the "
                    "intended value"
                ).format(id=name.id, line=loop.span.line),
                name.span,
            )

    # Statements.

    def _enter(self, node: Assign, scope: _Scope) -> Tree:
        if node.target.array in scope.iterators:
            self._refuse(_("the loop's iterator {array} is changed").format(array=node.target.array), node.span)
        # Subscripts first: their names are parameters in every statement.
        for part in every_part(node):
            if isinstance(part, Load):
                for index in part.indices:
                    self._affine(index, scope, _("a subscript of {array}").format(array=part.array))
        name = f"S{len(self.pending)}"
        self.pending.append((node, scope, name))
        return Leaf((name,))

    def _statement(self, node: Assign, scope: _Scope, name: str, parameters: tuple[str, ...]) -> Statement:
        pieces = without_empty(scope.formula, scope.iterators, parameters)
        domain = Domain(name, scope.iterators, parameters, pieces)
        target = self._load(node.target, scope)
        value = self._memory(substitute(node.value, scope.aliases), scope)
        reads = [e for e in walk(value) if isinstance(e, Load)]
        if node.op:
            reads.insert(0, target)
        accesses = [self._access("read", load, scope, domain) for load in reads]
        accesses.append(self._access("write", target, scope, domain))
        text = self._reader(scope).text(node).strip().rstrip(";")
        body = Assign(target, value, node.op, node.span, name)
        return Statement(name, domain, tuple(dict.fromkeys(accesses)), text, node.span, body)

    def _memory(self, expression: Expr, scope: _Scope) -> Expr:
        """``expression`` with loads from memory for names that are neither iterators nor parameters."""

        def change(part: Expr) -> Expr:
            match part:
                case Name(id=name) if name not in scope.iterators and name not in self.parameters:
                    self._refuse_iterator(part)
                    refuse_name(name, self.source, part.span)
                    return self._load(Load(name, (), part.span), scope)
                case Load(indices=(_, *_)):
                    return self._load(part, scope)
            return part

        return rebuild(expression, change)

    def _load(self, load: Load, scope: _Scope) -> Load:
        if not load.indices:
            if load.array in self.subscripted:
                self._refuse(
                    _("{array} is an array elsewhere: write its subscripts").format(array=load.array), load.span
                )
            if load.array in self.aliased and load.array not in scope.aliases:
                self._refuse(
                    _("{array} has no value here: another block assigns it").format(array=load.array), load.span
                )
            own = scope.locals.get(load.array, ())
            return replace(load, indices=tuple(Name(i, load.span) for i in own))
        return replace(load, indices=tuple(substitute(i, scope.aliases) for i in load.indices))

    def _access(self, kind: Literal["read", "write"], load: Load, scope: _Scope, domain: Domain) -> Access:
        reader = self._reader(scope)
        subscripts = tuple(reader.value(i, _("a subscript of {array}").format(array=load.array)) for i in load.indices)
        return Access(kind, load.array, subscripts, domain, reader.text(load), load.span)

    def _arrays(self, found: tuple[Statement, ...]) -> tuple[Array, ...]:
        local = {name for pending in self.pending for name in pending[1].locals}
        arrays: dict[str, Array] = {}
        for statement in found:
            for access in statement.accesses:
                rank = len(access.subscripts)
                known = arrays.setdefault(
                    access.array, Array(access.array, rank, self.dtypes.get(access.array), access.array in local)
                )
                if known.ndim != rank:
                    self._refuse(
                        _("{array} has {ndim} subscripts elsewhere").format(array=access.array, ndim=known.ndim),
                        access.span,
                    )
        return tuple(arrays.values())

    def _assignment_to(self, name: str) -> Assign:
        return next(a for a in assignments(self.nest.body) if a.target.array == name and not a.target.indices)

    def _refuse(self, reason: str, span: Span) -> NoReturn:
        raise NotAScop(reason, self.source, span)


def _span(node: Node) -> Span:
    return Span(1, 1, 2) if isinstance(node, Visit) else node.span  # no reader gives visits
