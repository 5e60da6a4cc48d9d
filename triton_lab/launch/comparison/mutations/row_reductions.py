"""Reductions along an axis that edits add, spread over the lanes again: the greatest of each row, or its sum."""

from __future__ import annotations

from dataclasses import replace

from triton_lab.ir import Op
from triton_lab.ir.plan import Block, Region
from triton_lab.ir.plan_edits import Editor


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
