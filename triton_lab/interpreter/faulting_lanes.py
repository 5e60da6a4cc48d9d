"""Finds which lanes of a bad access may not touch memory, and why."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.access_fault_message import Home
from triton_lab.interpreter.kernel_errors import AccessFault
from triton_lab.interpreter.memory_regions import Reachable

Array = NDArray[Any]

# An address below this counts as a null pointer with an offset.
_NULL_PAGE = 4096
# How many unmapped addresses are looked up one by one before the search stops.
_MOST_LOOKUPS = 10_000


def strays(rows: Array, verified: Array, programs: int) -> Array:
    """Which lanes leave the tensor that other lanes of their program are in. ``rows`` gives each lane's program.

    Memory that belongs to no tensor may be read alone, but not together with a tensor: that is past the tensor's end.
    """
    anchored = np.zeros(programs, np.bool_)
    anchored[rows[verified]] = True
    return ~verified & anchored[rows]


def fault_of(reachable: Reachable, addresses: Array, mask: Array, itemsize: int, kind: str) -> AccessFault:
    """The fault of an access to ``addresses`` (programs, *block) where ``mask`` holds, one lane at a time."""
    if reachable.allowed is None:
        _look_up(reachable, np.unique(addresses[mask]), itemsize)
    good, verified = _standing(reachable, addresses, itemsize, kind)
    there = mask & good
    good[there] = ~strays(np.nonzero(there)[0], verified[there], len(addresses))
    # A negative address is no null pointer: an offset led below all memory.
    bad, problem = mask & ~good, "out-of-bounds"
    if not bad.any():
        bad, problem = mask & (addresses % itemsize != 0), "misaligned"
    elif ((addresses[bad] >= 0) & (addresses[bad] < _NULL_PAGE)).all():
        problem = "null-pointer"
    block = addresses.shape[1:]
    lanes = np.flatnonzero(bad) % max(1, math.prod(block))
    home = _home(reachable, int(addresses[bad][0])) if bad.any() else ""
    return AccessFault(
        problem, kind, itemsize, np.nonzero(bad)[0], lanes, addresses[bad], block, rows=len(addresses), home=home
    )


def _home(reachable: Reachable, address: int) -> Home:
    """What lies at an address that a pointer of unknown origin led to. "" if the pointer's arguments are known."""
    region = reachable.memory.holding(address) if reachable.allowed is None else None
    if region is None or not region.verified:
        return ""
    return "tensor" if region.writable else "fixed tensor"


def _look_up(reachable: Reachable, addresses: Array, itemsize: int) -> None:
    """Find the regions at ``addresses`` (ascending). Beyond the first known region, addresses are looked up too."""
    first = missed = 0
    while first < len(addresses) and missed < _MOST_LOOKUPS:
        address = int(addresses[first])
        region = reachable.find(address, address + itemsize)
        missed += region is None
        first = first + 1 if region is None else int(np.searchsorted(addresses, region.stop - itemsize, side="right"))
        first = max(first, int(np.searchsorted(addresses, address, side="right")))


def _standing(reachable: Reachable, addresses: Array, itemsize: int, kind: str) -> tuple[Array, Array]:
    """For each address, whether an element there is in a region that allows the access, and whether in a
    verified one.
    """
    regions = sorted(reachable.regions, key=lambda region: region.start)
    if not regions:
        return np.zeros(addresses.shape, np.bool_), np.zeros(addresses.shape, np.bool_)
    starts, stops = (np.array([getattr(region, end) for region in regions]) for end in ("start", "stop"))
    holding = np.maximum(np.searchsorted(starts, addresses, side="right") - 1, 0)
    inside = (addresses >= starts[holding]) & (addresses + itemsize <= stops[holding])
    good = inside & np.array([region.writable or kind == "load" for region in regions])[holding]
    return good, inside & np.array([region.verified for region in regions])[holding]
