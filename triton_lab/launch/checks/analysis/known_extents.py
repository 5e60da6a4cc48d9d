"""Whether a kernel is told how large a tensor is: then it hardly means to work on a part of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from triton_lab.launch.argument import Argument

if TYPE_CHECKING:
    from triton_lab.launch.recording.launch_record import Recorded


def knows_extents(launch: Recorded, argument: Argument) -> bool:
    """Whether each extent of the tensor is a number that the launch passes, half of one, or an extent of the grid."""
    numbers = {one.value for one in launch.arguments if one.kind in ("scalar", "constexpr") and type(one.value) is int}
    told = numbers | {number // 2 for number in numbers if number % 2 == 0} | {1, *launch.grid}
    return told.issuperset(argument.shape)
