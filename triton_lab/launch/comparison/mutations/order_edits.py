"""Switches that exchange two steps that follow each other: a function and an operator, or two operators."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from triton_lab.ir import Op, traits
from triton_lab.ir.plan_edits import Edit, Editor
from triton_lab.launch.comparison.mutations.kernel_scope import KernelScope, switch_of
from triton_lab.launch.comparison.numerics import Switch
from triton_lab.localization import _


class OrderEdits(KernelScope):
    """The switches that change in which order steps are done, as parentheses do."""

    def orders(self) -> Iterator[Switch]:
        """Each operation of numbers and one that gives its operand, the other way round."""
        for op in self.own:
            for k, number in enumerate(op.operands if self._is_step(op) else ()):
                inner = self.made.get(number)
                if inner is None or not self._is_step(inner) or self.type(number) != self.type(op.results[0]):
                    continue
                if inner.index in self.library or _group(op.name) == _group(inner.name):
                    continue
                for m in range(len(inner.operands)):
                    names = tuple(traits.of(one.name).symbol or one.name.partition(".")[2] for one in (inner, op))
                    taken = self.called(inner.operands[m]) if len(inner.operands) > 1 else ""
                    title = _("{one} after {two} and not before it{of}{lines_of}").format(
                        one=names[0], two=names[1], of=f", {taken}" if taken else "", lines_of=self.where(op)
                    )
                    yield switch_of(title, _("the order of steps"), op, _outside(k, inner, m))

    def _is_step(self, op: Op) -> bool:
        """Whether it computes a number from one or two of the same type."""
        trait = traits.of(op.name)
        fits = trait.is_lane_by_lane and len(op.results) == 1 and not op.regions and bool(op.operands)
        fits = fits and (trait.numbers == "float" or (bool(trait.symbol) and self.type(op.results[0]).bits > 1))
        return fits and all(self.type(one) == self.type(op.results[0]) for one in op.operands)


def _group(name: str) -> str:
    """Operations whose order makes no difference: sums, and products; of others each is alone."""
    symbol = traits.of(name).symbol
    return {"-": "+", "/": "*"}.get(symbol, symbol) or name


def _outside(k: int, inner: Op, m: int) -> Edit:
    """``inner``, which gives the operand ``k``, done last: the operation takes its operand ``m`` in its place."""

    def edit(editor: Editor, op: Op) -> Sequence[Op]:
        operands = list(op.operands)
        operands[k] = inner.operands[m]
        first = editor.op(op, op.name, operands, editor.type(op.results[0]), op.attributes)
        whole = list(inner.operands)
        whole[m] = first.results[0]
        return [first, replace(op, name=inner.name, operands=tuple(whole), attributes=inner.attributes)]

    return edit
