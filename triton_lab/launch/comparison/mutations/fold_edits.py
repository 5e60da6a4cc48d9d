"""Switches for reductions and scans: another operation, axis or direction, and each row or the whole block."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from triton_lab.ir import Op, Type, traits
from triton_lab.ir.plan_edits import Edit, Editor, renamed, with_attributes
from triton_lab.ir.traits import Kind
from triton_lab.launch.comparison.mutations.added_operations import copied, with_factor
from triton_lab.launch.comparison.mutations.kernel_scope import EXCHANGED, KernelScope, switch_of
from triton_lab.launch.comparison.mutations.operand_edits import transposed
from triton_lab.launch.comparison.numerics import Switch
from triton_lab.localization import _

# What a reduction or a scan may do, and how it is called.
_FOLDING = {
    trait.name: {"+": "sum", "*": "product"}.get(trait.symbol) or ("max" if trait.extreme > 0 else "min")
    for trait in traits.TRAITS.values()
    if trait.commutative
    and trait.numbers
    and (trait.symbol in ("+", "*") or trait.drops_nan or (trait.extreme and trait.signed))
}
_TURNED = {2: 4, 4: 2, 3: 5, 5: 3, 6: 8, 8: 6, 7: 9, 9: 7}  # predicates in the other direction, of both kinds


class FoldEdits(KernelScope):
    """The switches that change reductions and scans."""

    def combined(self) -> Iterator[Switch]:
        """The user's functions that combine two elements: both exchanged, and with one more factor or term."""
        for fold in (op for op in self.ops if op.name in traits.FOLDS):
            block, names = fold.regions[0].blocks[0], self.parameters(fold)
            if not names:
                continue
            half = len(block.arguments) // 2
            turned = dict(zip(block.arguments, (*block.arguments[half:], *block.arguments[:half]), strict=True))
            title = _("the two elements exchanged{lines_of}").format(lines_of=self.where(block.ops[0]))
            yield switch_of(title, _("the order of two elements"), block.ops, _renumbered(turned), cost=EXCHANGED)
            for op in block.ops:
                for k, number in enumerate(op.operands):
                    yield from self._with_one_more(op, k, [one for one in names if self.type(one) == self.type(number)])

    def _with_one_more(self, op: Op, k: int, others: Sequence[int]) -> Iterator[Switch]:
        number = op.operands[k]
        times = "arith.mulf" if self.type(number).is_float else "arith.muli"
        plus = "arith.addf" if self.type(number).is_float else "arith.addi"
        place = self.where(self.made.get(number, op))
        for other in others:
            for name, cause in ((times, _("a missing factor")), (plus, _("a missing term"))):
                title = _("{one} {sign} {other} instead of {one}{lines_of}").format(
                    one=self.called(number), sign=traits.of(name).symbol, other=self.names[other], lines_of=place
                )
                yield switch_of(title, cause, op, with_factor(k, name, other), cost=2)

    def axes(self) -> Iterator[Switch]:
        """Reductions and scans along another axis, all of them and each alone; each row instead of the whole block."""
        found = list(self._axes())
        first = {switch.ops: switch for switch in reversed(found)}
        if len(first) > 1:
            ops = frozenset[int]().union(*first)
            where = self.where(*(op for op in self.ops if op.index in ops))
            title = _("reductions along the other axis{lines_of}").format(lines_of=where)
            edits = tuple(edit for switch in first.values() for edit in switch.edits)
            yield Switch(title, _("the axis of reductions"), edits=edits, ops=ops)
        yield from found
        yield from self._with_rows()

    def _with_rows(self) -> Iterator[Switch]:
        """A reduction of a square block along the other axis, and so a row or a column that is spread on its line."""
        for fold in self.ops:
            given = self.type(fold.operands[0]).shape if fold.name == "tt.reduce" and len(fold.operands) == 1 else ()
            if len(given) != 2 or given[0] != given[1]:
                continue
            for op in self.own:
                spread = op.name == "tt.broadcast" and self.type(op.results[0]).shape == given
                if (
                    spread
                    and self.line(op) == self.line(fold)
                    and sorted(self.type(op.operands[0]).shape) == [1, given[0]]
                ):
                    axis = 1 - fold.attributes["axis"]
                    title = _("{name} along the other axis, and axis={axis}{lines_of}").format(
                        name=self.called(op.operands[0]), axis=axis, lines_of=self.where(op)
                    )
                    edits = ((op.index, transposed), (fold.index, with_attributes(axis=axis)))
                    ops = frozenset({op.index, fold.index})
                    yield Switch(title, _("the axis of a reduction"), edits=edits, ops=ops, cost=1.6)

    def _axes(self) -> Iterator[Switch]:
        for op in self.ops:
            if op.name not in traits.FOLDS:
                continue
            flat = self.made.get(op.operands[0])
            whole = flat is not None and flat.name == "tt.reshape" and not self.type(op.results[0]).shape
            block = flat.operands[0] if whole and flat is not None else op.operands[0]
            shape, held = self.type(block).shape, None if whole else op.attributes["axis"]
            for axis in reversed(range(len(shape))):
                if axis == held or len(shape) < 2:
                    continue
                title = (
                    _("axis={axis} in the reduction{lines_of}")
                    if whole
                    else _("axis={axis} instead of {held}{lines_of}")
                )
                title = title.format(axis=axis, held=held, lines_of=self.where(op))
                cause = _("a reduction without its axis") if whole else _("the axis of a reduction")
                if op.name == "tt.scan":
                    yield switch_of(title, _("the axis of a scan"), op, with_attributes(axis=axis))
                    continue
                turned = _Turned(self.made, op, block, shape, held, axis)
                edits = [edit for user in self.ops if (edit := turned.edit(user, self)) is not None]
                if edits:
                    yield Switch(title, cause, edits=tuple(edits), ops=frozenset({op.index}))
                if not whole and shape[axis] == shape[held or 0]:
                    yield switch_of(title, cause, op, with_attributes(axis=axis))

    def folds(self) -> Iterator[Switch]:
        """Another operation in a reduction or a scan, another direction, and a scan without each lane's own value."""
        for op in self.ops:
            if op.name not in traits.FOLDS:
                continue
            inner = op.regions[0].blocks[0].ops[:-1]
            arguments = op.regions[0].blocks[0].arguments
            values = {arguments[0], arguments[len(op.operands)]}
            compared = [
                each for each in inner if set(each.operands) == values and each.attributes.get("predicate") in _TURNED
            ]
            if len(op.operands) > 1 and compared:  # argmax and the like
                title = _("the least and the greatest exchanged{lines_of}").format(lines_of=self.where(op))
                ways = [
                    (each.index, with_attributes(predicate=_TURNED[each.attributes["predicate"]])) for each in compared
                ]
                yield Switch(title, _("the kind of reduction"), edits=tuple(ways), ops=frozenset({op.index}))
            for each in [each for each in inner if each.name in _FOLDING][:1] if len(op.operands) == 1 else ():
                for other, word in _FOLDING.items():
                    if other != each.name and traits.of(other).numbers == traits.of(each.name).numbers:
                        title = _("{new} instead of {old}{lines_of}").format(
                            new=word, old=_FOLDING[each.name], lines_of=self.where(op)
                        )
                        edits = ((each.index, renamed(other)),)
                        yield Switch(title, _("the kind of reduction"), edits=edits, ops=frozenset({op.index}))
                if op.name == "tt.scan" and traits.of(each.name).symbol == "+":
                    title = _("each lane of a scan without itself{lines_of}").format(lines_of=self.where(op))
                    yield switch_of(title, _("a scan that is inclusive"), op, _exclusive, cost=2)
            if op.name == "tt.scan":
                turned = not op.attributes.get("reverse", False)
                title = _("a scan the other way round{lines_of}").format(lines_of=self.where(op))
                yield switch_of(title, _("the direction of a scan"), op, with_attributes(reverse=turned))


def _exclusive(editor: Editor, op: Op) -> Sequence[Op]:
    """A sum of those before each lane: the inclusive one less the lane's own."""
    type = editor.type(op.results[0])
    whole = replace(op, results=(editor.value(type),))
    apart = editor.op(op, "arith.subf" if type.is_float else "arith.subi", (*whole.results, *op.operands), type)
    return [whole, replace(apart, results=op.results)]


class _OtherShape(Exception):
    """What is computed from a reduction is of no shape that it could have along another axis."""


@dataclass(frozen=True)
class _Turned:
    """The reduction ``fold`` of ``block`` along ``axis``, and not along ``held`` (None: of the whole block).

    What is computed from it is computed again, in the shape that it has then, up to where it is spread over the block.
    """

    made: Mapping[int, Op]
    fold: Op
    block: int
    shape: tuple[int, ...]
    held: int | None
    axis: int

    @property
    def kept(self) -> tuple[int, ...]:
        return (*self.shape[: self.axis], *self.shape[self.axis + 1 :])

    @property
    def column(self) -> tuple[int, ...]:
        return (*self.shape[: self.axis], 1, *self.shape[self.axis + 1 :])

    def edit(self, user: Op, scope: KernelScope) -> tuple[int, Edit] | None:
        """The edit of an operation that spreads what is computed from the reduction; None for any other."""
        if traits.of(user.name).kind is not Kind.MOVES or len(user.operands) != 1 or len(user.results) != 1:
            return None
        given, shape = scope.type(user.operands[0]), scope.type(user.results[0]).shape
        if given.size == scope.type(user.results[0]).size:
            return None  # it spreads nothing
        if shape != self.shape and (self.held is not None or shape != self.kept):
            return None
        if not self._comes_from(user.operands[0]):
            return None

        def edit(editor: Editor, op: Op) -> Sequence[Op]:
            made: list[Op] = []
            try:
                number = self._again(editor, op, op.operands[0], made)
            except _OtherShape:
                return [op]
            if shape == self.shape and len(editor.type(number).shape) < len(shape):
                type = replace(editor.type(number), shape=self.column)
                made.append(editor.op(op, "tt.expand_dims", (number,), type, {"axis": self.axis}))
                number = made[-1].results[0]
            return [*made, replace(op, name="tt.broadcast", operands=(number,), attributes={})]

        return user.index, edit

    def _comes_from(self, number: int) -> bool:
        """Whether a value is computed from the reduction, by operations that can be done in another shape."""
        op = self.made.get(number)
        if op is None or number in self.fold.results:
            return op is not None
        trait = traits.of(op.name)
        if op.name == "tt.expand_dims":
            return self.held is not None and op.attributes["axis"] == self.held and self._comes_from(op.operands[0])
        lanes = trait.is_lane_by_lane or (trait.kind is Kind.PERMUTES and op.name == "arith.select")
        return lanes and any(map(self._comes_from, op.operands))

    def _again(self, editor: Editor, near: Op, number: int, made: list[Op]) -> int:
        op, type = self.made.get(number), editor.type(number)
        if number in self.fold.results:
            kept = replace(type, shape=self.kept)
            again = editor.op(near, "tt.reduce", (self.block,), kept, {**self.fold.attributes, "axis": self.axis})
            made.append(replace(again, regions=tuple(copied(editor, one) for one in self.fold.regions)))
        elif op is not None and self._comes_from(number):
            operands = [self._again(editor, near, one, made) for one in op.operands]
            shape = editor.type(operands[0]).shape
            attributes = op.attributes
            if op.name == "tt.expand_dims":
                shape, attributes = self.column, {"axis": self.axis}
            made.append(editor.op(near, op.name, operands, replace(type, shape=shape), attributes))
        else:
            made.append(self._same_in_all_lanes(editor, near, number, type))
        return made[-1].results[0]

    def _same_in_all_lanes(self, editor: Editor, near: Op, number: int, type: Type) -> Op:
        op = self.made.get(number)
        shape = self.kept if self.held is None or len(type.shape) < len(self.shape) else self.column
        if not type.shape:
            return editor.op(near, "tt.splat", (number,), replace(type, shape=shape))
        if op is not None and op.name == "tt.splat":
            return editor.op(near, "tt.splat", op.operands, replace(type, shape=shape))
        value = op.attributes.get("value") if op is not None and op.name == "arith.constant" else None
        if value is None or len(value.values) != 1:
            raise _OtherShape
        return editor.constant(near, value.values[0], replace(type, shape=shape))


def _renumbered(numbers: Mapping[int, int]) -> Edit:
    """The operation with other values as operands."""
    return lambda editor, op: [replace(op, operands=tuple(numbers.get(one, one) for one in op.operands))]
