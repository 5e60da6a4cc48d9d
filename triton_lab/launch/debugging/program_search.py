"""Which programs of a launch a breakpoint may stop, before their tapes are made."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.launch.debugging.block_expression import ConditionError
from triton_lab.launch.debugging.breakpoints import PROGRAM_NAMES, Breakpoint
from triton_lab.launch.debugging.marked_copy import MarkedCopy

Array = NDArray[Any]


def may_stop(
    one: Breakpoint, programs: Array, grid: tuple[int, int, int], copy: MarkedCopy, reached: Mapping[int, Array]
) -> Array:
    """Bool for each of ``programs`` (numbers): whether a breakpoint may stop it. ``reached`` is that of the tapes."""
    may = _may_hold(one, programs, grid, copy)
    if one.statements is None:
        return may
    come = [reached[number] for number in one.statements if number in reached]
    return may & (np.isin(programs, np.concatenate(come)) if come else False)


def _may_hold(one: Breakpoint, programs: Array, grid: tuple[int, int, int], copy: MarkedCopy) -> Array:
    """Which programs a condition may stop; False where it asks for the program's number alone, and another one."""
    condition = one.condition
    own = set().union(*(copy.names(function.number) for function in copy.functions))
    if condition is None or condition.edge or not condition.names <= set(PROGRAM_NAMES) - own:
        return np.ones(len(programs), np.bool_)
    x, y, _unused = grid
    places = dict(zip(PROGRAM_NAMES, (programs, programs % x, programs // x % y, programs // (x * y)), strict=True))
    try:
        found = condition.expression.value(places)
    except ConditionError:
        return np.ones(len(programs), np.bool_)
    return np.broadcast_to(found.astype(np.bool_), programs.shape)
