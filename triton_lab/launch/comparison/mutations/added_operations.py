"""Operations that edits add: a value spread over lanes and cast, as Triton would, and reductions spread again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from triton_lab.ir import Op, Type
from triton_lab.ir.plan import Block, Region
from triton_lab.ir.plan_edits import Edit, Editor, with_operand


def may_stand_for(given: Type, type: Type, rows: bool = False) -> bool:
    """Whether a value of type ``given`` may be spread and cast to ``type``; with ``rows``, one number for each row."""
    if given.is_pointer or type.is_pointer or given.is_opaque or type.is_opaque or type.bits == 1:
        return given == type
    if given.is_float and type.is_integer:
        return False
    rows = rows and len(type.shape) == 2 and len(given.shape) == 1 and given.shape[0] in type.shape
    return not given.shape or rows or _spreads(given.shape, type.shape)


def _spreads(given: tuple[int, ...], shape: tuple[int, ...]) -> bool:
    return len(given) == len(shape) and all(a in (1, b) for a, b in zip(given, shape, strict=True))


def converted(editor: Editor, near: Op, number: int, type: Type) -> tuple[list[Op], int]:
    """The operations that make of a value one of ``type``, for which `may_stand_for` holds, and what they give."""
    made: list[Op] = []

    def then(name: str, made_type: Type, **attributes: int) -> None:
        made.append(editor.op(near, name, (made[-1].results[0] if made else number,), made_type, attributes))

    given = editor.type(number)
    name = cast_name(given, type)
    if name:
        given = replace(given, element=type.element)
        then(name, given)
    if given.shape != type.shape and not given.shape:
        then("tt.splat", type)
    elif given.shape != type.shape:
        if len(given.shape) < len(type.shape):
            axis = 1 if given.shape == type.shape[:1] else 0
            given = replace(given, shape=(*given.shape, 1) if axis else (1, *given.shape))
            then("tt.expand_dims", given, axis=axis)
        if given.shape != type.shape:
            then("tt.broadcast", type)
    return made, made[-1].results[0] if made else number


def cast_name(given: Type, type: Type) -> str:
    """The operation that casts numbers of one type to another; "" if there is none to do."""
    if given.element == type.element:
        return ""
    if given.is_float:
        return "arith.extf" if given.bits < type.bits else "arith.truncf"
    if type.is_float:
        return "arith.uitofp" if given.bits == 1 else "arith.sitofp"
    if given.bits < type.bits:
        return "arith.extui" if given.bits == 1 else "arith.extsi"
    return "arith.trunci"


def with_value(position: int, other: int) -> Edit:
    """The operation with another value at ``position``, spread and cast to the type that stands there."""

    def edit(editor: Editor, op: Op) -> list[Op]:
        made, number = converted(editor, op, other, editor.type(op.operands[position]))
        return [*made, *with_operand(position, number)(editor, op)]

    return edit


def with_factor(position: int, name: str, other: int) -> Edit:
    """The operation with the operand at ``position`` and a value combined by the operation ``name``."""

    def edit(editor: Editor, op: Op) -> list[Op]:
        number = op.operands[position]
        made, factor = converted(editor, op, other, editor.type(number))
        both = editor.op(op, name, (number, factor), editor.type(number))
        return [*made, both, *with_operand(position, both.results[0])(editor, op)]

    return edit


@dataclass
class AddedSteps:
    """The operations of an edit near ``near``, one after the other."""

    editor: Editor
    near: Op
    made: list[Op] = field(default_factory=list, init=False)

    def then(self, name: str, operands: Sequence[int], type: Type, attributes: Mapping[str, Any] = {}) -> int:
        """One more operation, and the value that it gives."""
        self.made.append(self.editor.op(self.near, name, operands, type, attributes))
        return self.made[-1].results[0]

    def spread(self, number: int, type: Type) -> int:
        """A value as one of ``type``."""
        ops, number = converted(self.editor, self.near, number, type)
        self.made += ops
        return number

    def constant(self, value: float, type: Type) -> int:
        """A number in all lanes."""
        self.made.append(self.editor.constant(self.near, value, type))
        return self.made[-1].results[0]


def spread_reduction(editor: Editor, near: Op, block: int, fold: str, axis: int = -1) -> list[Op]:
    """The operations that reduce a block along ``axis`` by ``fold``; the last gives the result in all lanes."""
    type = editor.type(block)
    axis %= len(type.shape)
    kept, one = replace(type, shape=(*type.shape[:axis], *type.shape[axis + 1 :])), replace(type, shape=())
    arguments = editor.value(one), editor.value(one)
    both = editor.op(near, fold, arguments, one)
    end = replace(editor.op(near, "tt.reduce.return", both.results, one), results=())
    reduced = editor.op(near, "tt.reduce", (block,), kept, {"axis": axis})
    reduced = replace(reduced, regions=(Region((Block(arguments, (both, end)),)),))
    if not kept.shape:
        return [reduced, editor.op(near, "tt.splat", reduced.results, type)]
    apart = replace(type, shape=(*type.shape[:axis], 1, *type.shape[axis + 1 :]))
    column = editor.op(near, "tt.expand_dims", reduced.results, apart, {"axis": axis})
    return [reduced, column, editor.op(near, "tt.broadcast", column.results, type)]


def scanned(editor: Editor, near: Op, block: int, fold: str, axis: int) -> Op:
    """The operation that scans a block along ``axis`` by ``fold``, each lane with itself."""
    type = editor.type(block)
    arguments = editor.value(replace(type, shape=())), editor.value(replace(type, shape=()))
    both = editor.op(near, fold, arguments, replace(type, shape=()))
    end = replace(editor.op(near, "tt.scan.return", both.results, replace(type, shape=())), results=())
    scan = editor.op(near, "tt.scan", (block,), type, {"axis": axis, "reverse": False})
    return replace(scan, regions=(Region((Block(arguments, (both, end)),)),))


def copied(editor: Editor, region: Region, element: str = "") -> Region:
    """A copy of a reduction's function, with values and operations of its own; of numbers of type ``element``."""
    new: dict[int, int] = {}

    def value(number: int) -> int:
        given = editor.type(number)
        new[number] = editor.value(replace(given, element=element) if element and given.bits > 1 else given)
        return new[number]

    (block,) = region.blocks
    arguments, ops = tuple(map(value, block.arguments)), []
    for op in block.ops:
        editor.last += 1
        operands = tuple(new.get(one, one) for one in op.operands)
        ops.append(replace(op, operands=operands, results=tuple(map(value, op.results)), index=editor.last))
    return Region((Block(arguments, tuple(ops)),))
