"""The lanes out of bounds that stopped a launch, in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from triton_lab import messages
from triton_lab.localization import _

if TYPE_CHECKING:
    from triton_lab.launch.argument import Argument
    from triton_lab.launch.launch import Launch

Ints = npt.NDArray[np.int64]

_TOLD = 3  # programs that are listed


def astray(launch: Launch, argument: Argument, drawn: int) -> list[str]:
    """The accesses out of bounds: a line for each of the first programs that stopped the launch at ``argument``.

    ``drawn`` is the number of their lanes for which the picture has a place.
    """
    told = []
    for access in launch.accesses:
        event = access.stopped
        if event is None or access.argument != argument.name or not argument.itemsize:
            continue
        stray = event.astray().reshape(len(event.programs), -1)
        offsets = (event.addresses() - argument.address).reshape(stray.shape)
        rows = np.flatnonzero(stray.any(axis=1))
        for row in rows[:_TOLD].tolist():
            who = messages.program(int(event.programs[row]), launch.grid)
            lanes = np.flatnonzero(stray[row])
            where = _places(offsets[row][lanes], argument)
            verb = messages.noun(len(lanes), "reaches", "reach")
            told.append(
                _("{who}: {lanes} {verb} for {where}").format(
                    who=who, lanes=_lanes(lanes, event.shape), verb=verb, where=where
                )
            )
        if len(rows) > _TOLD:
            rest = int(stray[rows[_TOLD:]].sum())
            told.append(
                _("and {programs}, {lanes}").format(
                    programs=messages.count(len(rows) - _TOLD, "more program"), lanes=messages.count(rest, "more lane")
                )
            )
        hidden = int(stray.sum()) - drawn
        if hidden > 0:
            told.append(
                _("{reaches} beyond what is drawn here").format(
                    reaches=messages.count(hidden, "lane reaches", "lanes reach")
                )
            )
    return told


def _lanes(lanes: Ints, block: Sequence[int]) -> str:
    """Lanes in words: ``lanes 104 to 127``, ``4 lanes from (0, 2) to (3, 2)``; ``it`` for a scalar access."""
    if not block:
        return _("it")
    first, last = (
        messages.lane(int(lanes[k]), block).removeprefix(_("lane {number}").format(number="")) for k in (0, -1)
    )
    if len(lanes) == 1:
        return _("lane {number}").format(number=first)
    whole = len(block) == 1 and lanes[-1] - lanes[0] == len(lanes) - 1
    return (
        _("lanes {first} to {last}").format(first=first, last=last)
        if whole
        else _("{lanes} from {first} to {last}").format(
            lanes=messages.count(len(lanes), "lane"), first=first, last=last
        )
    )


def _places(offsets: Ints, argument: Argument) -> str:
    """Places in words: ``elements 1000 to 1023, past its end``."""
    at = np.unique(offsets // argument.itemsize)
    ends = (argument.storage_address - argument.address) // argument.itemsize
    last = ends + argument.storage_bytes // argument.itemsize - 1
    where = []
    if at[0] < ends:
        where.append(_("before its start"))
    if at[-1] > last:
        where.append(_("past its end"))
    told = messages.numbered(int(at[0]), int(at[-1]), "element")
    return ", ".join([told, _(" and ").join(where)] if where else [told])
