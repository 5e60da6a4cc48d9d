"""Some programs in place of all, where a picture of all lanes would keep its reader waiting."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from triton_lab.launch.access import Access
from triton_lab.launch.maps.positions import TimedAccess

MOST_LANES = 1 << 17  # so many does a first picture look at one by one


def sampled(
    accesses: Sequence[TimedAccess], programs: int, most: int | None
) -> tuple[Sequence[TimedAccess], int | None]:
    """What programs at even distances did, and how many they are; all, and None, where that is ``most`` lanes."""
    recorded = [access for access in accesses if isinstance(access, Access)]
    lanes = sum(access.lanes for access in recorded)
    if most is None or lanes <= most or len(recorded) < len(accesses):
        return accesses, None
    chosen = np.arange(0, programs, -(-lanes // most))
    return [access.of(chosen) for access in recorded], len(chosen)
