"""Switches that use a number which the kernel was given and does not take: in a value of its own at one place."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from triton_lab.ir import Op, traits
from triton_lab.ir.plan_edits import Edit, Editor, with_operand
from triton_lab.ir.traits import Kind
from triton_lab.launch.comparison.mutations.ir_query import unused
from triton_lab.launch.comparison.mutations.kernel_scope import KernelScope, switch_of
from triton_lab.launch.comparison.numerics import Switch
from triton_lab.localization import _

_MOST = 32  # operations that are done once more


class UnusedScalarEdits(KernelScope):
    """The switches for one value taken where another was meant that is made in the same way of another argument."""

    def made_of_unused(self) -> Iterator[Switch]:
        """A value that is used in several places, at one of them made of an unused number instead of a used one."""
        idle = set(unused(self.launch))
        scalars = [one for one in self.function.arguments if not self.type(one).is_pointer]
        pairs = [
            (one, other)
            for one in scalars
            for other in scalars
            if self.function.names[one] in idle
            and self.function.names[other] not in idle
            and self.type(one) == self.type(other)
        ]
        if not pairs:
            return
        for op, k in self.uses():
            number = op.operands[k]
            if number not in self.names or len(self.users[number]) < 2:
                continue
            for one, other in pairs:
                steps = self._steps(number, other)
                if steps:
                    title = _("{name} made with {one} instead of {other}{lines_of}").format(
                        name=self.names[number], one=self.names[one], other=self.names[other], lines_of=self.where(op)
                    )
                    edit = _made_anew(k, steps, other, one)
                    yield switch_of(title, _("an argument that is not used"), op, edit, cost=1.2)

    def _steps(self, number: int, start: int) -> list[Op]:
        """The operations, first ones first, by which a value is computed from an argument; none if there are others."""
        found: dict[int, Op] = {}

        def follow(one: int) -> bool:
            """Whether a value comes of the argument."""
            if one == start:
                return True
            maker = self.made.get(one)
            if maker is None or maker.regions or len(found) > _MOST:
                return False
            computes = traits.of(maker.name).kind in (Kind.ELEMENTWISE, Kind.MOVES, Kind.CASTS, Kind.COMPARES)
            comes = [follow(each) for each in maker.operands] if computes else []
            if any(comes):
                found[maker.index] = maker
                return True
            return False

        follow(number)
        return sorted(found.values(), key=lambda op: self.place[op.index])


def _made_anew(k: int, steps: Sequence[Op], used: int, idle: int) -> Edit:
    """An operation with its operand ``k`` computed once more, with the argument ``idle`` instead of ``used``."""

    def edit(editor: Editor, op: Op) -> Sequence[Op]:
        known, made = {used: idle}, []
        for step in steps:
            operands = [known.get(one, one) for one in step.operands]
            again = editor.op(op, step.name, operands, editor.type(step.results[0]), step.attributes)
            known[step.results[0]] = again.results[0]
            made.append(replace(again, location=step.location))
        return [*made, *with_operand(k, known[op.operands[k]])(editor, op)]

    return edit
