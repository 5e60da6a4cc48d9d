"""``tt.print`` and ``tt.assert``."""

from __future__ import annotations

import numpy as np

from triton_lab.interpreter.frame import Frame
from triton_lab.interpreter.kernel_errors import KernelError
from triton_lab.interpreter.op_registry import impl
from triton_lab.interpreter.printing import Column, PrintStatement
from triton_lab.interpreter.runtime_values import Value
from triton_lab.ir import Op

# A print with this prefix marks a place of the kernel, and prints nothing.
MARK = "triton_lab mark "


@impl("tt.print")
def print_(frame: Frame, op: Op, *operands: Value) -> None:
    printer = frame.machine.printer
    if op.attributes["prefix"].startswith(MARK):
        if frame.machine.marks is not None:
            frame.machine.marks(frame, op)
        return
    if printer is None:
        return
    # A print without operands has no signs.
    signs = op.attributes.get("isSigned") or [1] * len(operands)
    columns = tuple(
        Column(frame.spread(op, k, value), bool(sign), frame.type(op.operands[k]).is_pointer)
        for k, (value, sign) in enumerate(zip(operands, signs, strict=True))
    )
    printer.add(PrintStatement(op.attributes["prefix"], bool(op.attributes["hex"]), columns, frame.programs))


@impl("tt.assert")
def assert_(frame: Frame, op: Op, condition: Value) -> None:
    truth = frame.elements(op, 0, condition)
    if truth.all():
        return
    rows = np.unique(np.nonzero(~truth)[0])
    programs = frame.programs[rows] if truth.shape[0] > 1 else frame.programs
    raise KernelError(f"assertion failed: {op.attributes['message']}", op, programs)
