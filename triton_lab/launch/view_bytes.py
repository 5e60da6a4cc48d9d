"""Which bytes of a storage belong to a view, for millions of addresses at once.

A list of the view's byte ranges may be longer than the accesses to it. If no two of its steps can overlap, its strides
split an address instead, as a number splits into digits.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from triton_lab.launch.access_footprint import tensor_bytes
from triton_lab.launch.byte_ranges import Ints, Ranges


class ViewBytes:
    """The bytes of a tensor's elements; strides count elements and may be 0 or negative."""

    def __init__(self, address: int, shape: tuple[int, ...], strides: tuple[int, ...], itemsize: int) -> None:
        self._tensor = address, shape, strides, itemsize
        steps = [
            (abs(stride) * itemsize, extent)
            for stride, extent in zip(strides, shape, strict=True)
            if stride and extent != 1
        ]
        backwards = sum(min(0, stride) * (extent - 1) for stride, extent in zip(strides, shape, strict=True))
        self._low = address + backwards * itemsize
        # The length of a contiguous piece, and the steps from one piece to the next, the widest first.
        self._piece = 0 if 0 in shape else itemsize
        self._steps: list[tuple[int, int]] = []
        self._is_nested = True
        reach = itemsize
        for step, extent in sorted(steps):
            self._is_nested = self._is_nested and step >= reach
            reach = step * (extent - 1) + reach
            if step == self._piece and not self._steps:
                self._piece = reach
            else:
                self._steps.insert(0, (step, extent))

    @cached_property
    def _ranges(self) -> Ranges:
        return tensor_bytes(*self._tensor)

    def ahead(self, address: Ints) -> Ints:
        """How many bytes from each address on belong to elements without a gap; 0 if the address itself does not."""
        if not self._piece:
            return np.zeros_like(address)
        if not self._is_nested:
            return self._ahead_of_ranges(address)
        rest = address - self._low
        inside = rest >= 0
        for step, extent in self._steps:
            index = rest // step
            rest = rest - index * step
            inside &= index < extent
        return np.where(inside & (rest < self._piece), self._piece - rest, 0)

    def _ahead_of_ranges(self, address: Ints) -> Ints:
        found = np.searchsorted(self._ranges.start, address, side="right") - 1
        return np.where(found >= 0, np.maximum(self._ranges.stop[found] - address, 0), 0)
