"""The outcome of an answer with its arguments, as its judge sees it: from this process or from one of its own.

Tensors keep the addresses of the process that answered: its launches use them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.course.answer_fault import AnswerFault

if TYPE_CHECKING:
    import torch

    from triton_lab.launch.launch import Launch

Bytes = NDArray[np.uint8]


@dataclass(frozen=True, eq=False)
class Placed:
    """A tensor, and ``start``, the address of its storage in the process that answered."""

    tensor: torch.Tensor
    start: int

    @classmethod
    def of(cls, tensor: torch.Tensor) -> Placed:
        """A tensor of this process."""
        return cls(tensor, tensor.untyped_storage().data_ptr())

    @property
    def address(self) -> int:
        """The address of its first element."""
        return self.start + int(self.tensor.storage_offset()) * self.tensor.element_size()

    @property
    def stop(self) -> int:
        """The address just past its storage."""
        return self.start + self.tensor.untyped_storage().nbytes()

    def holding(self, data: Bytes) -> torch.Tensor:
        """The same view of a storage with other bytes, of the same number."""
        import torch

        own = self.tensor
        if not len(data):
            return own
        raw = torch.from_numpy(np.array(data[: len(data) // own.element_size() * own.element_size()]))
        return raw.view(own.dtype).as_strided(own.shape, own.stride(), own.storage_offset())

    @cached_property
    def inside(self) -> NDArray[np.bool_]:
        """Whether each byte of its storage belongs to one of its elements."""
        own = self.tensor
        flags = np.zeros(own.untyped_storage().nbytes(), np.bool_)
        if own.numel():
            size = own.element_size()
            first = own.storage_offset() * size
            steps = (*(step * size for step in own.stride()), 1)
            np.lib.stride_tricks.as_strided(flags[first:], (*own.shape, size), steps)[...] = True
        return flags


@dataclass(frozen=True)
class Other:
    """A value that should be a tensor and is not: the name of its type."""

    kind: str


@dataclass(frozen=True, eq=False)
class Attempt:
    """The outcome of one call.

    It has the arguments by name as they are afterwards (tensors `Placed`), the returned values ``given``, the launches,
    and the ``fault`` of a call that raised, or of an answer that cannot be called.
    """

    inputs: Mapping[str, Any]
    given: Sequence[Placed | Other] = ()
    launches: Sequence[Launch] = ()
    fault: AnswerFault | None = None

    @cached_property
    def tensors(self) -> dict[str, Placed]:
        """The arguments that are tensors."""
        return {name: value for name, value in self.inputs.items() if isinstance(value, Placed)}


@dataclass(frozen=True, eq=False)
class Inputs(Mapping[str, Any]):
    """The arguments of a call, for requirements on its work.

    ``starts`` are the addresses of the storages that hold an argument's elements, by name: its own, and those of
    copies.
    """

    values_: Mapping[str, Any]
    starts: Mapping[str, Collection[int]] = field(default_factory=dict)

    def __getitem__(self, name: str) -> Any:
        return self.values_[name]

    def __iter__(self) -> Any:
        return iter(self.values_)

    def __len__(self) -> int:
        return len(self.values_)


def bytes_of(tensor: torch.Tensor) -> Bytes:
    """A copy of the tensor's storage, including the bytes around a view."""
    import torch

    whole: Bytes = torch.empty(0, dtype=torch.uint8).set_(tensor.untyped_storage()).numpy().copy()
    return whole


def surrounded(tensor: torch.Tensor) -> Bytes:
    """The bytes of the tensor's storage, with changed bytes around a view."""
    data, placed = bytes_of(tensor), Placed.of(tensor)
    data[~placed.inside] ^= 1
    return data


def tensors_of(inputs: Mapping[str, Any]) -> Iterator[tuple[str, torch.Tensor]]:
    """The arguments that are tensors, by name."""
    import torch

    return ((name, value) for name, value in inputs.items() if isinstance(value, torch.Tensor))
