"""Values of a stopped program as text, for terminals and editors."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.launch.debugging.debugger_state import LocalVariable
from triton_lab.launch.launch import Launch
from triton_lab.launch.maps.value_histogram import as_float
from triton_lab.views.drawing.value_picture import summary
from triton_lab.views.launch.values.pointer_text import offsets_in, pointee, pointer_words

MOST_SHOWN = 64


def type_text(value: NDArray[Any]) -> str:
    """The type of a block: ``float32[64, 32]``; of a scalar ``int32``."""
    return f"{value.dtype}{list(value.shape) if value.shape else ''}"


def line_text(one: LocalVariable, launch: Launch) -> str:
    """The value of a variable in a line."""
    return str(getattr(one.fixed, "__name__", one.fixed))[:200] if one.value is None else short_text(one.value, launch)


def short_text(value: NDArray[Any], launch: Launch) -> str:
    """A block in a line: its type and the range of its values; where pointers point."""
    to = pointee(value, launch.arguments)
    if to is not None:
        return pointer_words(offsets_in(to, value), to.name)
    return summary(value) if value.shape else str(value)


def full_text(value: NDArray[Any], launch: Launch) -> str:
    """A block with its elements, the middle left out if there are many."""
    to = pointee(value, launch.arguments)
    shown = value if to is None else offsets_in(to, value)
    if shown.dtype.kind not in "biuf":
        shown = as_float(shown)
    elements = np.array2string(shown, threshold=MOST_SHOWN, max_line_width=100)
    head = type_text(value) if to is None else short_text(value, launch)
    return elements if not value.shape and to is None else f"{head}\n{elements}" if value.shape else head
