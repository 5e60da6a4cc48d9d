"""Reductions and matrix products."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import torch

from triton_lab.lazy.graph import Constant, Dims, LazyValue
from triton_lab.lazy.index_maps import broadcast
from triton_lab.lazy.operations.elementwise_methods import ElementwiseMethods, Operand, cast, refusing
from triton_lab.lazy.operations.indexing import Indexing
from triton_lab.lazy.operations.torch_queries import ask
from triton_lab.localization import _

if TYPE_CHECKING:
    from typing_extensions import Self

REDUCTIONS: dict[str, Callable[..., torch.Tensor]] = {
    "sum": torch.sum,
    "mean": torch.mean,
    "amax": torch.amax,
    "amin": torch.amin,
    "any": torch.any,
    "all": torch.all,
    "argmax": torch.argmax,
    "argmin": torch.argmin,
}
Dim = int | tuple[int, ...] | None


class Folding(ElementwiseMethods, Indexing):
    """Methods whose result has fewer elements than they read."""

    def _reduce(self, name: str, dim: Dim, keepdim: bool) -> Self:
        every = tuple(range(self.ndim))
        asked = every if dim is None else (dim,) if isinstance(dim, int) else tuple(dim)
        with refusing(name, self.spec):
            shape, dtype = ask(REDUCTIONS[name], self.spec, asked or every, keepdim)
        return self._folded(name, asked or every, shape, dtype)

    def _folded(self, name: str, asked: tuple[int, ...], shape: tuple[int, ...], dtype: torch.dtype) -> Self:
        dims = tuple(sorted(entry % self.ndim for entry in asked)) if self.ndim else ()
        if not dims:  # a tensor without dimensions is its own sum
            return self._fresh(cast(self._read(), dtype))
        return self._fresh(LazyValue(name, (self._read(),), shape, dtype, Dims(dims)))

    def sum(self, dim: Dim = None, keepdim: bool = False) -> Self:
        """The sum over `dim` (all by default); integers and bools are summed as int64, as in torch."""
        return self._reduce("sum", dim, keepdim)

    def mean(self, dim: Dim = None, keepdim: bool = False) -> Self:
        """The mean over `dim`; floats only, as in torch."""
        return self._reduce("mean", dim, keepdim)

    def amax(self, dim: Dim = None, keepdim: bool = False) -> Self:
        """The largest element over `dim`; NaN if one is NaN."""
        return self._reduce("amax", dim, keepdim)

    def amin(self, dim: Dim = None, keepdim: bool = False) -> Self:
        """The smallest element over `dim`; NaN if one is NaN."""
        return self._reduce("amin", dim, keepdim)

    def argmax(self, dim: int | None = None, keepdim: bool = False) -> Self:
        """The index of the largest element, the first of equals; NaN is the largest.

        Without `dim`, it is the index in the flat tensor.
        """
        return self._place("argmax", dim, keepdim)

    def argmin(self, dim: int | None = None, keepdim: bool = False) -> Self:
        """The index of the smallest element, as for `argmax`; NaN is the smallest."""
        return self._place("argmin", dim, keepdim)

    def _place(self, name: str, dim: int | None, keepdim: bool) -> Self:
        with refusing(name, self.spec):
            shape, dtype = ask(REDUCTIONS[name], self.spec, dim, keepdim)
        if not self.ndim:
            return self._fresh(LazyValue("constant", (), (), dtype, Constant("0")))
        return self._folded(name, tuple(range(self.ndim)) if dim is None else (dim,), shape, dtype)

    def max(self, dim: None = None, keepdim: bool = False) -> Self:
        """The largest element. Raises TypeError with a `dim`: torch's `max` then returns indices, too; use `amax`."""
        if dim is not None:
            raise TypeError(
                _("max over a dimension also returns indices. amax({dim}) returns the values only").format(dim=dim)
            )
        return self.amax(None, keepdim)

    def min(self, dim: None = None, keepdim: bool = False) -> Self:
        """The smallest element. Raises TypeError with a `dim`: torch's `min` then returns indices, too; use `amin`."""
        if dim is not None:
            raise TypeError(
                _("min over a dimension also returns indices. amin({dim}) returns the values only").format(dim=dim)
            )
        return self.amin(None, keepdim)

    def any(self, dim: Dim = None, keepdim: bool = False) -> Self:
        """Whether any element over `dim` is not 0; False without elements."""
        return self._test("any", dim, keepdim)

    def all(self, dim: Dim = None, keepdim: bool = False) -> Self:
        """Whether all elements over `dim` are not 0; True without elements."""
        return self._test("all", dim, keepdim)

    def _test(self, name: str, dim: Dim, keepdim: bool) -> Self:
        every = tuple(range(self.ndim))
        asked = every if dim is None else (dim,) if isinstance(dim, int) else tuple(dim)
        with refusing(name, self.spec):
            shape, dtype = ask(REDUCTIONS[name], self.spec, asked or None, keepdim)
        return self._apply("ne", self, 0)._folded(name, asked or every, shape, dtype)

    def matmul(self, other: Operand) -> Self:
        """The matrix product by torch's rules: vectors, matrices, and batches that broadcast."""
        right = self._taken("matmul", other)
        with refusing("matmul", self.spec, right.spec):
            shape, dtype = ask(torch.matmul, self.spec, right.spec)
        # Kernels compute (*batch, M, K) @ (*batch, K, N): a vector is a matrix with one row or one column.
        rows = self.unsqueeze(0) if self.ndim == 1 else self
        columns = right.unsqueeze(1) if right.ndim == 1 else right
        batch = broadcast(rows.shape[:-2], columns.shape[:-2])
        full = (*batch, rows.shape[-2], columns.shape[-1])
        product = LazyValue(
            "matmul",
            (rows._read((*batch, *rows.shape[-2:])), columns._read((*batch, *columns.shape[-2:]))),
            full,
            dtype,
        )
        return self._fresh(product).view(shape) if shape != full else self._fresh(product)

    __matmul__ = matmul

    def __rmatmul__(self, other: Operand) -> Self:
        return self._taken("matmul", other).matmul(self)
