"""What tensors of integers held before a launch: the least and the greatest value."""

from __future__ import annotations

import numpy as np

from triton_lab.launch.argument import Argument
from triton_lab.launch.recording.launch_record import Recorded

# Values are read up to this many elements; a longer tensor counts as not known.
MOST_ELEMENTS = 1 << 24
SIGNED = ("int8", "int16", "int32", "int64")


def contents_range(launch: Recorded, argument: Argument) -> tuple[int, int] | None:
    """The least and the greatest value that the tensor held before the launch; (0, -1) if it has no elements.

    None if it is no tensor of signed integers, is too large, or its memory was not recorded.
    """
    if argument.kind != "tensor" or argument.dtype not in SIGNED or launch.snapshot is None:
        return None
    if 0 in argument.shape:
        return 0, -1
    last = sum((extent - 1) * stride for extent, stride in zip(argument.shape, argument.strides, strict=True))
    if min(argument.strides, default=0) < 0 or last >= MOST_ELEMENTS or int(np.prod(argument.shape)) > MOST_ELEMENTS:
        return None
    try:
        held = launch.snapshot.held(argument.address, argument.address + (last + 1) * argument.itemsize)
    except LookupError:
        return None
    values = np.frombuffer(held.tobytes(), np.dtype(argument.dtype))
    strides = tuple(stride * argument.itemsize for stride in argument.strides)
    elements = np.lib.stride_tricks.as_strided(values, argument.shape, strides, writeable=False)
    return int(elements.min()), int(elements.max())
