"""Operators and functions that make a new tensor element by element."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from triton_lab.lazy import elementwise_table
from triton_lab.lazy.graph import LazyValue, here, short
from triton_lab.lazy.operations.handle import Handle, storage_of
from triton_lab.lazy.operations.torch_queries import Scalar, Spec, ask_of_elements
from triton_lab.localization import _

if TYPE_CHECKING:
    from typing_extensions import Self

Operand = Handle | Scalar | torch.Tensor | np.ndarray[Any, Any]


def trace(name: str, *operands: Operand) -> LazyValue:
    """The value of an elementwise operation: operands are cast to their common dtype and broadcast.

    Raises torch's own errors for shapes and dtypes that do not fit, TypeError for an operand that is no tensor or
    number.
    """
    near = None
    for operand in operands:
        if isinstance(operand, Handle):
            near = operand
            break
    taken = [operand if operand is near else _operand(name, operand, near) for operand in operands]
    specs = [operand.spec if isinstance(operand, Handle) else operand for operand in taken]
    try:
        shape, dtype, meets = elementwise_table.result_and_operands(name, *specs)
    except _REFUSALS as error:
        raise _refused(error, name, specs) from None
    origin = here()
    if 0 in shape:  # for empty tensors, torch accepts operations that it could not compute
        return LazyValue("constant", (), shape, dtype, elementwise_table.constant(0, dtype, name), None, origin)
    values = []
    for position, operand in enumerate(taken):
        if isinstance(operand, Handle):
            wanted = torch.bool if name == "where" and position == 0 else meets
            values.append(cast(operand._read(shape), wanted))
        else:
            number = elementwise_table.constant(operand, meets, name)
            values.append(LazyValue("constant", (), (), meets, number, None, origin))
    return LazyValue(name, tuple(values), shape, dtype, None, None, origin)


_REFUSALS = (RuntimeError, TypeError, NotImplementedError, IndexError, ValueError)


def _refused(error: BaseException, name: str, operands: Sequence[Spec | Scalar]) -> BaseException:
    """torch's error, with the operation and its operands before it."""
    return type(error)(
        _("{name} of {operands}: {error}").format(
            name=name, operands=" and ".join(map(described, operands)), error=error
        )
    )


@contextlib.contextmanager
def refusing(name: str, *operands: Spec | Scalar) -> Iterator[None]:
    """Prefix torch's error, if one is raised inside, with the operation and its operands."""
    try:
        yield
    except _REFUSALS as error:
        raise _refused(error, name, operands) from None


def cast(value: LazyValue, dtype: torch.dtype) -> LazyValue:
    """The value in another dtype."""
    return value if value.dtype == dtype else LazyValue("cast", (value,), value.shape, dtype)


def _operand(name: str, operand: Operand, near: Handle | None) -> Handle | Scalar:
    if isinstance(operand, np.generic):
        operand = operand.item()
    if isinstance(operand, Handle):
        if near is not None and operand.device != near.device:
            raise RuntimeError(
                _("{name} of tensors on {device} and on {device2}: move one of them").format(
                    name=name, device=near.device, device2=operand.device
                )
            )
        return operand
    if isinstance(operand, bool | int | float):
        return operand
    if isinstance(operand, torch.Tensor | np.ndarray):
        return Handle(*storage_of(operand, None, None if near is None else near.device, None))
    raise TypeError(_("{name} takes tensors and numbers, not {type}").format(name=name, type=type(operand).__name__))


def described(operand: Spec | Scalar) -> str:
    """An operand as an error describes it."""
    return f"{short(operand[1])} {operand[0]}" if isinstance(operand, tuple) else f"a Python {type(operand).__name__}"


class ElementwiseMethods(Handle):
    """The elementwise methods of a tensor."""

    def _taken(self, name: str, operand: Operand) -> Self:
        """Another tensor as an operand. Raises TypeError for a number."""
        taken = _operand(name, operand, self)
        if not isinstance(taken, Handle):
            raise TypeError(_("{name} takes a tensor, not {type}").format(name=name, type=type(operand).__name__))
        return type(self)(taken.storage, taken.map)

    def _apply(self, name: str, *operands: Operand) -> Self:
        return self._fresh(trace(name, *operands))

    def __add__(self, other: Operand) -> Self:
        return self._apply("add", self, other)

    def __radd__(self, other: Operand) -> Self:
        return self._apply("add", other, self)

    def __sub__(self, other: Operand) -> Self:
        return self._apply("sub", self, other)

    def __rsub__(self, other: Operand) -> Self:
        return self._apply("sub", other, self)

    def __mul__(self, other: Operand) -> Self:
        return self._apply("mul", self, other)

    def __rmul__(self, other: Operand) -> Self:
        return self._apply("mul", other, self)

    def __truediv__(self, other: Operand) -> Self:
        return self._apply("div", self, other)

    def __rtruediv__(self, other: Operand) -> Self:
        return self._apply("div", other, self)

    def __floordiv__(self, other: Operand) -> Self:
        """The quotient, rounded down. Integer division by a 0 that only the kernel sees is undefined."""
        return self._apply("floordiv", self, other)

    def __rfloordiv__(self, other: Operand) -> Self:
        return self._apply("floordiv", other, self)

    def __mod__(self, other: Operand) -> Self:
        """The remainder of `//`, with the sign of `other`."""
        return self._apply("remainder", self, other)

    def __rmod__(self, other: Operand) -> Self:
        return self._apply("remainder", other, self)

    def __pow__(self, exponent: Scalar) -> Self:
        """Powers 1, 2, 3 as products, 0.5 as a root, -1 as a quotient.

        Raises ValueError for other powers, and torch's own errors.
        """
        if not isinstance(exponent, bool | int | float) or exponent not in (1, 2, 3, 0.5, -1):
            raise ValueError(
                _("{dtype} ** {exponent}: only the exponents 1, 2, 3, 0.5 and -1 are supported").format(
                    dtype=short(self.dtype), exponent=exponent
                )
            )
        with refusing("pow", self.spec, exponent):
            _unused, dtype = ask_of_elements(torch.pow, self.spec, exponent)
        base = self.to(dtype)
        if exponent == 0.5:
            return base.sqrt()
        if exponent == -1:
            return base._apply("div", 1.0, base)
        power = base.clone() if exponent == 1 else base * base
        return power * base if exponent == 3 else power

    def __neg__(self) -> Self:
        return self._apply("neg", self)

    def __abs__(self) -> Self:
        return self._apply("abs", self)

    def __and__(self, other: Operand) -> Self:
        return self._apply("and", self, other)

    def __or__(self, other: Operand) -> Self:
        return self._apply("or", self, other)

    def __rand__(self, other: Operand) -> Self:
        return self._apply("and", other, self)

    def __ror__(self, other: Operand) -> Self:
        return self._apply("or", other, self)

    def __rxor__(self, other: Operand) -> Self:
        return self._apply("xor", other, self)

    def __xor__(self, other: Operand) -> Self:
        return self._apply("xor", self, other)

    def __invert__(self) -> Self:
        return self._apply("not", self)

    def __lt__(self, other: Operand) -> Self:
        return self._apply("lt", self, other)

    def __le__(self, other: Operand) -> Self:
        return self._apply("le", self, other)

    def __gt__(self, other: Operand) -> Self:
        return self._apply("gt", self, other)

    def __ge__(self, other: Operand) -> Self:
        return self._apply("ge", self, other)

    def __eq__(self, other: object) -> Self:  # type: ignore[override]  # elementwise, as torch's
        return self._apply("eq", self, other)  # type: ignore[arg-type]  # `trace` refuses what is no operand

    def __ne__(self, other: object) -> Self:  # type: ignore[override]
        return self._apply("ne", self, other)  # type: ignore[arg-type]

    __hash__ = object.__hash__  # tensors are hashed by identity, though `==` compares elements

    def abs(self) -> Self:
        return self._apply("abs", self)

    def exp(self) -> Self:
        return self._apply("exp", self)

    def log(self) -> Self:
        return self._apply("log", self)

    def sin(self) -> Self:
        return self._apply("sin", self)

    def cos(self) -> Self:
        return self._apply("cos", self)

    def tanh(self) -> Self:
        return self._apply("tanh", self)

    def sqrt(self) -> Self:
        return self._apply("sqrt", self)

    def rsqrt(self) -> Self:
        """1 / sqrt(x)."""
        return self._apply("rsqrt", self)

    def sigmoid(self) -> Self:
        return self._apply("sigmoid", self)

    def maximum(self, other: Operand) -> Self:
        return self._apply("maximum", self, other)

    def minimum(self, other: Operand) -> Self:
        return self._apply("minimum", self, other)

    def relu(self) -> Self:
        """max(x, 0); NaN stays NaN."""
        with refusing("relu", self.spec):
            ask_of_elements(torch.relu, self.spec)
        return self._apply("maximum", self, 0)

    def clamp(self, min: Scalar | None = None, max: Scalar | None = None) -> Self:
        """Elements clamped to [min, max]. Raises ValueError if both are missing."""
        if min is None and max is None:
            raise ValueError(_("clamp needs min, max, or both"))
        with refusing("clamp", self.spec):
            ask_of_elements(torch.clamp, self.spec, min, max)
        raised = self if min is None else self.maximum(min)
        return raised if max is None else raised.minimum(max)

    def clone(self) -> Self:
        """The same values in a storage of its own. (Copied only when one of the two is written.)"""
        return self._fresh(self._read())

    def contiguous(self) -> Self:
        """This tensor if it is contiguous, else a copy that is."""
        return self if self.is_contiguous() else self.clone()

    def to(self, dtype: torch.dtype) -> Self:
        """The values in another dtype."""
        return self if dtype == self.dtype else self._fresh(cast(self._read(), dtype))
