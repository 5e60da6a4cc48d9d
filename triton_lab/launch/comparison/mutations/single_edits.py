"""Switches that follow from the kernel: each operation with its siblings, other operands in scope, other constants.

They are edits of one place, of operations from which the differing elements are computed. The kinds come in the order
in which such slips are likely; within a kind, the operations nearest to the store come first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from triton_lab.ir import Op, effects
from triton_lab.ir.plan import Region
from triton_lab.ir.plan_edits import Edit, Editor
from triton_lab.launch.comparison.mutations.operand_edits import OperandEdits
from triton_lab.launch.comparison.mutations.operator_edits import OperatorEdits
from triton_lab.launch.comparison.numerics import Switch
from triton_lab.localization import _


class SingleEdits(OperatorEdits, OperandEdits):
    """The switches for one launch whose ``arguments`` differ from what was expected."""

    def likely(self) -> Iterator[Switch]:
        """The likely kinds, the likeliest first."""
        yield from self.spread()
        yield from self.exchanged_stores()
        yield from self.by_rows()
        yield from self.comparisons(near=True)
        yield from self.exchanged()
        yield from self.siblings(likely=True)
        yield from self.folds()
        yield from self.program_ids()
        yield from self.constants(near=True)
        yield from self.ranges()

    def switches(self) -> Iterator[Switch]:
        """All of them, the likeliest kinds first."""
        yield from self.likely()
        yield from self.variables(alike=True, stored=True)
        yield from self.variables(alike=False, stored=True)
        yield from self.factors(everywhere=False)
        yield from self.negated()
        yield from self.variables(alike=True)
        yield from self.left_out()
        yield from self.masks()
        yield from self.rounded()
        yield from self.comparisons(near=False)
        yield from self.constants(near=False)
        yield from self.siblings(likely=False)
        yield from self.variables(alike=False)
        yield from self.strides()
        yield from self.factors(everywhere=True)

    def exchanged_stores(self) -> Iterator[Switch]:
        """Two stores whose values are exchanged."""
        for block in _blocks(self.function.body):
            here = [op for op in block if op in self.stores]
            for k, one in enumerate(here):
                for two in here[k + 1 :]:
                    at, there = effects.operands_of(one).value, effects.operands_of(two).value
                    if at is None or there is None or one.name != two.name:
                        continue
                    values = one.operands[at], two.operands[there]
                    if self.type(values[0]) == self.type(values[1]) and values[0] != values[1]:
                        mended = (
                            replace(one, operands=_put(one.operands, at, values[1])),
                            replace(two, operands=_put(two.operands, there, values[0])),
                        )
                        title = _("the values of two stores exchanged{lines_of}").format(lines_of=self.where(one, two))
                        edits = ((one.index, _nothing), (two.index, _all_of(mended)))
                        ops = frozenset({one.index, two.index})
                        yield Switch(title, _("the values of two stores"), edits=edits, ops=ops)


def _blocks(region: Region) -> Iterator[Sequence[Op]]:
    for block in region.blocks:
        yield block.ops
        for op in block.ops:
            for inner in op.regions:
                yield from _blocks(inner)


def _put(operands: tuple[int, ...], position: int, number: int) -> tuple[int, ...]:
    return (*operands[:position], number, *operands[position + 1 :])


def _nothing(editor: Editor, op: Op) -> Sequence[Op]:
    return []


def _all_of(ops: Sequence[Op]) -> Edit:
    return lambda editor, op: ops
