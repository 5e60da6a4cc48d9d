"""Switches that change whole numbers: how they are divided, parts of them, missing offsets, and bounds of lanes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from triton_lab.ir import Op, Type, effects, traits
from triton_lab.ir.plan_edits import Edit, Editor, with_computed, with_constant, with_operand
from triton_lab.ir.traits import Kind
from triton_lab.launch.comparison.mutations.added_operations import converted, may_stand_for, with_factor
from triton_lab.launch.comparison.mutations.ir_query import constant
from triton_lab.launch.comparison.mutations.kernel_scope import KernelScope, switch_of
from triton_lab.launch.comparison.numerics import Switch
from triton_lab.launch.comparison.relations import numbers
from triton_lab.localization import _

_UNEQUAL, _LESS, _AT_LEAST = 1, 2, 5  # predicates of arith.cmpi
_MOST = 1 << 20  # a number of elements
_DIVISIONS = traits.names(lambda trait: trait.symbol in ("//", "%") and trait.signed is True)


class IndexEdits(KernelScope):
    """The switches that change indices, offsets and bounds."""

    def starts(self) -> Iterator[Switch]:
        """Loops that begin at 0, or at another whole number in scope, instead of a value."""
        for op in self.own:
            if op.name == "scf.for" and constant(self.made, op.operands[0]) is None:
                title = _("{other} instead of {name}{lines_of}").format(
                    other=0, name=self.called(op.operands[0]), lines_of=self.where(op)
                )
                yield switch_of(title, _("where a loop begins or ends"), op, with_constant(0, 0))

    def turned(self) -> Iterator[Switch]:
        """Indices that count down from an extent, and not up: of lanes, of iterations and of programs."""
        extents = {name: int(value) for name, value in numbers(self.launch).items() if 1 < value < _MOST}
        counted = {op.regions[0].blocks[0].arguments[0] for op in self.ops if op.name == "scf.for"}
        counted |= {op.results[0] for op in self.own if op.name == "tt.make_range"}
        counted |= {op.results[0] for op in self.own if op.name == "tt.get_program_id"}
        named = {number for number in self.names if self.type(number).is_integer and self.type(number).bits > 1}
        for op, k in self.uses():
            number = op.operands[k]
            if number not in counted | named or op.name not in _SUMS or op.regions:
                continue
            own = self.made.get(number)
            ranges = (
                {str(self.type(number).size): self.type(number).size} if own and own.name == "tt.make_range" else {}
            )
            for name, extent in (ranges or extents).items():
                title = _("{extent} - 1 - {name} instead of {name}{lines_of}").format(
                    extent=name, name=self.called(number), lines_of=self.where(op)
                )
                yield switch_of(title, _("the direction of an index"), op, _reversed(k, extent), cost=3)

    def floored(self) -> Iterator[Switch]:
        """Quotients and remainders of integers with Python's signs, and quotients that are rounded up."""
        for op in self.own:
            if op.name in _DIVISIONS and traits.of(op.name).symbol == "//":
                title = _("tl.cdiv instead of //{lines_of}").format(lines_of=self.where(op))
                yield switch_of(title, _("a quotient that is cut"), op, _rounded_up)
            if op.name in _DIVISIONS:
                sign = traits.of(op.name).symbol
                title = _("{sign} as in Python{lines_of}").format(sign=sign, lines_of=self.where(op))
                cause = _("{sign} of negative integers, which Triton truncates and Python floors").format(sign=sign)
                yield switch_of(title, cause, op, _floored)

    def offsets(self) -> Iterator[Switch]:
        """The product of two scalars in scope added to an index: what each program skips."""
        for op, k in self.uses():
            type = self.type(op.operands[k])
            inside = op.index in self.library and type.is_integer and type.bits > 8
            if not (inside or (op.name == "tt.addptr" and k == 1)) or op.regions:
                continue
            scalars = self._scalars(op)
            own = [each for each in scalars if each not in self.function.arguments]
            for one in own:
                for two in [each for each in scalars if each in self.function.arguments]:
                    told = f"{self.names[one]} * {self.names[two]}"
                    yield switch_of(
                        _("{one} + {other} instead of {one}{lines_of}").format(
                            one=self.called(op.operands[k]), other=told, lines_of=self.where(op)
                        ),
                        _("an offset that is missing"),
                        op,
                        _plus_product(k, one, two),
                        cost=3,
                    )

    def unplaced(self) -> Iterator[Switch]:
        """Accesses of an argument's first element: of the one whose number is a whole number in scope."""
        for op in self.own:
            at = effects.operands_of(op).address if effects.is_access(op) else None
            if at is None or op.operands[at] not in self.function.arguments or self.type(op.operands[at]).shape:
                continue
            for number in self._scalars(op):
                title = _("{one} + {other} instead of {one}{lines_of}").format(
                    one=self.called(op.operands[at]), other=self.names[number], lines_of=self.where(op)
                )
                yield switch_of(title, _("an offset that is missing"), op, _further(at, number), cost=2)

    def parts(self) -> Iterator[Switch]:
        """The product, the quotient or the remainder of a whole number and a scalar in scope."""
        for op, k in self.uses():
            number, type = op.operands[k], self.type(op.operands[k])
            usual = traits.of(op.name).is_lane_by_lane or op.name in _SUMS
            if not usual or not type.is_integer or type.bits < 16 or constant(self.made, number) is not None:
                continue
            passed = [each for each in self._scalars(op) if each in self.function.arguments and each != number]
            by = {self.names[each]: _by_value(k, each) for each in passed}
            for told, value in numbers(self.launch).items():  # constexprs are no arguments of the function
                if told not in by and told != self.names.get(number) and 1 < value < _MOST and value == int(value):
                    by[told] = _by_number(k, value)
            for told, factor in by.items():
                for name, sign in _PARTS:
                    title = _("{one} {sign} {other} instead of {one}{lines_of}").format(
                        one=self.called(number), sign=sign, other=told, lines_of=self.where(op)
                    )
                    cause = _("a missing factor") if sign == "*" else _("a quotient or a remainder that is missing")
                    yield switch_of(title, cause, op, factor(name), cost=2)

    def shifted(self) -> Iterator[Switch]:
        """A compared whole number and the difference of two numbers of the launch."""
        for op in self.own:
            if op.name != "arith.cmpi":
                continue
            given = [each for each in self._scalars(op) if each in self.function.arguments]
            for one in given:
                for two in given:
                    if one != two:
                        title = _("{one} - {two} added to what is compared{lines_of}").format(
                            one=self.names[one], two=self.names[two], lines_of=self.where(op)
                        )
                        edit = _plus_difference(0, one, two)
                        yield switch_of(title, _("an offset that is missing"), op, edit, cost=3)

    def bounds(self) -> Iterator[Switch]:
        """A further condition of a mask or a choice: lanes in scope that are less than a number, or not less."""
        for op in self.own:
            at = effects.operands_of(op).mask if effects.is_access(op) else 0 if op.name == "arith.select" else None
            if at is None or self.type(op.operands[at]).bits != 1:
                continue
            truth = self.type(op.operands[at])
            lanes = replace(truth, element="i32")
            fitting = [each for each in self.scope.get(op.index, ()) if self._is_whole(each)]
            blocks = [each for each in fitting if self.type(each).shape and _along(self.type(each), lanes)]
            scalars = [each for each in fitting if each in self.function.arguments]
            for one in [each for each in fitting if not self.type(each).shape and each not in scalars]:
                for two in scalars:
                    yield self._bounded(op, at, one, two, "!=", _UNEQUAL)
            for one in blocks:
                for two in scalars:
                    yield self._bounded(op, at, one, two, "<", _LESS)
                for two in blocks:
                    if len(truth.shape) == 2:
                        for sign, predicate in (("<", _LESS), (">=", _AT_LEAST)) if one != two else ():
                            yield self._bounded(op, at, one, two, sign, predicate)

    def _bounded(self, op: Op, at: int, one: int, two: int, sign: str, predicate: int) -> Switch:
        title = _("{other} as a further condition{lines_of}").format(
            other=f"{self.names[one]} {sign} {self.names[two]}", lines_of=self.where(op)
        )
        return switch_of(title, _("a missing condition"), op, _and_compared(at, one, two, predicate), cost=3)

    def _is_whole(self, number: int) -> bool:
        type = self.type(number)
        return type.is_integer and type.bits in (32, 64)

    def _scalars(self, op: Op) -> list[int]:
        """The named whole scalars that an operation may take; of one name the newest."""
        found: dict[str, int] = {}
        for number in self.scope.get(op.index, ()):
            if self._is_whole(number) and not self.type(number).shape:
                found.setdefault(self.names[number], number)
        return list(found.values())


_SUMS = traits.names(lambda trait: trait.symbol in ("+", "-", "*") or trait.kind is Kind.MOVES) | {"tt.addptr"}
_PARTS = (("arith.muli", "*"), ("arith.divsi", "//"), ("arith.remsi", "%"))


def _further(position: int, number: int) -> Edit:
    """The address at ``position`` so many elements further on."""

    def edit(editor: Editor, op: Op) -> Sequence[Op]:
        pointer = op.operands[position]
        made = editor.op(op, "tt.addptr", (pointer, number), editor.type(pointer))
        return [made, *with_operand(position, made.results[0])(editor, op)]

    return edit


def _by_value(position: int, number: int) -> Callable[[str], Edit]:
    return lambda name: with_factor(position, name, number)


def _by_number(position: int, value: float) -> Callable[[str], Edit]:
    return lambda name: with_computed(position, name, other=value)


def _along(given: Type, lanes: Type) -> bool:
    return may_stand_for(given, lanes, rows=True)


def _reversed(position: int, extent: int) -> Edit:
    """What is left to the last of ``extent`` numbers."""

    def edit(editor: Editor, op: Op) -> Sequence[Op]:
        type = editor.type(op.operands[position])
        last = editor.constant(op, extent - 1, type)
        left = editor.op(op, "arith.subi", (*last.results, op.operands[position]), type)
        return [last, left, *with_operand(position, left.results[0])(editor, op)]

    return edit


def _plus_product(position: int, one: int, two: int) -> Edit:
    return _plus(position, one, two, "arith.muli")


def _plus_difference(position: int, one: int, two: int) -> Edit:
    return _plus(position, one, two, "arith.subi")


def _plus(position: int, one: int, two: int, name: str) -> Edit:
    """An operand, and what an operation makes of two scalars."""

    def edit(editor: Editor, op: Op) -> Sequence[Op]:
        type = editor.type(op.operands[position])
        first, a = converted(editor, op, one, type)
        second, b = converted(editor, op, two, type)
        both = editor.op(op, name, (a, b), type)
        total = editor.op(op, "arith.addi", (op.operands[position], *both.results), type)
        return [*first, *second, both, total, *with_operand(position, total.results[0])(editor, op)]

    return edit


def _and_compared(position: int, one: int, two: int, predicate: int) -> Edit:
    """A condition, and the comparison of two whole numbers: of two rows of numbers the second along the last axis."""

    def edit(editor: Editor, op: Op) -> Sequence[Op]:
        truth = editor.type(op.operands[position])
        lanes = replace(truth, element="i32")
        made: list[Op] = []
        sides = []
        for side, number in enumerate((one, two)):
            given = editor.type(number)
            square = len(truth.shape) == 2 and truth.shape[0] == truth.shape[1]
            if square and len(given.shape) == 1 and (side == 1 or not editor.type(two).shape):
                row = replace(given, shape=(1, *given.shape))
                made.append(editor.op(op, "tt.expand_dims", (number,), row, {"axis": 0}))
                (number,) = made[-1].results
            ops, number = converted(editor, op, number, lanes)
            made += ops
            sides.append(number)
        made.append(editor.op(op, "arith.cmpi", sides, truth, {"predicate": predicate}))
        both = editor.op(op, "arith.andi", (op.operands[position], *made[-1].results), truth)
        return [*made, both, *with_operand(position, both.results[0])(editor, op)]

    return edit


def _rounded_up(editor: Editor, op: Op) -> Sequence[Op]:
    """The quotient of integers above zero, rounded up."""
    a, b = op.operands
    type = editor.type(a)
    one = editor.constant(op, 1, type)
    sum_ = editor.op(op, "arith.addi", (a, b), type)
    less = editor.op(op, "arith.subi", (*sum_.results, *one.results), type)
    return [one, sum_, less, replace(op, operands=(*less.results, b))]


def _floored(editor: Editor, op: Op) -> Sequence[Op]:
    """A quotient that is floored, or the remainder that belongs to it: with the divisor's sign."""
    a, b = op.operands
    type = editor.type(a)
    truth = replace(type, element="i1")
    zero, one = editor.constant(op, 0, type), editor.constant(op, 1, type)
    rest = editor.op(op, "arith.remsi", (a, b), type)

    def compared(number: int, predicate: int) -> Op:
        return editor.op(op, "arith.cmpi", (number, *zero.results), truth, {"predicate": predicate})

    signs = [compared(number, _LESS) for number in (*rest.results, b)]
    apart = editor.op(op, "arith.xori", [each.results[0] for each in signs], truth)
    some = compared(rest.results[0], _UNEQUAL)
    off = editor.op(op, "arith.andi", (*apart.results, *some.results), truth)
    if op.name == "arith.remsi":
        cut, mended = rest, editor.op(op, "arith.addi", (*rest.results, b), type)
        made = [mended]
    else:
        cut = editor.op(op, "arith.divsi", (a, b), type)
        mended = editor.op(op, "arith.subi", (*cut.results, *one.results), type)
        made = [cut, mended]
    chosen = replace(op, name="arith.select", operands=(*off.results, *mended.results, *cut.results), attributes={})
    return [zero, one, rest, *signs, apart, some, off, *made, chosen]
