"""Switches for wrong loops: the number of iterations, carried values, and pointers that do not move."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from triton_lab import messages
from triton_lab.interpreter.affine_block import AffineBlock
from triton_lab.interpreter.frame import Frame
from triton_lab.interpreter.op_registry import Implementation
from triton_lab.interpreter.runtime_values import Value
from triton_lab.ir import Op
from triton_lab.ir.plan_edits import Edit, Editor, with_constant, with_operand
from triton_lab.launch.comparison.interpreter_changes import ChangedAccess, Layers
from triton_lab.launch.comparison.mutations.ir_query import constant, function_of, indices, lines_of, makers, ops_of
from triton_lab.launch.comparison.mutations.operators import switch_of
from triton_lab.launch.comparison.numerics import Switch
from triton_lab.localization import _

if TYPE_CHECKING:
    from triton_lab.launch.access import Access
    from triton_lab.launch.launch import Launch


def iterations(launch: Launch) -> Iterator[Switch]:
    """Switches for each loop with one more iteration, and with one less."""
    for op in ops_of(launch, "scf.for"):
        for more, name, cause in (
            (1, "one iteration more", _("a loop that ends an iteration early")),
            (-1, "one iteration less", _("a loop that has an iteration too many")),
        ):
            yield switch_of(f"{name}{lines_of(launch, op)}", cause, op, _counted(more))


def _counted(more: int) -> Edit:
    """A loop with so many iterations more: 1 or -1."""

    def edit(editor: Editor, op: Op) -> Sequence[Op]:
        upper, step = op.operands[1:3]
        name = "arith.addi" if more > 0 else "arith.subi"
        end = editor.op(op, name, (upper, step), editor.type(upper))
        return [end, *with_operand(1, end.results[0])(editor, op)]

    return edit


# --- Carried values -----------------------------------------------------------------------------------

_STARTS = ((-np.inf, "-inf"), (0.0, "0"), (np.inf, "inf"), (1.0, "1"))


def starts(launch: Launch) -> Iterator[Switch]:
    """Switches for the start value of a float accumulator, if it is a constant: the neutral elements of reductions."""
    for op in ops_of(launch, "scf.for"):
        function = function_of(launch, op)
        made = makers(function)
        arguments = op.regions[0].blocks[0].arguments[1:]
        for k, (number, argument) in enumerate(zip(op.operands[3:], arguments, strict=True)):
            maker = made.get(number)
            if maker is None or maker.name != "arith.constant" or not function.types[number].is_float:
                continue
            held = constant(made, number)
            for value, spelled in _STARTS:
                if value != held:
                    name = _("{called} starts from {spelled}{lines_of}").format(
                        called=_called(function.names[argument]), spelled=spelled, lines_of=lines_of(launch, op)
                    )
                    yield switch_of(name, _("the start value of an accumulator"), op, with_constant(3 + k, value))


def _called(name: str) -> str:
    return name or _("a value that the loop carries")


def carried(launch: Launch) -> Iterator[Switch]:
    """Switches for ``+=`` instead of ``=``: values that a loop sets in each iteration are accumulated."""
    for op in ops_of(launch, "scf.for"):
        block, function = op.regions[0].blocks[0], function_of(launch, op)
        used = {number for inner in block.ops[:-1] for each in inner.walk() for number in each.operands}
        for k, argument in enumerate(block.arguments[1:]):
            if argument not in {*used, *block.ops[-1].operands} and function.types[argument].is_float:
                for fold, told in (("arith.addf", "added up"), ("arith.maxnumf", _("reduced to its maximum"))):
                    name = f"{_called(function.names[argument])} {told}{lines_of(launch, op)}"
                    cause = _("a loop that overwrites its result in each iteration")
                    edits = ((block.ops[-1].index, _folding(k, fold, argument)),)
                    yield Switch(name, cause, edits=edits, ops=indices([op]))


def _folding(k: int, fold: str, carried: int) -> Edit:
    """The end of an iteration, which combines the value that it hands on at ``k`` with the one it was ``carried``."""

    def edit(editor: Editor, op: Op) -> Sequence[Op]:
        both = editor.op(op, fold, (carried, op.operands[k]), editor.type(carried))
        return [both, *with_operand(k, both.results[0])(editor, op)]

    return edit


# --- Pointers that do not move ------------------------------------------------------------------------


def steps(launch: Launch) -> Iterator[Switch]:
    """Switches for loads at the same address in each iteration of a loop: they move by a block each time."""
    inside = {op.index: op for loop in ops_of(launch, "scf.for") for op in loop.walk() if op.name == "tt.load"}
    for one in launch.done:
        argument = None if one.argument is None else launch.argument(one.argument)
        if one.op not in inside or argument is None or argument.kind != "tensor":
            continue
        op = inside[one.op]
        for further in _further(one, {stride * argument.itemsize for stride in argument.strides if stride > 1}):
            places = messages.count(abs(further) // argument.itemsize, "element")
            name = _("{name} {places} further in each iteration{lines_of}").format(
                name=argument.name, places=places, lines_of=lines_of(launch, op)
            )
            cause = _("a pointer that a loop does not advance")
            yield Switch(name, cause, redirects=(_stepping(op, further),), ops=indices([op]))


def _further(one: Access, rows: set[int]) -> list[int]:
    """The steps in bytes by which a block could move on; none unless it is always at the same address, several times.

    The steps are the block's extent along each axis, one of the tensor's ``rows``, or a block of rows.
    """
    pointers = [event.pointer for event in one.events]
    first = pointers[0] if len(pointers) > 1 else None
    if not isinstance(first, AffineBlock):
        return []
    for event, pointer in zip(one.events, pointers, strict=True):
        same = np.array_equal(event.programs, one.events[0].programs)
        if not same or not isinstance(pointer, AffineBlock) or not np.array_equal(pointer.base, first.base):
            return []
    pairs = zip(reversed(first.shape), reversed(first.strides), strict=True)
    own = [extent * stride for extent, stride in pairs if stride and extent > 1]
    blocks = [extent * row for row in sorted(rows) for extent in first.shape if extent > 1]
    return list(dict.fromkeys([*own, *sorted(rows), *blocks]))


def _stepping(which: Op, further: int) -> Layers:
    def layer(inner: Implementation) -> Implementation:
        turns: dict[int, int] = defaultdict(int)  # by program, anew for each run

        def load(frame: Frame, op: Op, *operands: Value, touch: ChangedAccess | None = None) -> Value:
            touch = touch or ChangedAccess.of(op, operands)
            if op.index != which.index or not isinstance(touch.where, AffineBlock):
                return inner(frame, op, *operands, touch=touch)  # type: ignore[no-any-return]
            by = np.array([turns[program] for program in frame.programs.tolist()], np.int64)
            for program in frame.programs.tolist():
                turns[program] += 1
            where = AffineBlock(touch.where.base + by * further, touch.where.strides, touch.where.shape)
            return inner(frame, op, *operands, touch=ChangedAccess(where, touch.mask))  # type: ignore[no-any-return]

        return load

    return {"tt.load": layer}
