"""Tensors without input data: kernels compute constants and ranges, torch's generator draws random numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from triton_lab.lazy import elementwise_table
from triton_lab.lazy.graph import LazyValue
from triton_lab.lazy.index_maps import Map
from triton_lab.lazy.operations.dispatch import FUNCTIONS
from triton_lab.lazy.operations.handle import DTYPES
from triton_lab.lazy.operations.indexing import flat
from triton_lab.lazy.operations.make_tensor import Tensor, tensor
from triton_lab.lazy.operations.torch_queries import Scalar
from triton_lab.lazy.storage import Storage, default_device
from triton_lab.localization import _

Size = int | tuple[int, ...]
Device = torch.device | str | None


def full(size: Size, fill_value: Scalar, *, dtype: torch.dtype | None = None, device: Device = None) -> Tensor:
    """A tensor of `fill_value`. Raises torch's errors for sizes and numbers that do not fit.

    >>> lab.lazy.full((2,), 7).tolist()
    [7, 7]
    """
    shape = flat((size,))
    torch.empty(shape, device="meta")  # torch's own error for a negative size
    made = torch.full([1], fill_value, dtype=dtype).dtype
    if made not in DTYPES:
        raise TypeError(_("lazy tensors cannot hold {made}").format(made=made))
    return _fresh(LazyValue("constant", (), shape, made, elementwise_table.constant(fill_value, made, "full")), device)


def zeros(*size: Size, dtype: torch.dtype | None = None, device: Device = None) -> Tensor:
    """A tensor of zeros.

    >>> lab.lazy.zeros(2, 3).shape
    (2, 3)
    """
    return full(flat(size), 0, dtype=dtype or torch.get_default_dtype(), device=device)


def ones(*size: Size, dtype: torch.dtype | None = None, device: Device = None) -> Tensor:
    """A tensor of ones.

    >>> lab.lazy.ones(2, dtype=torch.int32).tolist()
    [1, 1]
    """
    return full(flat(size), 1, dtype=dtype or torch.get_default_dtype(), device=device)


def arange(
    start: Scalar,
    end: Scalar | None = None,
    step: Scalar = 1,
    *,
    dtype: torch.dtype | None = None,
    device: Device = None,
) -> Tensor:
    """The numbers from `start` up to `end`, exclusive, in steps; `arange(n)` starts at 0.

    >>> lab.lazy.arange(2, 8, 2).tolist()
    [2, 4, 6]
    """
    first, last = (0, start) if end is None else (start, end)
    like = torch.arange(first, last, step, dtype=dtype, device="meta")
    index = _fresh(LazyValue("index", (), tuple(like.shape), torch.int64), device)
    if not like.dtype.is_floating_point:
        return (index * int(step) + int(first)).to(like.dtype)
    # torch computes start + i * step in double precision on the CPU.
    return (index.to(torch.float64) * float(step) + float(first)).to(like.dtype)


def zeros_like(input: Tensor, *, dtype: torch.dtype | None = None) -> Tensor:
    """Zeros in the shape, dtype and place of another tensor.

    >>> lab.lazy.zeros_like(lab.lazy.ones(2)).tolist()
    [0.0, 0.0]
    """
    return full_like(input, 0, dtype=dtype)


def ones_like(input: Tensor, *, dtype: torch.dtype | None = None) -> Tensor:
    """Ones in the shape, dtype and place of another tensor.

    >>> lab.lazy.ones_like(lab.lazy.zeros(2)).tolist()
    [1.0, 1.0]
    """
    return full_like(input, 1, dtype=dtype)


def full_like(input: Tensor, fill_value: Scalar, *, dtype: torch.dtype | None = None) -> Tensor:
    """A tensor of `fill_value` in the shape, dtype and place of another.

    >>> lab.lazy.full_like(lab.lazy.zeros(2), 7).tolist()
    [7.0, 7.0]
    """
    return full(input.shape, fill_value, dtype=dtype or input.dtype, device=input.device)


def rand(*size: Size, dtype: torch.dtype | None = None, device: Device = None) -> Tensor:
    """Uniform random numbers in [0, 1). torch draws them on the CPU, so `torch.manual_seed` applies.

    >>> generator = torch.manual_seed(0)
    >>> drawn = lab.lazy.rand(3)
    >>> generator = torch.manual_seed(0)
    >>> torch.equal(drawn.torch(), torch.rand(3))
    True
    """
    return _drawn(torch.rand, flat(size), dtype=dtype, device=device)


def randn(*size: Size, dtype: torch.dtype | None = None, device: Device = None) -> Tensor:
    """Normally distributed random numbers. torch draws them on the CPU, so `torch.manual_seed` applies.

    >>> lab.lazy.randn(2, 3).shape
    (2, 3)
    """
    return _drawn(torch.randn, flat(size), dtype=dtype, device=device)


def randint(
    low: int, high: int, size: tuple[int, ...], *, dtype: torch.dtype = torch.int64, device: Device = None
) -> Tensor:
    """Random integers from `low` to `high`, exclusive, which torch draws on the CPU.

    >>> lab.lazy.randint(5, 6, (3,)).tolist()
    [5, 5, 5]
    """
    return _drawn(torch.randint, low, high, size, dtype=dtype, device=device)


def rand_like(input: Tensor, *, dtype: torch.dtype | None = None) -> Tensor:
    """`rand` in the shape, dtype and place of another tensor.

    >>> lab.lazy.rand_like(lab.lazy.ones(2, 3)).shape
    (2, 3)
    """
    return rand(input.shape, dtype=dtype or input.dtype, device=input.device)


def randn_like(input: Tensor, *, dtype: torch.dtype | None = None) -> Tensor:
    """`randn` in the shape, dtype and place of another tensor.

    >>> lab.lazy.randn_like(lab.lazy.ones(2, 3)).dtype
    torch.float32
    """
    return randn(input.shape, dtype=dtype or input.dtype, device=input.device)


def _fresh(value: LazyValue, device: Device) -> Tensor:
    where = default_device() if device is None else torch.device(device)
    return Tensor(Storage(value, where), Map.whole(value.shape))


def _drawn(draw: Callable[..., torch.Tensor], *arguments: Any, dtype: torch.dtype | None, device: Device) -> Tensor:
    where = None if device is None else torch.device(device)
    return tensor(draw(*arguments, dtype=dtype, device="cpu"), device=where)


FUNCTIONS.update({each.__name__: each for each in (zeros_like, ones_like, full_like, rand_like, randn_like)})
