"""Views: other index maps on the same storage. torch itself computes the map of a view operation."""

from __future__ import annotations

import types
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import torch

from triton_lab.lazy.operations.handle import Handle
from triton_lab.localization import _

if TYPE_CHECKING:
    from typing_extensions import Self


def flat(sizes: tuple[int | tuple[int, ...], ...]) -> tuple[int, ...]:
    """The sizes as one tuple, given one by one or as a tuple."""
    return tuple(size for part in sizes for size in (part if isinstance(part, tuple | list) else (part,)))


class Indexing(Handle):
    """The views of a tensor. All share its storage: a write to one is visible in all."""

    def __getitem__(self, index: Any) -> Self:
        """A view by integers, slices, None and `...`. Raises TypeError for indices that would copy (lists, tensors)."""
        for part in index if isinstance(index, tuple) else (index,):
            basic = isinstance(part, int | slice | types.EllipsisType) or part is None
            if not basic or isinstance(part, bool):
                raise TypeError(
                    _("a lazy tensor is indexed by integers, slices, None and ..., not by {type}").format(
                        type=type(part).__name__
                    )
                )
        return self._alias(lambda twin: twin[index])

    def view(self, *shape: int | tuple[int, ...]) -> Self:
        """The same elements with another shape. Raises torch's RuntimeError where the strides do not allow it."""
        return self._alias(lambda twin: twin.view(flat(shape)))

    def reshape(self, *shape: int | tuple[int, ...]) -> Self:
        """A view if the strides allow it, else a copy."""
        try:
            return self._alias(lambda twin: twin.view(flat(shape)))
        except RuntimeError:
            copy = self._fresh(self._read())
            return copy._alias(lambda twin: twin.view(flat(shape)))

    def flatten(self) -> Self:
        return self.reshape(-1)

    def transpose(self, dim0: int, dim1: int) -> Self:
        return self._alias(lambda twin: twin.transpose(dim0, dim1))

    def permute(self, *dims: int | tuple[int, ...]) -> Self:
        return self._alias(lambda twin: twin.permute(flat(dims)))

    def t(self) -> Self:
        return self._alias(torch.Tensor.t)

    @property
    def T(self) -> Self:
        return self.permute(*reversed(range(self.ndim)))

    def expand(self, *shape: int | tuple[int, ...]) -> Self:
        """The same elements, repeated without memory along new or size-1 dimensions (read-only: see `_write`)."""
        return self._alias(lambda twin: twin.expand(flat(shape)))

    def squeeze(self, dim: int | None = None) -> Self:
        return self._alias(lambda twin: twin.squeeze() if dim is None else twin.squeeze(dim))

    def unsqueeze(self, dim: int) -> Self:
        return self._alias(lambda twin: twin.unsqueeze(dim))

    def split(self, split_size: int | list[int] | tuple[int, ...], dim: int = 0) -> tuple[Self, ...]:
        """Views of `split_size` elements each along `dim` (the last may have fewer), or of the sizes of a list."""
        return self._aliases(
            lambda twin: torch.split(twin, split_size if isinstance(split_size, int) else list(split_size), dim)
        )

    def chunk(self, chunks: int, dim: int = 0) -> tuple[Self, ...]:
        """Views of equal size along `dim`, about `chunks` of them, as torch splits it."""
        return self._aliases(lambda twin: twin.chunk(chunks, dim))

    def unbind(self, dim: int = 0) -> tuple[Self, ...]:
        """One view for each position along `dim`."""
        return self._aliases(lambda twin: twin.unbind(dim))

    def __iter__(self) -> Iterator[Self]:
        if not self.ndim:
            raise TypeError(_("iteration over a tensor with no dimensions"))
        return iter(self.unbind())
