"""The base of every lazy tensor: a storage, read through an index map.

Reading puts a `view` of the storage's value into the graph. Writing makes a new value of the *base* (an `update` of
the elements in the map) and puts it into the storage, so that every alias reads it. That is all of in-place
operations ("functionalisation"): below this file no value is written twice.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, overload

import numpy as np
import numpy.typing as npt
import torch

from triton_lab.lazy.buffer import ValueBuffer, allocate
from triton_lab.lazy.graph import LazyValue, kept, short
from triton_lab.lazy.index_maps import Map
from triton_lab.lazy.operations.torch_queries import Spec
from triton_lab.lazy.step import look
from triton_lab.lazy.storage import Storage, default_device, lock
from triton_lab.localization import _

if TYPE_CHECKING:
    from typing_extensions import Self

DTYPES = (
    torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64,
    torch.float16, torch.bfloat16, torch.float32, torch.float64,
)  # fmt: skip


class Handle:
    """A storage read through an index map: shape, dtype, and conversions."""

    def __init__(self, storage: Storage, view: Map, name: str | None = None):
        self.storage = storage
        self.map = view
        self.name = name
        self.variable: str | None = None  # the global variable that holds it (`variable_names`)
        storage.add(self)

    # -- properties ---------------------------------------------------------------------------------------------

    @property
    def shape(self) -> tuple[int, ...]:
        return self.map.shape

    @property
    def dtype(self) -> torch.dtype:
        return self.storage.value.dtype

    @property
    def device(self) -> torch.device:
        return self.storage.device

    @property
    def ndim(self) -> int:
        return len(self.map.shape)

    @property
    def spec(self) -> Spec:
        """Shape and dtype, as `torch_queries` passes them to torch."""
        return self.map.shape, self.storage.value.dtype

    @property
    def label(self) -> str:
        """The tensor's name in pictures and messages."""
        return self.known_as or _("a tensor without a name")

    @property
    def known_as(self) -> str | None:
        """The given name, else the variable that holds it."""
        return self.name or self.variable

    def numel(self) -> int:
        """The number of elements.

        >>> lab.lazy.zeros(2, 3).numel()
        6
        """
        return self.map.numel

    @overload
    def size(self) -> tuple[int, ...]: ...

    @overload
    def size(self, dim: int) -> int: ...

    def size(self, dim: int | None = None) -> tuple[int, ...] | int:
        """The shape, or the size of one dimension."""
        return self.shape if dim is None else self.shape[self._dimension(dim)]

    def dim(self) -> int:
        return self.ndim

    def element_size(self) -> int:
        return self.dtype.itemsize

    @overload
    def stride(self) -> tuple[int, ...]: ...

    @overload
    def stride(self, dim: int) -> int: ...

    def stride(self, dim: int | None = None) -> tuple[int, ...] | int:
        """The strides in elements, or the stride of one dimension."""
        return self.map.strides if dim is None else self.map.strides[self._dimension(dim)]

    @property
    def requires_grad(self) -> bool:
        """False: lazy tensors have no gradients."""
        return False

    def requires_grad_(self, requires_grad: bool = True) -> Self:
        """Accepts only False. Raises RuntimeError otherwise."""
        if requires_grad:
            raise RuntimeError(_("lazy tensors have no gradients. Compute them with torch, on x.torch()"))
        return self

    def detach(self) -> Self:
        """The same tensor as another Python object."""
        return type(self)(self.storage, self.map)

    def _dimension(self, dim: int) -> int:
        if not -self.ndim <= dim < self.ndim:
            raise IndexError(_("a tensor of {ndim} dimensions has no dimension {dim}").format(ndim=self.ndim, dim=dim))
        return dim % self.ndim

    def storage_offset(self) -> int:
        return self.map.offset

    def is_contiguous(self) -> bool:
        return self.map.dims in ((), ((self.map.numel, 1),))

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError(_("len() of a tensor with no dimensions"))
        return self.shape[0]

    # -- into and out of the graph ------------------------------------------------------------------------------

    def _read(self, shape: tuple[int, ...] | None = None) -> LazyValue:
        """This tensor's present value, broadcast to `shape`."""
        own = self.map
        seen = own if shape is None or shape == own.shape else Map.of(own.twin().expand(shape))
        base = self.storage.value
        if seen.shape == base.shape and seen.covers(self.storage.numel):
            return base
        return LazyValue("view", (base,), seen.shape, base.dtype, seen)

    def _write(self, value: LazyValue) -> None:
        """Write a value of this tensor's shape and dtype through its map. Raises RuntimeError if elements overlap."""
        if self.map.repeats:
            raise RuntimeError(
                _(
                    "{label} is expanded: several of its elements share one place in memory, so it cannot be "
                    "written in place. Write to its .clone()."
                ).format(label=self.label)
            )
        base = self.storage.value
        if value.shape == base.shape and self.map.covers(self.storage.numel):
            self.storage.value = value
        else:
            self.storage.value = LazyValue("update", (base, value), base.shape, base.dtype, self.map)

    def _fresh(self, value: LazyValue) -> Self:
        """A new tensor with a storage of its own."""
        return type(self)(Storage(value, self.device), Map.whole(value.shape))

    def _alias(self, change: Callable[[torch.Tensor], torch.Tensor]) -> Self:
        """A new tensor on the same storage, as torch's view operation `change` maps it."""
        return type(self)(self.storage, Map.of(change(self.map.twin())))

    def _aliases(self, change: Callable[[torch.Tensor], tuple[torch.Tensor, ...]]) -> tuple[Self, ...]:
        """New tensors on the same storage, as torch's view operation `change` maps them."""
        return tuple(type(self)(self.storage, Map.of(twin)) for twin in change(self.map.twin()))

    def __copy__(self) -> Self:
        """Another tensor on the same storage, as in torch."""
        return type(self)(self.storage, self.map, self.name)

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """The same values in a storage of its own; copies of tensors that share a storage share one, too."""
        return type(self)(copy.deepcopy(self.storage, memo), self.map, self.name)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.storage, self.map, self.name)

    # -- reading ------------------------------------------------------------------------------------------------

    def torch(self) -> torch.Tensor:
        """A copy of the values as a torch tensor, which shares no lazy buffer. Runs a step.

        >>> lab.lazy.ones(2).torch()
        tensor([1., 1.])
        """
        with lock:
            memory = look(self.storage)
            return memory.as_strided(self.shape, self.map.strides, self.map.offset).clone(
                memory_format=torch.contiguous_format
            )

    def numpy(self) -> npt.NDArray[Any]:
        """A copy of the values as a NumPy array. Raises TypeError for bfloat16, which NumPy lacks."""
        return self.torch().cpu().numpy()

    def item(self) -> bool | int | float:
        """The only element as a Python number."""
        return self.torch().item()

    def tolist(self) -> Any:
        """The values as nested lists."""
        return self.torch().tolist()

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> npt.NDArray[Any]:
        return np.asarray(self.numpy(), dtype=dtype)

    def __bool__(self) -> bool:
        return bool(self.torch())

    def __int__(self) -> int:
        return int(self.torch())

    def __float__(self) -> float:
        return float(self.torch())

    def __repr__(self) -> str:
        return repr(self.torch()).replace("tensor(", "lazy(", 1)

    def __format__(self, spec: str) -> str:
        return format(self.item() if not self.shape else repr(self), spec)


def storage_of(
    data: Any, dtype: torch.dtype | None, device: torch.device | None, name: str | None
) -> tuple[Storage, Map]:
    """A new storage with a copy of `data` (numbers, lists, NumPy, torch), and a map with its strides.

    A dense tensor keeps its strides (a transposed matrix stays transposed); one with gaps or overlaps becomes
    contiguous. Raises TypeError for dtypes that kernels cannot hold, RuntimeError for a tensor that requires
    gradients.
    """
    source = data if isinstance(data, torch.Tensor) else torch.as_tensor(data)
    if source.requires_grad and torch.is_grad_enabled():
        raise RuntimeError(
            _(
                "lazy tensors have no gradients, but this tensor requires them. Pass x.detach(), or "
                "compute under torch.no_grad()"
            )
        )
    source = source.detach()
    if dtype is not None:
        source = source.to(dtype)
    if source.dtype not in DTYPES:
        raise TypeError(
            _("lazy tensors hold {dtypes}; this tensor has {dtype}").format(
                dtypes=", ".join(map(short, DTYPES)), dtype=short(source.dtype)
            )
        )
    where = device or (default_device() if source.device.type == "cpu" else source.device)
    order = sorted(range(source.dim()), key=source.stride().__getitem__, reverse=True)
    arranged = source.permute(order)
    if not arranged.is_contiguous():
        arranged, order = source, list(range(source.dim()))
    memory = allocate(source.numel(), source.dtype, where)
    memory.view(arranged.shape).copy_(arranged)
    buffer = ValueBuffer(memory, name)
    base = tuple(arranged.shape)
    back = sorted(range(len(order)), key=order.__getitem__)
    return Storage(kept(buffer, base), where), Map.of(Map.whole(base).twin().permute(back))
