"""``tl.atomic_poll``: a wait for a value in memory. A program that would have to wait goes to NumPy."""

from __future__ import annotations

from triton_lab.ir import Op
from triton_lab.ir.effects import operands_of
from triton_lab.native.llvm.element_types import kind_of
from triton_lab.native.lowering.access_checks import access_of, check
from triton_lab.native.lowering.emitter import Emitter, emits
from triton_lab.native.unsupported import Unsupported


@emits("tt.atomic_poll")
def atomic_poll(emitter: Emitter, op: Op) -> None:
    where, code, access = operands_of(op), emitter.code, access_of(emitter, op)
    kind = kind_of(access.element)
    if access.shape or kind in ("float", "double"):
        raise Unsupported("tt.atomic_poll of a block, or of floats")
    check(emitter, access)
    assert where.expected is not None
    found = code.load(kind, code.cast("inttoptr", access.places(()), "ptr"))
    ready = code.compare("eq", found, emitter.scalar(op.operands[where.expected]))
    emitter.guards.require(ready, op, "waits")
    emitter.forms[op.results[0]] = code.constant("i1", 1)
