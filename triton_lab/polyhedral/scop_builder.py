"""Builds a scop from a loop nest: goes down its loops and conditions, and follows the values of its scalars."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import count

from triton_lab.localization import _
from triton_lab.polyhedral.core import affine_conditions
from triton_lab.polyhedral.core.affine_conditions import Formula
from triton_lab.polyhedral.core.affine_expr import AffineExpr, isl_name
from triton_lab.polyhedral.core.isl_effort import TooHard, check_time
from triton_lab.polyhedral.core.loop_nest import (
    Assign,
    Assume,
    Choose,
    Compare,
    Declare,
    Expr,
    For,
    If,
    Jump,
    Load,
    Logic,
    Name,
    Nest,
    Node,
    Number,
    Unary,
    Visit,
    walk,
)
from triton_lab.polyhedral.core.loop_tree import Leaf, Loop, Tree, sequence, statements
from triton_lab.polyhedral.core.nest_maps import assignments, every_loop, every_part
from triton_lab.polyhedral.core.source_text import NotAScop, SourceText, Span
from triton_lab.polyhedral.core.statement import Statement
from triton_lab.polyhedral.iteration_bounds import LoopBounds, before_stops, bounds_of, is_bounded, iteration_set
from triton_lab.polyhedral.jump_flags import jumps, without_jumps
from triton_lab.polyhedral.nest_scope import NestNames, NestScope, Stop
from triton_lab.polyhedral.scalar_values import joined, known_value
from triton_lab.polyhedral.scop import Scop
from triton_lab.polyhedral.statement_builder import NeedsMemory, PlacedAssign, StatementBuilder


def build(nest: Nest, source: SourceText) -> Scop:
    """The scop of ``nest``. Raises `NotAScop` at the first part that is not affine."""
    kept: set[str] = set()
    while True:
        try:
            return _Builder(nest, source, kept).scop()
        except NeedsMemory as scalar:
            kept.add(scalar.name)


class _DependsOnData(Exception):
    """A jump of the innermost loop stands in a condition that reads memory."""


@dataclass
class _OpenLoop:
    """A loop around: how many guards stand around it, and where it is left."""

    guards: int
    breaks: list[Formula] = field(default_factory=list)


class _Builder:
    def __init__(self, nest: Nest, source: SourceText, kept: set[str]) -> None:
        self.nest = nest
        self.source = source
        self.names = NestNames(nest, source)
        self.kept = kept
        self.dropped: set[str] = set()
        self.pending: list[PlacedAssign] = []
        self.loops: list[_OpenLoop] = []
        self.labels = {a.name: a for a in assignments(nest.body) if a.name}

    def scop(self) -> Scop:
        tree, _after = self._block(self.nest.body, NestScope())
        if tree is None:
            raise NotAScop(_("there is no statement in it"), self.source, Span(self.source.first_line, 1, 2), True)
        parameters = tuple(self.names.parameters)
        builder = StatementBuilder(self.names, parameters, self.dropped)
        found: list[Statement] = []
        for placed in self.pending:
            with self._placed(placed.node.span):
                found.append(builder.statement(placed))
        local = {name for placed in self.pending for name in placed.scope.locals}
        arrays = builder.arrays(tuple(found), local, self.names.types)
        return Scop(tuple(found), parameters, arrays, tree, self.source, self.nest.language)

    # Descent through loops and conditions.

    def _block(self, nodes: tuple[Node, ...], scope: NestScope) -> tuple[Tree | None, NestScope]:
        """The tree of ``nodes``, and the scope of what follows them."""
        children: list[Tree] = []
        for node in nodes:
            with self._placed(_span(node)):
                child, scope = self._node(node, scope)
            if child is not None:
                children.append(child)
            if not scope.formula and jumps((node,)):
                break  # nothing after it runs
        return (sequence(tuple(children)) if children else None), scope

    def _node(self, node: Node, scope: NestScope) -> tuple[Tree | None, NestScope]:
        match node:
            case Declare():
                aliases = {k: v for k, v in scope.aliases.items() if k != node.name}
                return None, replace(scope, locals={**scope.locals, node.name: scope.iterators}, aliases=aliases)
            case Assume():
                if not self.names.reads_memory(node.condition, scope):
                    known = self.names.condition(node.condition, scope)
                    scope = replace(scope, known=affine_conditions.conjunction(scope.known, known))
                return None, scope
            case Assign():
                return self._assign(node, scope)
            case For():
                return self._for(node, scope)
            case If():
                return self._if(node, scope)
            case Jump():
                return None, self._jump(node, scope)
        return None, scope

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

    # Loops.

    def _for(self, node: For, scope: NestScope) -> tuple[Tree | None, NestScope]:
        name = node.iterator
        if name in scope.iterators:
            self.names.refuse(
                _("the loop over {name} stands inside another loop over {name}").format(name=name), node.span
            )
        changed = {a.target.array: a for a in assignments(node.body) if not a.target.indices}
        if name in changed:
            self.names.refuse(_("a statement changes the loop's iterator {name}").format(name=name), changed[name].span)
        # Its own iterations change them, so that at its start their values are not known.
        outside = replace(scope, aliases={k: v for k, v in scope.aliases.items() if k not in changed})
        bounds = bounds_of(node, scope, self.names)
        inside = replace(bounds.inner, aliases={k: v for k, v in outside.aliases.items() if k != name})
        after = replace(outside, aliases=inside.aliases)
        body = (*bounds.leave, *node.body)
        if not (bounds.bounded or node.endless or jumps(body)):
            self._refuse_endless(node)
        first = len(self.pending)
        loop = _OpenLoop(len(scope.guards))
        self.loops.append(loop)
        try:
            tree, _end = self._block(body, inside)
        except _DependsOnData:
            del self.pending[first:]
            whole = replace(node, conditions=_bounding(node, bounds), body=body, endless=not bounds.bounded)
            self.loops.pop()
            tree, _end = self._block(without_jumps(whole, self.names.fresh), outside)
            return tree, after
        self.loops.pop()
        if loop.breaks:
            self._stop(node, first, inside, loop.breaks, bounds.bounded or node.endless)
        if tree is None:
            return None, after
        direction = AffineExpr.of(name) if node.step > 0 else -AffineExpr.of(name)
        return Loop(name, dict.fromkeys(statements(tree), direction), tree), after

    def _stop(self, node: For, first: int, inside: NestScope, breaks: list[Formula], bounded: bool) -> None:
        """End the loop of the statements from ``first`` on after the iterations in ``breaks``."""
        stop = Stop(len(inside.iterators) - 1, affine_conditions.disjunction(*breaks), node.step > 0)
        if not bounded:
            parameters = tuple(self.names.parameters)
            points = iteration_set(inside.formula, inside.iterators, parameters)
            left = before_stops(points, inside.iterators, (stop,), parameters)
            if not is_bounded(left, stop.depth, stop.forwards):
                self._refuse_endless(node)
        for k in range(first, len(self.pending)):
            placed = self.pending[k]
            self.pending[k] = replace(placed, scope=replace(placed.scope, stops=(*placed.scope.stops, stop)))

    def _refuse_endless(self, node: For) -> None:
        if node.conditions:
            reason = _("the condition does not end the loop over {iterator}").format(iterator=node.iterator)
            self.names.refuse(reason, node.conditions[0].span)
        self.names.refuse(_("the loop over {iterator} has no bound").format(iterator=node.iterator), node.span)

    def _jump(self, node: Jump, scope: NestScope) -> NestScope:
        if not self.loops:
            self.names.refuse(_("{kind} stands in no loop of this nest").format(kind=node.kind), node.span)
        loop = self.loops[-1]
        if len(scope.guards) > loop.guards:
            raise _DependsOnData
        if node.kind == "break":
            loop.breaks.append(scope.formula)
        return replace(scope, formula=affine_conditions.FALSE)

    # Conditions.

    def _if(self, node: If, scope: NestScope) -> tuple[Tree | None, NestScope]:
        affine, data = self.names.parts(node.condition, scope)
        children: list[Tree] = []
        self._note_subscripts(() if data is None else walk(data), scope)
        if data is not None and _changes(node, data):
            data, kept, scope = self._tested(data, scope)
            children.append(kept)
        yes = replace(scope, formula=affine_conditions.conjunction(scope.formula, affine))
        if data is None:
            opposite = self.names.condition(node.condition, scope, False)
            no = replace(scope, formula=affine_conditions.conjunction(scope.formula, opposite))
        else:
            whole = data if affine == affine_conditions.TRUE else node.condition
            affine_parts = self.names.affine_conjuncts(node.condition, scope)
            if whole is not data and children and node.orelse:  # the test stands for the part that reads memory
                whole = Logic("and", (*affine_parts, data), node.condition.span)
            yes = replace(yes, guards=(*scope.guards, data))
            no = replace(scope, guards=(*scope.guards, Unary("not", whole, whole.span)))
        ends: list[NestScope] = []
        for body, inside in ((node.body, yes), (node.orelse, no)):
            child, end = self._block(body, inside)
            children += [child] if child is not None else []
            ends.append(end)
        after = joined(node.condition if data is None else None, scope, (yes, no), (ends[0], ends[1]))
        return (sequence(tuple(children)) if children else None), after

    def _tested(self, condition: Expr, scope: NestScope) -> tuple[Expr, Tree, NestScope]:
        """A statement that keeps the truth of ``condition``, as what follows changes what it reads."""
        name, span = self.names.fresh("test"), condition.span
        scope = replace(scope, locals={**scope.locals, name: scope.iterators})
        keep = Assign(Load(name, (), span), Choose(condition, Number(1, span), Number(0, span), span), "", span)
        return Compare("!=", Name(name, span), Number(0, span), span), self._enter(keep, scope), scope

    # Statements.

    def _assign(self, node: Assign, scope: NestScope) -> tuple[Tree | None, NestScope]:
        name = node.target.array
        if name in scope.iterators:
            self.names.refuse(_("the loop's iterator {array} is changed").format(array=name), node.span)
        if node.target.indices:
            return self._enter(node, scope), scope
        value = known_value(node, scope, self.names)
        aliases = {k: v for k, v in scope.aliases.items() if k != name}
        after = replace(scope, aliases=aliases if value is None else {**aliases, name: value})
        local = self.nest.language == "python" or name in self.names.integers
        once = self.names.assigned[name] == 1 and not node.op and name not in self.kept
        if value is not None and local and once:
            self.dropped.add(name)
            return None, after
        return self._enter(node, scope), after

    def _enter(self, node: Assign, scope: NestScope) -> Tree:
        self._note_subscripts(every_part(node), scope)
        name = self._name(node)
        self.pending.append(PlacedAssign(node, scope, name))
        return Leaf((name,))

    def _note_subscripts(self, parts: Iterable[Expr], scope: NestScope) -> None:
        """Names in subscripts are parameters in every statement."""
        for load in (part for part in parts if isinstance(part, Load)):
            for index in load.indices:
                self.names.affine(index, scope, _("a subscript of {array}").format(array=load.array))

    def _name(self, node: Assign) -> str:
        """The statement's name: its label, or S and its number."""
        taken = {placed.name for placed in self.pending} | (self.labels.keys() - {node.name})
        if node.name and isl_name(node.name) == node.name:
            wanted = node.name
            if wanted not in taken:
                return wanted
        return next(name for k in count(len(self.pending)) if (name := f"S{k}") not in taken)


def _bounding(node: For, bounds: LoopBounds) -> tuple[Compare, ...]:
    """The conditions that bound the loop; the others stand at the start of its body."""
    left = [part.condition.operand for part in bounds.leave if isinstance(part.condition, Unary)]
    return tuple(c for c in node.conditions if not any(c is other for other in left))


def _changes(node: If, condition: Expr) -> bool:
    """Whether a statement in ``node`` may change what ``condition`` reads before another one asks for it."""
    every = list(assignments((*node.body, *node.orelse)))
    read = {p.array for p in walk(condition) if isinstance(p, Load)}
    read |= {p.id for p in walk(condition) if isinstance(p, Name)}
    repeated = any(True for _loop in every_loop((*node.body, *node.orelse)))
    return any(a.target.array in read for a in (every if repeated else every[:-1]))


def _span(node: Node) -> Span:
    return Span(1, 1, 2) if isinstance(node, Visit) else node.span  # no reader gives visits
