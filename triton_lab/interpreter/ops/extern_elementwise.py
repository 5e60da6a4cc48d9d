"""Code that is not Triton's: library functions (``tt.extern_elementwise``) and PTX (``tt.elementwise_inline_asm``).

``tl.extra.libdevice`` and ``tl.math`` call CUDA's library by name; two functions are our own. Any other symbol is
refused when the kernel is bound. PTX in a kernel's source runs element by element, with the bits of an H100.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.interpreter import libdevice, number_conversion
from triton_lab.interpreter.dtypes import dtype_of
from triton_lab.interpreter.frame import Frame
from triton_lab.interpreter.kernel_errors import Unsupported
from triton_lab.interpreter.op_registry import check, impl, union
from triton_lab.interpreter.runtime_values import Value
from triton_lab.interpreter.variants.ptx import InlineCode, NotEmulated
from triton_lab.ir import Op
from triton_lab.localization import _
from triton_lab.messages import count

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


@functools.lru_cache(maxsize=256)
def _code(text: str, constraints: str) -> InlineCode:
    return InlineCode(text, constraints)


@check("tt.elementwise_inline_asm")
def runs(op: Op) -> None:
    try:
        _code(op.attributes["asm_string"], op.attributes["constraints"])
    except NotEmulated as error:
        raise _refused(op, error) from None


def _refused(op: Op, error: NotEmulated) -> Unsupported:
    return Unsupported(
        _(
            "the CPU target cannot run this inline PTX, because of {reason}. It runs arithmetic, comparisons, bit "
            "operations, conversions and branches on registers"
        ).format(reason=error),
        op,
    )


@impl("tt.elementwise_inline_asm")
def elementwise_inline_asm(frame: Frame, op: Op, *operands: Value) -> Value | tuple[Value, ...]:
    """The results of the code for each ``packed_element`` neighbouring elements, in row-major order.

    Elements of fewer than 32 bits share registers of 32 bits, the first one in the lowest bits.
    """
    arrays = np.broadcast_arrays(*(frame.spread(op, position, value) for position, value in enumerate(operands)))
    code, pack = _code(op.attributes["asm_string"], op.attributes["constraints"]), int(op.attributes["packed_element"])
    shape = arrays[0].shape
    dtypes = [dtype_of(frame.result_type(op, position)) for position in range(len(op.results))]
    try:
        if int(np.prod(shape[1:])) % pack:
            whole = count(int(np.prod(shape[1:])), "element")
            raise NotEmulated(_("packs of {pack} in a block of {whole}").format(pack=pack, whole=whole))
        registers = [register for array in arrays for register in _registers(array, pack)]
        per = [_registers_of(dtype, pack) for dtype in dtypes]
        widths = [one.dtype.itemsize for one in registers]
        made = [
            width
            for dtype, number in zip(dtypes, per, strict=True)
            for width in [pack * dtype.itemsize // number] * number
        ]
        if code.widths != [*made, *widths]:
            raise NotEmulated(
                _("the constraints {constraints}, which do not fit the types of its operands").format(
                    constraints=op.attributes["constraints"]
                )
            )
        found = iter(code(registers))
    except NotEmulated as error:
        raise _refused(op, error) from None
    results = tuple(
        _elements([next(found) for _unused in range(number)], dtype, pack).reshape(shape)
        for dtype, number in zip(dtypes, per, strict=True)
    )
    return results if len(results) > 1 else results[0]


def _registers_of(dtype: np.dtype[Any], pack: int) -> int:
    """How many registers hold a pack of elements."""
    return max(1, pack // max(1, min(4 // dtype.itemsize, pack)))


def _registers(array: Array, pack: int) -> list[Array]:
    """The registers, (packs,) each, that hold a block's elements."""
    bits = np.ascontiguousarray(array).view(f"u{array.dtype.itemsize}").reshape(-1, pack)
    count = _registers_of(bits.dtype, pack)
    width = pack * bits.dtype.itemsize // count
    wide = np.ascontiguousarray(bits).view(f"<u{width}")
    return [np.ascontiguousarray(wide[:, k]) for k in range(count)]


def _elements(registers: Sequence[Array], dtype: np.dtype[Any], pack: int) -> Array:
    return np.ascontiguousarray(np.stack(registers, axis=1)).view(f"u{dtype.itemsize}").view(dtype).reshape(-1)
