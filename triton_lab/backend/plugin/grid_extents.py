"""The extents of a grid: what a GPU takes, and what Triton ignores."""

from __future__ import annotations

import operator
import sys
from types import FrameType
from typing import Any

from triton_lab.localization import _

# The greatest extents of a grid in CUDA.
_GREATEST = (2**31 - 1, 65535, 65535)
_LEAST = min(_GREATEST)


def checked_grid(*extents: Any) -> tuple[int, int, int]:
    """The grid, if a GPU would run it; else an error."""
    x, y, z = extents
    if x.__class__ is y.__class__ is z.__class__ is int and x >= 0 <= y <= _LEAST and 0 <= z <= _LEAST >= x:
        return x, y, z  # as most are
    try:
        grid = tuple(operator.index(extent) for extent in extents)
    except TypeError:
        raise TypeError(
            _(
                "the grid {extents} must be of integers: triton.cdiv(n, BLOCK) divides and rounds up, / gives a float"
            ).format(extents=extents)
        ) from None
    if min(grid) < 0:
        raise ValueError(_("the grid {grid} has a negative extent").format(grid=grid))
    if any(extent > most for extent, most in zip(grid, _GREATEST, strict=True)):
        raise ValueError(
            _("the grid {grid} is larger than {GREATEST}, the largest grid of a GPU").format(
                grid=grid, GREATEST=_GREATEST
            )
        )
    return grid[0], grid[1], grid[2]


_MOST_FRAMES = 12  # between Triton's launch and here


def refuse_more_axes() -> None:
    """Raise ValueError in a launch with more than three axes, of which Triton passes the first three to its backends.

    The rest stands in Triton's own frame alone. Reading that takes three microseconds, so that launches that are found
    in the dispatch cache do without.
    """
    from triton.runtime.jit import JITFunction

    frame: FrameType | None = sys._getframe(1)
    for _unused in range(_MOST_FRAMES):
        if frame is None:
            return
        if frame.f_code is JITFunction.run.__code__:
            grid = frame.f_locals.get("grid")
            if isinstance(grid, (tuple, list)) and len(grid) > 3:
                raise ValueError(
                    _(
                        "the grid {grid} has {axes} axes. A GPU has three, and Triton ignores the others. "
                        "Launch kernel[(x, y, z * w)], and divide tl.program_id(2) in the kernel"
                    ).format(grid=tuple(grid), axes=len(grid))
                )
            return
        frame = frame.f_back
