"""`ReplacedValues`: the switches that put an expression in place of a value, of those whose numbers fit in copies."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from triton_lab.ir import Op, traits
from triton_lab.ir.plan_edits import Editor
from triton_lab.ir.traits import Kind
from triton_lab.launch.comparison.mutations.ir_query import constant, on_lines
from triton_lab.launch.comparison.mutations.kernel_scope import KernelScope
from triton_lab.launch.comparison.numerics import Switch
from triton_lab.launch.comparison.probe import Probe
from triton_lab.launch.comparison.relations import numbers
from triton_lab.launch.comparison.replicas.argument_loads import ArgumentLoads
from triton_lab.launch.comparison.replicas.expression import EditSteps, Expression
from triton_lab.launch.comparison.replicas.grammar import Grammar
from triton_lab.launch.comparison.replicas.renamed_values import renamed
from triton_lab.launch.comparison.replicas.repeated_uses import spread, unrolled
from triton_lab.launch.comparison.replicas.replaced_place import ReplacedPlace, written_at
from triton_lab.launch.comparison.replicas.replica_run import Replicas
from triton_lab.launch.comparison.time_budget import Budget, Effort
from triton_lab.launch.recording.progress_callback import is_late
from triton_lab.localization import _

_EACH, _RUN = 3, 16  # switches for one place, and of each kind
_OTHERS, _SIMPLE, _COMPOSED, _LOCATED = 2.0, 2.5, 4.0, 1.0  # seconds for each kind
_LEAST = 2  # what is composed costs more
_FORGOTTEN = 0.25  # of its cost, what uses a value that nothing takes: that value was likely forgotten


@dataclass
class ReplacedValues:
    """The switches of one kernel. ``is_done``: whether all that were asked for were tried.

    ``first`` are the operations, by index, whose operands are replaced before all others.
    """

    scope: KernelScope
    probe: Probe
    effort: Effort
    is_done: bool = True
    first: frozenset[int] = frozenset()

    @cached_property
    def replicas(self) -> Replicas | None:
        """Copies of some programs; None where programs make results together."""
        return Replicas.of(self.scope, self.probe)

    @cached_property
    def idle(self) -> ArgumentLoads:
        """The tensors that the kernel does not load."""
        return ArgumentLoads.of(self.scope)

    def forgotten(self) -> Iterator[Switch]:
        """Those with a value or an argument that nothing takes: likelier than all others that fit."""
        if self.scope.unread:
            for switch in self._fitting(Grammar.forgotten, _OTHERS):
                yield replace(switch, cost=_FORGOTTEN * switch.cost)

    def located(self) -> Iterator[Iterator[Switch]]:
        """Those at the places that come first."""
        if self.first:
            yield self._fitting(Grammar.others, _LOCATED, located=True)
            yield self._fitting(Grammar.simple, _LOCATED, located=True)

    def others(self) -> Iterator[Switch]:
        """Those with another value in its place."""
        yield from self._fitting(Grammar.others, _OTHERS)

    def simple(self, floats: bool) -> Iterator[Switch]:
        """Those with one more value, number or function than stands there. Those that say the least come first.

        ``floats``: in place of floats, or else of whole numbers and conditions.
        """
        if self.effort.cost >= _LEAST:
            yield from self._fitting(Grammar.simple, _SIMPLE, floats)

    def composed(self) -> Iterator[Switch]:
        """Those with two more."""
        if self.effort.cost > _LEAST:
            if self.first:
                yield from self._fitting(Grammar.composed, _COMPOSED, located=True)
            yield from self._fitting(Grammar.composed, _COMPOSED)

    def _fitting(
        self,
        expressions: Callable[[Grammar], Iterator[Expression]],
        seconds: float,
        floats: bool | None = None,
        located: bool = False,
    ) -> Iterator[Switch]:
        """``floats``: in place of floats alone, or of all else; None for both. ``located``: see there."""
        replicas, budget = self.replicas, Budget(seconds)
        if replicas is None:
            self.is_done = False
            return
        found: list[tuple[float, Switch]] = []
        for batch in self._batches(expressions, replicas.at_most, floats, located):
            if budget.spent or self.effort.budget.spent or self.effort.spent or is_late():
                self.is_done = False
                break
            self.effort.tried += sum(len(tried) for _place, tried in batch)
            for (place, _tried), fitting in zip(batch, replicas.fitting(batch), strict=True):
                found += [(one.cost, _switch(self.scope, place, one)) for one in fitting[:_EACH]]
        yield from (switch for _cost, switch in sorted(found, key=lambda each: each[0])[:_RUN])

    def _batches(
        self, expressions: Callable[[Grammar], Iterator[Expression]], most: int, floats: bool | None, located: bool
    ) -> Iterator[list[tuple[ReplacedPlace, list[Expression]]]]:
        """The places with their expressions, so many that ``most`` expressions are tried in one run.

        Those that decide how long loops run are tried apart: one of them may stop all.
        """
        chosen = [
            place
            for place in places(self.scope)
            if (floats is None or self.scope.type(place.number).is_float is floats)
            and located is not changed_by(place).isdisjoint(self.first)
            and self.scope.reaches(changed_by(place))
        ]
        for bounds in (False, True):
            batch: list[tuple[ReplacedPlace, list[Expression]]] = []
            for place in chosen:
                if (place.number in self.scope.bounding) is not bounds:
                    continue
                grammar = Grammar(self.scope, place, self.idle)
                batch.append((place, [one for one in expressions(grammar) if one.cost <= self.effort.cost]))
                if sum(len(tried) for _place, tried in batch) >= most:
                    yield batch
                    batch = []
            if batch:
                yield batch


def places(scope: KernelScope) -> Iterator[ReplacedPlace]:
    """The values that may be replaced, those nearest to the stores first: everywhere, on one line, and at one use."""
    together: dict[tuple[Op, int], list[tuple[Op, int]]] = {}
    for group in scope.together():
        together[group[0]] = sorted(group, key=lambda use: scope.place[use[0].index])
    loops = [op for op in scope.ops if op.name == "scf.for"]
    counted = {one for op in loops for one in op.regions[0].blocks[0].arguments} | set(scope.function.arguments)
    seen = set()
    for loop in loops:  # what an iteration hands on, and nothing else takes
        for number in loop.regions[0].blocks[0].ops[-1].operands:
            maker = scope.made.get(number)
            usual = not (scope.type(number).is_pointer or scope.type(number).is_opaque)
            if usual and maker is not None and len(scope.users[number]) == 1 and _is_written(scope, maker):
                seen.add(number)
                yield ReplacedPlace(number, maker)
    for number, uses, line in renamed(scope):
        yield ReplacedPlace(number, uses[0][0], tuple(uses), line)
        results = {one for op, _k in uses if op.name == "tt.splat" for one in op.results}
        blocks = [(op, k) for op, k in scope.uses() if op.operands[k] in results]
        if blocks and len({scope.type(one) for one in results}) == 1:
            op, k = min(blocks, key=lambda use: scope.place[use[0].index])
            yield ReplacedPlace(op.operands[k], op, tuple(blocks), line)
    copies = unrolled(scope)
    for group in (*copies, *spread(scope)):
        op, k = group[0]
        type = scope.type(op.operands[k])
        if not (type.is_pointer or type.is_opaque or _hands_on(scope, op)):
            yield ReplacedPlace(op.operands[k], op, tuple(group))
    copied = {(op.index, k) for group in copies for op, k in group}
    for op, k in scope.uses():
        if op.index in scope.combining:
            continue  # it runs for two elements at a time, and not for a program
        number = op.operands[k]
        type, maker = scope.type(number), scope.made.get(number)
        if type.is_pointer or type.is_opaque:
            continue
        if len(scope.users[number]) > 1 and number not in seen:
            seen.add(number)
            every = scope.users[number]
            if number in counted and all(use[0].index in scope.scope for use in every):
                yield ReplacedPlace(number, every[0][0], tuple(every))
            elif maker is not None and _is_written(scope, maker):
                yield ReplacedPlace(number, maker)
        group = together.get((op, k), [])
        if group and len(group) < len(scope.users[number]):
            yield ReplacedPlace(number, group[0][0], tuple(group))
        if not _hands_on(scope, op) and (op.index, k) not in copied:
            yield ReplacedPlace(number, op, ((op, k),))


def _is_written(scope: KernelScope, maker: Op) -> bool:
    """Whether the user wrote what gives a value: no constant, no loop, and no function of the library."""
    if maker.name in traits.FOLDS:
        return True
    return not (maker.regions or maker.index in scope.library or maker.name == "arith.constant")


def _hands_on(scope: KernelScope, op: Op) -> bool:
    """Whether its result stands for its operand; what is written for whole numbers differs from that for floats."""
    if traits.of(op.name).kind not in (Kind.MOVES, Kind.CASTS) or len(op.operands) != 1 or op.index in scope.library:
        return False
    given, made = scope.type(op.operands[0]), scope.type(op.results[0])
    if given.is_float and made.is_float and given.bits > made.bits:
        return False  # what is written after the cast is rounded once more
    return given.is_float == made.is_float or given.bits == 1


def _switch(scope: KernelScope, place: ReplacedPlace, one: Expression) -> Switch:
    held = constant(scope.made, place.number)
    named = {value: name for name, value in numbers(scope.launch).items()}
    own = named.get(held) if held is not None else None
    title = one.title or _("{one} instead of {other}").format(one=one.name, other=own or scope.called(place.number))
    return Switch(
        title + where(scope, place), one.cause or _("a wrong value"), edits=place.edits(_making(scope, place, one)),
        ops=changed_by(place), copied=True, cost=one.cost,
    )  # fmt: skip


def changed_by(place: ReplacedPlace) -> frozenset[int]:
    """The operations, by index, that change with a value."""
    return frozenset(op.index for op, _k in place.uses) or frozenset({place.op.index})


def where(scope: KernelScope, place: ReplacedPlace) -> str:
    """The line of the use; and where the value gets its name for it alone, where it may be changed as well."""
    if place.line is not None:
        maker = scope.made.get(place.number)
        if maker is not None and maker.regions and maker.name not in traits.FOLDS:
            return scope.where(*(op for op, _k in place.uses))  # the loop that gives it the name has ended
        return on_lines([place.line])
    if not place.uses:
        users = scope.users[place.number]
        return scope.where_taken(*users[0]) if len(users) == 1 else scope.where(place.op)
    (op, k), *others = place.uses
    if not others:
        return scope.where_taken(op, k)
    name, line = scope.names.get(place.number, ""), scope.line(op)
    everywhere = {(each.index, at) for each, at in place.uses}
    alone = all(
        (each.index, at) in everywhere
        for each in scope.function.walk()
        for at, number in enumerate(each.operands)
        if number == place.number
    )
    before = [each for each in scope.assigned.get(name, ()) if line is not None and each <= line.line]
    if alone and before and line is not None and place.number not in scope.function.arguments:
        return on_lines([max(before)])
    return scope.where_given(op, k)


def _making(scope: KernelScope, place: ReplacedPlace, one: Expression) -> Callable[[Editor, Op, int], list[Op]]:
    def made(editor: Editor, op: Op, own: int) -> list[Op]:
        type = editor.type(own)
        steps = EditSteps(editor, op, own=own, there=lambda number: written_at(scope, place, op, number))
        number = one.make(steps, type)
        if not steps.made or steps.made[-1].results != (number,):
            # What only stands in for the value is copied, so that there is an operation to give it.
            name = "arith.andi" if type.bits == 1 else "arith.maxnumf" if type.is_float else "arith.maxsi"
            steps.then(name, (number, number), type)
        return steps.made

    return made
