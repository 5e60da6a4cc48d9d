"""``tl.device_assert``: a guard. A program in which it fails goes to NumPy, which raises the kernel's own message."""

from __future__ import annotations

from triton_lab.ir import Op
from triton_lab.native.blocks.block_loops import nest
from triton_lab.native.blocks.elements import Indices, at
from triton_lab.native.lowering.emitter import Emitter, emits


@emits("tt.assert")
def assert_(emitter: Emitter, op: Op) -> None:
    # In the real run nothing fails that the rehearsal has not found.
    if not (emitter.rehearsal or not emitter.order.needs_rehearsal):
        return
    (condition,) = op.operands
    if not emitter.types[condition].shape:
        emitter.guards.require(emitter.scalar(condition), op, "asserts")
        return
    code, failed = emitter.code, emitter.setting.scratch.take((), "i8").pointer
    code.store(code.constant("i8", 0), failed)

    def body(index: Indices) -> None:
        held = at(emitter, condition, index)
        wrong = code.op("xor", held, code.like(held, 1))
        if wrong.lanes:
            wrong = code.intrinsic("llvm.vector.reduce.or", wrong, scalar=True)
        code.store(code.op("or", code.load("i8", failed), code.cast("zext", wrong, "i8")), failed)

    nest(emitter, emitter.types[condition].shape, [condition], body)
    emitter.guards.require(code.compare("eq", code.load("i8", failed), code.constant("i8", 0)), op, "asserts")
