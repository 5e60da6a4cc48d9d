"""Some programs in place of all, where a picture of all lanes would keep its reader waiting."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from triton_lab.launch.access import Access
from triton_lab.launch.maps.positions import TimedAccess

MOST_LANES = 1 << 17  # so many does a first picture look at one by one


def _guilty(accesses: Sequence[Access]) -> NDArray[np.int64]:
    """The programs that stopped the launch: these are what a picture of it is about."""
    stopped = [access.stopped for access in accesses if access.stopped is not None]
    found = [event.programs[event.astray().reshape(len(event.programs), -1).any(axis=1)] for event in stopped]
    return np.unique(np.concatenate([*found, np.zeros(0, dtype=np.int64)]))


def sampled(
    accesses: Sequence[TimedAccess], programs: int, most: int | None
) -> tuple[Sequence[TimedAccess], int | None]:
    """What programs at even distances did, and how many they are; all, and None, where that is ``most`` lanes.

    Programs that stopped the launch are among them.
    """
    recorded = [access for access in accesses if isinstance(access, Access)]
    lanes = sum(access.lanes for access in recorded)
    if most is None or lanes <= most or len(recorded) < len(accesses):
        return accesses, None
    step = -(-lanes // most)
    chosen = np.union1d(np.arange(0, programs, step), _guilty(recorded)[: programs // step])
    return [access.of(chosen) for access in recorded], len(chosen)
