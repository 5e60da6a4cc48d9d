"""Asks torch about an operation when it is called: the shape and dtype of its result, or torch's error.

torch is asked twice. Tensors without memory (device "meta") give the shapes. But "meta" accepts operations that no
kernel of torch computes, such as `&` of floats or a product of two dtypes; so tensors of one element on the CPU show
whether the operation exists for these dtypes. Both answers are cached.
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
    """The shape and dtype of `function` of these arguments. Raises torch's own errors.

    A spec represents a tensor, a tuple of specs a list of tensors; other arguments are passed unchanged. `fill` is
    the value of the one-element tensors, where that matters (an index must be 0).
    """
    return _asked(torch.get_default_dtype(), function, fill, *arguments, **keywords)


def ask_of_elements(function: Callable[..., Any], *arguments: Any) -> Spec:
    """Like `ask`, for an elementwise operation, whose shape is the broadcast of its operands' shapes.

    The first operation on a tensor without memory imports torch's tracer, which imports sympy and torch's distributed
    tensors: eleven seconds. So such tensors are used only for an operation that fails, to get torch's error.
    """
    return _asked_of_elements(torch.get_default_dtype(), function, *arguments)


# torch promotes integers that meet a float to its default dtype: what is remembered holds for that one alone.
# Typed, since 1, 1.0 and True are three arguments. An expression of three operations takes a third less time so.


@functools.lru_cache(maxsize=4096, typed=True)
def _asked(_default: torch.dtype, function: Callable[..., Any], fill: int, *arguments: Any, **keywords: Any) -> Spec:
    try:
        answer = function(*(_twin(argument, _without_memory) for argument in arguments), **keywords)
    except AssertionError as error:  # before torch 2.13, "meta" raises this where a kernel raises an error for users
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
    """The common dtype of tensors (specs) and Python numbers."""
    return _meeting(torch.get_default_dtype(), *operands)


@functools.lru_cache(maxsize=4096, typed=True)
def _meeting(_default: torch.dtype, *operands: Any) -> torch.dtype:
    return torch.result_type(*(_twin(operand, _without_memory) for operand in operands))


def _twin(argument: Any, make: Callable[[Spec], torch.Tensor]) -> Any:
    """The stand-in for an argument: a tensor for a spec, a list of tensors for a tuple of specs, else the argument."""
    if isinstance(argument, tuple) and len(argument) == 2 and isinstance(argument[1], torch.dtype):
        return make(argument)
    if isinstance(argument, tuple) and argument and isinstance(argument[0], tuple):
        return [make(spec) for spec in argument]
    return argument


def _without_memory(spec: Spec) -> torch.Tensor:
    return torch.empty(spec[0], dtype=spec[1], device="meta")


def _small(spec: Spec, fill: int) -> torch.Tensor:
    """A tensor of size 1 in each dimension (0 where the spec's is 0), so that it broadcasts like the spec."""
    return torch.full([min(size, 1) for size in spec[0]], fill, dtype=spec[1], device="cpu")
