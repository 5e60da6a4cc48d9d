"""In-place operations: compute a new value, then write it through the tensor's map."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from triton_lab.lazy import elementwise_table
from triton_lab.lazy.graph import LazyValue, short
from triton_lab.lazy.index_maps import broadcast
from triton_lab.lazy.operations.elementwise_methods import ElementwiseMethods, Operand, cast, refusing, trace
from triton_lab.lazy.operations.handle import Handle
from triton_lab.lazy.operations.indexing import Indexing
from triton_lab.lazy.operations.torch_queries import Scalar, ask_of_elements
from triton_lab.localization import _

if TYPE_CHECKING:
    from typing_extensions import Self


class InPlace(ElementwiseMethods, Indexing):
    """The methods that change a tensor, and every tensor that shares its storage.

    An operand that overlaps the target has the values from before the operation. (torch refuses `x[1:].add_(x[:-1])`;
    here the old and the new x are two values, so the result is well defined.)
    """

    def _update(self, name: str, *operands: Operand) -> Self:
        operands = tuple(self._taken(name, x) if isinstance(x, torch.Tensor | np.ndarray) else x for x in operands)
        value = trace(name, self, *operands)
        self._accept(name, value)
        method = elementwise_table.ELEMENTWISE[name].inplace
        if method:
            given = [x.spec if isinstance(x, Handle) else x for x in operands]
            with refusing(method, self.spec):
                ask_of_elements(getattr(torch.Tensor, method), self.spec, *given)
        self._write(cast(value, self.dtype))
        return self

    def _accept(self, name: str, value: LazyValue) -> None:
        """Raise RuntimeError if a result of this shape and dtype cannot be written here."""
        if not torch.can_cast(value.dtype, self.dtype):
            raise RuntimeError(
                _("{name}_ makes {dtype}, which cannot be written into a {dtype2} tensor").format(
                    name=name, dtype=short(value.dtype), dtype2=short(self.dtype)
                )
            )
        if value.shape != self.shape:
            raise RuntimeError(
                _("{name}_ makes shape {shape}, which cannot be written into shape {shape2}").format(
                    name=name, shape=value.shape, shape2=self.shape
                )
            )

    def _become(self, name: str, result: Self) -> Self:
        """Write the values of a result to this tensor."""
        value = result._read()
        self._accept(name, value)
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

    def floor_divide_(self, other: Operand) -> Self:
        return self._update("floordiv", other)

    def remainder_(self, other: Operand) -> Self:
        return self._update("remainder", other)

    def pow_(self, exponent: Scalar) -> Self:
        return self._become("pow", self**exponent)

    def bitwise_and_(self, other: Operand) -> Self:
        return self._update("and", other)

    def bitwise_or_(self, other: Operand) -> Self:
        return self._update("or", other)

    def bitwise_xor_(self, other: Operand) -> Self:
        return self._update("xor", other)

    def bitwise_not_(self) -> Self:
        return self._update("not")

    def neg_(self) -> Self:
        return self._update("neg")

    def abs_(self) -> Self:
        return self._update("abs")

    def exp_(self) -> Self:
        return self._update("exp")

    def log_(self) -> Self:
        return self._update("log")

    def sin_(self) -> Self:
        return self._update("sin")

    def cos_(self) -> Self:
        return self._update("cos")

    def tanh_(self) -> Self:
        return self._update("tanh")

    def sqrt_(self) -> Self:
        return self._update("sqrt")

    def rsqrt_(self) -> Self:
        return self._update("rsqrt")

    def sigmoid_(self) -> Self:
        return self._update("sigmoid")

    def relu_(self) -> Self:
        return self._become("relu", self.relu())

    def clamp_(self, min: Scalar | None = None, max: Scalar | None = None) -> Self:
        return self._become("clamp", self.clamp(min, max))

    __iadd__ = add_
    __isub__ = sub_
    __imul__ = mul_
    __itruediv__ = div_
    __ifloordiv__ = floor_divide_
    __imod__ = remainder_
    __ipow__ = pow_
    __iand__ = bitwise_and_
    __ior__ = bitwise_or_
    __ixor__ = bitwise_xor_

    def fill_(self, value: Scalar) -> Self:
        """Set every element to `value`. Raises torch's errors for numbers that the dtype cannot hold."""
        with refusing("fill_", self.spec, value):
            ask_of_elements(torch.Tensor.fill_, self.spec, value)
        constant = elementwise_table.constant(value, self.dtype, "fill")
        self._write(LazyValue("constant", (), self.shape, self.dtype, constant))
        return self

    def zero_(self) -> Self:
        return self.fill_(0)

    def copy_(self, other: Operand) -> Self:
        """Copy the elements of `other`, broadcast and converted. Raises RuntimeError if the shapes do not fit."""
        if isinstance(other, bool | int | float | np.number | np.bool_):
            return self.fill_(other.item() if isinstance(other, np.generic) else other)
        source = self._taken("copy_", other)
        if source.shape != self.shape and broadcast(source.shape, self.shape) != self.shape:
            raise RuntimeError(
                _("shape {shape} cannot be copied into shape {shape2}").format(shape=source.shape, shape2=self.shape)
            )
        self._write(cast(source._read(self.shape), self.dtype))
        return self

    def __setitem__(self, index: Any, value: Operand) -> None:
        """Implements `x[index] = value`, through the view x[index]."""
        self[index].copy_(value)
