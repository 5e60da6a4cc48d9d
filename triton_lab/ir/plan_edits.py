"""Edits of a plan: one operation is replaced by others, and all else stays."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from triton_lab.ir.plan import Block, Dense, Function, Op, Plan, Region
from triton_lab.ir.types import Type

# Gives what an operation is replaced by, in order. One of these has its index and its results.
Edit = Callable[["Editor", Op], Sequence[Op]]


class Editor:
    """Makes new values and operations for the edits of one function. They get numbers that are not yet in use."""

    def __init__(self, function: Function, last: int) -> None:
        self._function = function
        self._types = list(function.types)
        self.last = last

    def type(self, number: int) -> Type:
        """The type of a value of the function."""
        return self._types[number]

    def value(self, type: Type) -> int:
        """A new value."""
        self._types.append(type)
        return len(self._types) - 1

    def op(self, near: Op, name: str, operands: Sequence[int], type: Type, attributes: Mapping[str, Any] = {}) -> Op:
        """A new operation with one new result, on the lines of the operation ``near``."""
        self.last += 1
        return replace(
            near, name=name, operands=tuple(operands), results=(self.value(type),), attributes=attributes,
            regions=(), successors=(), index=self.last,
        )  # fmt: skip

    def constant(self, near: Op, value: float, type: Type) -> Op:
        """A number, in all lanes of a block."""
        number = float(value) if type.is_float else int(value)
        return self.op(near, "arith.constant", (), type, {"value": Dense((number,), type) if type.shape else number})

    def edited(self, body: Region) -> Function:
        """The function with another body, and the new values."""
        names = (*self._function.names, *[""] * (len(self._types) - len(self._function.types)))
        return replace(self._function, body=body, types=tuple(self._types), names=names)


def edited(plan: Plan, edits: Sequence[tuple[int, Edit]]) -> Plan:
    """``plan`` with the operations of these indices edited; several edits of one operation are done in order."""
    chosen = {index for index, _ in edits}
    last = max((op.index for op in plan.walk()), default=0)
    functions = dict(plan.functions)
    for name, function in plan.functions.items():
        if any(op.index in chosen for op in function.walk()):
            editor = Editor(function, last)
            functions[name] = editor.edited(_region(editor, function.body, edits))
            last = editor.last
    return Plan(functions, plan.text)


def _region(editor: Editor, region: Region, edits: Sequence[tuple[int, Edit]]) -> Region:
    blocks = []
    for block in region.blocks:
        ops: list[Op] = []
        for op in block.ops:
            inner = tuple(_region(editor, one, edits) for one in op.regions)
            made = [replace(op, regions=inner) if op.regions else op]
            for index, edit in edits:
                made = [each for one in made for each in (edit(editor, one) if one.index == index else [one])]
            ops += made
        blocks.append(Block(block.arguments, tuple(ops)))
    return Region(tuple(blocks))


# --- Common edits ----------------------------------------------------------------------------------------


def renamed(name: str, attributes: Mapping[str, Any] | None = None) -> Edit:
    """Another operation of the same operands; ``attributes`` are added to its own."""
    return lambda editor, op: [replace(op, name=name, attributes={**op.attributes, **(attributes or {})})]


def with_attributes(**attributes: Any) -> Edit:
    """The operation with other attributes."""
    return lambda editor, op: [replace(op, attributes={**op.attributes, **attributes})]


def exchanged(one: int, two: int) -> Edit:
    """The operation with the operands at two positions exchanged."""

    def edit(editor: Editor, op: Op) -> Sequence[Op]:
        operands = list(op.operands)
        operands[one], operands[two] = operands[two], operands[one]
        return [replace(op, operands=tuple(operands))]

    return edit


def with_operand(position: int, number: int) -> Edit:
    """The operation with another value at ``position``, which must be visible there."""
    return lambda editor, op: [replace(op, operands=put(op.operands, position, number))]


def with_constant(position: int, value: float) -> Edit:
    """The operation with a number at ``position``, in all lanes."""

    def edit(editor: Editor, op: Op) -> Sequence[Op]:
        made = editor.constant(op, value, editor.type(op.operands[position]))
        return [made, replace(op, operands=put(op.operands, position, made.results[0]))]

    return edit


def with_computed(
    position: int, name: str, attributes: Mapping[str, Any] = {}, other: float | None = None
) -> Edit:  # fmt: skip
    """The operation with ``name`` applied to the operand at ``position``; ``other`` is a number as second operand."""

    def edit(editor: Editor, op: Op) -> Sequence[Op]:
        number = op.operands[position]
        made = _applied(editor, op, number, name, attributes, other)
        return [*made, replace(op, operands=put(op.operands, position, made[-1].results[0]))]

    return edit


def followed_by(name: str, attributes: Mapping[str, Any] = {}, other: float | None = None) -> Edit:
    """The operation, and ``name`` applied to its only result; ``other`` is a number as second operand."""

    def edit(editor: Editor, op: Op) -> Sequence[Op]:
        (result,) = op.results
        inner = editor.value(editor.type(result))
        made = _applied(editor, op, inner, name, attributes, other)
        return [replace(op, results=(inner,)), *made[:-1], replace(made[-1], results=(result,))]

    return edit


def _applied(
    editor: Editor, near: Op, number: int, name: str, attributes: Mapping[str, Any], other: float | None
) -> list[Op]:
    type = editor.type(number)
    if other is None:
        return [editor.op(near, name, (number,), type, attributes)]
    constant = editor.constant(near, other, type)
    return [constant, editor.op(near, name, (number, constant.results[0]), type, attributes)]


def put(operands: Sequence[int], position: int, number: int) -> tuple[int, ...]:
    """The operands with another value at ``position``."""
    return (*operands[:position], number, *operands[position + 1 :])
