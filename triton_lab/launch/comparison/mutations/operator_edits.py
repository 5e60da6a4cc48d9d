"""Switches that change what an operation computes: its siblings, its predicate, the order of its operands, its sign.

They are derived from what `ir/traits` declares of the operations.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from triton_lab.ir import Op, Type, effects, traits
from triton_lab.ir.plan import Region
from triton_lab.ir.plan_edits import Edit, Editor, exchanged, renamed, with_attributes, with_computed
from triton_lab.ir.traits import Kind
from triton_lab.launch.comparison.mutations.ir_query import constant
from triton_lab.launch.comparison.mutations.kernel_scope import KernelScope
from triton_lab.launch.comparison.mutations.operators import switch_of
from triton_lab.launch.comparison.numerics import Switch
from triton_lab.localization import _

_SYMBOLS = ("+", "-", "*", "/", "//", "%", "<<", ">>", "&", "|", "^")
# What may stand for an operation of two operands of one type, by what it computes with.
_BINARY = {
    numbers: [
        name
        for name, trait in traits.TRAITS.items()
        if trait.dialect == "arith"
        and trait.numbers == numbers
        and trait.kind is Kind.ELEMENTWISE
        and (trait.symbol in _SYMBOLS or trait.extreme)
        and trait.signed is not False
    ]
    for numbers in ("float", "integer")
}
# Sums and products are taken for each other, too.
_LIKELY = {"+": "-*", "-": "+", "*": "+/", "/": "*", "//": "%*", "%": "//", "&": "|", "|": "&", "<<": ">>", ">>": "<<"}
# Predicates of integers (signed) and of ordered floats: how each is written, and those of the other side.
_PREDICATES = {
    "integer": {"==": 0, "!=": 1, "<": 2, "<=": 3, ">": 4, ">=": 5},
    "float": {"==": 1, ">": 2, ">=": 3, "<": 4, "<=": 5, "!=": 13},
}
_NEAR = {"<": ("<=", ">"), "<=": ("<", ">="), ">": (">=", "<"), ">=": (">", "<="), "==": ("!=",), "!=": ("==",)}
# Ranges of numbers begin at what is compared, and end before it.
_USUAL = ("<", ">=", "==", "!=")


class OperatorEdits(KernelScope):
    """The switches that change operations."""

    def computes(self, op: Op) -> bool:
        """Whether it computes an element from two of the same type."""
        if op.name not in _BINARY["float"] and op.name not in _BINARY["integer"]:
            return False
        return len(op.operands) == 2 and len(op.results) == 1

    def comparisons(self, near: bool) -> Iterator[Switch]:
        """Another comparison, of integers and of floats: ``near`` ones, or all others."""
        for op in self.own:
            trait = traits.of(op.name)
            if trait.kind is not Kind.COMPARES or not trait.numbers or "predicate" not in op.attributes:
                continue
            known = _PREDICATES[trait.numbers]
            unsigned = trait.numbers == "integer" and op.attributes["predicate"] > 5
            held = next((one for one, k in known.items() if k == op.attributes["predicate"] - 4 * unsigned), "")
            for other in _NEAR.get(held, ()) if near else known:
                if other != held and (near or other not in _NEAR.get(held, ())):
                    title = _("{new} instead of {old}{lines_of}").format(new=other, old=held, lines_of=self.where(op))
                    number = known[other] + 4 * (unsigned and other not in ("==", "!="))
                    made = switch_of(title, "a comparison", op, with_attributes(predicate=number))
                    yield replace(made, unusual=other not in _USUAL)

    def siblings(self, likely: bool) -> Iterator[Switch]:
        """Another operator, or another function of one number: ``likely`` ones, or all others."""
        for op in self.own:
            trait = traits.of(op.name)
            if self.computes(op):
                bits = self.type(op.results[0]).bits == 1
                for other in _BINARY[trait.numbers or "float"]:
                    there = traits.of(other)
                    taken = there.symbol in _LIKELY.get(trait.symbol, "") if trait.symbol else bool(there.extreme)
                    taken &= bool(there.symbol) or not trait.symbol
                    fits = there.bitwise == trait.bitwise and (not bits or there.bitwise)
                    if other != op.name and taken is likely and fits:
                        yield self._renamed(op, other)
            elif likely and op.name == "tt.addptr":
                before = self.made.get(op.operands[0])
                if before is not None and before.name == op.name:
                    offsets = before.operands[1], op.operands[1]
                    if self.type(offsets[0]) == self.type(offsets[1]):
                        title = _("{new} instead of {old}{lines_of}").format(new="*", old="+", lines_of=self.where(op))
                        yield switch_of(title, "an operator", op, _multiplied(before.operands[0], *offsets))
            elif likely and trait.is_lane_by_lane and len(op.operands) == 1 and trait.kind is Kind.ELEMENTWISE:
                for other in dict.fromkeys((*trait.siblings, trait.inverse or "")):
                    if other:
                        yield self._renamed(op, other)

    def _renamed(self, op: Op, other: str) -> Switch:
        names = [traits.of(name).symbol or name.partition(".")[2] for name in (other, op.name)]
        title = _("{new} instead of {old}{lines_of}").format(new=names[0], old=names[1], lines_of=self.where(op))
        made = switch_of(title, "an operator", op, renamed(other))
        # Conditions are joined by `&`: with `|` a mask lets all through that any mask would.
        return replace(made, unusual=other == "arith.ori" and self.type(op.results[0]).bits == 1)

    def folds(self) -> Iterator[Switch]:
        """Another operation in a reduction or a scan, another direction, and each row by itself."""
        for op in self.ops:
            if op.name not in traits.FOLDS or len(op.operands) != 1:
                continue
            inner = [each for each in op.regions[0].blocks[0].ops[:-1] if each.name in _FOLDING]
            for each in inner[:1]:
                for other, word in _FOLDING.items():
                    if other != each.name and traits.of(other).numbers == traits.of(each.name).numbers:
                        title = _("{new} instead of {old}{lines_of}").format(
                            new=word, old=_FOLDING[each.name], lines_of=self.where(op)
                        )
                        edits = ((each.index, renamed(other)),)
                        yield Switch(title, _("the kind of reduction"), edits=edits, ops=frozenset({op.index}))
            if op.name == "tt.scan":
                turned = not op.attributes.get("reverse", False)
                title = _("a scan the other way round{lines_of}").format(lines_of=self.where(op))
                yield switch_of(title, _("the direction of a scan"), op, with_attributes(reverse=turned))
                if inner and traits.of(inner[0].name).symbol == "+":
                    title = _("each lane of a scan without itself{lines_of}").format(lines_of=self.where(op))
                    yield switch_of(title, _("a scan that is inclusive"), op, _exclusive)

    def by_rows(self) -> Iterator[Switch]:
        """Reductions of whole blocks, each row or each column by itself."""
        for op in self.ops:
            flat = self.made.get(op.operands[0]) if op.name == "tt.reduce" and len(op.operands) == 1 else None
            if flat is None or flat.name != "tt.reshape" or len(self.type(op.results[0]).shape):
                continue
            shape, ops = self.type(flat.operands[0]).shape, frozenset({op.index})
            for user in self.ops:
                spread = user.name == "tt.splat" and user.operands == op.results
                if spread and self.type(user.results[0]).shape == shape:
                    for axis in reversed(range(len(shape))) if len(shape) > 1 else ():
                        title = _("axis={axis} in the reduction{lines_of}").format(axis=axis, lines_of=self.where(op))
                        edits = ((user.index, _along(op, flat.operands[0], axis)),)
                        yield Switch(title, _("a reduction without its axis"), edits=edits, ops=ops)

    def left_out(self) -> Iterator[Switch]:
        """One side of an operator alone, and a function of one number left out."""
        for op in self.own:
            if self.computes(op) and self.type(op.operands[0]) == self.type(op.results[0]):
                for k in (0, 1):
                    number = op.operands[k]
                    if constant(self.made, number) is None:
                        title = _("only the {side} side of {symbol}{lines_of}").format(
                            side=_("left") if k == 0 else _("right"),
                            symbol=traits.of(op.name).symbol or op.name.partition(".")[2],
                            lines_of=self.where(op),
                        )
                        yield switch_of(title, _("a superfluous operation"), op, _only(self.type(number), number))

    def exchanged(self) -> Iterator[Switch]:
        """Both sides of an operator exchanged, or both values of a choice."""
        for op in self.own:
            chooses = op.name == "arith.select"
            if chooses or (self.computes(op) and not traits.of(op.name).commutative):
                title = _("both sides of {symbol} exchanged{lines_of}").format(
                    symbol="tl.where" if chooses else traits.of(op.name).symbol, lines_of=self.where(op)
                )
                edit = exchanged(len(op.operands) - 2, len(op.operands) - 1)
                yield switch_of(title, _("the order of operands"), op, edit)

    def negated(self) -> Iterator[Switch]:
        """The other sign of a float operand, and the opposite of a mask or a condition."""
        for op in self.own:
            at = effects.operands_of(op).mask if effects.is_access(op) else 0 if op.name == "arith.select" else None
            if at is not None and self.type(op.operands[at]).bits == 1:
                title = _("the opposite of the mask{lines_of}").format(lines_of=self.where(op))
                yield switch_of(title, _("a mask"), op, with_computed(at, "arith.xori", other=1))
            value = effects.operands_of(op).value if effects.is_access(op) else None
            places = [value] if value is not None else list(range(len(op.operands)))
            if not op.regions and (traits.of(op.name).kind is Kind.ELEMENTWISE or value is not None):
                for k in places:
                    if self.type(op.operands[k]).is_float and constant(self.made, op.operands[k]) is None:
                        title = _("{name} with the other sign{lines_of}").format(
                            name=self.called(op.operands[k]), lines_of=self.where(op)
                        )
                        yield switch_of(title, _("a missing minus sign"), op, with_computed(k, "arith.negf"))


# What a reduction or a scan may do, and how it is called.
_FOLDING = {
    trait.name: {"+": "sum", "*": "product"}.get(trait.symbol) or ("max" if trait.extreme > 0 else "min")
    for trait in traits.TRAITS.values()
    if trait.commutative
    and trait.numbers
    and (trait.symbol in ("+", "*") or trait.drops_nan or (trait.extreme and trait.signed))
}


def _multiplied(pointer: int, one: int, two: int) -> Edit:
    """A pointer with the product of two offsets added, and not one after the other."""

    def edit(editor: Editor, op: Op) -> Sequence[Op]:
        product = editor.op(op, "arith.muli", (one, two), editor.type(one))
        return [product, replace(op, operands=(pointer, *product.results))]

    return edit


def _exclusive(editor: Editor, op: Op) -> Sequence[Op]:
    """A sum of those before each lane: the inclusive one less the lane's own."""
    type = editor.type(op.results[0])
    whole = replace(op, results=(editor.value(type),))
    apart = editor.op(op, "arith.subf" if type.is_float else "arith.subi", (*whole.results, *op.operands), type)
    return [whole, replace(apart, results=op.results)]


def _only(type: Type, number: int) -> Edit:
    """The value itself: of two equal numbers, the greater one, or for truth values both."""
    name = "arith.andi" if type.bits == 1 else "arith.maxnumf" if type.is_float else "arith.maxsi"
    return lambda editor, op: [replace(op, name=name, operands=(number, number), attributes={})]


def _along(whole: Op, block: int, axis: int) -> Edit:
    """In place of a spread number: a block reduced along one axis, as ``whole`` reduces it, and spread again."""

    def edit(editor: Editor, op: Op) -> Sequence[Op]:
        type, scalar = editor.type(block), editor.type(whole.results[0])
        kept = replace(scalar, shape=(*type.shape[:axis], *type.shape[axis + 1 :]))
        reduced = editor.op(op, "tt.reduce", (block,), kept, {**whole.attributes, "axis": axis})
        reduced = replace(reduced, regions=tuple(_renumbered(editor, one) for one in whole.regions))
        apart = replace(scalar, shape=(*type.shape[:axis], 1, *type.shape[axis + 1 :]))
        column = editor.op(op, "tt.expand_dims", reduced.results, apart, {"axis": axis})
        return [reduced, column, replace(op, name="tt.broadcast", operands=column.results)]

    return edit


def _renumbered(editor: Editor, region: Region) -> Region:
    """A copy of a reduction's function, with values and operations of its own."""
    new: dict[int, int] = {}

    def value(number: int) -> int:
        new[number] = editor.value(editor.type(number))
        return new[number]

    blocks = []
    for block in region.blocks:
        arguments, ops = tuple(map(value, block.arguments)), []
        for op in block.ops:
            editor.last += 1
            operands = tuple(new.get(one, one) for one in op.operands)
            ops.append(replace(op, operands=operands, results=tuple(map(value, op.results)), index=editor.last))
        blocks.append(replace(block, arguments=arguments, ops=tuple(ops)))
    return Region(tuple(blocks))
