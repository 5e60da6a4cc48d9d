"""A sample of the programs, for launches where a picture of all lanes would take too long."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from triton_lab.interpreter.affine_block import AffineBlock
from triton_lab.launch.access import Access
from triton_lab.launch.maps.lane_positions import TimedAccess
from triton_lab.launch.membership_classes import distinct
from triton_lab.launch.recording.access_event import AccessEvent

MOST_LANES = 1 << 17  # the most lanes that a first picture examines one by one
MOST_PROGRAMS = 1 << 16  # the most programs in a first picture if their lanes are known as boxes


def _guilty(accesses: Sequence[Access]) -> NDArray[np.int64]:
    """The programs that stopped the launch, which its picture must show."""
    stopped = [access.stopped for access in accesses if access.stopped is not None]
    found = [event.programs[event.astray().reshape(len(event.programs), -1).any(axis=1)] for event in stopped]
    return np.unique(np.concatenate([*found, np.zeros(0, dtype=np.int64)]))


def sampled(
    accesses: Sequence[TimedAccess], programs: int, most: int | None
) -> tuple[Sequence[TimedAccess], int | None]:
    """The accesses cut to programs at even distances, and their number; all accesses and None up to ``most`` lanes.

    Programs that stopped the launch are kept in the sample.
    """
    recorded = [access for access in accesses if isinstance(access, Access)]
    if most is None or len(recorded) < len(accesses):
        return accesses, None
    return _thinned(recorded, programs, sum(access.lanes for access in recorded), most)


def thinned(
    accesses: Sequence[TimedAccess], programs: int, most: int | None
) -> tuple[Sequence[TimedAccess], int | None]:
    """`sampled` for lanes that are known as boxes: unless ``most`` is None, at most `MOST_PROGRAMS` programs."""
    recorded = [access for access in accesses if isinstance(access, Access)]
    if most is None or len(recorded) < len(accesses):
        return accesses, None
    if programs <= MOST_PROGRAMS:
        return accesses, None
    return _thinned(recorded, programs, max(map(_taking_part, recorded), default=0), MOST_PROGRAMS)


def _taking_part(access: Access) -> int:
    return len(distinct(np.concatenate([event.programs for event in access.events] or [np.zeros(0, dtype=np.int64)])))


def reaching(accesses: Sequence[TimedAccess], low: int, high: int) -> Sequence[TimedAccess]:
    """The accesses cut to the programs that may touch an address in ``low .. high - 1``."""
    found = []
    for access in accesses:
        if isinstance(access, Access):
            near = [event.programs[_reach(event, low - access.itemsize, high)] for event in access.events]
            access = access.of(distinct(np.concatenate([*near, np.zeros(0, dtype=np.int64)])))
        found.append(access)
    return found


def _reach(event: AccessEvent, low: int, high: int) -> NDArray[np.bool_]:
    """(programs,) whether a lane of a program may point between ``low`` and ``high``."""
    if isinstance(event.pointer, AffineBlock):
        last = [stride * (size - 1) for stride, size in zip(event.pointer.strides, event.pointer.shape, strict=True)]
        base = np.broadcast_to(event.pointer.base.reshape(-1), len(event.programs))
        return (base + sum(min(0, far) for far in last) < high) & (base + sum(max(0, far) for far in last) > low)
    lanes = event.addresses().reshape(len(event.programs), -1)
    lowest: NDArray[np.int64] = lanes.min(axis=1, initial=np.iinfo(np.int64).max)
    highest: NDArray[np.int64] = lanes.max(axis=1, initial=0)
    return (lowest < high) & (highest > low)


def _thinned(
    accesses: Sequence[Access], programs: int, count: int, most: int
) -> tuple[Sequence[TimedAccess], int | None]:
    if count <= most:
        return accesses, None
    step = -(-count // most)
    chosen = distinct(np.concatenate([np.arange(0, programs, step), _guilty(accesses)[: programs // step]]))
    return [access.of(chosen) for access in accesses], len(chosen)
