"""`tensor` makes lazy tensors; `where` is the one operation that has no tensor to be a method of."""

from __future__ import annotations

from typing import Any

import torch

from triton_lab.lazy.arithmetic import Operand, trace
from triton_lab.lazy.folding import Folding
from triton_lab.lazy.handle import Handle, storage_of
from triton_lab.lazy.inplace import InPlace
from triton_lab.lazy.maps import Map
from triton_lab.lazy.storage import Storage


class Tensor(InPlace, Folding):
    """A tensor whose operations are only noted, until `mark_step()` or a look at a value runs them."""


def tensor(
    data: Any,
    *,
    dtype: torch.dtype | None = None,
    device: torch.device | None = None,
    name: str | None = None,
) -> Tensor:
    """A lazy tensor with a copy of `data`: numbers, nested lists, a NumPy array, a torch tensor.

    It lives on `device`, else where `data` lives if that is a GPU, else where kernels run. Pictures call it
    `name`; a global variable of a notebook gives its tensor a name by itself. TypeError for dtypes other than
    bool, the integers to 64 bits, float16, bfloat16, float32 and float64.
    """
    return Tensor(*storage_of(data, dtype, device, name), name)


def where(condition: Tensor, yes: Operand, no: Operand) -> Tensor:
    """`yes` where `condition` (bool) holds, else `no`; all three broadcast."""
    if not isinstance(condition, Handle):
        raise TypeError(f"where takes a lazy tensor as its condition, not {type(condition).__name__}")
    value = trace("where", condition, yes, no)
    return Tensor(Storage(value, condition.device), Map.whole(value.shape))
