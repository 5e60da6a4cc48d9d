"""In-place operations: compute as usual, then put the result where the tensor looks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from triton_lab.lazy import elementwise
from triton_lab.lazy.arithmetic import Arithmetic, Operand, cast, trace
from triton_lab.lazy.graph import Value, short
from triton_lab.lazy.indexing import Indexing
from triton_lab.lazy.maps import broadcast

if TYPE_CHECKING:
    from typing_extensions import Self


class InPlace(Arithmetic, Indexing):
    """The methods that change a tensor, and every tensor that shares its storage.

    An operand that overlaps the target is read as it was before the operation, whole. (torch refuses
    `x[1:].add_(x[:-1])`; here the old and the new x are two values, and nothing is ambiguous.)
    """

    def _update(self, name: str, *operands: Operand) -> Self:
        value = trace(name, self, *operands)
        if not torch.can_cast(value.dtype, self.dtype):
            raise RuntimeError(
                f"{name}_ makes {short(value.dtype)}, which cannot be written into a {short(self.dtype)} tensor"
            )
        if value.shape != self.shape:
            raise RuntimeError(f"{name}_ makes shape {value.shape}, which cannot be written into shape {self.shape}")
        self._write(cast(value, self.dtype))
        return self

    def add_(self, other: Operand) -> Self:
        return self._update("add", other)

    def sub_(self, other: Operand) -> Self:
        return self._update("sub", other)

    def mul_(self, other: Operand) -> Self:
        return self._update("mul", other)

    def div_(self, other: Operand) -> Self:
        return self._update("div", other)

    def neg_(self) -> Self:
        return self._update("neg")

    def exp_(self) -> Self:
        return self._update("exp")

    def relu_(self) -> Self:
        return self._update("maximum", 0)

    __iadd__ = add_
    __isub__ = sub_
    __imul__ = mul_
    __itruediv__ = div_

    def fill_(self, number: bool | int | float) -> Self:
        """Every element becomes `number`."""
        constant = elementwise.constant(number, self.dtype, "fill")
        self._write(Value("constant", (), self.shape, self.dtype, constant))
        return self

    def zero_(self) -> Self:
        return self.fill_(0)

    def copy_(self, other: Operand) -> Self:
        """The elements of `other`, broadcast and converted. RuntimeError if the shapes do not fit."""
        if isinstance(other, bool | int | float | np.number):
            return self.fill_(other.item() if isinstance(other, np.number) else other)
        source = self._taken("copy_", other)
        if source.shape != self.shape and broadcast(source.shape, self.shape) != self.shape:
            raise RuntimeError(f"shape {source.shape} cannot be copied into shape {self.shape}")
        self._write(cast(source._read(self.shape), self.dtype))
        return self

    def __setitem__(self, index: Any, value: Operand) -> None:
        """`x[index] = value`, through the view that x[index] is."""
        self[index].copy_(value)
