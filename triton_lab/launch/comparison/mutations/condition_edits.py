"""Switches for conditions of masks and choices: negated, another one in its place, and one more."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from triton_lab.ir import Op, effects, traits
from triton_lab.ir.plan_edits import Edit, Editor, with_computed, with_operand
from triton_lab.launch.comparison.mutations.added_operations import converted, may_stand_for, with_factor
from triton_lab.launch.comparison.mutations.ir_query import constant, source
from triton_lab.launch.comparison.mutations.kernel_scope import KernelScope, switch_of
from triton_lab.launch.comparison.numerics import Switch
from triton_lab.localization import _

_SIGNS = {">": 2, "<": 4}  # predicates of arith.cmpf
_ORDERS = {">=": 5, ">": 4, "<=": 3, "<": 2}  # of arith.cmpi


class ConditionEdits(KernelScope):
    """The switches that change conditions."""

    def conditions(self) -> Iterator[tuple[Op, int]]:
        """The operands that are conditions: masks, choices, and what is joined by ``&`` and ``|``."""
        for op in self.own:
            at = effects.operands_of(op).mask if effects.is_access(op) else 0 if op.name == "arith.select" else None
            for k in (0, 1) if _joins(op) else () if at is None else (at,):
                if self.type(op.operands[k]).bits == 1:
                    yield op, k

    def opposites(self) -> Iterator[Switch]:
        """The opposite of a condition."""
        for op, k in self.conditions():
            title = _("the opposite of the condition{lines_of}").format(lines_of=self.where(op))
            yield switch_of(title, _("a condition"), op, with_computed(k, "arith.xori", other=1))

    def masks(self) -> Iterator[Switch]:
        """A condition that is in scope as a further one, or the sign of a float in scope."""
        for op, k in self.conditions():
            type, mask = self.type(op.operands[k]), op.operands[k]
            if _joins(op):
                continue
            for other in self.scope.get(op.index, ()):
                given = self.type(other)
                if given.bits == 1 and other != mask and may_stand_for(given, replace(type, element="i1")):
                    yield self._further(op, self.names[other], with_factor(k, "arith.andi", other))
                if given.is_float and given.shape == type.shape:
                    for sign, predicate in _SIGNS.items():
                        yield self._further(op, f"{self.names[other]} {sign} 0", _and_sign(k, other, predicate))

    def forgotten(self) -> Iterator[Switch]:
        """The mask of another access for one of the same shape that has none."""
        every = [op for op in self.function.walk() if effects.is_access(op)]
        masks = {op.operands[at] for op in every if (at := effects.operands_of(op).mask) is not None}
        there = self._in_scope({mask for mask in masks if constant(self.made, mask) is None})
        for op in self.own:
            if not (effects.is_access(op) and effects.ACCESSES[op.name].of_pointers):
                continue
            roles = effects.operands_of(op)
            if not self._lets_all_through(op, roles.mask) or (roles.mask is None and effects.updates(op)):
                continue
            truth = replace(self.type(op.operands[roles.address]), element="i1", pointee=None)
            for mask in sorted(there[op.index]):
                if self.type(mask) == truth:
                    title = _("the mask {mask}{lines_of}").format(mask=self.called(mask), lines_of=self.where(op))
                    edit = _masked(mask) if roles.mask is None else with_operand(roles.mask, mask)
                    yield switch_of(title, _("a missing condition"), op, edit)

    def _lets_all_through(self, op: Op, at: int | None) -> bool:
        maker = None if at is None else self.made.get(source(self.made, op.operands[at]))
        return at is None or (maker is not None and maker.name == "arith.constant")

    def _further(self, op: Op, told: str, edit: Edit) -> Switch:
        title = _("{other} as a further condition{lines_of}").format(other=told, lines_of=self.where(op))
        return switch_of(title, _("a missing condition"), op, edit, cost=2)

    def choices(self, values: Sequence[float]) -> Iterator[Switch]:
        """One of ``values`` stored where two numbers of lanes in scope are not in order, such as above a diagonal."""
        for op in self.stores:
            at = effects.operands_of(op).value
            if at is None or len(self.type(op.operands[at]).shape) != 2:
                continue
            shape = self.type(op.operands[at]).shape
            lanes = [n for n in self.scope.get(op.index, ()) if self.type(n).is_integer and self.type(n).bits > 1]
            rows = [n for n in lanes if self.type(n).shape in ((shape[0],), (shape[0], 1))]
            columns = [n for n in lanes if self.type(n).shape in ((shape[1],), (1, shape[1]))]
            for one in rows:
                for two in columns:
                    for sign, predicate in _ORDERS.items() if one != two else ():
                        for value in values:
                            title = _("{value} unless {one} {sign} {two}{lines_of}").format(
                                value=f"{value:g}",
                                one=self.names[one],
                                sign=sign,
                                two=self.names[two],
                                lines_of=self.where(self.made.get(op.operands[at], op)),
                            )
                            edit = _chosen(at, one, two, predicate, value)
                            yield switch_of(title, _("a missing condition"), op, edit, cost=3)


def _masked(mask: int) -> Edit:
    """A load or a store with a mask; masked-off lanes of a load are 0."""

    def edit(editor: Editor, op: Op) -> Sequence[Op]:
        if not op.results:
            return [replace(op, operands=(*op.operands, mask))]
        zero = editor.constant(op, 0, editor.type(op.results[0]))
        sizes = {**op.attributes, "operandSegmentSizes": [1, 1, 1]}
        return [zero, replace(op, operands=(op.operands[0], mask, *zero.results), attributes=sizes)]

    return edit


def _joins(op: Op) -> bool:
    """Whether it joins two conditions."""
    return traits.of(op.name).symbol in ("&", "|")


def _and_sign(position: int, other: int, predicate: int) -> Edit:
    """A condition, and the sign of a float."""

    def edit(editor: Editor, op: Op) -> Sequence[Op]:
        mask = op.operands[position]
        zero = editor.constant(op, 0, editor.type(other))
        truth = editor.op(op, "arith.cmpf", (other, *zero.results), editor.type(mask), {"predicate": predicate})
        both = editor.op(op, "arith.andi", (mask, *truth.results), editor.type(mask))
        return [zero, truth, both, *with_operand(position, both.results[0])(editor, op)]

    return edit


def _chosen(position: int, row: int, column: int, predicate: int, value: float) -> Edit:
    """An operand, and a number in the lanes whose row and column are not in the order of ``predicate``."""

    def edit(editor: Editor, op: Op) -> Sequence[Op]:
        type, made, sides = editor.type(op.operands[position]), [], []
        for axis, number in ((1, row), (0, column)):
            given = editor.type(number)
            if len(given.shape) == 1:
                shape = (*given.shape[:axis], 1, *given.shape[axis:])
                made.append(editor.op(op, "tt.expand_dims", (number,), replace(given, shape=shape), {"axis": axis}))
                number = made[-1].results[0]
            ops, number = converted(editor, op, number, replace(given, shape=type.shape))
            made += ops
            sides.append(number)
        truth = replace(type, element="i1")
        ordered = editor.op(op, "arith.cmpi", sides, truth, {"predicate": predicate})
        other = editor.constant(op, value, type)
        chosen = editor.op(op, "arith.select", (*ordered.results, op.operands[position], *other.results), type)
        return [*made, ordered, other, chosen, *with_operand(position, chosen.results[0])(editor, op)]

    return edit
