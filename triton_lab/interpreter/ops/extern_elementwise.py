"""``tt.extern_elementwise``: library functions by name, CUDA's and two of our own.

``tl.extra.libdevice`` and ``tl.math`` call CUDA's library this way. Any other symbol is refused when the kernel is
bound.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.interpreter import libdevice, number_conversion
from triton_lab.interpreter.dtypes import dtype_of
from triton_lab.interpreter.frame import Frame
from triton_lab.interpreter.kernel_errors import Unsupported
from triton_lab.interpreter.op_registry import check, impl, union
from triton_lab.interpreter.runtime_values import Value
from triton_lab.ir import Op
from triton_lab.localization import _

Array = NDArray[Any]

# The backend converts fp8 e4m3b15 with these, since MLIR has no type for it.
_OWN: Mapping[str, Callable[..., Array]] = {
    "triton_lab_e4m3b15_to_f16": number_conversion.e4m3b15_to_half,
    "triton_lab_f16_to_e4m3b15": number_conversion.half_to_e4m3b15,
}
FUNCTIONS: Mapping[str, Callable[..., Array]] = union(libdevice.FUNCTIONS, _OWN)


@check("tt.extern_elementwise")
def known(op: Op) -> None:
    symbol = op.attributes["symbol"]
    if symbol not in FUNCTIONS:
        raise Unsupported(_("the CPU target does not know the library function {symbol}").format(symbol=symbol), op)


@impl("tt.extern_elementwise")
def extern_elementwise(frame: Frame, op: Op, *operands: Value) -> Value:
    arrays = [frame.elements(op, position, value) for position, value in enumerate(operands)]
    result = FUNCTIONS[op.attributes["symbol"]](*arrays)
    return np.asarray(result).astype(dtype_of(frame.result_type(op)), copy=False)
