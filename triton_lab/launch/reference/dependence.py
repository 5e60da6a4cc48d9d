"""`WrongDependence`: input elements that decide about a wrong result and must not, or do not and must."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from triton_lab import messages
from triton_lab.localization import _

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True)
class InputElement:
    """An element of an input of the reference; ``line`` is that of the kernel's first load of it, or of the input."""

    name: str
    index: tuple[int, ...]
    line: int | None

    def __str__(self) -> str:
        return messages.element_at(self.name, self.index)


@dataclass(frozen=True)
class WrongDependence:
    """The element ``index`` of ``argument`` should depend on ``missing`` and does not; it depends on ``extra`` and
    should not. One of the two may be None.
    """

    argument: str
    index: tuple[int, ...]
    missing: InputElement | None
    extra: InputElement | None

    def __str__(self) -> str:
        element, extra, missing = messages.element_at(self.argument, self.index), self.extra, self.missing
        if extra is not None and missing is not None and extra.name == missing.name:
            text = _("{element} depends on {extra}{loaded}, but must depend on {missing}")
            return text.format(element=element, extra=extra, loaded=_loaded(extra), missing=missing)
        told = []
        if extra is not None:
            text = _("{element} depends on {input}{loaded}, but must not")
            told.append(text.format(element=element, input=extra, loaded=_loaded(extra)))
        if missing is not None:
            text = _("{element} must depend on {input}{loaded}, but does not")
            told.append(text.format(element=element, input=missing, loaded=_loaded(missing)))
        return "; ".join(told)


def _loaded(one: InputElement) -> str:
    return "" if one.line is None else _(" (load in line {line})").format(line=one.line)


@dataclass(frozen=True, eq=False)
class Input:
    """An input of the reference: its ``values`` before the launch; ``address`` is that of the first of them in the
    launch, ``strides`` count elements there.
    """

    name: str
    values: torch.Tensor
    address: int
    strides: tuple[int, ...]

    @cached_property
    def addresses(self) -> NDArray[np.int64]:
        """The address of each element, row-major."""
        found = np.full((), self.address, np.int64)
        for size, stride in zip(self.values.shape, self.strides, strict=True):
            found = found[..., None] + np.arange(size) * stride * self.values.element_size()
        return found.reshape(-1)

    @property
    def is_plain(self) -> bool:
        """Whether each element has memory of its own."""
        return len(np.unique(self.addresses)) == self.values.numel()

    def other(self, seed: int) -> torch.Tensor:
        """Other values: those of the same tensor in another order, so that an index is a valid one.

        Where that gives the same number, a float is increased by 1.
        """
        import torch

        flat = self.values.reshape(-1)
        moved = flat[torch.randperm(len(flat), generator=torch.Generator().manual_seed(seed))]
        if not flat.dtype.is_floating_point:
            return moved.reshape(self.values.shape)
        moved = torch.where(moved.double() == flat.double(), flat.double() + 1, moved.double()).to(flat.dtype)
        return moved.reshape(self.values.shape)
