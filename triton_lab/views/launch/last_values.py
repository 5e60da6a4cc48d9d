"""The value of each element of an argument at its last access, for the words under the pointer."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from triton_lab.launch.maps.accessed_values import element_values
from triton_lab.launch.recording.replay_error import CannotReplay
from triton_lab.views.drawing.heatmap import buffer
from triton_lab.views.launch.launch_scenes import LastValues

if TYPE_CHECKING:
    from triton_lab.launch.argument import Argument
    from triton_lab.launch.launch import Launch

MOST_VALUES = 1 << 12  # elements whose values a scene has


def last_values(launch: Launch | None, argument: Argument) -> LastValues:
    """The values (elements,), row-major, in a scene; NaN for elements that no lane touches.

    There are none for an argument of many elements, for one that atomics update, which return old values, and for a
    launch that cannot be replayed.
    """
    if launch is None or math.prod(argument.shape) > MOST_VALUES or not hasattr(launch, "trace"):
        return {}
    ours = [one.completed for one in launch.accesses if one.argument == argument.name]
    if any(one.kind == "atomic" for one in ours):
        return {}
    try:
        found = element_values(argument, ours).last
    except CannotReplay:
        return {}
    short = found.astype(np.float32)
    return {"values": buffer(short if np.array_equal(short, found, equal_nan=True) else found)}
