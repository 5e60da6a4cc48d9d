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
