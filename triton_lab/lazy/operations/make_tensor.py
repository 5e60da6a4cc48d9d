"""`tensor`: makes a lazy tensor from data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch

from triton_lab.lazy.operations.along_dimension import Walking
from triton_lab.lazy.operations.dispatch import numpy_function, torch_function
from triton_lab.lazy.operations.elementwise_methods import _operand
from triton_lab.lazy.operations.handle import Handle, storage_of
from triton_lab.lazy.operations.inplace import InPlace
from triton_lab.localization import _


class Tensor(InPlace, Walking):
    """A tensor whose operations are recorded; `mark_step()`, or reading a value, runs them."""

    @classmethod
    def __torch_function__(
        cls,
        function: Any,
        types: Sequence[type],
        arguments: tuple[Any, ...] = (),
        keywords: Mapping[str, Any] | None = None,
    ) -> Any:
        """`torch.exp(x)` is `x.exp()`."""
        return torch_function(function, arguments, dict(keywords or {}))

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **keywords: Any) -> Any:
        """`array + x` is a lazy tensor; `array += x` looks at x, and writes into the array."""
        return numpy_function(ufunc, method, inputs, keywords)

    def __getattr__(self, name: str) -> Any:
        """Raise AttributeError, with advice for attributes that torch's tensors have and these lack."""
        if not name.startswith("__") and hasattr(torch.Tensor, name):
            raise AttributeError(
                _("lazy tensors have no {name}. x.torch().{name2} computes it outside of the graph").format(
                    name=repr(name), name2=name
                )
            )
        raise AttributeError(
            _("{type} object has no attribute {name}").format(type=repr(type(self).__name__), name=repr(name))
        )


def tensor(
    data: Any,
    *,
    dtype: torch.dtype | None = None,
    device: torch.device | str | None = None,
    name: str | None = None,
) -> Tensor:
    """A lazy tensor with a copy of `data`: numbers, nested lists, a NumPy array, a torch tensor.

    It is on `device`, else on the GPU of `data` if it is on one, else where kernels run. Pictures call it `name`; a
    global variable of a notebook names its tensor automatically. Raises TypeError for dtypes other than bool, the
    integers up to 64 bits, float16, bfloat16, float32 and float64; RuntimeError for a tensor that requires gradients.

    >>> t = lab.lazy.tensor([1.0, 2.0])
    >>> t.add_(1).tolist()
    [2.0, 3.0]
    >>> lab.lazy.tensor(torch.ones(2, requires_grad=True))
    Traceback (most recent call last):
        ...
    RuntimeError: lazy tensors have no gradients, but this tensor requires them. Pass x.detach(), or compute...
    """
    if isinstance(data, Handle):
        data = data.torch()
    where = None if device is None else torch.device(device)
    return Tensor(*storage_of(data, dtype, where, name), name)


def taken(name: str, tensors: Sequence[Any]) -> list[Tensor]:
    """Tensors on one device as operands of `name`; torch's and NumPy's become lazy."""
    near = next((operand for operand in tensors if isinstance(operand, Handle)), None)
    found = [_operand(name, operand, near) for operand in tensors]
    for operand in found:
        if not isinstance(operand, Handle):
            raise TypeError(_("{name} takes tensors, not {type}").format(name=name, type=type(operand).__name__))
    return [Tensor(operand.storage, operand.map) for operand in found if isinstance(operand, Handle)]
