"""Switches for loads and stores: exchanged stores, atomics instead of stores, and an element further on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from triton_lab.ir import Op, effects
from triton_lab.ir.effects import Rmw
from triton_lab.ir.plan import Region
from triton_lab.ir.plan_edits import Edit, Editor, with_attributes, with_operand
from triton_lab.launch.comparison.mutations.added_operations import converted
from triton_lab.launch.comparison.mutations.ir_query import source
from triton_lab.launch.comparison.mutations.kernel_scope import KernelScope, switch_of
from triton_lab.launch.comparison.numerics import Switch
from triton_lab.localization import _

_EXTREMES = {Rmw.MAX: Rmw.MIN, Rmw.MIN: Rmw.MAX, Rmw.UMAX: Rmw.UMIN, Rmw.UMIN: Rmw.UMAX}
_KINDS = {Rmw.ADD: "add", Rmw.FADD: "add", Rmw.MAX: "max", Rmw.MIN: "min"}


class AccessEdits(KernelScope):
    """The switches that change loads and stores."""

    def atomics(self) -> Iterator[Switch]:
        """Other atomics, atomic additions instead of stores, and stores instead of atomics."""
        for op in self.stores:
            at = effects.operands_of(op).value
            if at is None or effects.by_descriptor(op) or not (effects.combines(op) or op.name == "tt.store"):
                continue
            type = self.type(op.operands[at])
            held = op.attributes.get("atomic_rmw_op")
            for kind, word in _KINDS.items():
                if (
                    held is not None
                    and kind != held
                    and (kind == Rmw.FADD) == type.is_float
                    and not (type.is_float and kind in (Rmw.MAX, Rmw.MIN))
                ):
                    title = _("atomic {new} instead of {old}{lines_of}").format(
                        new=word, old=_KINDS.get(Rmw(held), Rmw(held).name.lower()), lines_of=self.where(op)
                    )
                    yield switch_of(title, _("the kind of an atomic"), op, with_attributes(atomic_rmw_op=int(kind)))
            yield from self._other_extreme(op)
            if held is None and (type.is_float or type.bits > 16):
                title = _("an atomic addition instead of a store{lines_of}").format(lines_of=self.where(op))
                adds = Rmw.FADD if type.is_float else Rmw.ADD
                made = switch_of(title, _("a store where programs add up"), op, _as_atomic(at, int(adds)))
                yield replace(made, whole=True)
            elif held is not None and not any(set(op.results) & set(each.operands) for each in self.function.walk()):
                title = _("a store instead of an atomic{lines_of}").format(lines_of=self.where(op))
                made = switch_of(title, _("an atomic where programs store"), op, _as_store)
                yield replace(made, whole=True)

    def _other_extreme(self, op: Op) -> Iterator[Switch]:
        """The least for the greatest, in all atomics by which Triton does it for floats of both signs."""
        line = self.line(op)
        alike = [
            one for one in self.stores if one.attributes.get("atomic_rmw_op") in _EXTREMES and self.line(one) == line
        ]
        if line is not None and len(alike) > 1 and op is alike[0]:
            greatest = op.attributes["atomic_rmw_op"] in (Rmw.MAX, Rmw.UMIN)
            title = _("atomic {new} instead of {old}{lines_of}").format(
                new="min" if greatest else "max", old="max" if greatest else "min", lines_of=self.where(op)
            )
            edits = tuple(
                (one.index, with_attributes(atomic_rmw_op=int(_EXTREMES[Rmw(one.attributes["atomic_rmw_op"])])))
                for one in alike
            )
            ops = frozenset(one.index for one in alike)
            yield Switch(title, _("the kind of an atomic"), edits=edits, ops=ops)

    def scattered(self) -> Iterator[Switch]:
        """A whole number that is stored and the last offset of its address, each in the place of the other."""
        for op in self.stores:
            roles = effects.operands_of(op)
            if op.name != "tt.store" or roles.value is None or roles.address is None:
                continue
            address = self.made.get(op.operands[roles.address])
            if address is None or address.name != "tt.addptr":
                continue
            offset, value = source(self.made, address.operands[1]), source(self.made, op.operands[roles.value])
            if self.type(offset) == self.type(value) and offset != value:
                title = _("{one} and {two} exchanged{lines_of}").format(
                    one=self.called(value), two=self.called(offset), lines_of=self.where(op)
                )
                edit = _scattered(roles.address, roles.value, address, value, offset)
                yield switch_of(title, _("what is stored and where"), op, edit, cost=1.6)

    def elements_on(self) -> Iterator[Switch]:
        """Loads and stores an element further on, or further back."""
        for op in self.own:
            at = effects.operands_of(op).address if effects.is_access(op) else None
            if at is None or not self.type(op.operands[at]).is_pointer:
                continue
            for by in (1, -1):
                title = _("{name} an element {way}{lines_of}").format(
                    name=", ".join(self.owners(op)[:1]),
                    way=_("further on") if by > 0 else _("further back"),
                    lines_of=self.where(op),
                )
                yield switch_of(title, _("an offset that is one off"), op, _further(at, by), cost=2)

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
                        edits: tuple[tuple[int, Edit], ...] = ((one.index, _nothing), (two.index, _all_of(mended)))
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


def _scattered(address: int, at: int, before: Op, value: int, offset: int) -> Edit:
    """A store of the offset to where the value says."""

    def edit(editor: Editor, op: Op) -> Sequence[Op]:
        steps, there = converted(editor, op, value, editor.type(before.operands[1]))
        moved = editor.op(op, before.name, (before.operands[0], there), editor.type(op.operands[address]))
        casts, number = converted(editor, op, offset, editor.type(op.operands[at]))
        operands = _put(_put(op.operands, address, moved.results[0]), at, number)
        return [*steps, moved, *casts, replace(op, operands=operands)]

    return edit


def _further(position: int, by: int) -> Edit:
    """An access ``by`` elements further on."""

    def edit(editor: Editor, op: Op) -> Sequence[Op]:
        type = editor.type(op.operands[position])
        offset = editor.constant(op, by, replace(type, element="i32", pointee=None))
        moved = editor.op(op, "tt.addptr", (op.operands[position], *offset.results), type)
        return [offset, moved, *with_operand(position, moved.results[0])(editor, op)]

    return edit


def _as_atomic(value: int, kind: int) -> Edit:
    def edit(editor: Editor, op: Op) -> Sequence[Op]:
        result = editor.value(editor.type(op.operands[value]))
        attributes = {"atomic_rmw_op": kind, "sem": 4, "scope": 1}
        return [replace(op, name="tt.atomic_rmw", results=(result,), attributes=attributes)]

    return edit


def _as_store(editor: Editor, op: Op) -> Sequence[Op]:
    return [replace(op, name="tt.store", results=(), attributes={})]
