"""Requirements on how programs share the work of a launch: no program has nearly all of it, parts are added up."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from triton_lab import messages
from triton_lab.course.attempt import Inputs
from triton_lab.localization import _

if TYPE_CHECKING:
    from triton_lab.course.launch_work import Requirement
    from triton_lab.launch.launch import Launch

_TIMES = 2  # programs that store an element, on average: tiles at an edge may wrap into their neighbours
_MOST = 0.9  # of all accesses: with blocks of 4,096 of 5,001 elements the first program has 0.82 of them


def one_program(launches: Sequence[Launch], inputs: Inputs) -> str:
    """Require that no program accesses nearly all of what is accessed, and that programs do not repeat each other."""
    if not any(launch.programs > 1 for launch in launches):
        return _("one program does all the work: give each program a part of it")
    accessed = [_accessed(launch) for launch in launches]
    number = max(range(len(launches)), key=lambda k: int(accessed[k].max(initial=0)))
    launch, total = launches[number], sum(int(one.sum()) for one in accessed)
    most = int(accessed[number].max(initial=0))
    if most <= _MOST * total:
        return _repeated(launch)
    return _("{program} makes {share} % of all accesses, of {programs}: give each program a part of the work").format(
        program=messages.program(int(accessed[number].argmax()), launch.grid),
        share=int(100 * most / total),
        programs=messages.count(launch.programs, "program"),
    )


def _accessed(launch: Launch) -> NDArray[np.int64]:
    """The lanes of each program's accesses (programs,), repetitions included."""
    found = np.zeros(launch.programs, np.int64)
    for access in launch.done:
        for event in access.events:
            lanes = event.active().reshape(len(event.programs), -1).sum(axis=1)
            np.add.at(found, event.programs, lanes)
    return found


def _repeated(launch: Launch) -> str:
    """What is wrong if each element is stored by several programs; "" if nothing is, or if they may take turns."""
    if any(access.kind.startswith("atomic") for access in launch.done):
        return ""
    pairs = _pairs(launch, "store")
    elements = len(np.unique(pairs[:, 0]))
    if len(pairs) < _TIMES * elements or not elements:
        return ""
    return _("{count} store each element, on average: give each program a part of its own").format(
        count=messages.count(len(pairs) // elements, "program")
    )


def _pairs(launch: Launch, kind: str) -> NDArray[np.int64]:
    """The different pairs of an address and a program in accesses of this kind of the launch: (pairs, 2)."""
    found = [np.empty((0, 2), np.int64)]
    for access in launch.done:
        if access.kind.startswith(kind):
            for event in access.events:
                shape = (len(event.programs), *event.shape)
                active = np.broadcast_to(event.active(), shape)
                programs = np.broadcast_to(event.programs.reshape(-1, *[1] * len(event.shape)), shape)
                addresses = np.broadcast_to(event.addresses(), shape)
                found.append(np.stack([addresses[active], programs[active]], axis=1))
    return np.unique(np.concatenate(found), axis=0)


def parts(least: Callable[[Inputs], int]) -> Requirement:
    """Require that so many programs add to each element of the result."""

    def wrong(launches: Sequence[Launch], inputs: Inputs) -> str:
        pairs = _pairs(launches[-1], "atomic")
        _addresses, added = np.unique(pairs[:, 0], return_counts=True)
        found, asked = int(added.min(initial=len(pairs) or 1)), least(inputs)
        if found >= asked:
            return ""
        return _("{programs} adds to an element of the result; there must be {asked} or more").format(
            programs=messages.count(found, "program"), asked=messages.number(asked)
        )

    return wrong
