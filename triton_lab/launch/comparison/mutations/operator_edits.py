"""Switches that change what an operation computes: its siblings, its predicate, the order of its operands, its sign.

They are derived from what `ir/traits` declares of the operations.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from triton_lab.ir import Op, Type, effects, predicates, traits
from triton_lab.ir.neutral_values import neutral
from triton_lab.ir.plan_edits import Edit, Editor, exchanged, followed_by, renamed, with_attributes, with_computed
from triton_lab.ir.traits import Kind
from triton_lab.launch.comparison.mutations.added_operations import spread_reduction, with_factor
from triton_lab.launch.comparison.mutations.ir_query import constant, sign_of, unused
from triton_lab.launch.comparison.mutations.kernel_scope import KernelScope, switch_of
from triton_lab.launch.comparison.numerics import Switch
from triton_lab.launch.comparison.relations import numbers
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
_LIKELY = {
    "+": "-*",
    "-": "+",
    "*": "+/",
    "/": "*",
    "//": "%*",
    "%": "//",
    "&": "|^",
    "|": "&^",
    "^": "&|",
    "<<": ">>",
    ">>": "<<",
}
_NEAR = {"<": ("<=", ">"), "<=": ("<", ">="), ">": (">=", "<"), ">=": (">", "<="), "==": ("!=",), "!=": ("==",)}
# Ranges of numbers begin at what is compared, and end before it.
_USUAL = ("<", ">=", "==", "!=")
# The functions of one float that programs call.
FUNCTIONS = sorted(
    traits.names(lambda trait: trait.dialect == "math" and trait.numbers == "float" and bool(trait.siblings))
    | {"math.absf"}
)
_UNLIKELY = 2.5  # what an operator costs that is seldom taken for another one
_TINY = (1e-5, 1e-6, 1e-8, 1e-12)


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
            known = predicates.NUMBERS[trait.numbers]
            unsigned = trait.numbers == "integer" and op.attributes["predicate"] > 5
            held = sign_of(op)
            for other in _NEAR.get(held, ()) if near else known:
                if other != held and (near or other not in _NEAR.get(held, ())):
                    title = _("{new} instead of {old}{lines_of}").format(new=other, old=held, lines_of=self.where(op))
                    number = known[other] + 4 * (unsigned and other not in ("==", "!="))
                    made = switch_of(title, "a comparison", op, with_attributes(predicate=number))
                    yield replace(made, unusual=other not in _USUAL and trait.numbers == "integer")

    def siblings(self, likely: bool) -> Iterator[Switch]:
        """Another operator, or another function of one number: ``likely`` ones, or all others."""
        for op in self.own:
            trait = traits.of(op.name)
            if self.computes(op):
                bits, alone = self.type(op.results[0]).bits == 1, set[int]()
                for other in _BINARY[trait.numbers or "float"]:
                    there = traits.of(other)
                    taken = there.symbol in _LIKELY.get(trait.symbol, "") if trait.symbol else bool(there.extreme)
                    taken &= bool(there.symbol) or not trait.symbol
                    fits = there.bitwise == trait.bitwise and (not bits or there.bitwise)
                    if other != op.name and taken is likely and fits:
                        kept = self._kept(other, op)
                        if kept is None:
                            yield replace(self._renamed(other, op), cost=1 if likely else _UNLIKELY)
                        elif kept not in alone:
                            alone.add(kept)
                            yield self._alone(op, kept, cost=1)
            elif likely and op.name == "tt.addptr":
                before = self.made.get(op.operands[0])
                if before is not None and before.name == op.name:
                    offsets = before.operands[1], op.operands[1]
                    if self.type(offsets[0]) == self.type(offsets[1]):
                        title = _("{new} instead of {old}{lines_of}").format(new="*", old="+", lines_of=self.where(op))
                        yield switch_of(title, "an operator", op, _multiplied(before.operands[0], *offsets))
            elif likely and _is_function(op):
                others = [one for one in dict.fromkeys((*trait.siblings, trait.inverse or "")) if one]
                alike = [each for each in self.own if each.name == op.name]
                for other in others[:1] if len(alike) > 1 and op is alike[0] else ():
                    yield self._renamed(other, *alike)
                for other in others:
                    yield self._renamed(other, op)

    def _kept(self, other: str, op: Op) -> int | None:
        """The operand that ``other`` gives as it is, for the constant beside it; None if it does not.

        Who means ``x`` writes no ``x * 1``: such an operator stands for none.
        """
        trait, type = traits.of(other), self.type(op.results[0])
        none = neutral(other, type) if trait.commutative else {"-": 0.0, "/": 1.0, "//": 1.0}.get(trait.symbol)
        sides = (1, 0) if trait.commutative else (1,)
        return next((1 - k for k in sides if none is not None and constant(self.made, op.operands[k]) == none), None)

    def _renamed(self, other: str, *ops: Op) -> Switch:
        """``other`` in place of operations of one name."""
        op = ops[0]
        called = {1: "maximum", -1: "minimum"}
        names = [
            traits.of(name).symbol or called.get(traits.of(name).extreme) or name.partition(".")[2]
            for name in (other, op.name)
        ]
        title = _("{new} instead of {old}{lines_of}").format(new=names[0], old=names[1], lines_of=self.where(*ops))
        bases = traits.of(op.name).inverse and traits.of(other).inverse
        function = _("the base of a power or logarithm") if bases else _("the function called")
        made = switch_of(title, function if _is_function(op) else _("an operator"), ops, renamed(other))
        # Conditions are joined by `&`: with `|` a mask lets all through that any mask would.
        return replace(made, unusual=other == "arith.ori" and self.type(op.results[0]).bits == 1)

    def left_out(self) -> Iterator[Switch]:
        """One side of an operator alone, and a function of one number left out."""
        for op in self.own:
            if self.computes(op) and self.type(op.operands[0]) == self.type(op.results[0]):
                for k in (0, 1):
                    if constant(self.made, op.operands[k]) is None:
                        yield self._alone(op, k, cost=2)

    def _alone(self, op: Op, k: int, cost: float) -> Switch:
        """One operand of an operator in place of its result."""
        title = _("only the {side} side of {symbol}{lines_of}").format(
            side=_("left") if k == 0 else _("right"),
            symbol=traits.of(op.name).symbol or op.name.partition(".")[2],
            lines_of=self.where(op),
        )
        edit = _only(self.type(op.operands[k]), op.operands[k])
        return switch_of(title, _("a superfluous operation"), op, edit, cost=cost)

    def functions(self) -> Iterator[Switch]:
        """A function of one number, or a square, of an operand that is taken as it is."""
        for op, k in self.uses():
            number = op.operands[k]
            stored = op in self.stores and k == effects.operands_of(op).value
            if stored or traits.of(op.name).is_lane_by_lane or op.name in traits.FOLDS | traits.DOTS:
                if not self.type(number).is_float or constant(self.made, number) is not None:
                    continue
                ways = [(name.partition(".")[2], with_computed(k, name)) for name in FUNCTIONS if name != op.name]
                for told, edit in [(_("squared"), with_factor(k, "arith.mulf", number)), *ways]:
                    title = _("{name}, {told}{lines_of}").format(
                        name=self.called(number), told=told, lines_of=self.where_taken(op, k)
                    )
                    yield switch_of(title, _("a missing function"), op, edit, cost=2)

    def guards(self) -> Iterator[Switch]:
        """Powers of what is above the greatest of each row, and an epsilon under a root."""
        known, idle = numbers(self.launch), unused(self.launch)
        tiny = {name: known[name] for name in idle if 0 < known.get(name, 0) < 0.1} or {
            f"{one:g}": one for one in _TINY
        }
        for op in self.own:
            if op.name in traits.EXPONENTIALS and self.type(op.operands[0]).shape:
                title = _("the maximum of each row subtracted first{lines_of}").format(lines_of=self.where(op))
                yield switch_of(title, _("powers that overflow"), op, _taken_off, cost=3)
            for name, value in tiny.items() if op.name in traits.ROOTS else ():
                title = _("{name} added under the root{lines_of}").format(name=name, lines_of=self.where(op))
                yield switch_of(title, _("a missing epsilon"), op, with_computed(0, "arith.addf", other=value), cost=2)

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
            elif op.name == "tt.dot" and self.type(op.operands[0]) == self.type(op.operands[1]):
                title = _("the operands of tl.dot exchanged{lines_of}").format(lines_of=self.where(op))
                yield switch_of(title, _("the order of the operands of tl.dot"), op, exchanged(0, 1))

    def negated(self) -> Iterator[Switch]:
        """The other sign of a float operand, and of a value that several operations take."""
        for op in self.own:
            number = op.results[0] if len(op.results) == 1 else -1
            if (
                number in self.names
                and len(self.users[number]) > 1
                and self.type(number).is_float
                and traits.of(op.name).kind is Kind.ELEMENTWISE
            ):
                title = _("{name} with the other sign{lines_of}").format(
                    name=self.names[number], lines_of=self.where(op)
                )
                yield switch_of(title, _("a missing minus sign"), op, followed_by("arith.negf"))
        for op in self.own:
            value = effects.operands_of(op).value if effects.is_access(op) else None
            places = [value] if value is not None else list(range(len(op.operands)))
            if not op.regions and (traits.of(op.name).kind is Kind.ELEMENTWISE or value is not None):
                for k in places:
                    if self.type(op.operands[k]).is_float and constant(self.made, op.operands[k]) is None:
                        title = _("{name} with the other sign{lines_of}").format(
                            name=self.called(op.operands[k]), lines_of=self.where_taken(op, k)
                        )
                        yield switch_of(title, _("a missing minus sign"), op, with_computed(k, "arith.negf"))


def _is_function(op: Op) -> bool:
    trait = traits.of(op.name)
    return len(op.operands) == 1 and trait.kind is Kind.ELEMENTWISE and trait.is_lane_by_lane


def _multiplied(pointer: int, one: int, two: int) -> Edit:
    """A pointer with the product of two offsets added, and not one after the other."""

    def edit(editor: Editor, op: Op) -> Sequence[Op]:
        product = editor.op(op, "arith.muli", (one, two), editor.type(one))
        return [product, replace(op, operands=(pointer, *product.results))]

    return edit


def _only(type: Type, number: int) -> Edit:
    """The value itself: of two equal numbers, the greater one, or for truth values both."""
    name = "arith.andi" if type.bits == 1 else "arith.maxnumf" if type.is_float else "arith.maxsi"
    return lambda editor, op: [replace(op, name=name, operands=(number, number), attributes={})]


def _taken_off(editor: Editor, op: Op) -> Sequence[Op]:
    """The function of what its operand is above the greatest of its row."""
    (x,) = op.operands
    greatest = spread_reduction(editor, op, x, "arith.maxnumf")
    apart = editor.op(op, "arith.subf", (x, *greatest[-1].results), editor.type(x))
    return [*greatest, apart, replace(op, operands=apart.results)]
