"""Functions as a GPU computes them, as a variant (see `arithmetic_variants`): by their PTX.

`CalledFunction` is what a kernel calls. For each of them PTX text enters, and layers over the interpreter's functions
leave.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.interpreter.dtypes import dtype_of
from triton_lab.interpreter.exact_arithmetic import to_odd, two_sum
from triton_lab.interpreter.frame import Frame
from triton_lab.interpreter.op_registry import Implementation
from triton_lab.interpreter.runtime_values import Value
from triton_lab.interpreter.variants.ptx import PtxFunction, parse, special_unit
from triton_lab.ir import Op, Type, traits
from triton_lab.ir.traits import Accuracy

Array = NDArray[Any]

# By operator, or by the name without its dialect.
_TITLES = {"/": "division", "%": "remainder", "sqrt": "square root", "rsqrt": "reciprocal square root"}
_WIDE = ("f32", "f64")  # the types that Triton compiles functions for


@dataclass(frozen=True, order=True)
class CalledFunction:
    """A function that a kernel calls: the operation's name, a library's symbol, and element types in MLIR's words."""

    name: str
    symbol: str
    operands: tuple[str, ...]
    result: str

    @property
    def title(self) -> str:
        """What users call it: ``exp``, ``division``, ``tanh``."""
        if self.symbol:
            plain = self.symbol.removeprefix("__nv_")
            return plain.removesuffix("f") if self.result == "f32" else plain
        plain = self.name.partition(".")[2]
        return _TITLES.get(traits.of(self.name).symbol or plain, plain)


def called(op: Op, types: tuple[Type, ...]) -> CalledFunction | None:
    """The function that ``op`` calls, if a GPU approximates it; ``types`` are those of the function's values."""
    if traits.of(op.name).rounding.accuracy is not Accuracy.APPROXIMATE or len(op.results) != 1:
        return None
    operands, result = tuple(str(types[k].element) for k in op.operands), str(types[op.results[0]].element)
    if result not in _WIDE or not traits.known(op.name):
        return None
    return CalledFunction(op.name, str(op.attributes.get("symbol", "")), operands, result)


def as_ptx(texts: Mapping[CalledFunction, str]) -> Mapping[str, Callable[[Implementation], Implementation]]:
    """For each operation that calls these functions, a wrapper of the function that runs it: it runs these functions by
    their PTX and leaves all others as they are. Raises NotEmulated.
    """
    functions = {
        one: PtxFunction(parse(text), [_DTYPES[type] for type in (*one.operands, one.result)])
        for one, text in texts.items()
    }

    def layer(inner: Implementation) -> Implementation:
        def run(frame: Frame, op: Op, *operands: Value) -> Any:
            symbol = str(op.attributes.get("symbol", ""))
            kinds = tuple(str(frame.type(k).element) for k in op.operands)
            function = functions.get(CalledFunction(op.name, symbol, kinds, str(frame.result_type(op).element)))
            if function is None:
                return inner(frame, op, *operands)
            arrays = [frame.elements(op, k, value) for k, value in enumerate(operands)]
            return function(*arrays).astype(dtype_of(frame.result_type(op)), copy=False)

        return run

    return {one.name: layer for one in functions}


def fused_division() -> Mapping[str, Callable[[Implementation], Implementation]]:
    """Layers for quotients of float32 as a GPU computes them, each fused with the addition or subtraction after it: a
    quotient is a product with a reciprocal.
    """
    unrounded: dict[int, tuple[Array, Array]] = {}  # each division's last result, and its exact product

    def divide(inner: Implementation) -> Implementation:
        def run(frame: Frame, op: Op, *operands: Value) -> Any:
            x, y = (frame.elements(op, k, value) for k, value in enumerate(operands))
            if x.dtype != np.float32:
                return inner(frame, op, *operands)
            found = special_unit.divide_full(x, y)
            unrounded[op.results[0]] = found, special_unit.quotient(x, y)
            return found

        return run

    def add(sign: float) -> Callable[[Implementation], Implementation]:
        def layer(inner: Implementation) -> Implementation:
            def run(frame: Frame, op: Op, *operands: Value) -> Any:
                for position, number in enumerate(op.operands):
                    found, product = unrounded.get(number, (None, None))
                    if product is None or found is not operands[position]:
                        continue
                    other = frame.elements(op, 1 - position, operands[1 - position]).astype(np.float64)
                    terms = (product, sign * other) if position == 0 else (sign * product, other)
                    with np.errstate(all="ignore"):
                        total, error = two_sum(*np.broadcast_arrays(*terms))
                        return to_odd(total, np.where(np.isfinite(error), error, 0.0)).astype(np.float32)
                return inner(frame, op, *operands)

            return run

        return layer

    return {"arith.divf": divide, "arith.addf": add(1.0), "arith.subf": add(-1.0)}


_DTYPES = {
    "f32": np.dtype(np.float32),
    "f64": np.dtype(np.float64),
    **{f"i{bits}": np.dtype(f"i{bits // 8}") for bits in (8, 16, 32, 64)},
}
