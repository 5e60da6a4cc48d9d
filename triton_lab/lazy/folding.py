"""Reductions and matrix products."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING

import torch

from triton_lab.lazy.arithmetic import Arithmetic, Operand, cast
from triton_lab.lazy.elementwise import Spec
from triton_lab.lazy.graph import Dims, Value, short
from triton_lab.lazy.indexing import Indexing
from triton_lab.lazy.maps import broadcast

if TYPE_CHECKING:
    from typing_extensions import Self

REDUCTIONS: dict[str, Callable[..., torch.Tensor]] = {
    "sum": torch.sum,
    "mean": torch.mean,
    "amax": torch.amax,
    "amin": torch.amin,
}


@functools.lru_cache(maxsize=1024)
def reduced(name: str, operand: Spec, dims: tuple[int, ...], keepdim: bool) -> Spec:
    """Shape and dtype of a reduction, as torch has it; torch's own errors."""
    answer = REDUCTIONS[name](torch.empty(operand[0], dtype=operand[1], device="meta"), dims, keepdim)
    return tuple(answer.shape), answer.dtype


@functools.lru_cache(maxsize=1024)
def multiplied(left: Spec, right: Spec) -> Spec:
    """Shape and dtype of a matrix product, as torch has it; torch's own errors."""
    answer = torch.matmul(*(torch.empty(shape, dtype=dtype, device="meta") for shape, dtype in (left, right)))
    return tuple(answer.shape), answer.dtype


class Folding(Arithmetic, Indexing):
    """Methods whose result has fewer elements than they read."""

    def _reduce(self, name: str, dim: int | tuple[int, ...] | None, keepdim: bool) -> Self:
        every = tuple(range(self.ndim))
        asked = every if dim is None else (dim,) if isinstance(dim, int) else tuple(dim)
        shape, dtype = reduced(name, self.spec, asked or every, keepdim)
        dims = tuple(sorted(entry % self.ndim for entry in asked or every)) if self.ndim else ()
        if not dims:  # a tensor without dimensions is its own sum
            return self._fresh(cast(self._read(), dtype))
        return self._fresh(Value(name, (self._read(),), shape, dtype, Dims(dims)))

    def sum(self, dim: int | tuple[int, ...] | None = None, keepdim: bool = False) -> Self:
        """The sum over `dim` (all by default); integers and bools are summed as int64, as in torch."""
        return self._reduce("sum", dim, keepdim)

    def mean(self, dim: int | tuple[int, ...] | None = None, keepdim: bool = False) -> Self:
        """The mean over `dim`; floats only, as in torch."""
        return self._reduce("mean", dim, keepdim)

    def amax(self, dim: int | tuple[int, ...] | None = None, keepdim: bool = False) -> Self:
        """The largest element over `dim`; NaN if one is NaN."""
        return self._reduce("amax", dim, keepdim)

    def amin(self, dim: int | tuple[int, ...] | None = None, keepdim: bool = False) -> Self:
        """The smallest element over `dim`; NaN if one is NaN."""
        return self._reduce("amin", dim, keepdim)

    def max(self, dim: None = None, keepdim: bool = False) -> Self:
        """The largest element. TypeError with a `dim`: torch's `max` has indices then, which `amax` leaves out."""
        if dim is not None:
            raise TypeError(f"max over a dimension would give indices too: amax({dim}) gives the values alone")
        return self.amax(None, keepdim)

    def min(self, dim: None = None, keepdim: bool = False) -> Self:
        """The smallest element. TypeError with a `dim`: torch's `min` has indices then, which `amin` leaves out."""
        if dim is not None:
            raise TypeError(f"min over a dimension would give indices too: amin({dim}) gives the values alone")
        return self.amin(None, keepdim)

    def any(self) -> Self:
        return self._apply("ne", self, 0).amax()

    def all(self) -> Self:
        return self._apply("ne", self, 0).amin()

    def matmul(self, other: Operand) -> Self:
        """The matrix product under torch's rules: vectors, matrices, and batches that broadcast."""
        right = self._taken("matmul", other)
        try:
            shape, dtype = multiplied(self.spec, right.spec)
        except RuntimeError as error:
            raise RuntimeError(f"matmul of {_described(self.spec)} and {_described(right.spec)}: {error}") from None
        # Kernels know (*batch, M, K) @ (*batch, K, N): a vector is a matrix of one row or one column.
        rows = self.unsqueeze(0) if self.ndim == 1 else self
        columns = right.unsqueeze(1) if right.ndim == 1 else right
        batch = broadcast(rows.shape[:-2], columns.shape[:-2])
        full = (*batch, rows.shape[-2], columns.shape[-1])
        product = Value(
            "matmul",
            (rows._read((*batch, *rows.shape[-2:])), columns._read((*batch, *columns.shape[-2:]))),
            full,
            dtype,
        )
        return self._fresh(product).view(shape) if shape != full else self._fresh(product)

    __matmul__ = matmul

    def __rmatmul__(self, other: Operand) -> Self:
        return self._taken("matmul", other).matmul(self)


def _described(spec: Spec) -> str:
    return f"{short(spec[1])} {spec[0]}"
