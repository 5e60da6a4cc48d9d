"""The values of an argument's elements, for the words under the pointer."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from triton_lab.launch.maps.accessed_values import element_values
from triton_lab.launch.maps.value_histogram import as_float
from triton_lab.launch.recording.replay_error import CannotReplay
from triton_lab.views.drawing.heatmap import buffer
from triton_lab.views.launch.launch_scenes import LastValues

if TYPE_CHECKING:
    from triton_lab.launch.access import Access
    from triton_lab.launch.argument import Argument
    from triton_lab.launch.launch import Launch
    from triton_lab.launch.recording.access_event import AccessEvent

Floats = npt.NDArray[np.float64]

MOST_VALUES = 1 << 12  # elements whose values a scene has


def last_values(launch: Launch | None, argument: Argument) -> LastValues:
    """The values (elements,) at the last access, row-major, in a scene; 0 for elements that no lane touches.

    There are none for an argument of many elements, for one that atomics update, which return old values, and for a
    launch that cannot be replayed.
    """
    return held(last_touched(launch, argument))


def last_touched(launch: Launch | None, argument: Argument) -> Floats | None:
    """The values of `last_values` as an array; None if there are none."""
    ours = _telling(launch, argument)
    if ours is None:
        return None
    try:
        return element_values(argument, ours).last
    except CannotReplay:
        return None


def event_values(launch: Launch | None, argument: Argument) -> dict[AccessEvent, npt.NDArray[Any]]:
    """What each access event to an argument loads or stores, by lane; nothing where `last_values` has nothing."""
    ours = _telling(launch, argument)
    if not ours:
        return {}
    try:
        recalled = ours[0].recall(ours)
    except CannotReplay:
        return {}
    return {
        event: as_float(values) for one in ours for event, values in zip(one.events, recalled[one.op], strict=False)
    }


def held(values: Floats | None) -> LastValues:
    """Values in a scene, in few bytes."""
    if values is None:
        return {}
    short = values.astype(np.float32)
    return {"values": buffer(short if np.array_equal(short, values, equal_nan=True) else values)}


def _telling(launch: Launch | None, argument: Argument) -> list[Access] | None:
    """The accesses that tell an argument's values; None if they are too many, or not all known."""
    if launch is None or math.prod(argument.shape) > MOST_VALUES or not hasattr(launch, "trace"):
        return None
    ours = [one.completed for one in launch.accesses if one.argument == argument.name]
    return None if any(one.kind == "atomic" for one in ours) else ours
