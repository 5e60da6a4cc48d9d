"""The elementwise operations: torch's name for each, and how a kernel writes it.

torch itself decides shapes, dtypes and errors (`operations/torch_queries`). 16-bit floats are widened for each
operation and rounded after it, as in torch, so that fusion does not change results.
"""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

from triton_lab.lazy.graph import Constant, short
from triton_lab.lazy.operations.torch_queries import Scalar, Spec, ask_of_elements, meeting


@dataclass(frozen=True)
class Elementwise:
    """One operation: `torch` computes it; `triton` is its text, with {0}, {1}, {2} for the operands."""

    torch: Callable[..., torch.Tensor]
    triton: str
    inplace: str = ""  # torch's method that writes the result into the first operand
    compares: bool = False  # the result is bool; the operands are converted to their common dtype


def _where(condition: Any, yes: Any, no: Any) -> torch.Tensor:
    return torch.where(condition, yes, no)


def _pick(pick: Callable[..., torch.Tensor]) -> Callable[..., torch.Tensor]:
    """torch.maximum and minimum accept no Python numbers; ours do, with the usual promotion."""

    def picked(first: Any, second: Any) -> torch.Tensor:
        dtype = torch.result_type(first, second)
        device = (first if isinstance(first, torch.Tensor) else second).device
        both = (x if isinstance(x, torch.Tensor) else torch.empty((), device=device) for x in (first, second))
        return pick(*(x.to(dtype) for x in both))

    return picked


ELEMENTWISE: dict[str, Elementwise] = {
    "add": Elementwise(operator.add, "{0} + {1}", "add_"),
    "sub": Elementwise(operator.sub, "{0} - {1}", "sub_"),
    "mul": Elementwise(operator.mul, "{0} * {1}", "mul_"),
    "div": Elementwise(operator.truediv, "{0} / {1}", "div_"),
    "floordiv": Elementwise(operator.floordiv, "floor_quotient({0}, {1})", "floor_divide_"),
    "remainder": Elementwise(operator.mod, "remainder({0}, {1})", "remainder_"),
    "neg": Elementwise(operator.neg, "-{0}", "neg_"),
    "abs": Elementwise(torch.abs, "tl.abs({0})", "abs_"),
    "exp": Elementwise(torch.exp, "tl.exp({0})", "exp_"),
    "log": Elementwise(torch.log, "tl.log({0})", "log_"),
    "sin": Elementwise(torch.sin, "tl.sin({0})", "sin_"),
    "cos": Elementwise(torch.cos, "tl.cos({0})", "cos_"),
    "tanh": Elementwise(torch.tanh, "libdevice.tanh({0})", "tanh_"),
    "sqrt": Elementwise(torch.sqrt, "tl.sqrt({0})", "sqrt_"),
    "rsqrt": Elementwise(torch.rsqrt, "tl.rsqrt({0})", "rsqrt_"),
    "sigmoid": Elementwise(torch.sigmoid, "tl.sigmoid({0})", "sigmoid_"),
    "maximum": Elementwise(_pick(torch.maximum), "tl.maximum({0}, {1}, propagate_nan=tl.PropagateNan.ALL)"),
    "minimum": Elementwise(_pick(torch.minimum), "tl.minimum({0}, {1}, propagate_nan=tl.PropagateNan.ALL)"),
    "and": Elementwise(operator.and_, "{0} & {1}", "__iand__"),
    "or": Elementwise(operator.or_, "{0} | {1}", "__ior__"),
    "xor": Elementwise(operator.xor, "{0} ^ {1}", "__ixor__"),
    "not": Elementwise(operator.invert, "~{0}", "bitwise_not_"),
    "lt": Elementwise(operator.lt, "{0} < {1}", compares=True),
    "le": Elementwise(operator.le, "{0} <= {1}", compares=True),
    "gt": Elementwise(operator.gt, "{0} > {1}", compares=True),
    "ge": Elementwise(operator.ge, "{0} >= {1}", compares=True),
    "eq": Elementwise(operator.eq, "{0} == {1}", compares=True),
    "ne": Elementwise(operator.ne, "{0} != {1}", compares=True),
    "where": Elementwise(_where, "tl.where({0}, {1}, {2})"),
    "cast": Elementwise(torch.clone, "{0}"),
}

# Dtypes whose text differs from the table's.
ON_BOOL = {"add": "{0} | {1}", "mul": "{0} & {1}", "maximum": "{0} | {1}", "minimum": "{0} & {1}"}
ON_FLOAT = {
    "neg": "{0} * -1.0",  # Triton computes `-x` as 0 - x, which loses the sign of zero
    "floordiv": "floor_quotient_of_floats({0}, {1}, tl.{kind})",
    "remainder": "remainder_of_floats({0}, {1})",
}
ON_FLOAT32 = {"div": "tl.div_rn({0}, {1})", "sqrt": "tl.sqrt_rn({0})"}  # `/` and tl.sqrt may be off by one bit
_SURELY_FINITE = 1e38  # in float32
HALVES = (torch.float16, torch.bfloat16)
EXACT_IN_HALF = {"neg", "abs", "maximum", "minimum", "where", "lt", "le", "gt", "ge", "eq", "ne"}


def result(name: str, *operands: Spec | Scalar) -> Spec:
    """The shape and dtype of an operation on tensors (specs) and Python numbers. Raises torch's own errors."""
    return ask_of_elements(ELEMENTWISE[name].torch, *operands)


def result_and_operands(name: str, *operands: Spec | Scalar) -> tuple[tuple[int, ...], torch.dtype, torch.dtype]:
    """The shape and dtype of `result`, and the operands' common dtype before it (for "where": of its two choices)."""
    return _result_and_operands(torch.get_default_dtype(), name, *operands)


@functools.lru_cache(maxsize=4096, typed=True)
def _result_and_operands(
    _default: torch.dtype, name: str, *operands: Spec | Scalar
) -> tuple[tuple[int, ...], torch.dtype, torch.dtype]:
    shape, dtype = result(name, *operands)
    return shape, dtype, meeting(*operands) if ELEMENTWISE[name].compares else dtype


def widens(name: str, dtype: torch.dtype) -> bool:
    """Whether the operation on this dtype is computed in float32 and then rounded, as in torch."""
    return dtype in HALVES and name not in EXACT_IN_HALF


def written(name: str, dtype: torch.dtype, operands: list[str]) -> str:
    """The operation as Triton source, for operands of this dtype (in float32, for 16-bit floats that `widens`)."""
    pattern = ELEMENTWISE[name].triton
    if dtype == torch.bool:
        pattern = ON_BOOL.get(name, pattern)
    if dtype.is_floating_point:
        pattern = ON_FLOAT.get(name, pattern)
    if dtype == torch.float32 or widens(name, dtype):
        pattern = ON_FLOAT32.get(name, pattern)
    return pattern.format(*operands, kind=short(dtype))


def constant(number: Scalar, dtype: torch.dtype, name: str) -> Constant:
    """A Python number as an operand of `name`, computed in `dtype`: torch's value for it, in readable form."""
    if dtype == torch.bool:
        return Constant.of(str(bool(number)))
    if not dtype.is_floating_point:
        return Constant.of(str(int(torch.tensor(number).to(dtype))))  # wraps around, as in torch
    if dtype in (torch.float32, torch.float64) and abs(number) < _SURELY_FINITE:
        return Constant.of(repr(float(number)))
    if widens(name, dtype):
        dtype = torch.float32
    rounded = float(torch.tensor(float(number), dtype=dtype))
    # The kernel itself rounds to `dtype`, so 0.1 stays 0.1. A number is rounded here only if the kernel could not
    # write it.
    return Constant.of(repr(float(number) if math.isfinite(rounded) and dtype not in HALVES else rounded))
