"""A requirement on a lock: before its release, all that belongs together has changed, by all threads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from triton_lab.course.attempt import Inputs
from triton_lab.localization import _

if TYPE_CHECKING:
    from triton_lab.launch.access import Access
    from triton_lab.launch.launch import Launch
    from triton_lab.launch.recording.access_event import AccessEvent


def locked(launches: Sequence[Launch], inputs: Inputs) -> str:
    """Require that a lock orders the changes of the result by several programs; see `Requirement`."""
    launch = launches[-1]
    if launch.programs == 1:
        return ""
    if _apart(launch):
        return _("value and place change in two steps; another program may come between them. Change both in one lock")
    line = _unordered(launch)
    if line is None:
        return ""
    return _(
        "line {line} releases the lock before all threads of the program are known to have stored. Write "
        "tl.debug_barrier() before it"
    ).format(line=line)


def _changes(launch: Launch) -> Iterator[tuple[AccessEvent, Access]]:
    """The stores and atomic operations, in the order in which they ran."""
    found = [(event, access) for access in launch.done if access.kind != "load" for event in access.events]
    return iter(sorted(found, key=lambda one: one[0].order))


def _apart(launch: Launch) -> bool:
    """Whether elements of one argument change in several atomic operations, or in several turns of a lock."""
    stores = {access.argument for access in launch.done if access.kind == "store"}
    places: dict[str | None, set[int]] = {}
    for event, access in _changes(launch):
        if access.kind == "store" or access.argument not in stores:
            places.setdefault(access.argument, set()).update(event.addresses()[event.active()].ravel().tolist())
    if any(len(places[name]) > 1 for name in places if name not in stores):
        return True
    turns: dict[int, set[int]] = {}
    wanted = set().union(*(places[name] for name in stores))
    for event, access in _changes(launch):
        addresses, active = event.addresses(), event.active()
        for row, program in enumerate(event.programs.tolist()):
            if access.kind == "store":
                turns.setdefault(program, set()).update(addresses[row][active[row]].ravel().tolist())
            elif turns.pop(program, wanted) not in (wanted, set()):
                return True
    return any(turn not in (wanted, set()) for turn in turns.values())


def _unordered(launch: Launch) -> int | None:
    """The line of an atomic operation by a program that has stored something, with no barrier in between; or None."""
    met = [] if launch.tape is None else launch.tape.barriers
    latest = np.full(launch.programs, -1)  # the time of each program's last store that no barrier has followed
    passed = 0
    for event, access in _changes(launch):
        while passed < len(met) and met[passed][0] <= event.order:
            latest[met[passed][1]] = -1
            passed += 1
        if access.kind == "store":
            latest[event.programs] = event.order
        elif (latest[event.programs] >= 0).any():
            return access.line
    return None
