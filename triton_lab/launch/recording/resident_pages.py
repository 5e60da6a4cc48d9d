"""Which memory was ever touched: what the system has not given a page yet was written by nobody, and holds zeros.

So a tensor of many gigabytes that `torch.empty` gave out costs nothing to keep, as long as it is not filled.
"""

from __future__ import annotations

import mmap
import os

import numpy as np

from triton_lab.launch.byte_ranges import NOTHING, Ranges, true_ranges

PAGE = mmap.PAGESIZE
# In /proc/self/pagemap: the page is in memory, or in swap.
_HELD = np.uint64(3 << 62)


def untouched(start: int, stop: int) -> Ranges:
    """The bytes in ``start .. stop - 1`` on pages that nobody has touched yet; none where the system does not tell.

    Of private memory alone: what is mapped from a file, or shared, holds something before it is touched.
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
        # What is missing of a short answer counts as touched.
        runs = true_ranges(entries & _HELD == 0)
        found.append(Ranges.of((first + runs.start) * PAGE, (first + runs.stop) * PAGE))
    return Ranges.joined(found)


def _private(start: int, stop: int) -> list[tuple[int, int]]:
    """The parts of the range that are mapped from no file and shared with nobody."""
    found = []
    with open("/proc/self/maps", encoding="ascii", errors="replace") as maps:
        for line in maps:
            span, rights, _, _, inode = line.split(None, 5)[:5]
            low, _, high = span.partition("-")
            first, last = max(start, int(low, 16)), min(stop, int(high, 16))
            if first < last and rights[0] == "r" and rights[3] == "p" and inode == "0":
                found.append((first, last))
    return found
