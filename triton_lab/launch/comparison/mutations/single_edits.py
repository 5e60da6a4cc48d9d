"""Switches that follow from the kernel: each operation with its siblings, other operands in scope, other constants.

They are edits of one place, of operations from which the differing elements are computed. The kinds come in the order
in which such slips are likely; within a kind, the operations nearest to the store come first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from triton_lab.ir import Op, Type, effects, traits
from triton_lab.ir.plan import Region
from triton_lab.ir.plan_edits import (
    Edit,
    Editor,
    renamed,
    with_attributes,
    with_computed,
    with_constant,
    with_operand,
)
from triton_lab.ir.traits import Kind
from triton_lab.launch.comparison.mutations.ir_query import constant
from triton_lab.launch.comparison.mutations.kernel_scope import KernelScope
from triton_lab.launch.comparison.mutations.operators import switch_of
from triton_lab.launch.comparison.numerics import Switch
from triton_lab.launch.comparison.relations import numbers
from triton_lab.localization import _

if TYPE_CHECKING:
    pass

# What may stand for an operation of two operands of one type, by what it computes with.
_BINARY = {
    numbers: [
        name
        for name, trait in traits.TRAITS.items()
        if trait.dialect == "arith"
        and trait.numbers == numbers
        and trait.kind is Kind.ELEMENTWISE
        and (trait.symbol in ("+", "-", "*", "/", "//", "%", "<<", ">>", "&", "|") or trait.extreme)
        and trait.signed is not False
    ]
    for numbers in ("float", "integer")
}
_COMPARED = {True: range(2, 6), False: range(1, 7)}  # predicates of integers (signed) and floats (ordered)


class SingleEdits(KernelScope):
    """The switches for one launch whose ``arguments`` differ from what was expected."""

    def switches(self) -> Iterator[Switch]:
        """All of them, the likeliest kinds first."""
        yield from self._other_axes()
        yield from self._exchanged_stores()
        yield from self._comparisons()
        yield from self._siblings()
        yield from self._factors()
        yield from self._exchanged()
        yield from self._left_out()
        yield from self._masks()
        yield from self._constants()
        yield from self._operands()

    # --- Operations -----------------------------------------------------------------------------------

    def _computes(self, op: Op) -> bool:
        """Whether it computes an element from two of the same type."""
        if op.name not in _BINARY["float"] and op.name not in _BINARY["integer"]:
            return False
        return len(op.operands) == 2 and len(op.results) == 1

    def _siblings(self) -> Iterator[Switch]:
        """Another operator, or another function of one number."""
        for op in self.ops:
            trait = traits.of(op.name)
            if self._computes(op):
                bits = self.type(op.results[0]).bits == 1
                for other in _BINARY[trait.numbers or "float"]:
                    if other != op.name and traits.of(other).bitwise == trait.bitwise and (not bits or trait.bitwise):
                        yield self._renamed(op, other)
            elif trait.is_lane_by_lane and len(op.operands) == 1:
                for other in trait.siblings:
                    yield self._renamed(op, other)

    def _renamed(self, op: Op, other: str) -> Switch:
        names = [traits.of(name).symbol or name.partition(".")[2] for name in (other, op.name)]
        title = _("{new} instead of {old}{lines_of}").format(new=names[0], old=names[1], lines_of=self.where(op))
        return switch_of(title, "an operator", op, renamed(other))

    def _comparisons(self) -> Iterator[Switch]:
        """Another comparison: of integers and of floats."""
        for op in self.ops:
            trait = traits.of(op.name)
            if trait.kind is Kind.COMPARES and trait.numbers and "predicate" in op.attributes:
                held = op.attributes["predicate"]
                for other in _COMPARED[trait.numbers == "integer"]:
                    if other != held:
                        title = _("another comparison{lines_of}, number {number}").format(
                            lines_of=self.where(op), number=other
                        )
                        yield switch_of(title, "a comparison", op, with_attributes(predicate=other))

    def _left_out(self) -> Iterator[Switch]:
        """One side of an operator alone."""
        for op in self.ops:
            if self._computes(op) and self.type(op.operands[0]) == self.type(op.results[0]):
                for k in (0, 1):
                    number = op.operands[k]
                    if constant(self.made, number) is None:
                        title = _("only the {side} side of {symbol}{lines_of}").format(
                            side=_("left") if k == 0 else _("right"),
                            symbol=traits.of(op.name).symbol or op.name.partition(".")[2],
                            lines_of=self.where(op),
                        )
                        yield switch_of(title, _("a superfluous operation"), op, _only(self.type(number), number))

    def _exchanged(self) -> Iterator[Switch]:
        """Both sides of an operator exchanged."""
        for op in self.ops:
            if self._computes(op) and not traits.of(op.name).commutative:
                title = _("both sides of {symbol} exchanged{lines_of}").format(
                    symbol=traits.of(op.name).symbol, lines_of=self.where(op)
                )
                yield switch_of(title, _("the order of operands"), op, lambda editor, one: [_turned_round(one)])

    # --- Operands -------------------------------------------------------------------------------------

    def _operands(self) -> Iterator[Switch]:
        """Another value in scope, of the same type, for one operand."""
        for op in self.ops:
            first = op.name == "scf.for"
            if op.regions and not first:
                continue
            for k, number in enumerate(op.operands[:3] if first else op.operands):
                for other in self.scope.get(op.index, ()):
                    alike = other != number and self.type(other) == self.type(number)
                    if alike and self.names[other] != self.called(number):
                        title = _("{other} instead of {name}{lines_of}").format(
                            other=self.names[other], name=self.called(number), lines_of=self.where(op)
                        )
                        yield switch_of(title, _("a wrong value"), op, with_operand(k, other))

    def _constants(self) -> Iterator[Switch]:
        """The neighbours of a constant, its half and its double, its negative, and the launch's numbers."""
        known = numbers(self.launch)
        for op in self.ops:
            if op.regions and op.name != "scf.for":
                continue
            for k, number in enumerate(op.operands[:3] if op.regions else op.operands):
                held, type = constant(self.made, number), self.type(number)
                if held is None or type.is_pointer or type.bits == 1:
                    continue
                others = [held * 2, held / 2, -held, 1 / held if held else 1, 0, 1, held + 1, held - 1]
                named = {value: name for name, value in known.items()}
                for other in dict.fromkeys([*others, *known.values()]):
                    whole = type.is_float or other == int(other)
                    if other != held and whole and abs(other) < 2**31:
                        title = _("{other} instead of {name}{lines_of}").format(
                            other=named.get(other, f"{other:g}"), name=f"{held:g}", lines_of=self.where(op)
                        )
                        yield switch_of(title, _("a wrong number"), op, with_constant(k, other))

    def _masks(self) -> Iterator[Switch]:
        """A mask or a condition that is negated."""
        for op in self.ops:
            at = effects.operands_of(op).mask if effects.is_access(op) else 0 if op.name == "arith.select" else None
            if at is not None and self.type(op.operands[at]).bits == 1:
                title = _("the opposite of the mask{lines_of}").format(lines_of=self.where(op))
                yield switch_of(title, _("a mask"), op, with_computed(at, "arith.xori", other=1))

    # --- Axes, stores and factors ---------------------------------------------------------------------

    def _other_axes(self) -> Iterator[Switch]:
        """A row that is broadcast as a column, or the other way round, in square blocks."""
        for op in self.ops:
            if op.name == "tt.broadcast":
                given, shape = self.type(op.operands[0]), self.type(op.results[0]).shape
                if len(shape) == 2 and shape[0] == shape[1] > 1 and sorted(given.shape) == [1, shape[0]]:
                    title = _("{name} along the other axis{lines_of}").format(
                        name=self.called(op.operands[0]), lines_of=self.where(op)
                    )
                    yield switch_of(title, _("the axis along which a row or a column is spread"), op, _transposed)

    def _exchanged_stores(self) -> Iterator[Switch]:
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

    def _factors(self) -> Iterator[Switch]:
        """A value in scope by which a stored or a carried float is multiplied or divided, lane by lane or by rows."""
        carried = {
            number
            for op in self.ops
            if op.name == "scf.for"
            for number in op.regions[0].blocks[0].arguments[1:]
            if self.type(number).is_float
        }
        for op in self.ops:
            at = effects.operands_of(op).value if op in self.stores else None
            places = [at] if at is not None else [k for k, one in enumerate(op.operands) if one in carried]
            if op.regions or (not op.results and at is None):
                continue
            for k in places:
                for other in self.scope.get(op.index, ()):
                    for name, word in (("arith.mulf", _("multiplied by")), ("arith.divf", _("divided by"))):
                        if other != op.operands[k] and _spreads(self.type(other), self.type(op.operands[k])):
                            title = _("{name} {multiplied} {other}{lines_of}").format(
                                name=self.called(op.operands[k]),
                                multiplied=word,
                                other=self.names[other],
                                lines_of=self.where(op),
                            )
                            edit = _with_factor(k, name, other)
                            yield switch_of(title, _("a missing factor"), op, edit)


def _blocks(region: Region) -> Iterator[Sequence[Op]]:
    for block in region.blocks:
        yield block.ops
        for op in block.ops:
            for inner in op.regions:
                yield from _blocks(inner)


def _put(operands: tuple[int, ...], position: int, number: int) -> tuple[int, ...]:
    return (*operands[:position], number, *operands[position + 1 :])


def _turned_round(op: Op) -> Op:
    return replace(op, operands=(op.operands[1], op.operands[0], *op.operands[2:]))


def _nothing(editor: Editor, op: Op) -> Sequence[Op]:
    return []


def _all_of(ops: Sequence[Op]) -> Edit:
    return lambda editor, op: ops


def _only(type: Type, number: int) -> Edit:
    """The value itself: of two equal numbers, the greater one, or for truth values both."""
    name = "arith.andi" if type.bits == 1 else "arith.maxnumf" if type.is_float else "arith.maxsi"
    return lambda editor, op: [replace(op, name=name, operands=(number, number), attributes={})]


def _transposed(editor: Editor, op: Op) -> Sequence[Op]:
    type = editor.type(op.operands[0])
    turned = editor.op(op, "tt.trans", op.operands, replace(type, shape=type.shape[::-1]), {"order": [1, 0]})
    return [turned, replace(op, operands=turned.results)]


def _spreads(given: Type, type: Type) -> bool:
    """Whether a value may be spread over the lanes of the other type: it has them all, its rows, or one number."""
    if not (given.is_float and type.is_float and given.element == type.element):
        return False
    return given.shape in (type.shape, type.shape[:1], ())


def _with_factor(position: int, name: str, other: int) -> Edit:
    """The operand at ``position`` multiplied or divided by a value, which is spread over its lanes."""

    def edit(editor: Editor, op: Op) -> Sequence[Op]:
        number = op.operands[position]
        type, given = editor.type(number), editor.type(other)
        made, factor = [], other
        if given.shape != type.shape and not given.shape:
            made.append(editor.op(op, "tt.splat", (factor,), type))
        elif given.shape != type.shape:
            for axis in range(1, len(type.shape)):
                shape = (*type.shape[:1], *(1,) * axis)
                made.append(editor.op(op, "tt.expand_dims", (factor,), replace(type, shape=shape), {"axis": axis}))
                factor = made[-1].results[0]
            made.append(editor.op(op, "tt.broadcast", (factor,), type))
        factor = made[-1].results[0] if made else other
        made.append(editor.op(op, name, (number, factor), type))
        return [*made, replace(op, operands=_put(op.operands, position, made[-1].results[0]))]

    return edit
