"""Which memory was ever touched: memory without a page was never written, and holds zeros.

So a snapshot of a tensor of many gigabytes from `torch.empty` costs nothing, as long as the tensor is not filled.
"""

from __future__ import annotations

import mmap
import os

import numpy as np

from triton_lab.launch.byte_ranges import NOTHING, Ranges, true_ranges

PAGE = mmap.PAGESIZE
# The bits of /proc/self/pagemap for a page that is in memory or in swap.
_HELD = np.uint64(3 << 62)


def untouched(start: int, stop: int) -> Ranges:
    """The bytes in ``start .. stop - 1`` on pages that were never touched; none if the system does not report it.

    Only private memory is considered: memory that is shared or mapped from a file has content before it is touched.
    """
    try:
        own = _private(start, stop)
    except OSError:
        return NOTHING
    found = []
    for low, high in own:
        first, last = -(-low // PAGE), high // PAGE
        if first >= last:
            continue
        try:
            with open("/proc/self/pagemap", "rb", buffering=0) as pages:
                entries = np.frombuffer(os.pread(pages.fileno(), (last - first) * 8, first * 8), np.uint64)
        except OSError:
            return NOTHING
        # Pages missing from a short read count as touched.
        runs = true_ranges(entries & _HELD == 0)
        found.append(Ranges.of((first + runs.start) * PAGE, (first + runs.stop) * PAGE))
    return Ranges.joined(found)


def _private(start: int, stop: int) -> list[tuple[int, int]]:
    """The parts of the range that are neither mapped from a file nor shared."""
    found = []
    with open("/proc/self/maps", encoding="ascii", errors="replace") as maps:
        for line in maps:
            span, rights, _, _, inode = line.split(None, 5)[:5]
            low, _, high = span.partition("-")
            first, last = max(start, int(low, 16)), min(stop, int(high, 16))
            if first < last and rights[0] == "r" and rights[3] == "p" and inode == "0":
                found.append((first, last))
    return found
