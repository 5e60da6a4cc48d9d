"""Functions as a GPU computes them, as a variant (see `arithmetic_variants`): by their PTX.

`Called` is what a kernel calls; for each of them PTX text enters, and a table of functions leaves.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from triton_lab.interpreter.dtypes import dtype_of
from triton_lab.interpreter.frame import Frame
from triton_lab.interpreter.op_registry import Implementation
from triton_lab.interpreter.runtime_values import Value
from triton_lab.interpreter.variants.arithmetic_variants import Table, ordinary
from triton_lab.interpreter.variants.ptx import Function, parse
from triton_lab.ir import Op, Type, traits
from triton_lab.ir.traits import Accuracy

_TITLES = {
    "arith.divf": "division",
    "tt.approx_divf": "division",
    "arith.remf": "remainder",
    "math.sqrt": "square root",
    "math.rsqrt": "reciprocal square root",
}
_WIDE = ("f32", "f64")  # the types that Triton compiles functions for


@dataclass(frozen=True, order=True)
class Called:
    """A function that a kernel calls: the operation's name, a library's symbol, and element types as MLIR writes them."""

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
        return _TITLES.get(self.name, self.name.partition(".")[2])


def called(op: Op, types: tuple[Type, ...]) -> Called | None:
    """The function that ``op`` calls, if a GPU approximates it; ``types`` are those of the function's values."""
    if traits.of(op.name).rounding.accuracy is not Accuracy.APPROXIMATE or len(op.results) != 1:
        return None
    operands, result = tuple(str(types[k].element) for k in op.operands), str(types[op.results[0]].element)
    if result not in _WIDE or not traits.known(op.name):
        return None
    return Called(op.name, str(op.attributes.get("symbol", "")), operands, result)


def as_ptx(texts: Mapping[Called, str]) -> Table:
    """The operations that call these functions, by their PTX; all others as they are. Raises NotEmulated."""
    functions = {
        one: Function(parse(text), [_DTYPES[type] for type in (*one.operands, one.result)])
        for one, text in texts.items()
    }

    def through(name: str) -> Implementation:
        def run(frame: Frame, op: Op, *operands: Value) -> Any:
            symbol = str(op.attributes.get("symbol", ""))
            kinds = tuple(str(frame.type(k).element) for k in op.operands)
            function = functions.get(Called(name, symbol, kinds, str(frame.result_type(op).element)))
            if function is None:
                return ordinary(name)(frame, op, *operands)
            arrays = [frame.elements(op, k, value) for k, value in enumerate(operands)]
            return function(*arrays).astype(dtype_of(frame.result_type(op)), copy=False)

        return run

    return {name: through(name) for name in {one.name for one in functions}}


_DTYPES = {
    "f32": np.dtype(np.float32),
    "f64": np.dtype(np.float64),
    **{f"i{bits}": np.dtype(f"i{bits // 8}") for bits in (8, 16, 32, 64)},
}
