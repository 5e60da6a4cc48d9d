"""Multiplies the products that a loop sums up for several rounds at once.

Reading and writing all sums takes the same time in each round, however little is added. So if nothing in the loop reads
the sums, the factors of some rounds are laid side by side, and then multiplied as one product. Each sum gets the same
numbers in the same order.
"""

from __future__ import annotations

from triton_lab.ir import Op
from triton_lab.native.blocks.block_loops import lanes_for, nest, runs_along
from triton_lab.native.blocks.elements import Indices, widened_at
from triton_lab.native.blocks.materialize import materialise
from triton_lab.native.blocks.value_repr import Lazy, ScratchBlock
from triton_lab.native.llvm.builder import Reg
from triton_lab.native.llvm.element_types import is_narrow
from triton_lab.native.lowering.dot_tiles import multiply, width_of
from triton_lab.native.lowering.emitter import Emitter

# The length of the inner axis of such a product: a tile's columns should stay in the processor's first-level cache.
_DEPTH = 64


def put_off(emitter: Emitter, op: Op, start: int, result: int, kind: str) -> bool:
    """Write the product ``op``, added to ``start``, if it may be delayed; returns whether it was written."""
    rounds = _rounds(emitter, op, start, result, kind)
    if rounds < 2:
        return False
    assert emitter.turn is not None
    code, (a, b) = emitter.code, op.operands[:2]
    number, count = emitter.turn.number, emitter.turn.count
    (rows, depth), columns = emitter.types[a].shape, emitter.types[b].shape[1]
    width = width_of(emitter, columns, kind)
    scratch = emitter.setting.scratch
    left = scratch.take((rows, rounds * depth), kind, widened=is_narrow(emitter.element(a)))
    # Tile by tile, so that the columns of a tile are close together.
    right = scratch.take((columns // width, rounds * depth, width), kind)
    out = emitter.take(result)
    emitter.afresh()
    slot = code.op("and", number, code.constant("i64", rounds - 1))
    first = code.op("mul", slot, code.constant("i64", depth))
    mine = ScratchBlock(code.offset(left.pointer, first, kind), (rows, depth), left.strides, kind, left.widened)
    materialise(emitter, a, mine)
    offset = code.op("mul", first, code.constant("i64", width))
    _lay(emitter, b, code.offset(right.pointer, offset, kind), kind, (width, rounds * depth))
    full = code.compare("eq", slot, code.constant("i64", rounds - 1))
    last = code.compare("eq", code.op("add", number, code.constant("i64", 1)), count)
    together, after = code.new_block("together"), code.new_block("later")
    code.branch(code.op("or", full, last), together, after)
    code.block = together
    both = ScratchBlock(right.pointer, (rounds * depth, columns), (width, rounds * depth), kind)
    so_far = code.op("add", first, code.constant("i64", depth))
    multiply(emitter, left, both, start, out, emitter.element(result), (), so_far)
    emitter.afresh()
    code.jump(after)
    code.block = after
    emitter.keep(result, out)
    return True


def _rounds(emitter: Emitter, op: Op, start: int, result: int, kind: str) -> int:
    """For how many rounds products may be delayed: a power of two, 1 if they may not."""
    turn, types = emitter.turn, emitter.types
    factors = [emitter.analysis.one(value) for value in op.operands[:2]]
    if turn is None or kind != "float" or emitter.element(result) != "f32" or len(types[result].shape) != 2:
        return 1
    body = turn.op.regions[0].blocks[0]
    sums, wanted = emitter.forms.get(start), emitter.wanted.get(result)
    # The sums stay in one buffer in the loop, and only the next round reads them.
    in_place = isinstance(sums, ScratchBlock) and wanted is not None and wanted.pointer == sums.pointer
    unseen = emitter.analysis.users.get(result, []) == [body.ops[-1]]
    if not (in_place and unseen):
        return 1
    if not all(isinstance(emitter.forms.get(value), Lazy) for value in factors):
        return 1
    right, columns = factors[1], types[result].shape[1]
    width = width_of(emitter, columns, kind)
    if width < 2 or lanes_for(emitter, columns) != width or runs_along(emitter, [right], types[right].shape) != 1:
        return 1
    return max(1, _DEPTH // types[right].shape[0])


def _lay(emitter: Emitter, value: int, pointer: Reg, kind: str, strides: tuple[int, int]) -> None:
    """Write a block to scratch with a tile's columns contiguous; ``strides`` are those of rows and of tiles' first
    columns.
    """
    code = emitter.code

    def body(index: Indices) -> None:
        row, column = index
        found = widened_at(emitter, value, index)
        offset = code.op("mul", column.value, code.constant("i64", strides[1]))
        if row.value.literal != 0:
            offset = code.op("add", offset, code.op("mul", row.value, code.constant("i64", strides[0])))
        code.store(code.splat(found, column.lanes), code.offset(pointer, offset, kind))

    nest(emitter, emitter.types[value].shape, [value], body)
