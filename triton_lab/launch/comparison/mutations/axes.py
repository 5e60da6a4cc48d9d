"""Switches for wrong axes: of reductions, program ids, matrices and dots."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from triton_lab.interpreter import memory_access
from triton_lab.interpreter.affine_block import AffineBlock
from triton_lab.ir import Op
from triton_lab.ir.plan_edits import Edit, Editor, exchanged, with_attributes, with_computed, with_operand
from triton_lab.launch.comparison.interpreter_changes import REDIRECTED, redirected
from triton_lab.launch.comparison.mutations.ir_query import indices, lines_of, ops_of, shape_of, users_of
from triton_lab.launch.comparison.mutations.operators import switch_of
from triton_lab.launch.comparison.numerics import Switch, types_of
from triton_lab.localization import _

if TYPE_CHECKING:
    from triton_lab.launch.access import Access
    from triton_lab.launch.argument import Argument
    from triton_lab.launch.launch import Launch


# --- Reductions and dots ------------------------------------------------------------------------------


def reductions(launch: Launch) -> Iterator[Switch]:
    """Switches for reductions of square blocks along the other axis: each alone, then all with their expand_dims."""
    square = [op for op in ops_of(launch, "tt.reduce") if _is_square(shape_of(launch, op))]
    for op in square:
        axis = op.attributes["axis"]
        name = _("axis={text} instead of {axis}{lines_of}").format(
            text=1 - axis, axis=axis, lines_of=lines_of(launch, op)
        )
        yield Switch(name, _("the axis of a reduction"), ops=indices([op]), turned=indices([op]))
    spreading = [
        user for op in square for user, _unused in users_of(launch, op.results[0]) if user.name == "tt.expand_dims"
    ]
    if spreading:
        name = _("reductions along the other axis{lines_of}").format(lines_of=lines_of(launch, *square))
        ops = indices([*square, *spreading])
        yield Switch(name, _("the axis of reductions"), ops=ops, turned=ops)


def _is_square(shape: tuple[int, ...]) -> bool:
    return len(shape) == 2 and shape[0] == shape[1] > 1


def dots(launch: Launch) -> Iterator[Switch]:
    """Switches for dots with transposed or exchanged operands, if they are square."""
    for op in ops_of(launch, "tt.dot"):
        shapes = [type.shape for type in types_of(launch.executable.plan, op, lambda one: one.operands)]
        where = lines_of(launch, op)
        for k, noun in ((1, "second"), (0, "first")):
            if _is_square(shapes[k]):
                name = _("the {noun} operand of tl.dot transposed{where}").format(noun=noun, where=where)
                cause = _("which way round the {noun} operand of tl.dot is").format(noun=noun)
                yield switch_of(name, cause, op, with_computed(k, "tt.trans", {"order": [1, 0]}))
        if shapes[0] == shapes[1] and _is_square(shapes[0]):
            name = _("the operands of tl.dot exchanged{where}").format(where=where)
            yield switch_of(name, _("the order of the operands of tl.dot"), op, exchanged(0, 1))


# --- Program ids --------------------------------------------------------------------------------------


def program_ids(launch: Launch) -> Iterator[Switch]:
    """Switches for two exchanged program ids, then for one use of an id, then for an id that is not used."""
    asked = {op.attributes["axis"]: op for op in ops_of(launch, "tt.get_program_id")}
    for one, two in ((0, 1), (0, 2), (1, 2)):
        if one in asked and two in asked and (launch.grid[one] > 1 or launch.grid[two] > 1):
            where = lines_of(launch, asked[one], asked[two])
            name = f"program_id({one}) and program_id({two}) exchanged{where}"
            both = [op for op in ops_of(launch, "tt.get_program_id") if op.attributes["axis"] in (one, two)]
            edits = [(op.index, with_attributes(axis=one + two - op.attributes["axis"])) for op in both]
            yield Switch(name, _("the axes of the program ids"), edits=tuple(edits), ops=indices(both))
    yield from _uses(launch)
    for axis, extent in enumerate(launch.grid):
        if extent > 1 and axis not in asked:
            for op in ops_of(launch, "tt.make_range"):
                name = f"program_id({axis}) * {shape_of(launch, op)[0]} added{lines_of(launch, op)}"
                yield switch_of(name, _("a program id that is missing in the offsets"), op, _added(axis))


def _uses(launch: Launch) -> Iterator[Switch]:
    """Switches that replace all uses of an id, then one of them, by the id along another axis."""
    for op in ops_of(launch, "tt.get_program_id"):
        axis, users = op.attributes["axis"], users_of(launch, op.results[0])
        for other, extent in enumerate(launch.grid):
            if other == axis or extent == 1:
                continue
            name = f"program_id({other}) instead of program_id({axis}){lines_of(launch, op)}"
            yield switch_of(name, _("a program id along another axis"), op, with_attributes(axis=other))
            for user, position in users if len(users) > 1 else ():
                if not user.regions and user.name != "tt.call":
                    name = f"program_id({other}) instead of program_id({axis}){lines_of(launch, user)}"
                    yield switch_of(name, _("a program id along another axis"), user, _instead(position, other))


def _instead(position: int, axis: int) -> Edit:
    def edit(editor: Editor, op: Op) -> Sequence[Op]:
        made = editor.op(op, "tt.get_program_id", (), editor.type(op.operands[position]), {"axis": axis})
        return [made, *with_operand(position, made.results[0])(editor, op)]

    return edit


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


# --- Matrices -----------------------------------------------------------------------------------------


def across(launch: Launch) -> Iterator[Switch]:
    """Switches for matrices whose two-dimensional blocks are loaded or stored with exchanged strides."""
    ops = {op.index: op for op in ops_of(launch, *REDIRECTED)}
    for one in launch.done:
        argument = None if one.argument is None else launch.argument(one.argument)
        if one.op not in ops or argument is None or len(argument.shape) != 2 or len(one.block) != 2:
            continue
        if len(set(argument.strides)) == 2 and 0 not in argument.strides and _along(one, argument):
            name = _("the strides of {name} exchanged{lines_of}").format(
                name=argument.name, lines_of=lines_of(launch, ops[one.op])
            )
            noun = "loaded" if one.kind == "load" else "stored"
            cause = _("which of its axes {name} is {noun} along").format(name=argument.name, noun=noun)
            layers = redirected({one.op: _exchanging(argument)})
            yield Switch(name, cause, redirects=(layers,), ops=frozenset({one.op}))


def _along(one: Access, argument: Argument) -> bool:
    """Whether the block's strides are those of the matrix."""
    strides = {stride * argument.itemsize for stride in argument.strides}
    return all(isinstance(event.pointer, AffineBlock) and set(event.pointer.strides) == strides for event in one.events)


def _exchanging(
    argument: Argument,
) -> Callable[[memory_access.Pointer, memory_access.Mask], tuple[memory_access.Pointer, memory_access.Mask]]:
    """Exchange the two strides of ``argument``, in the block and in its offset from the start."""
    low, high = sorted(stride * argument.itemsize for stride in argument.strides)

    def change(
        where: memory_access.Pointer, mask: memory_access.Mask
    ) -> tuple[memory_access.Pointer, memory_access.Mask]:
        if not isinstance(where, AffineBlock):
            return where, mask
        rows, rest = np.divmod(where.base - argument.address, high)
        columns, rest = np.divmod(rest, low)
        strides = tuple({low: high, high: low}.get(stride, stride) for stride in where.strides)
        return AffineBlock(argument.address + rows * low + columns * high + rest, strides, where.shape), mask

    return change
