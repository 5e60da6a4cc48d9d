"""Words that several views write: shapes, slices, steps, tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from triton_lab import messages
from triton_lab.localization import _


def shape_text(shape: Sequence[int]) -> str:
    """``(4, 6)`` as ``4×6``."""
    return "×".join(map(str, shape)) if shape else _("scalar")


def panel_names(drawn: Sequence[int], origin: Sequence[int], panels: int) -> list[str]:
    """``[2, :, :]`` for each slice of an array of three or more dimensions."""
    if panels <= 1:
        return []
    indices = np.stack(np.unravel_index(np.arange(panels), tuple(drawn[:-2])), axis=1) - np.array(origin[:-2])
    return [f"[{', '.join(map(str, index))}, :, :]" for index in indices.tolist()]


def step_names(tensor: Any, wrapped: bool) -> tuple[str, str]:
    """What a step right and a step down mean in storage; "" if there is no such step."""
    right = f"→ {tensor.strides[-1]:+d}" if tensor.strides and tensor.shape[-1] > 1 else ""
    return right, f"↓ {tensor.strides[-2]:+d}" if not wrapped and tensor.shape[-2] > 1 else ""


def table_lines(rows: Sequence[Sequence[str]]) -> list[str]:
    """The lines of a table: each column is as wide as its longest word."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(word.ljust(width) for word, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def number_text(value: Any) -> str:
    """A number with at most four significant digits, integers in full."""
    if float(value).is_integer() and abs(float(value)) < 1e6:
        return str(int(value))
    return f"{float(value):.4g}"


def time_text(launch: Any) -> list[str]:
    """How long a launch took, and where: ``4.9 µs (4.8 µs to 5.1 µs in 200 runs)``, ``compiled in 98 ms``.

    On the CPU it is the interpreter's time, which says nothing about a GPU: ``1.23 ms in the interpreter``.
    """
    time = getattr(launch, "time", None)
    if time is None:
        seconds = messages.seconds_text(launch.seconds)
        return [_("{time} in the interpreter").format(time=seconds) if launch.target == "cpu" else seconds]
    compiled = (
        [] if time.compile is None else [_("compiled in {time}").format(time=messages.seconds_text(time.compile))]
    )
    return [str(time), *compiled]


def bytes_text(count: int) -> str:
    """``96 KiB``: three digits and a unit."""
    for unit, size in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if count >= size:
            return f"{messages.three_digits(count / size)} {unit}"
    return messages.count(count, "byte")


def some_of(shown: int | None, programs: int) -> str:
    """``, 105 of 1,221 programs shown`` if a picture leaves programs out; else ""."""
    return (
        ""
        if shown is None
        else _(", {shown} of {programs} shown").format(
            shown=messages.number(shown), programs=messages.count(programs, "program")
        )
    )


def nobody(shown: int | None) -> str:
    """The words for a place where no program was seen."""
    return _("not accessed") if shown is None else _("not accessed by these")
