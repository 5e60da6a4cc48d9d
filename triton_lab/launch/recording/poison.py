"""The poison: the pattern in uninitialised memory, by which a byte that was never written is recognised.

The poison is NaN as a float of 16, 32 or 64 bits, and huge as an integer of 32 or 64 bits, so a result that depends on
it looks wrong. Its eight bytes differ, and none is 0 or 255, so written memory rarely looks like it.

This module does without torch, so that the rules of findings can be listed without it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt

from triton_lab.launch.byte_ranges import NOTHING, Ranges, true_ranges

Bytes = npt.NDArray[np.uint8]

POISON = np.array([0xF9, 0x7F, 0xFE, 0x7F, 0xFB, 0x7F, 0xFD, 0x7F], np.uint8)

# Storages of more bytes are not filled with the poison.
POISONED = 256 << 20

# One byte equals the poison by chance in one of 256 cases; this many in a row do not.
_LEAST = 4
# Memory is compared with the poison in pieces of this many bytes.
_PIECE = 1 << 24


def pattern(start: int, size: int) -> Bytes:
    """The poison for ``size`` bytes at address ``start``; its phase depends on the address."""
    phase = start % len(POISON)
    return np.resize(np.roll(POISON, -phase), size)


def still_poisoned(unwritten: Ranges, held: Callable[[int, int], Bytes]) -> Ranges:
    """The ``unwritten`` bytes that still hold the poison, so that unseen writes are excluded too.

    ``held(start, stop)`` returns the bytes of memory. If only some bytes of a piece match, runs of fewer than four are
    left out, as they may match by chance.
    """
    found = NOTHING
    if not len(unwritten):
        return found
    for start, stop in _pieces(unwritten):
        same = held(start, stop) == pattern(start, stop - start)
        if bool(same.all()):
            found |= Ranges.of([start], [stop])
            continue
        rows = true_ranges(same, start)
        long = rows.stop - rows.start >= _LEAST
        found |= Ranges.of(rows.start[long], rows.stop[long])
    return found


def _pieces(ranges: Ranges) -> Iterator[tuple[int, int]]:
    for start, stop in zip(ranges.start.tolist(), ranges.stop.tolist(), strict=True):
        for first in range(start, stop, _PIECE):
            yield first, min(stop, first + _PIECE)
