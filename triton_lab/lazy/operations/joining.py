"""Functions of several tensors: `where`, `cat` and `stack`."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from triton_lab.lazy.graph import JoinedAxis, LazyValue
from triton_lab.lazy.index_maps import Map
from triton_lab.lazy.operations.dispatch import FUNCTIONS
from triton_lab.lazy.operations.elementwise_methods import Operand, cast, refusing, trace
from triton_lab.lazy.operations.handle import Handle
from triton_lab.lazy.operations.make_tensor import Tensor, taken
from triton_lab.lazy.operations.torch_queries import Spec, ask
from triton_lab.lazy.storage import Storage
from triton_lab.localization import _


def where(condition: Tensor, input: Operand, other: Operand) -> Tensor:
    """`input` where `condition` (bool) holds, else `other`; all three broadcast.

    >>> t = lab.lazy.arange(4)
    >>> lab.lazy.where(t > 1, t, -1).tolist()
    [-1, -1, 2, 3]
    """
    if not isinstance(condition, Handle):
        raise TypeError(
            _("where needs a lazy tensor as its condition, not {type}").format(type=type(condition).__name__)
        )
    value = trace("where", condition, input, other)
    return Tensor(Storage(value, condition.device), Map.whole(value.shape))


def cat(tensors: Sequence[Tensor | torch.Tensor], dim: int = 0) -> Tensor:
    """The tensors concatenated along `dim`, in their common dtype.

    >>> lab.lazy.cat([lab.lazy.ones(2), lab.lazy.zeros(1)]).tolist()
    [1.0, 1.0, 0.0]
    """
    parts = taken("cat", tensors)
    specs = tuple(part.spec for part in parts)
    with refusing("cat", *specs):
        shape, dtype = ask(torch.cat, specs, dim)
    filled = [part for part in parts if part.numel()]
    values = tuple(cast(part._read(), dtype) for part in filled)
    if len(values) == 1:
        return filled[0]._fresh(values[0])
    if not values:  # all tensors are empty
        return parts[0].to(dtype)._fresh(cast(parts[0]._read(), dtype)).reshape(shape)
    return parts[0]._fresh(LazyValue("cat", values, shape, dtype, JoinedAxis(dim % len(shape))))


def stack(tensors: Sequence[Tensor | torch.Tensor], dim: int = 0) -> Tensor:
    """The tensors, all of one shape, stacked along a new dimension.

    >>> lab.lazy.stack([lab.lazy.ones(2), lab.lazy.zeros(2)]).tolist()
    [[1.0, 1.0], [0.0, 0.0]]
    """
    parts = taken("stack", tensors)
    specs: tuple[Spec, ...] = tuple(part.spec for part in parts)
    with refusing("stack", *specs):
        shape, _ = ask(torch.stack, specs, dim)
    at = dim % len(shape)
    return cat([part.unsqueeze(at) for part in parts], at)


FUNCTIONS.update({"cat": cat, "concat": cat, "concatenate": cat, "stack": stack})
