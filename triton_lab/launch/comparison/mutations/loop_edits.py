"""Switches for loops: other bounds and steps, carried values that are overwritten, and factors by what is counted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from triton_lab.ir import Op, traits
from triton_lab.ir.plan_edits import Edit, Editor, with_operand
from triton_lab.launch.comparison.mutations.kernel_scope import KernelScope, switch_of
from triton_lab.launch.comparison.mutations.value_conversion import may_stand_for, with_factor
from triton_lab.launch.comparison.numerics import Switch
from triton_lab.localization import _


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
                if not self.type(argument).is_float or self._comes_of(end.operands[k], argument):
                    continue
                last = self.made.get(end.operands[k], op)
                for fold, told in (("arith.addf", _("added up")), ("arith.maxnumf", _("reduced to its maximum"))):
                    title = f"{self.names.get(argument) or _('a value that the loop carries')} {told}{self.where(last)}"
                    cause = _("a loop that overwrites its result in each iteration")
                    yield Switch(
                        title, cause, edits=((end.index, _folding(k, fold, argument)),), ops=frozenset({last.index})
                    )

    def _comes_of(self, number: int, argument: int) -> bool:
        """Whether a value of a loop's body is computed from a value that the loop carries."""
        seen, open_ = set(), [number]
        while open_:
            one = open_.pop()
            if one == argument:
                return True
            maker = self.made.get(one)
            if maker is not None and one not in seen:
                seen.add(one)
                open_ += [each for inner in maker.walk() for each in inner.operands]
        return False

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
