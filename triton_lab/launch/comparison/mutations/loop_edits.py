"""Switches for loops: other bounds and steps, and values that are overwritten, not rescaled or not carried on."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from triton_lab.ir import Op, Type, traits
from triton_lab.ir.plan import Block, Region
from triton_lab.ir.plan_edits import Edit, Editor, with_operand
from triton_lab.ir.traits import Kind, Trait
from triton_lab.launch.comparison.mutations.added_operations import (
    converted,
    may_stand_for,
    spread_reduction,
    with_factor,
)
from triton_lab.launch.comparison.mutations.ir_query import comes_of, extended_constant, on_lines
from triton_lab.launch.comparison.mutations.kernel_scope import KernelScope, switch_of
from triton_lab.launch.comparison.numerics import Switch
from triton_lab.localization import _

_STARTS = (0, 1, math.inf, -math.inf)
_VALUES = 8  # of an iteration that are tried, the last ones first


@dataclass(frozen=True)
class _Given:
    """What an iteration gives to the next one: ``number``, or its square, or what it is reduced to along ``axis``."""

    name: str
    number: int
    axis: int | None = None
    fold: str = ""
    squared: bool = False

    def make(self, editor: Editor, near: Op, made: list[Op]) -> int:
        """The value, after the operations that are added to ``made``."""
        number = self.number
        if self.squared:
            made.append(editor.op(near, "arith.mulf", (number, number), editor.type(number)))
            number = made[-1].results[0]
        if self.axis is not None:
            made.append(spread_reduction(editor, near, number, self.fold, self.axis)[0])
            number = made[-1].results[0]
        return number


class LoopEdits(KernelScope):
    """The switches that change loops."""

    def iterations(self, by_step: bool) -> Iterator[Switch]:
        """Loops that end a step earlier or later, or begin so; or else by one."""
        for op in self.own:
            if op.name != "scf.for":
                continue
            for k, sign, name in (
                (1, "+", "arith.addi"),
                (1, "-", "arith.subi"),
                (0, "+", "arith.addi"),
                (0, "-", "arith.subi"),
            ):
                title = _("a loop that {begins} {sign} {step}{lines_of}").format(
                    begins=_("ends") if k else _("begins"),
                    sign=sign,
                    step=_("a step") if by_step else "1",
                    lines_of=self.where(op),
                )
                cause = _("where a loop begins or ends")
                if k and by_step:
                    more = sign == "+"
                    title = f"{_('one iteration more') if more else _('one iteration less')}{self.where(op)}"
                    cause = (
                        _("a loop that ends an iteration early") if more else _("a loop that has an iteration too many")
                    )
                yield switch_of(title, cause, op, _moved(k, name, by_step))

    def carried(self) -> Iterator[Switch]:
        """Values that a loop sets anew in each iteration, added up or reduced to their maximum."""
        for op in self.own:
            if op.name != "scf.for":
                continue
            block = op.regions[0].blocks[0]
            for k, argument in enumerate(block.arguments[1:]):
                end = block.ops[-1]
                type, handed = self.type(argument), end.operands[k]
                if type.is_pointer or type.is_opaque or type.bits == 1 or comes_of(self.made, handed, argument):
                    continue
                last = self.made.get(handed, op)
                name = self.names.get(argument, "")
                lines = [line for line in self.assigned.get(name, ()) if line in self._lines(block)]
                where = on_lines(lines[-1:]) or self.where(last)
                add = "arith.addf" if type.is_float else "arith.addi"
                most = "arith.maxnumf" if type.is_float else "arith.maxsi"
                for fold, told in ((add, _("added up")), (most, _("reduced to its maximum"))):
                    title = f"{name or _('a value that the loop carries')} {told}{where}"
                    cause = _("a loop that overwrites its result in each iteration")
                    yield Switch(
                        title, cause, edits=((end.index, _folding(k, fold, argument)),), ops=frozenset({last.index})
                    )

    def _lines(self, block: Block) -> range:
        """The lines of what a block does, up to what comes after it: a line may only give a value another name."""
        lines = [line.line for op in block.ops[:-1] for one in op.walk() if (line := self.line(one)) is not None]
        if not lines:
            return range(0)
        every = [line.line for op in self.own if (line := self.line(op)) is not None and line.line > max(lines)]
        return range(min(lines), min(every, default=max(lines) + 2))

    def rescaled(self) -> Iterator[Switch]:
        """What a loop carries, scaled to the greatest number so far, which the loop carries too."""
        powers = sorted({op.name for op in self.own} & traits.EXPONENTIALS)
        for op in self.own:
            if op.name != "scf.for":
                continue
            block = op.regions[0].blocks[0]
            for top, new in zip(block.arguments[1:], block.ops[-1].operands, strict=True):
                maker = self.made.get(new)
                if maker is None or traits.of(maker.name).extreme != 1 or top not in maker.operands:
                    continue
                after = [one for one in block.ops[:-1] if self.place[one.index] > self.place[maker.index]]
                for user, k in ((one, k) for one in after for k in range(len(one.operands)) if not one.regions):
                    number = user.operands[k]
                    fits = may_stand_for(self.type(top), self.type(number), rows=True)
                    if number not in block.arguments[1:] or number == top or not self.type(number).is_float or not fits:
                        continue
                    for power in powers:
                        title = _("{name} scaled to the new maximum by {power}{lines_of}").format(
                            name=self.called(number), power=power.partition(".")[2], lines_of=self.where(user)
                        )
                        edit = _scaled(k, top, new, power)
                        yield switch_of(title, _("an accumulator that is not rescaled"), user, edit, cost=0.5)

    def handed_on(self) -> Iterator[Switch]:
        """The start value of a sum or an extreme that an iteration, or what follows the loop, uses and none changes."""
        for loop in self.own:
            if loop.name != "scf.for":
                continue
            block = loop.regions[0].blocks[0]
            after = [op for op in self.own if self.place[op.index] > self.place[block.ops[-1].index]]
            inside = {number for op in loop.walk() for number in op.results}
            for users, is_inside in ((block.ops, True), (after, False)):
                places: dict[int, list[tuple[Op, int]]] = {}
                for user in users:
                    computes = traits.of(user.name).kind in (Kind.ELEMENTWISE, Kind.COMPARES) and user in self.own
                    for k, number in enumerate(user.operands if computes else ()):
                        type = self.type(number)
                        held = extended_constant(self.made, number, type)
                        if number not in inside and held in _STARTS and (type.is_float or type.bits > 1):
                            places.setdefault(number, []).append((user, k))
                for taken in places.values():
                    groups = [[use] for use in taken] if is_inside else [taken]
                    for group in groups:
                        yield from self._carried(loop, block, group)

    def _carried(self, loop: Op, block: Block, uses: Sequence[tuple[Op, int]]) -> Iterator[Switch]:
        (user, k) = uses[0]
        number, given = user.operands[k], self.type(user.operands[k])
        start = float(extended_constant(self.made, number, given) or 0)
        name = self._started(start, loop) or self.called(number)
        adds, most, least = (_fold(given, extreme) for extreme in (0, 1, -1))
        words = {adds: "{} + {}", most: "tl.maximum({}, {})", least: "tl.minimum({}, {})", "": "{1}"}
        folds = {0: (adds,), 1: (), math.inf: (least,), -math.inf: (most,)}[start]
        within = {op.index for op in block.ops}
        for type in dict.fromkeys((replace(given, shape=()), given)):
            for fold in (*folds, ""):
                for one in self._given(block, type, fold):
                    title = _("{name} = {told} in each iteration{lines_of}").format(
                        name=name,
                        told=words[fold].format(name, one.name),
                        lines_of=self.where(min((op for op, _k in uses), key=lambda op: self.place[op.index])),
                    )
                    carried: dict[str, int] = {}
                    inner = [use for use in uses if use[0].index in within]
                    edits = [(loop.index, _carrying(inner, type, start, one, fold, carried))]
                    edits += [(op.index, _taking(at, carried)) for op, at in uses if op.index not in within]
                    ops = frozenset({loop.index, *(op.index for op, _k in uses)})
                    cause = _("a value that a loop does not carry on")
                    yield Switch(title, cause, edits=tuple(edits), ops=ops, cost=2)

    def _started(self, start: float, loop: Op) -> str:
        """The name of the one variable that has this start value before the loop; "" if there are several."""
        before = [op for op in self.function.walk() if op.name == "arith.constant"]
        before = [op for op in before if self.place[op.index] < self.place[loop.index]]
        named = {self.names.get(op.results[0], "") for op in before if self._is(op.results[0], start)}
        named -= {""} | {self.names.get(number, "") for number in self.function.arguments}
        return named.pop() if len(named) == 1 else ""

    def _is(self, number: int, start: float) -> bool:
        return extended_constant(self.made, number, self.type(number)) == start

    def _given(self, block: Block, type: Type, fold: str) -> Iterator[_Given]:
        """What an iteration may hand on as ``type``, with a ``fold`` also what that makes of a row."""
        found: dict[str, int] = {}
        for op in reversed(block.ops[:-1]):
            for number in op.results:
                here = self.type(number)
                if number in self.names and here.element == type.element:
                    found.setdefault(self.names[number], number)
        trait = traits.of(fold) if fold else None
        called = "" if trait is None else "tl.sum" if trait.sums else "tl.max" if trait.extreme > 0 else "tl.min"
        for name, number in list(found.items())[:_VALUES]:
            shape = self.type(number).shape
            ways = [(name, False)]
            if type.is_float and trait is not None and trait.sums:
                ways.append((f"{name} * {name}", True))
            for told, squared in ways:
                if shape == type.shape:
                    yield _Given(told, number, squared=squared)
                for axis in range(len(shape)) if fold else ():
                    if (*shape[:axis], *shape[axis + 1 :]) == type.shape:
                        along = f", axis={axis}" if len(shape) > 1 else ""
                        yield _Given(f"{called}({told}{along})", number, axis, fold, squared)


def _fold(type: Type, extreme: int) -> str:
    """The operation that adds two numbers of a type, or takes the greater (1) or the lesser (-1)."""
    numbers = "float" if type.is_float else "integer"

    def fits(trait: Trait) -> bool:
        chosen = trait.extreme == extreme if extreme else trait.symbol == "+"
        writes = trait.signed is not False and (trait.drops_nan or not (extreme and type.is_float))
        return chosen and trait.is_lane_by_lane and trait.numbers == numbers and writes

    (name,) = traits.names(fits)
    return name


def _scaled(position: int, top: int, new: int, power: str) -> Edit:
    """An operand, times the power of what the maximum was above the new one."""

    def edit(editor: Editor, op: Op) -> Sequence[Op]:
        apart = editor.op(op, "arith.subf", (top, new), editor.type(top))
        raised = editor.op(op, power, apart.results, editor.type(top))
        return [apart, raised, *with_factor(position, "arith.mulf", raised.results[0])(editor, op)]

    return edit


def _moved(position: int, name: str, step: bool) -> Edit:
    """A loop with its start (0) or end (1) moved by its step, or by one."""

    def edit(editor: Editor, op: Op) -> Sequence[Op]:
        number, type = op.operands[position], editor.type(op.operands[position])
        one = [] if step else [editor.constant(op, 1, type)]
        moved = editor.op(op, name, (number, op.operands[2] if step else one[0].results[0]), type)
        return [*one, moved, *with_operand(position, moved.results[0])(editor, op)]

    return edit


def _folding(k: int, fold: str, carried: int) -> Edit:
    """The end of an iteration, which combines the value that it hands on at ``k`` with the one it was ``carried``."""

    def edit(editor: Editor, op: Op) -> Sequence[Op]:
        both = editor.op(op, fold, (carried, op.operands[k]), editor.type(carried))
        return [both, *with_operand(k, both.results[0])(editor, op)]

    return edit


def _carrying(
    uses: Sequence[tuple[Op, int]], type: Type, start: float, given: _Given, fold: str, carried: dict[str, int]
) -> Edit:
    """A loop that carries one value more, which ``uses`` in it take, and to which ``fold`` joins what is ``given``.

    ``carried`` gets the value that it leaves.
    """

    def edit(editor: Editor, op: Op) -> Sequence[Op]:
        (block,) = op.regions[0].blocks
        inside, end, ops = editor.value(type), block.ops[-1], list[Op]()
        for each in block.ops[:-1]:
            made = [each]
            for user, k in uses:
                if each.index == user.index:
                    made = [*made[:-1], *_taking(k, {"left": inside})(editor, made[-1])]
            ops += made
        number = given.make(editor, end, ops)
        if fold:
            ops.append(editor.op(end, fold, (inside, number), type))
            number = ops[-1].results[0]
        before = editor.constant(op, start, type)
        region = Region((Block((*block.arguments, inside), (*ops, replace(end, operands=(*end.operands, number)))),))
        carried["left"] = editor.value(type)
        taken, left = (*op.operands, *before.results), (*op.results, carried["left"])
        return [before, replace(op, operands=taken, results=left, regions=(region,))]

    return edit


def _taking(k: int, carried: dict[str, int]) -> Edit:
    """An operation that takes what is ``carried``, spread as it needs it."""

    def edit(editor: Editor, op: Op) -> Sequence[Op]:
        spread, number = converted(editor, op, carried["left"], editor.type(op.operands[k]))
        return [*spread, *with_operand(k, number)(editor, op)]

    return edit
