"""Where the elements of a tensor lie, and whether its kernel is told how many there are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from triton_lab.launch.argument import Argument
from triton_lab.launch.byte_ranges import Ints

if TYPE_CHECKING:
    from triton_lab.launch.recording.launch_record import Recorded


def element_addresses(argument: Argument) -> Ints:
    """(elements,) the byte address of each element, row-major."""
    found = np.array(argument.address)
    for extent, stride in zip(argument.shape, argument.strides, strict=True):
        found = found[..., None] + np.arange(extent) * (stride * argument.itemsize)
    return found.reshape(-1)


def knows_extents(launch: Recorded, argument: Argument) -> bool:
    """Whether each extent of the tensor is a number that the launch passes, half of one, or an extent of the grid.

    Then the kernel hardly means to work on a part of it.
    """
    numbers = {one.value for one in launch.arguments if one.kind in ("scalar", "constexpr") and type(one.value) is int}
    told = numbers | {number // 2 for number in numbers if number % 2 == 0} | {1, *launch.grid}
    return told.issuperset(argument.shape)
