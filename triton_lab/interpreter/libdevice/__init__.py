"""CUDA's math library on NumPy arrays, by the names of its symbols (``__nv_sinf``).

Integer operands and results are signless, as in the IR: functions of unsigned numbers take signed arrays and read their
bits as unsigned.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from numpy.typing import NDArray

from triton_lab.interpreter.libdevice import (
    directed_rounding,
    elementary_functions,
    integer_functions,
    min_max_functions,
)
from triton_lab.interpreter.op_registry import union

Array = NDArray[Any]

FUNCTIONS: Mapping[str, Callable[..., Array]] = union(
    elementary_functions.FUNCTIONS,
    directed_rounding.FUNCTIONS,
    integer_functions.FUNCTIONS,
    min_max_functions.FUNCTIONS,
)
