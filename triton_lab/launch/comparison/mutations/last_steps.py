"""Switches for a last step that is missing: a function, a factor or a term that fits, a division by the sum."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from triton_lab import messages
from triton_lab.ir import Op, effects
from triton_lab.ir.plan_edits import Edit, Editor, with_computed, with_operand
from triton_lab.launch.comparison.argument_difference import Compared
from triton_lab.launch.comparison.mutations.kernel_scope import KernelScope, switch_of
from triton_lab.launch.comparison.mutations.row_reductions import spread_reduction
from triton_lab.launch.comparison.number_formats import is_float, unit_roundoff, wide
from triton_lab.launch.comparison.numerics import Switch
from triton_lab.launch.comparison.relations import named_factor, numbers
from triton_lab.localization import _

_ROUNDINGS = 256  # a factor and a term fit up to so many roundings


class LastSteps(KernelScope):
    """The switches that add a step before the stores of floats."""

    def last_steps(self, plain: Sequence[Compared]) -> Iterator[Switch]:
        """Those for all stores; ``plain`` are the results as they are, compared with what was expected."""
        compared = {one.name: one for one in plain}
        for op in self.stores:
            at = effects.operands_of(op).value
            if at is None or not self.type(op.operands[at]).is_float:
                continue
            value = self.called(op.operands[at])

            def step(told: str, edit: Edit, op: Op = op, value: str = value) -> Switch:
                title = _("{name}, {told}{lines_of}").format(name=value, told=told, lines_of=self.where(op))
                return switch_of(title, _("a missing last step"), op, edit)

            for name in self.owners(op):
                if name in compared:
                    for told, function, number in self._fits(compared[name]):
                        yield step(told, with_computed(at, function, other=number))
            for axis in reversed(range(len(self.type(op.operands[at]).shape))):
                told = _("divided by its sum along axis {axis}").format(axis=axis)
                yield step(told, _divided_by_sum(at, axis))

    def _fits(self, one: Compared) -> Iterator[tuple[str, str, float]]:
        """A factor and a term that make what was expected of what is given: in words, the operation, the number.

        Only such as follow from the launch's arguments: any other number would explain too much.
        """
        a, b = (np.asarray(wide(each), np.float64)[one.finite] for each in (one.a, one.b))
        if not a.size:
            return
        rounding = max(unit_roundoff(each.dtype) for each in (one.a, one.b) if is_float(each.dtype))
        near = _ROUNDINGS * rounding * float(np.abs(b).max())
        square = float((a * a).sum())
        factor, term = float((a * b).sum()) / square if square else 0.0, float(np.mean(b - a))
        named = named_factor(factor, self.launch, 2 * _ROUNDINGS * rounding)
        if named and float(np.abs(factor * a - b).max()) <= near:
            told = messages.significant(factor)
            yield _("multiplied by {factor}{named}").format(factor=told, named=named), "arith.mulf", factor
        for name, value in numbers(self.launch).items():
            if value and abs(abs(term) - abs(value)) <= near and float(np.abs(a + term - b).max()) <= near:
                word = _("plus {name}") if term * value > 0 else _("minus {name}")
                yield word.format(name=name), "arith.addf", math.copysign(value, term)


def _divided_by_sum(position: int, axis: int) -> Edit:
    def edit(editor: Editor, op: Op) -> Sequence[Op]:
        value = op.operands[position]
        total = spread_reduction(editor, op, value, "arith.addf", axis)
        part = editor.op(op, "arith.divf", (value, *total[-1].results), editor.type(value))
        return [*total, part, *with_operand(position, part.results[0])(editor, op)]

    return edit
