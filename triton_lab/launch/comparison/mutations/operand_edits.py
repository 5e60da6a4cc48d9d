"""Switches that change what operations take: other values in scope, other constants, factors, loops, program ids."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations

from triton_lab.ir import Op, effects, traits
from triton_lab.ir.plan_edits import Edit, Editor, with_attributes, with_computed, with_constant, with_operand
from triton_lab.ir.traits import Kind
from triton_lab.launch.comparison.mutations.added_operations import may_stand_for, with_factor, with_value
from triton_lab.launch.comparison.mutations.ir_query import constant, cost_of_number, sound_alike
from triton_lab.launch.comparison.mutations.kernel_scope import EXCHANGED, KernelScope, switch_of
from triton_lab.launch.comparison.numerics import Switch
from triton_lab.launch.comparison.relations import numbers
from triton_lab.localization import _

_NEAR, _FAR = 1.2, 2.0  # what another number costs: one nearby, and any
_DIGITS = 3  # of a number that is written by heart


class OperandEdits(KernelScope):
    """The switches that change operands."""

    def variables(self, alike: bool, stored: bool = False, in_name: bool = False) -> Iterator[Switch]:
        """Another value in scope for one operand: ``alike``, of the same type, or one that is spread and cast to it.

        ``stored``: only for what is stored. ``in_name``: only one with a name like that of the value.
        """
        together = self.together() if alike and not stored else ()
        for places in (*([use] for use in self.uses()), *together):
            op, k = places[0]
            if (not alike and op.index in self.library) or (stored and op not in self.stores):
                continue
            number, name = op.operands[k], self.called(op.operands[k])
            seen = {name}
            for other in self.scope.get(op.index, ()):
                given, type = self.type(other), self.type(number)
                fits = given == type if alike else given != type and may_stand_for(given, type)
                # Integers are cast to floats in products and quotients, and hardly anywhere else.
                fits &= given.is_float == type.is_float or traits.of(op.name).symbol in ("*", "/") or op in self.stores
                # What the kernel only stores to holds nothing that could be loaded.
                fits &= not (given.is_pointer and self.names[other] in self.filled and name not in self.filled)
                # Of a name's values the newest counts: an earlier one can no longer be written there.
                fits &= not in_name or sound_alike(name, self.names[other])
                if fits and other != number and self.names[other] not in seen:
                    seen.add(self.names[other])
                    title = _("{other} instead of {name}{lines_of}").format(
                        other=self.names[other], name=name, lines_of=self.where(op)
                    )
                    edits = tuple((each.index, with_value(at, other)) for each, at in places)
                    ops = frozenset(each.index for each, _at in places)
                    cost = self.cost_of_value(op, k)
                    yield Switch(title, _("a wrong value"), edits=edits, ops=ops, cost=cost)

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
            starts = op.name == "scf.for" and k > 2
            if (starts or op.name == "arith.select") and type.is_float:
                likely = [0, -math.inf, math.inf, 1, *likely]
            far = [1 / held if held else 1, *known.values()]
            far += [each for one in known.values() for each in (one - 1, one / 2, one * 2, held * one)]
            for other in dict.fromkeys(likely if near else [one for one in far if one not in likely]):
                whole = type.is_float or (math.isfinite(other) and other == int(other) and abs(other) < 2**31)
                if other != held and whole:
                    title = _("{other} instead of {name}{lines_of}").format(
                        other=named.get(other, f"{other:g}"),
                        name=named.get(held, f"{held:g}"),
                        lines_of=self.where_given(op, k),
                    )
                    cause = _("the start value of an accumulator") if starts else _("a wrong number")
                    near_it = near and other not in (held / 2, held * 2)  # a factor, which may be missing elsewhere
                    cost = self.cost_of_value(op, k) if other in named else _NEAR if near_it else _FAR
                    cost = max(cost, cost_of_number(self.made, op, k))
                    if starts:  # what sums, extremes and counts begin with
                        begins = other in (0, 1, math.inf, -math.inf) or (type.is_integer and other == -1)
                        cost = 1 if begins or other in named else 2
                    if other not in named and len(f"{abs(other):g}".replace(".", "").strip("0")) > _DIGITS:
                        cost += 1  # such a number is looked up and not written by mistake
                    made = switch_of(title, cause, op, with_constant(k, other), cost=cost)
                    yield replace(made, unusual=_is_usual(held) and not _is_usual(other) and other not in named)

    def neighbours(self) -> Iterator[Switch]:
        """One more or one less of a scalar integer that has a name, and its sum with another one."""
        for op, k in self.uses():
            number = op.operands[k]
            type = self.type(number)
            if type.shape or not type.is_integer or type.bits == 1 or number not in self.names:
                continue
            others = [each for each in self.scope.get(op.index, ()) if self.type(each) == type]
            for sign, name in (("-", "arith.subi"), ("+", "arith.addi")):
                for told, edit in [
                    ("1", with_computed(k, name, other=1)),
                    *((self.names[each], with_factor(k, name, each)) for each in others if each != number),
                ]:
                    title = _("{one} {sign} {other} instead of {one}{lines_of}").format(
                        one=self.called(number), sign=sign, other=told, lines_of=self.where(op)
                    )
                    yield switch_of(title, _("a wrong value"), op, edit, cost=2)

    def swapped(self) -> Iterator[Switch]:
        """Two values of one type that stand on a line or are coordinates of a tile, each in the place of the other."""
        lines: dict[int, list[tuple[Op, int]]] = {}
        tiles: dict[int, list[tuple[Op, int]]] = {}
        for op, k in self.uses():
            line = self.launch.lines.get(op.index)
            if line is not None and op.operands[k] in self.names:
                lines.setdefault(line.line, []).append((op, k))
                if effects.is_access(op):
                    tiles.setdefault(op.index, []).append((op, k))
        apart = [places for places in tiles.values() if places not in lines.values()]
        for places in (*lines.values(), *apart):
            values = list(dict.fromkeys(op.operands[k] for op, k in places))
            for one, two in combinations(values, 2):
                if self.type(one) != self.type(two):
                    continue
                there = [(op, k) for op, k in places if op.operands[k] in (one, two)]
                if all({one, two} <= set(self.scope.get(op.index, ())) for op, _k in there) and len(there) > 1:
                    title = _("{one} and {two} exchanged{lines_of}").format(
                        one=self.names[one], two=self.names[two], lines_of=self.where(there[0][0])
                    )
                    edits = tuple((op.index, with_operand(k, two if op.operands[k] == one else one)) for op, k in there)
                    ops = frozenset(op.index for op, _k in there)
                    yield Switch(title, _("two values that are exchanged"), edits=edits, ops=ops, cost=EXCHANGED)

    def program_ids(self) -> Iterator[Switch]:
        """The id along another axis, for all uses of an id and for one."""
        extents = [k for k, extent in enumerate(self.launch.grid) if extent > 1]
        ids = [op for op in reversed(self.own) if op.name == "tt.get_program_id"]
        held = [op.attributes["axis"] for op in ids]
        for one, two in combinations(sorted(set(held)), 2):
            both = [op for op in ids if op.attributes["axis"] in (one, two)]
            title = _("program_id({one}) and program_id({two}) exchanged{where}").format(
                one=one, two=two, where=self.where(*both)
            )
            edits = tuple((op.index, with_attributes(axis=one + two - op.attributes["axis"])) for op in both)
            yield Switch(
                title, _("the axes of the program ids"), edits=edits, ops=frozenset(op.index for op in both), cost=2
            )
        for op in ids:
            axis = op.attributes["axis"]
            for other in (k for k in extents if k != axis):
                title = _("program_id({other}) instead of program_id({axis}){where}").format(
                    other=other, axis=axis, where=self.where(op)
                )
                made = switch_of(title, _("a program id along another axis"), op, with_attributes(axis=other))
                yield replace(made, unusual=held.count(axis) == 1 and (other in held or axis in extents))
        for axis in extents:
            for op in self.own:
                if axis not in held and op.name == "tt.make_range":
                    title = _("program_id({axis}) * {size} added{where}").format(
                        axis=axis, size=self.type(op.results[0]).size, where=self.where(op)
                    )
                    yield switch_of(title, _("a program id that is missing in the offsets"), op, _added(axis), cost=3)

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
            first = [at] if at is not None else [k for k, one in enumerate(op.operands) if one in carried]
            if op.regions or (not op.results and at is None):
                continue
            counts = everywhere and (traits.of(op.name).is_lane_by_lane or op.name == "tt.dot")
            for k in [k for k in range(len(op.operands)) if k not in first] if counts else first * (not everywhere):
                if not self.type(op.operands[k]).is_float:
                    continue
                for other in self.scope.get(op.index, ()):
                    given, type = self.type(other), self.type(op.operands[k])
                    # Whole numbers that a kernel computes are indices.
                    usual = given.is_float or other in self.function.arguments
                    if usual and other != op.operands[k] and may_stand_for(given, type, rows=True):
                        yield from self._with_factor(
                            op, k, other, given.is_float and bool(given.shape or not everywhere)
                        )

    def _with_factor(self, op: Op, k: int, other: int, sums: bool) -> Iterator[Switch]:
        ways = [("arith.mulf", _("multiplied by")), ("arith.divf", _("divided by"))]
        for name, word in [*ways, *([("arith.addf", _("plus")), ("arith.subf", _("minus"))] if sums else [])]:
            title = _("{name} {multiplied} {other}{lines_of}").format(
                name=self.called(op.operands[k]),
                multiplied=word,
                other=self.names[other],
                lines_of=self.where_taken(op, k),
            )
            adds = bool(traits.of(name).sums)
            made = switch_of(
                title, _("a missing term") if adds else _("a missing factor"), op, with_factor(k, name, other), cost=2
            )
            yield replace(made, unusual=adds and other in self.summands(op.operands[k]))

    def strides(self) -> Iterator[Switch]:
        """A number of the launch by which an integer is multiplied, in one place or everywhere on its line."""
        single = [[(op, k)] for op in self.own for k in range(len(op.operands)) if not op.regions]
        for places in (*self.together(), *single):
            op, k = places[0]
            number, type = op.operands[k], self.type(op.operands[k])
            usual = traits.of(op.name).kind in (Kind.ELEMENTWISE, Kind.MOVES, Kind.CREATES)
            if not usual or not type.is_integer or type.bits == 1 or constant(self.made, number) is not None:
                continue
            for other in self.scope.get(op.index, ()):
                given = self.type(other)
                passed = other in self.function.arguments
                if passed and not given.shape and given.is_integer and given.bits > 1 and other != number:
                    title = _("{name} {multiplied} {other}{lines_of}").format(
                        name=self.called(number),
                        multiplied=_("multiplied by"),
                        other=self.names[other],
                        lines_of=self.where(op),
                    )
                    edits = tuple((each.index, with_factor(at, "arith.muli", other)) for each, at in places)
                    ops = frozenset(each.index for each, _at in places)
                    yield Switch(title, _("a missing factor"), edits=edits, ops=ops, cost=2)

    def spread(self) -> Iterator[Switch]:
        """A row that is broadcast as a column, or the other way round, in square blocks; a square one transposed."""
        for op in self.own:
            if op.name == "tt.broadcast":
                given, shape = self.type(op.operands[0]), self.type(op.results[0]).shape
                if len(shape) == 2 and shape[0] == shape[1] > 1 and sorted(given.shape) == [1, shape[0]]:
                    title = _("{name} along the other axis{lines_of}").format(
                        name=self.called(op.operands[0]), lines_of=self.where(op)
                    )
                    yield switch_of(title, _("the axis along which a row or a column is spread"), op, transposed)
            stored = effects.operands_of(op).value if op in self.stores else None
            cause = _("an operand of tl.dot that is transposed")
            if stored is not None:
                cause = _("a block that is stored and not transposed")
            for k in (0, 1) if op.name == "tt.dot" else [stored] if stored is not None else ():
                shape = self.type(op.operands[k]).shape
                if len(shape) == 2 and shape[0] == shape[1]:
                    title = _("{name} transposed{lines_of}").format(
                        name=self.called(op.operands[k]), lines_of=self.where(op)
                    )
                    yield switch_of(title, cause, op, with_computed(k, "tt.trans", {"order": [1, 0]}))


def _is_usual(value: float) -> bool:
    """Whether a number is written often: zero, a power of two, or its negative."""
    return value == 0 or not math.isfinite(value) or math.frexp(abs(value))[0] == 0.5


def transposed(editor: Editor, op: Op) -> Sequence[Op]:
    """A broadcast of what it spreads along one axis along the other one."""
    type = editor.type(op.operands[0])
    turned = editor.op(op, "tt.trans", op.operands, replace(type, shape=type.shape[::-1]), {"order": [1, 0]})
    return [turned, replace(op, operands=turned.results)]


def _added(axis: int) -> Edit:
    """A range that starts further on for each program, by its extent."""

    def edit(editor: Editor, op: Op) -> Sequence[Op]:
        type = editor.type(op.results[0])
        one = replace(type, shape=())
        program = editor.op(op, "tt.get_program_id", (), one, {"axis": axis})
        extent = editor.constant(op, type.size, one)
        start = editor.op(op, "arith.muli", (*program.results, *extent.results), one)
        starts = editor.op(op, "tt.splat", start.results, type)
        own = replace(op, results=(editor.value(type),))
        whole = replace(editor.op(op, "arith.addi", (*own.results, *starts.results), type), results=op.results)
        return [own, program, extent, start, starts, whole]

    return edit
