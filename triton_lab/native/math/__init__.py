"""Elementary functions, written out in LLVM IR; `library_calls` has those for which the C library is called.

They need a processor with a fused multiply-add and instructions that round to whole numbers. On others, LLVM calls the
C library for these.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from triton_lab.native.llvm.builder import FunctionBuilder, Reg
from triton_lab.native.math import error_function, exponential, logarithm, powers, roots, trigonometric
from triton_lab.native.math.double_double import in_numbers
from triton_lab.native.math.lane_arithmetic import LaneArithmetic

_Function = Callable[[FunctionBuilder, Reg], Reg]


def _on_registers(
    single: Callable[[LaneArithmetic], LaneArithmetic] | None, wide: Callable[..., LaneArithmetic]
) -> _Function:
    """A function of ``float`` and ``double``: float32 has its own, or is computed as float64 and rounded once."""

    def apply(code: FunctionBuilder, x: Reg) -> Reg:
        lanes = LaneArithmetic(code, x)
        return (single(lanes) if single is not None and x.kind == "float" else in_numbers(wide, lanes)).reg

    return apply


# By their names in MLIR's `math`, on `float` and `double` registers, scalar or vector. Within 1 ulp of the exact
# result.
FUNCTIONS: Mapping[str, _Function] = {
    "exp": _on_registers(exponential.exp, powers.exp),
    "exp2": _on_registers(exponential.exp2, powers.exp2),
    "log": _on_registers(logarithm.log, powers.log),
    "log2": _on_registers(logarithm.log2, powers.log2),
    "sin": _on_registers(None, trigonometric.sin),
    "cos": _on_registers(None, trigonometric.cos),
    "erf": _on_registers(error_function.erf, error_function.erf_wide),
    "rsqrt": _on_registers(None, roots.rsqrt),
}
