"""Operations along one dimension: running sums, softmax, variance, and lookup by index."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from triton_lab.lazy.elementwise_table import HALVES
from triton_lab.lazy.graph import JoinedAxis, LazyValue
from triton_lab.lazy.operations.elementwise_methods import Operand, cast, refusing
from triton_lab.lazy.operations.folding import Dim, Folding
from triton_lab.lazy.operations.torch_queries import ask

if TYPE_CHECKING:
    from typing_extensions import Self


class Walking(Folding):
    """Methods that treat one dimension as a sequence."""

    def cumsum(self, dim: int, dtype: torch.dtype | None = None) -> Self:
        """The running sum along `dim`; integers and bools are summed as int64, as in torch."""
        with refusing("cumsum", self.spec):
            shape, made = ask(torch.cumsum, self.spec, dim, dtype=dtype)
        value = cast(self._read(), made) if dtype is not None else self._read()
        if not shape:
            return self._fresh(cast(value, made))
        return self._fresh(LazyValue("cumsum", (value,), shape, made, JoinedAxis(dim % len(shape))))

    def softmax(self, dim: int, dtype: torch.dtype | None = None) -> Self:
        """exp(x) / sum(exp(x)) along `dim`, without overflow; 16-bit floats are rounded once, at the end."""
        shifted, total, made = self._exponentials("softmax", dim, dtype)
        return (shifted.exp() / total).to(made)

    def log_softmax(self, dim: int, dtype: torch.dtype | None = None) -> Self:
        """The logarithm of the softmax along `dim`; 16-bit floats are rounded once, at the end."""
        shifted, total, made = self._exponentials("log_softmax", dim, dtype)
        return (shifted - total.log()).to(made)

    def _exponentials(self, name: str, dim: int, dtype: torch.dtype | None) -> tuple[Self, Self, torch.dtype]:
        """x minus its largest element, the sum of the exponentials of that, and the dtype of the result."""
        with refusing(name, self.spec):
            _, made = ask(getattr(torch, name), self.spec, dim, dtype=dtype)
        x = self.to(made)._widened()
        if not x.numel():
            nothing = x.to(torch.float32)
            return nothing, nothing, made
        shifted = x - x.amax(dim, keepdim=True)
        return shifted, shifted.exp().sum(dim, keepdim=True), made

    def var(self, dim: Dim = None, *, correction: int = 1, keepdim: bool = False) -> Self:
        """The variance over `dim`: squared distances from the mean, over the number of elements minus `correction`."""
        # On the one-element tensors of `torch_queries`, torch would warn about a correction, which changes no dtype.
        with refusing("var", self.spec):
            _, made = ask(torch.var, self.spec, dim, correction=0, keepdim=keepdim)
        return self._widened()._variance(dim, correction, keepdim).to(made)

    def std(self, dim: Dim = None, *, correction: int = 1, keepdim: bool = False) -> Self:
        """The square root of the variance over `dim`."""
        with refusing("std", self.spec):
            _, made = ask(torch.std, self.spec, dim, correction=0, keepdim=keepdim)
        return self._widened()._variance(dim, correction, keepdim).sqrt().to(made)

    def _variance(self, dim: Dim, correction: int, keepdim: bool) -> Self:
        apart = self - self.mean(dim, keepdim=True)
        total = (apart * apart).sum(dim, keepdim)
        count = self.numel() // total.numel() if total.numel() else 0
        return total / float(max(count - correction, 0))

    def _widened(self) -> Self:
        return self.to(torch.float32) if self.dtype in HALVES else self

    def gather(self, dim: int, index: Operand) -> Self:
        """`out[i][j] = self[index[i][j]][j]` (for dim 0). A step fails at an index outside of the dimension."""
        places = self._taken("gather", index)
        with refusing("gather", self.spec, places.spec):
            shape, dtype = ask(torch.gather, self.spec, dim, places.spec, fill=0)
        if not self.ndim or not places.ndim:  # torch treats a number as a tensor of one element
            flat = self.reshape(-1).gather(0, places.reshape(-1))
            return flat.reshape(shape)
        return self._fresh(
            LazyValue("gather", (self._read(), places._read()), shape, dtype, JoinedAxis(dim % self.ndim))
        )
