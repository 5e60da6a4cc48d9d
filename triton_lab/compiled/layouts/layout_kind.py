"""The base of all kinds of layouts: a spelling in TTGIR, a rank, and a linear map for a given shape."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import ClassVar, TypeAlias

from triton_lab.compiled.layouts import attribute_rules
from triton_lab.compiled.layouts.linear_layout import Linear
from triton_lab.localization import _

Padding: TypeAlias = tuple[tuple[int, int], ...]


class LayoutKind:
    """A layout without a tensor's shape; each kind is a frozen dataclass with TTGIR's parameters.

    It is no abstract base class of Python's: their method ``register`` would hide a linear layout's bases of that
    name.
    """

    mnemonic: ClassVar[str]  # as in TTGIR, after the #
    name: ClassVar[str]  # in a sentence

    @property
    def rank(self) -> int:
        """How many dimensions a tensor in this layout has."""
        raise NotImplementedError

    def linear(self, shape: Sequence[int]) -> Linear:
        """The map from places to the coordinates of a tensor of this shape. Raises LayoutError."""
        raise NotImplementedError

    def check(self, shape: Sequence[int]) -> None:
        """Raise LayoutError for a shape that no tensor of this rank can have."""
        attribute_rules.tensor(shape, self.rank, self.name)

    def holds(self, bits: int) -> None:
        """Raise LayoutError for an element width that it cannot hold."""

    @property
    def padding(self) -> Padding:
        """Pairs (interval, padding) in elements: the space left free in shared memory after each interval."""
        return ()

    def empty(self, linear: Linear) -> int:
        """A mask of packed-place bits: a place with any of them set holds no element."""
        return 0

    def __str__(self) -> str:
        told = [
            f"{field.name} = {_told(getattr(self, field.name))}"
            for field in dataclasses.fields(self)  # type: ignore[arg-type]  # each kind is a dataclass
            if getattr(self, field.name) != field.default
        ]
        return _("{kind} layout, {parameters}").format(kind=self.name, parameters=", ".join(told))


class Distributed(LayoutKind):
    """A layout in registers: places are register, lane, warp and block."""


class SharedLayout(LayoutKind):
    """A layout in shared memory: places are an offset, in elements, and block."""


class TensorMemory(LayoutKind):
    """A layout in Blackwell's tensor memory: places are row and column.

    A zero vector in row 32 or 64 means copies; anywhere else it means empty rows or columns.
    """

    def empty(self, linear: Linear) -> int:
        found, bit = 0, 0
        for name, each in linear.ins:
            for number, basis in enumerate(each):
                copies = name == "block" or (name == "row" and number in (5, 6))
                found |= 0 if any(basis) or copies else 1 << bit
                bit += 1
        return found


def _told(value: object) -> str:
    if isinstance(value, tuple):
        return "[" + ", ".join(_told(each) for each in value) + "]"
    return f"({value})" if isinstance(value, LayoutKind) else str(value)
