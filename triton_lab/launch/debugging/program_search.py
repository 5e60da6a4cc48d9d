"""Which programs of a launch a breakpoint may stop, before their tapes are made."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.launch.debugging.block_expression import ConditionError
from triton_lab.launch.debugging.breakpoints import PROGRAM_NAMES, Breakpoint
from triton_lab.launch.debugging.marked_copy import MarkedCopy
from triton_lab.launch.recording.launch_record import Recorded

Array = NDArray[Any]


def later_programs(
    breakpoints: Sequence[Breakpoint],
    program: int,
    launch: Recorded,
    copy: MarkedCopy,
    reached: Callable[[], Mapping[int, Array]],
) -> Iterator[int]:
    """The programs after ``program`` that a breakpoint may stop, ascending; ``reached`` finds what `reached` tells."""
    later = np.arange(program + 1, launch.programs)
    chosen = np.zeros(len(later), np.bool_)
    for one in breakpoints if len(later) else ():
        chosen |= _may_stop(one, later, launch.grid, copy, {} if one.statements is None else reached())
    yield from later[chosen].tolist()


def _may_stop(
    one: Breakpoint, programs: Array, grid: tuple[int, int, int], copy: MarkedCopy, reached: Mapping[int, Array]
) -> Array:
    """Bool for each of ``programs`` (numbers): whether a breakpoint may stop it."""
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
