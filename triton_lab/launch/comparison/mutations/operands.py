"""Switches for wrong operands: integers in offsets and masks, exchanged arguments, and memory written too early."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from triton_lab.interpreter import memory_access
from triton_lab.interpreter.dtypes import dtype_of
from triton_lab.interpreter.frame import Frame
from triton_lab.interpreter.memory_regions import Reachable
from triton_lab.interpreter.op_registry import Implementation
from triton_lab.interpreter.runtime_values import Value
from triton_lab.ir import Op, traits
from triton_lab.ir.plan_edits import Editor, with_constant
from triton_lab.ir.traits import Kind
from triton_lab.launch.comparison.interpreter_changes import ChangedAccess, changed
from triton_lab.launch.comparison.mutations.ir_query import constant, indices, lines_of, makers, ops_of
from triton_lab.launch.comparison.mutations.operators import held_by, switch_of
from triton_lab.launch.comparison.numerics import Switch
from triton_lab.launch.comparison.relations import numbers
from triton_lab.localization import _

if TYPE_CHECKING:
    from triton_lab.launch.launch import Launch

# Predicates of arith.cmpi.
_UNEQUAL, _LESS = 1, 2

# --- Integers -----------------------------------------------------------------------------------------


def integers(launch: Launch) -> Iterator[Switch]:
    """Switches for integer quotients and remainders with Python's signs, and for constants that are off by one."""
    for op in ops_of(launch, *_DIVISIONS):
        sign = traits.of(op.name).symbol
        title = _("{sign} as in Python{lines_of}").format(sign=sign, lines_of=lines_of(launch, op))
        yield switch_of(
            title,
            _("{sign} of negative integers, which Triton truncates and Python floors").format(sign=sign),
            op,
            _floored,
        )
    for function in launch.executable.plan.functions.values():
        made = makers(function)
        for op in [op for op in made.values() if traits.of(op.name).sums and traits.of(op.name).numbers == "integer"]:
            for k, number in enumerate(op.operands):
                held = constant(made, number)
                if held is None or launch.lines.get(op.index) is None:
                    continue
                for by in (1, -1):
                    title = _("{held} instead of {held_2}{lines_of}").format(
                        held=held + by, held_2=held, lines_of=lines_of(launch, op)
                    )
                    yield switch_of(title, _("a constant that is one off"), op, with_constant(k, held + by))


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


_DIVISIONS = traits.names(lambda trait: trait.symbol in ("//", "%") and trait.signed is True)
_PRODUCTS = traits.names(lambda trait: trait.numbers == "integer" and trait.symbol == "*")
_COMPARISONS = traits.names(lambda trait: trait.numbers == "integer" and trait.kind is Kind.COMPARES)


def sizes(launch: Launch) -> Iterator[Switch]:
    """Switches for another integer of the launch, in products, then in comparisons."""
    known = {
        name: value
        for name, value in numbers(launch).items()
        if math.isfinite(value) and value == int(value) and value > 1
    }
    for names in (_PRODUCTS, _COMPARISONS):
        for function in launch.executable.plan.functions.values():
            made = makers(function)
            for op in [op for op in made.values() if op.name in names and launch.lines.get(op.index) is not None]:
                for k, number in enumerate(op.operands):
                    held, literal = held_by(function, made, number, known), constant(made, number)
                    if held is None and not (isinstance(literal, int) and literal > 1):
                        continue
                    name, value = held or (str(literal), literal)
                    for other, meant in known.items():
                        if meant != value:
                            title = _("{other} instead of {name}{lines_of}").format(
                                other=other, name=name, lines_of=lines_of(launch, op)
                            )
                            yield switch_of(title, _("a wrong number"), op, with_constant(k, meant))


# --- Arguments ----------------------------------------------------------------------------------------


def arguments(launch: Launch) -> Iterator[Switch]:
    """Switches for two exchanged tensors that are only read, or two exchanged scalars."""
    read = {one.argument for one in launch.done if one.kind == "load"}
    written = {one.argument for one in launch.done if one.kind != "load"}
    tensors = [one for one in launch.arguments if one.kind == "tensor" and one.name in read - written]
    scalars = [one for one in launch.arguments if one.kind == "scalar"]
    names = launch.executable.plan.kernel.names
    there = {names[number] for number in launch.executable.plan.kernel.arguments}
    for one, two in [*combinations(tensors, 2), *combinations(scalars, 2)]:
        alike = (one.dtype, one.shape) == (two.dtype, two.shape) and type(one.value) is type(two.value)
        if alike and {one.name, two.name} <= there and (one.kind == "tensor" or one.value != two.value):
            name = _("{name} and {name_2} exchanged").format(name=one.name, name_2=two.name)
            yield Switch(name, _("the order of the arguments"), exchanged=(one.name, two.name))


def stale(launch: Launch) -> Iterator[Switch]:
    """Switches for loads of memory that the launch also writes: they load the values from before the launch."""
    written = [launch.argument(one.argument) for one in launch.done if one.kind != "load" and one.argument is not None]
    ops = {op.index: op for op in ops_of(launch, "tt.load")}
    for one in launch.done:
        argument = None if one.argument is None else launch.argument(one.argument)
        if one.op not in ops or argument is None or launch.snapshot is None or launch.snapshot.missing:
            continue
        if any(argument.storage_address == other.storage_address for other in written):
            name = _("{name} as it was before the launch{lines_of}").format(
                name=argument.name, lines_of=lines_of(launch, ops[one.op])
            )
            layers = changed([ops[one.op]], _before(launch))
            cause = _("a load of {name} after it was written").format(name=argument.name)
            yield Switch(name, cause, layers=(layers,), ops=indices([ops[one.op]]))


def _before(launch: Launch) -> Any:
    assert launch.snapshot is not None
    memory = Reachable(launch.snapshot.memory())

    def load(
        inner: Implementation, frame: Frame, op: Op, *operands: Value, touch: ChangedAccess | None = None
    ) -> Value:
        found = inner(frame, op, *operands, touch=touch)
        touch, type = touch or ChangedAccess.of(op, operands), frame.result_type(op)
        before = memory_access.load(memory, touch.where, touch.mask, None, dtype_of(type), type.shape)
        return np.where(touch.active(), before, found)

    return load
