"""Switches that move loads and stores: with exchanged strides, further on in each iteration, or from earlier memory."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from triton_lab import messages
from triton_lab.interpreter import memory_access
from triton_lab.interpreter.affine_block import AffineBlock
from triton_lab.interpreter.dtypes import dtype_of
from triton_lab.interpreter.frame import Frame
from triton_lab.interpreter.memory_regions import Reachable
from triton_lab.interpreter.op_registry import Implementation
from triton_lab.interpreter.runtime_values import Value
from triton_lab.ir import Op
from triton_lab.ir.value_flow import LOOPS
from triton_lab.launch.comparison.interpreter_changes import REDIRECTED, ChangedAccess, Layers, changed, redirected
from triton_lab.launch.comparison.mutations.ir_query import indices, lines_of, ops_of
from triton_lab.launch.comparison.numerics import Switch
from triton_lab.localization import _

if TYPE_CHECKING:
    from triton_lab.launch.access import Access
    from triton_lab.launch.argument import Argument
    from triton_lab.launch.launch import Launch


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


def steps(launch: Launch) -> Iterator[Switch]:
    """Switches for loads at one address in all iterations of a loop: they move by a block each time, or by rows."""
    loops = ops_of(launch, *LOOPS)
    inside = {op.index: op for loop in loops for op in loop.walk() if op.name == "tt.load"}
    cause = _("a pointer that a loop does not advance")
    for one in launch.done:
        argument = None if one.argument is None else launch.argument(one.argument)
        block = _still(one) if one.op in inside else None
        if block is None or argument is None or argument.kind != "tensor":
            continue
        op, where = inside[one.op], lines_of(launch, inside[one.op])
        for axis in _moving(block):
            name = _("{name} a block further along axis {axis} in each iteration{lines_of}").format(
                name=argument.name, axis=axis, lines_of=where
            )
            yield Switch(name, cause, redirects=(_stepping(op, axis=axis),), ops=indices([op]))
        rows = sorted({stride * argument.itemsize for stride in argument.strides if stride > 1})
        own = {block.shape[axis] * block.strides[axis] for axis in _moving(block)}
        blocks = [extent * row for row in rows for extent in block.shape if extent > 1]
        for further in dict.fromkeys(each for each in (*rows, *blocks) if each not in own):
            places = messages.count(abs(further) // argument.itemsize, "element")
            name = _("{name} {places} further in each iteration{lines_of}").format(
                name=argument.name, places=places, lines_of=where
            )
            yield Switch(name, cause, redirects=(_stepping(op, further),), ops=indices([op]))


def _still(one: Access) -> AffineBlock | None:
    """The block of a load that is always at the same address, several times; None for any other."""
    pointers = [event.pointer for event in one.events]
    first = pointers[0] if len(pointers) > 1 else None
    if not isinstance(first, AffineBlock):
        return None
    for event, pointer in zip(one.events, pointers, strict=True):
        same = np.array_equal(event.programs, one.events[0].programs)
        if not same or not isinstance(pointer, AffineBlock) or not np.array_equal(pointer.base, first.base):
            return None
    return first


def _moving(block: AffineBlock) -> list[int]:
    """The axes along which a block has several places, the last one first."""
    return [axis for axis in reversed(range(len(block.shape))) if block.strides[axis] and block.shape[axis] > 1]


def _stepping(which: Op, further: int = 0, axis: int | None = None) -> Layers:
    """A load that moves ``further`` bytes each time, or by its block's extent along an ``axis``."""

    def layer(inner: Implementation) -> Implementation:
        turns: dict[int, int] = defaultdict(int)  # by program, anew for each run

        def load(frame: Frame, op: Op, *operands: Value, touch: ChangedAccess | None = None) -> Value:
            touch = touch or ChangedAccess.of(op, operands)
            block = touch.where
            if op.index != which.index or not isinstance(block, AffineBlock):
                return inner(frame, op, *operands, touch=touch)  # type: ignore[no-any-return]
            by = np.array([turns[program] for program in frame.programs.tolist()], np.int64)
            for program in frame.programs.tolist():
                turns[program] += 1
            step = further if axis is None else block.shape[axis] * block.strides[axis]
            where = AffineBlock(block.base + by * step, block.strides, block.shape)
            return inner(frame, op, *operands, touch=ChangedAccess(where, touch.mask))  # type: ignore[no-any-return]

        return load

    return {"tt.load": layer}


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
