"""Pointers in words: an argument's name and offsets in its elements, never addresses."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from triton_lab.launch.element_index import Ints
from triton_lab.localization import _
from triton_lab.views.drawing.drawing_text import shape_text


class Pointed(Protocol):
    """The attributes of an argument that pointer words need."""

    @property
    def name(self) -> str: ...
    @property
    def address(self) -> int: ...
    @property
    def itemsize(self) -> int: ...
    @property
    def storage_address(self) -> int: ...
    @property
    def storage_bytes(self) -> int: ...


def pointee(values: npt.NDArray[Any], arguments: Iterable[Pointed]) -> Pointed | None:
    """The argument whose storage holds the first of these numbers, or else ends there, if they may be addresses."""
    if values.dtype != np.int64 or not values.size:
        return None
    first = int(values.flat[0])
    near = [
        one
        for one in arguments
        if one.storage_bytes and one.storage_address <= first <= one.storage_address + one.storage_bytes
    ]
    # On a GPU one tensor often begins where another ends.
    return min(near, key=lambda one: first == one.storage_address + one.storage_bytes, default=None)


def offsets_in(argument: Pointed, addresses: npt.NDArray[Any]) -> Ints:
    """The distances from the argument's element 0, in elements."""
    return (addresses - argument.address) // argument.itemsize


def pointer_words(offsets: Ints, name: str) -> str:
    """Pointers in words: ``pointer to x_ptr + 4``, ``32 pointers to x_ptr + 0 to 31``."""
    low, high = int(offsets.min()), int(offsets.max())
    if offsets.shape == ():
        return _("pointer to {name} + {low}").format(name=name, low=low)
    shape = shape_text(offsets.shape)
    if high == low:
        return _("{shape_text} pointers to {name} + {low}").format(shape_text=shape, name=name, low=low)
    return _("{shape_text} pointers to {name} + {low} to {high}").format(
        shape_text=shape, name=name, low=low, high=high
    )
