"""The elementwise operations: what torch calls them, and how a kernel writes them.

Torch itself decides shapes, dtypes and errors: each operation is tried once on tensors without memory (device
"meta") and the answer remembered. A kernel computes in `compute` dtype; 16-bit floats are widened for each
operation and rounded after it, as torch does, so that fusing does not change results.
"""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

from triton_lab.lazy.graph import Constant

Scalar = bool | int | float
Spec = tuple[tuple[int, ...], torch.dtype]


@dataclass(frozen=True)
class Elementwise:
    """One operation: `torch` computes it, `triton` writes it, with {0}, {1}, {2} for the operands."""

    torch: Callable[..., torch.Tensor]
    triton: str
    floating: bool = False  # integers are computed as floats (exp, division)
    compares: bool = False  # the result is bool, the operands meet in their common dtype


def _where(condition: Any, yes: Any, no: Any) -> torch.Tensor:
    return torch.where(condition, yes, no)


def _pick(pick: Callable[..., torch.Tensor]) -> Callable[..., torch.Tensor]:
    """torch.maximum and minimum take no Python numbers; ours do, under the usual promotion."""

    def picked(first: Any, second: Any) -> torch.Tensor:
        dtype = torch.result_type(first, second)
        both = [x if isinstance(x, torch.Tensor) else torch.empty((), device="meta") for x in (first, second)]
        return pick(both[0].to(dtype), both[1].to(dtype))

    return picked


ELEMENTWISE: dict[str, Elementwise] = {
    "add": Elementwise(operator.add, "{0} + {1}"),
    "sub": Elementwise(operator.sub, "{0} - {1}"),
    "mul": Elementwise(operator.mul, "{0} * {1}"),
    "div": Elementwise(operator.truediv, "{0} / {1}", floating=True),
    "neg": Elementwise(operator.neg, "-{0}"),
    "abs": Elementwise(torch.abs, "tl.abs({0})"),
    "exp": Elementwise(torch.exp, "tl.exp({0})", floating=True),
    "log": Elementwise(torch.log, "tl.log({0})", floating=True),
    "sin": Elementwise(torch.sin, "tl.sin({0})", floating=True),
    "cos": Elementwise(torch.cos, "tl.cos({0})", floating=True),
    "sqrt": Elementwise(torch.sqrt, "tl.sqrt({0})", floating=True),
    "sigmoid": Elementwise(torch.sigmoid, "tl.sigmoid({0})", floating=True),
    "maximum": Elementwise(_pick(torch.maximum), "tl.maximum({0}, {1}, propagate_nan=tl.PropagateNan.ALL)"),
    "minimum": Elementwise(_pick(torch.minimum), "tl.minimum({0}, {1}, propagate_nan=tl.PropagateNan.ALL)"),
    "and": Elementwise(operator.and_, "{0} & {1}"),
    "or": Elementwise(operator.or_, "{0} | {1}"),
    "xor": Elementwise(operator.xor, "{0} ^ {1}"),
    "not": Elementwise(operator.invert, "~{0}"),
    "lt": Elementwise(operator.lt, "{0} < {1}", compares=True),
    "le": Elementwise(operator.le, "{0} <= {1}", compares=True),
    "gt": Elementwise(operator.gt, "{0} > {1}", compares=True),
    "ge": Elementwise(operator.ge, "{0} >= {1}", compares=True),
    "eq": Elementwise(operator.eq, "{0} == {1}", compares=True),
    "ne": Elementwise(operator.ne, "{0} != {1}", compares=True),
    "where": Elementwise(_where, "tl.where({0}, {1}, {2})"),
    "cast": Elementwise(torch.clone, "{0}"),
}

# One dtype at a time: the forms that differ from the table's.
ON_BOOL = {"add": "{0} | {1}", "mul": "{0} & {1}", "maximum": "{0} | {1}", "minimum": "{0} & {1}"}
ON_FLOAT = {"neg": "{0} * -1.0"}  # `-x` is 0 - x in Triton, which loses the sign of zero
ON_FLOAT32 = {"div": "tl.div_rn({0}, {1})", "sqrt": "tl.sqrt_rn({0})"}  # `/` and tl.sqrt may be off by one bit
HALVES = (torch.float16, torch.bfloat16)
EXACT_IN_HALF = {"neg", "abs", "maximum", "minimum", "where", "lt", "le", "gt", "ge", "eq", "ne"}


def result(name: str, *operands: Spec | type) -> Spec:
    """Shape and dtype of an operation on tensors (specs) and Python numbers (types). torch's own errors.

    Only the type of a number matters to torch's promotion, so one stands for all.
    """
    return _result(torch.get_default_dtype(), name, *operands)


def computed_in(name: str, *operands: Spec | type) -> torch.dtype:
    """The dtype that the operands meet in before the operation (for "where": its two choices)."""
    if not ELEMENTWISE[name].compares:
        return result(name, *operands)[1]
    return _common(torch.get_default_dtype(), *operands)


# torch promotes integers that meet a float to its default dtype: what is remembered holds for that one alone.


@functools.lru_cache(maxsize=4096)
def _result(_default: torch.dtype, name: str, *operands: Spec | type) -> Spec:
    answer = ELEMENTWISE[name].torch(*_twins(operands))
    return tuple(answer.shape), answer.dtype


@functools.lru_cache(maxsize=4096)
def _common(_default: torch.dtype, *operands: Spec | type) -> torch.dtype:
    return torch.result_type(*_twins(operands))


def _twins(operands: tuple[Spec | type, ...]) -> list[Any]:
    """What has their types, and no memory."""
    return [
        operand(1) if isinstance(operand, type) else torch.empty(operand[0], dtype=operand[1], device="meta")
        for operand in operands
    ]


def check_inplace(name: str, target: Spec, *operands: Spec | type) -> None:
    """Raise torch's error if the result of `name` cannot be written into `target` (shape or dtype)."""
    shape, dtype = result(name, target, *operands)
    if not torch.can_cast(dtype, target[1]):
        raise RuntimeError(f"result type {_name(dtype)} can't be written into a tensor of type {_name(target[1])}")
    if shape != target[0]:
        raise RuntimeError(f"a result of shape {shape} can't be written into a tensor of shape {target[0]}")


def _name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def widens(name: str, dtype: torch.dtype) -> bool:
    """True if the operation on this dtype is computed in float32 and rounded afterwards, as torch does it."""
    return dtype in HALVES and name not in EXACT_IN_HALF


def written(name: str, dtype: torch.dtype, operands: list[str]) -> str:
    """The operation as Triton source, on operands of this dtype (16-bit floats that `widens`: of float32)."""
    pattern = ELEMENTWISE[name].triton
    if dtype == torch.bool:
        pattern = ON_BOOL.get(name, pattern)
    if dtype.is_floating_point:
        pattern = ON_FLOAT.get(name, pattern)
    if dtype == torch.float32 or widens(name, dtype):
        pattern = ON_FLOAT32.get(name, pattern)
    return pattern.format(*operands)


def constant(number: Scalar, dtype: torch.dtype, name: str) -> Constant:
    """A Python number as an operand of `name`, computed in `dtype`: what torch makes of it, readably."""
    if dtype == torch.bool:
        return Constant(str(bool(number)))
    if not dtype.is_floating_point:
        return Constant(str(int(torch.tensor(number).to(dtype))))  # wraps, as torch does
    if widens(name, dtype):
        dtype = torch.float32
    rounded = float(torch.tensor(float(number), dtype=dtype))
    # The kernel rounds to `dtype` by itself: 0.1 stays 0.1. Only what it could not write is rounded here.
    return Constant(repr(float(number) if math.isfinite(rounded) and dtype not in HALVES else rounded))
