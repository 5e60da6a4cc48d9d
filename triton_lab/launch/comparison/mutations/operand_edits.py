"""Switches that change what operations take: other values in scope, other constants, factors, loops, program ids."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

from triton_lab.ir import Op, effects, traits
from triton_lab.ir.plan_edits import Edit, Editor, with_attributes, with_computed, with_constant, with_operand
from triton_lab.ir.traits import Kind
from triton_lab.launch.comparison.mutations.ir_query import constant
from triton_lab.launch.comparison.mutations.kernel_scope import KernelScope
from triton_lab.launch.comparison.mutations.operators import switch_of
from triton_lab.launch.comparison.mutations.value_conversion import may_stand_for, with_factor, with_value
from triton_lab.launch.comparison.numerics import Switch
from triton_lab.launch.comparison.relations import numbers
from triton_lab.localization import _


class OperandEdits(KernelScope):
    """The switches that change operands."""

    def variables(self, alike: bool, stored: bool = False) -> Iterator[Switch]:
        """Another value in scope for one operand: ``alike``, of the same type, or one that is spread and cast to it.

        ``stored``: only for what is stored.
        """
        for op, k in self.uses():
            if (not alike and op.index in self.library) or (stored and op not in self.stores):
                continue
            number, name = op.operands[k], self.called(op.operands[k])
            seen = {name}
            for other in self.scope.get(op.index, ()):
                given, type = self.type(other), self.type(number)
                fits = given == type if alike else given != type and may_stand_for(given, type)
                # Of a name's values the newest counts: an earlier one can no longer be written there.
                if fits and other != number and self.names[other] not in seen:
                    seen.add(self.names[other])
                    title = _("{other} instead of {name}{lines_of}").format(
                        other=self.names[other], name=name, lines_of=self.where(op)
                    )
                    yield switch_of(title, _("a wrong value"), op, with_value(k, other))

    def constants(self, near: bool) -> Iterator[Switch]:
        """``near``: the neighbours of a constant, its half, its double and its negative; else the launch's numbers."""
        known = numbers(self.launch)
        named = {value: name for name, value in known.items()}
        for op, k in self.uses():
            number = op.operands[k]
            held, type = constant(self.made, number), self.type(number)
            if held is None or type.is_pointer or type.bits == 1 or math.isnan(held):
                continue
            likely = [held - 1, held + 1, held / 2, held * 2, -held, 0, 1]
            far = [1 / held if held else 1, *known.values()]
            far += [each for one in known.values() for each in (one - 1, one / 2, one * 2)]
            for other in dict.fromkeys(likely if near else [one for one in far if one not in likely]):
                whole = type.is_float or (math.isfinite(other) and other == int(other) and abs(other) < 2**31)
                if other != held and whole:
                    title = _("{other} instead of {name}{lines_of}").format(
                        other=named.get(other, f"{other:g}"), name=f"{held:g}", lines_of=self.where(op)
                    )
                    made = switch_of(title, _("a wrong number"), op, with_constant(k, other))
                    yield replace(made, unusual=_is_usual(held) and not _is_usual(other))

    def ranges(self) -> Iterator[Switch]:
        """Loops that end a step or a number earlier or later, or begin so, and ranges of lanes that begin elsewhere."""
        for op in self.own:
            if op.name == "scf.for":
                for k, word in ((1, _("ends")), (0, _("begins"))):
                    for step in (True, False):
                        for sign, name in (("+", "arith.addi"), ("-", "arith.subi")):
                            title = _("a loop that {begins} {sign} {step}{lines_of}").format(
                                begins=word, sign=sign, step=_("a step") if step else "1", lines_of=self.where(op)
                            )
                            made = switch_of(title, _("where a loop begins or ends"), op, _moved(k, name, step))
                            yield replace(made, unusual=True)

    def program_ids(self) -> Iterator[Switch]:
        """The id along another axis, for all uses of an id and for one."""
        extents = [k for k, extent in enumerate(self.launch.grid) if extent > 1]
        ids = [op for op in reversed(self.own) if op.name == "tt.get_program_id"]
        held = [op.attributes["axis"] for op in ids]
        for op in ids:
            axis = op.attributes["axis"]
            for other in (k for k in range(3) if k != axis and (k in extents or axis in extents)):
                title = f"program_id({other}) instead of program_id({axis}){self.where(op)}"
                made = switch_of(title, _("a program id along another axis"), op, with_attributes(axis=other))
                yield replace(made, unusual=held.count(axis) == 1 and (other in held or axis in extents))

    def masks(self) -> Iterator[Switch]:
        """Another mask in scope for an access that has one, or as a further condition."""
        for op in self.own:
            at = effects.operands_of(op).mask if effects.is_access(op) else None
            if at is not None:
                for other in self.scope.get(op.index, ()):
                    if self.type(other) == self.type(op.operands[at]) and other != op.operands[at]:
                        title = _("{other} as a further condition{lines_of}").format(
                            other=self.names[other], lines_of=self.where(op)
                        )
                        yield switch_of(title, _("a mask"), op, with_factor(at, "arith.andi", other))

    def factors(self, everywhere: bool) -> Iterator[Switch]:
        """A value in scope by which a float is multiplied or divided, lane by lane or by rows, or that is added.

        First of stored and carried values, then of all others (``everywhere``).
        """
        carried = {
            number
            for op in self.ops
            if op.name == "scf.for"
            for number in op.regions[0].blocks[0].arguments[1:]
            if self.type(number).is_float
        }
        for op in self.own:
            at = effects.operands_of(op).value if op in self.stores else None
            usual = [at] if at is not None else [k for k, one in enumerate(op.operands) if one in carried]
            if op.regions or (not op.results and at is None):
                continue
            counts = everywhere and (traits.of(op.name).is_lane_by_lane or op.name == "tt.dot")
            for k in [k for k in range(len(op.operands)) if k not in usual] if counts else usual * (not everywhere):
                if not self.type(op.operands[k]).is_float:
                    continue
                for other in self.scope.get(op.index, ()):
                    given, type = self.type(other), self.type(op.operands[k])
                    if other != op.operands[k] and given.bits > 1 and may_stand_for(given, type, rows=True):
                        yield from self._with_factor(op, k, other, not everywhere and given.shape == type.shape)

    def _with_factor(self, op: Op, k: int, other: int, sums: bool) -> Iterator[Switch]:
        ways = [("arith.mulf", _("multiplied by")), ("arith.divf", _("divided by"))]
        for name, word in [*ways, *([("arith.addf", _("plus")), ("arith.subf", _("minus"))] if sums else [])]:
            title = _("{name} {multiplied} {other}{lines_of}").format(
                name=self.called(op.operands[k]), multiplied=word, other=self.names[other], lines_of=self.where(op)
            )
            cause = _("a missing term") if traits.of(name).sums else _("a missing factor")
            yield switch_of(title, cause, op, with_factor(k, name, other))

    def strides(self) -> Iterator[Switch]:
        """A number of the launch by which a block of integers or a program id is multiplied, or that is added."""
        for op in self.own:
            if traits.of(op.name).kind not in (Kind.ELEMENTWISE, Kind.MOVES, Kind.CREATES):
                continue
            for k, number in enumerate(op.operands):
                type, maker = self.type(number), self.made.get(number)
                if not type.is_integer or type.bits == 1 or maker is None or maker.name == "arith.constant":
                    continue
                for other in self.scope.get(op.index, ()):
                    given = self.type(other)
                    if not given.shape and given.is_integer and given.bits > 1 and other != number:
                        title = _("{name} {multiplied} {other}{lines_of}").format(
                            name=self.called(number),
                            multiplied=_("multiplied by"),
                            other=self.names[other],
                            lines_of=self.where(op),
                        )
                        yield switch_of(title, _("a missing factor"), op, with_factor(k, "arith.muli", other))

    def rounded(self) -> Iterator[Switch]:
        """Arithmetic of float16 and bfloat16 in float32, and integers as the floats that they become."""
        for op in self.own:
            narrow = bool(op.results) and self.type(op.results[0]).is_float and self.type(op.results[0]).bits < 32
            if narrow and traits.of(op.name).kind is Kind.ELEMENTWISE:
                title = _("float32 in {symbol}{lines_of}").format(
                    symbol=traits.of(op.name).symbol or op.name.partition(".")[2], lines_of=self.where(op)
                )
                yield switch_of(title, _("a missing cast"), op, _in_float32)

    def spread(self) -> Iterator[Switch]:
        """A row that is broadcast as a column, or the other way round, in square blocks; a square one transposed."""
        for op in self.own:
            if op.name == "tt.broadcast":
                given, shape = self.type(op.operands[0]), self.type(op.results[0]).shape
                if len(shape) == 2 and shape[0] == shape[1] > 1 and sorted(given.shape) == [1, shape[0]]:
                    title = _("{name} along the other axis{lines_of}").format(
                        name=self.called(op.operands[0]), lines_of=self.where(op)
                    )
                    yield switch_of(title, _("the axis along which a row or a column is spread"), op, _transposed)
            if op.name == "tt.dot":
                for k in (0, 1):
                    shape = self.type(op.operands[k]).shape
                    if len(shape) == 2 and shape[0] == shape[1]:
                        title = _("{name} transposed{lines_of}").format(
                            name=self.called(op.operands[k]), lines_of=self.where(op)
                        )
                        edit = with_computed(k, "tt.trans", {"order": [1, 0]})
                        yield switch_of(title, _("an operand of tl.dot that is transposed"), op, edit)


def _is_usual(value: float) -> bool:
    """Whether a number is written often: zero, a power of two, or its negative."""
    return value == 0 or not math.isfinite(value) or math.frexp(abs(value))[0] == 0.5


def _moved(position: int, name: str, step: bool) -> Edit:
    """A loop with its start (0) or end (1) moved by its step, or by one."""

    def edit(editor: Editor, op: Op) -> Sequence[Op]:
        number, type = op.operands[position], editor.type(op.operands[position])
        one = [] if step else [editor.constant(op, 1, type)]
        moved = editor.op(op, name, (number, op.operands[2] if step else one[0].results[0]), type)
        return [*one, moved, *with_operand(position, moved.results[0])(editor, op)]

    return edit


def _transposed(editor: Editor, op: Op) -> Sequence[Op]:
    type = editor.type(op.operands[0])
    turned = editor.op(op, "tt.trans", op.operands, replace(type, shape=type.shape[::-1]), {"order": [1, 0]})
    return [turned, replace(op, operands=turned.results)]


def _in_float32(editor: Editor, op: Op) -> Sequence[Op]:
    """The operation computed in float32, and its result rounded to the type that it has."""
    wide = [
        editor.op(op, "arith.extf", (one,), replace(editor.type(one), element="f32"))
        if editor.type(one).is_float and editor.type(one).bits < 32
        else None
        for one in op.operands
    ]
    operands = [made.results[0] if made else one for made, one in zip(wide, op.operands, strict=True)]
    type = editor.type(op.results[0])
    done = editor.op(op, op.name, operands, replace(type, element="f32"), op.attributes)
    return [*filter(None, wide), done, replace(op, name="arith.truncf", operands=done.results, attributes={})]
