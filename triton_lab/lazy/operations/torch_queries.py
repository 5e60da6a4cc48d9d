"""What torch says of an operation, asked at the call: the shape and dtype of its result, or its refusal.

torch is asked twice. Tensors without memory (device "meta") settle the shapes; but "meta" accepts what no kernel of
torch's computes, `&` of floats or a product of two dtypes, so tensors of one element on the CPU settle whether there
is such an operation on these dtypes. Both answers are remembered.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

Scalar = bool | int | float
Spec = tuple[tuple[int, ...], torch.dtype]


def ask(function: Callable[..., Any], *arguments: Any, fill: int = 1, **keywords: Any) -> Spec:
    """Shape and dtype of `function` of these arguments; torch's own errors.

    A spec stands for a tensor, a tuple of specs for a list of them; all else is handed on as it is. `fill` is what
    the tensors of one element hold, where that matters (an index must be 0).
    """
    return _asked(torch.get_default_dtype(), function, fill, *arguments, **keywords)


def ask_of_elements(function: Callable[..., Any], *arguments: Any) -> Spec:
    """The same of an operation on elements, whose shape is that in which its operands meet.

    The first such answer of a tensor without memory brings torch's tracer with it, and that sympy and torch's
    distributed tensors: eleven seconds at the first operation. So only what is refused is asked there, for its words.
    """
    return _asked_of_elements(torch.get_default_dtype(), function, *arguments)


# torch promotes integers that meet a float to its default dtype: what is remembered holds for that one alone.
# Typed, since 1, 1.0 and True are three arguments. An expression of three operations takes a third less time so.


@functools.lru_cache(maxsize=4096, typed=True)
def _asked(_default: torch.dtype, function: Callable[..., Any], fill: int, *arguments: Any, **keywords: Any) -> Spec:
    try:
        answer = function(*(_twin(argument, _without_memory) for argument in arguments), **keywords)
    except AssertionError as error:  # so "meta" says before torch 2.13 what a kernel says by an error for users
        _ask_a_kernel(function, fill, *arguments, **keywords)
        raise RuntimeError(str(error)) from None
    _ask_a_kernel(function, fill, *arguments, **keywords)
    return tuple(answer.shape), answer.dtype


@functools.lru_cache(maxsize=4096, typed=True)
def _asked_of_elements(default: torch.dtype, function: Callable[..., Any], *arguments: Any) -> Spec:
    try:
        shape = np.broadcast_shapes(*(argument[0] for argument in arguments if isinstance(argument, tuple)))
        dtype = _ask_a_kernel(function, 1, *arguments).dtype
    except Exception:
        return _asked(default, function, 1, *arguments)
    return tuple(shape), dtype


def _ask_a_kernel(function: Callable[..., Any], fill: int, *arguments: Any, **keywords: Any) -> Any:
    return function(*(_twin(argument, lambda spec: _small(spec, fill)) for argument in arguments), **keywords)


def meeting(*operands: Any) -> torch.dtype:
    """The dtype that tensors (specs) and Python numbers meet in."""
    return _meeting(torch.get_default_dtype(), *operands)


@functools.lru_cache(maxsize=4096, typed=True)
def _meeting(_default: torch.dtype, *operands: Any) -> torch.dtype:
    return torch.result_type(*(_twin(operand, _without_memory) for operand in operands))


def _twin(argument: Any, make: Callable[[Spec], torch.Tensor]) -> Any:
    """What stands in for an argument: a tensor for a spec, a list of tensors for a tuple of specs, else itself."""
    if isinstance(argument, tuple) and len(argument) == 2 and isinstance(argument[1], torch.dtype):
        return make(argument)
    if isinstance(argument, tuple) and argument and isinstance(argument[0], tuple):
        return [make(spec) for spec in argument]
    return argument


def _without_memory(spec: Spec) -> torch.Tensor:
    return torch.empty(spec[0], dtype=spec[1], device="meta")


def _small(spec: Spec, fill: int) -> torch.Tensor:
    """One element in as many dimensions, or none where the tensor has none; where two broadcast, so do these."""
    return torch.full([min(size, 1) for size in spec[0]], fill, dtype=spec[1], device="cpu")
