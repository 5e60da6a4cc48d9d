"""Which bytes the operations of a recorded launch have written, and whether what is left there is finite."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from typing import Any, TypeAlias

import numpy as np

from triton_lab.interpreter.affine_block import AffineBlock
from triton_lab.interpreter.memory_access import pieces_of
from triton_lab.interpreter.memory_regions import Reachable
from triton_lab.launch.access_footprint import runs
from triton_lab.launch.byte_ranges import Ranges
from triton_lab.launch.nonfinite import finite
from triton_lab.launch.recording.access_event import AccessEvent

# What launches have in common that touch the same places; None if nothing is known of others.
Shared: TypeAlias = "dict[Hashable, Any] | None"

_MOST_RUNS = 1 << 16
# Bytes in so few ranges are looked at range by range.
_FEW = 1 << 6


def left_finite(
    op: int, events: Sequence[AccessEvent], shared: Shared, reachable: Reachable, dtype: np.dtype[Any]
) -> bool:
    """Whether what a store has left in memory is finite."""
    if shared is not None and all(map(_is_small, events)):
        stored = written_bytes(op, events, dtype.itemsize, shared)
        if len(stored) <= _FEW:
            ends = zip(stored.start.tolist(), stored.stop.tolist(), strict=True)
            return all(_is_finite(reachable, dtype, start, stop) for start, stop in ends)
    found = (
        piece
        for event in events
        if not _is_span_finite(event, reachable, dtype)
        for piece in pieces_of(reachable, event.pointer, event.mask, dtype, event.shape, "store")
    )
    return all(bool(finite(piece.view[piece.index]).all()) for piece in found)


def _is_span_finite(event: AccessEvent, reachable: Reachable, dtype: np.dtype[Any]) -> bool:
    """Whether lanes on few places have only finite elements around: then no lane needs to be looked at."""
    pointer = event.pointer
    if isinstance(pointer, AffineBlock) or not pointer.size:
        return False
    low, high = int(pointer.min()), int(pointer.max()) + dtype.itemsize
    if (high - low) % dtype.itemsize or high - low > pointer.size * dtype.itemsize:
        return False
    return reachable.find(low, high) is not None and _is_finite(reachable, dtype, low, high)


def _is_finite(reachable: Reachable, dtype: np.dtype[Any], start: int, stop: int) -> bool:
    """Whether the elements at the addresses ``start .. stop - 1`` are finite."""
    region = reachable.find(start, stop)
    assert region is not None, "they were stored"
    elements = region.data[start - region.start : stop - region.start].view(dtype)
    return bool(finite(elements).all())


def written_bytes(op: int, events: Sequence[AccessEvent], itemsize: int, shared: Shared) -> Ranges:
    """The bytes that an operation has written, without large scattered writes.

    These take long to sort, and their bytes rarely look like poison. Launches with the same ``shared`` touch the same
    places: the addresses of their bytes differ as those of their first lanes do.
    """
    if shared is None or not events:
        return _bytes(events, itemsize)
    first = _first(events[0])
    known: tuple[int, Ranges] | None = shared.get(("written", op))
    if known is None:
        known = shared["written", op] = first, _bytes(events, itemsize)
    then, found = known
    return found if first == then else Ranges(found.start + (first - then), found.stop + (first - then))


def _bytes(events: Sequence[AccessEvent], itemsize: int) -> Ranges:
    return Ranges.joined(runs(event, itemsize) for event in events if _is_small(event))


def _first(event: AccessEvent) -> int:
    pointer = event.pointer
    return int((pointer.base if isinstance(pointer, AffineBlock) else pointer).flat[0])


def _is_small(event: AccessEvent) -> bool:
    lane_by_lane = isinstance(event.pointer, np.ndarray) or isinstance(event.mask, np.ndarray)
    return len(event.programs) * (math.prod(event.shape) if lane_by_lane else 1) <= _MOST_RUNS
