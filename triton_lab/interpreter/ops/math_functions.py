"""``math``: elementary functions, computed in float32 for narrower types and rounded once.

The results are those of the CPU's own library, nearly always the nearest float. A GPU's fast versions differ in the
last place or two.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.interpreter import exact_arithmetic, special_functions
from triton_lab.interpreter.frame import Frame
from triton_lab.interpreter.kernel_errors import Unsupported
from triton_lab.interpreter.min_max import fmax, fmin
from triton_lab.interpreter.number_conversion import float_to_float, flushed, widen
from triton_lab.interpreter.op_registry import impl
from triton_lab.interpreter.ops.floats import elementwise, with_sign
from triton_lab.interpreter.runtime_values import Value
from triton_lab.ir import Op
from triton_lab.localization import _

Array = NDArray[Any]

UNARY: dict[str, Callable[[Array], Array]] = {
    "math.exp": np.exp,
    "math.exp2": np.exp2,
    "math.log": np.log,
    "math.log2": np.log2,
    "math.sin": np.sin,
    "math.cos": np.cos,
    "math.sqrt": np.sqrt,
    "tt.precise_sqrt": np.sqrt,
    "math.rsqrt": special_functions.rsqrt,
    "math.floor": lambda x: np.floor(flushed(x) if x.dtype == np.float32 else x),
    "math.ceil": lambda x: np.ceil(flushed(x) if x.dtype == np.float32 else x),
    "math.erf": special_functions.erf,
}


@impl(*UNARY)
def unary(frame: Frame, op: Op, x: Value) -> Value:
    array = frame.elements(op, 0, x)
    if array.dtype.itemsize >= 4:
        return UNARY[op.name](array)
    return UNARY[op.name](widen(array)).astype(array.dtype)


@impl("math.absf")
def absf(frame: Frame, op: Op, x: Value) -> Value:
    """``x`` with its sign bit cleared, also of a NaN."""
    return with_sign(frame.elements(op, 0, x), lambda bits, sign: bits & ~sign)


# By the number in ``op_kind``.
_PACKED: dict[int, Callable[..., Array]] = {0: np.add, 1: np.subtract, 2: np.multiply, 4: fmin, 5: fmax}
_FUSED = 3


@impl("ttng.packed_arith")
def packed_arith(frame: Frame, op: Op, *operands: Value) -> Value:
    """Elementwise arithmetic that Blackwell does for two elements at once."""
    result, kind = frame.result_type(op), op.attributes["op_kind"]
    types = [frame.type(number) for number in op.operands]
    if any((one.element, one.shape) != (result.element, result.shape) for one in types):
        raise Unsupported(_("packed arithmetic of several types is not supported"), op)
    if kind == _FUSED:
        return fma(frame, op, *operands)
    return elementwise(frame, op, _PACKED[kind], *operands)


@impl("math.fma")
def fma(frame: Frame, op: Op, a: Value, b: Value, c: Value) -> Value:
    """``a * b + c`` rounded once."""
    x, y, z = (frame.elements(op, position, value) for position, value in enumerate((a, b, c)))
    return float_to_float(exact_arithmetic.multiply_add(x, y, z), x.dtype)
