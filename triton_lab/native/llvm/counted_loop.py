"""Writes a counted loop as blocks and phis."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from triton_lab.native.llvm.builder import FunctionBuilder
from triton_lab.native.llvm.registers import Reg


def counted(
    code: FunctionBuilder,
    first: Reg,
    end: Reg,
    step: int,
    body: Callable[[Reg, list[Reg]], Sequence[Reg]],
    carried: Sequence[Reg] = (),
) -> list[Reg]:
    """``for i in range(first, end, step): carried = body(i, carried)`` on i64; returns the last carried values.

    While ``body`` writes, the block before the loop is still open: what does not change in the loop can be written
    there (`at`).
    """
    head, leave = code.new_block("loop"), code.new_block("done")
    before, code.block = code.block, head
    i = code.phi("i64")
    i.come(first, before)
    phis = [code.phi(x.kind, x.lanes) for x in carried]
    for phi, x in zip(phis, carried, strict=True):
        phi.come(x, before)
    found = list(body(i.reg, [phi.reg for phi in phis]))
    following = code.op("add", i.reg, code.constant("i64", step))
    for phi, x in zip([i, *phis], [following, *found], strict=True):
        phi.come(x, code.block)
    last = code.block
    code.branch(code.compare("slt", following, end), head, leave)
    code.block = before
    if first.literal is not None and end.literal is not None and first.literal < end.literal:
        code.jump(head)
        code.block = leave
        return found
    code.branch(code.compare("slt", first, end), head, leave)
    code.block = leave
    results = [code.phi(x.kind, x.lanes) for x in carried]
    for result, at_first, at_last in zip(results, carried, found, strict=True):
        result.come(at_first, before)
        result.come(at_last, last)
    return [result.reg for result in results]
