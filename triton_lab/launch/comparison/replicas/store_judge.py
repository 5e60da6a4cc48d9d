"""`StoreJudge`: which copies of programs store what was expected."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.interpreter.affine_block import AffineBlock
from triton_lab.interpreter.frame import Frame
from triton_lab.interpreter.mask_box import MaskBox
from triton_lab.ir import Op
from triton_lab.launch.access import elements_at
from triton_lab.launch.comparison.mutations.kernel_scope import KernelScope
from triton_lab.launch.comparison.number_formats import wide
from triton_lab.launch.recording.watcher import Watcher

Array = NDArray[Any]


@dataclass(frozen=True)
class Expected:
    """By element of an argument: what was expected, and how far a result may be from it."""

    address: int
    dtype: np.dtype[Any]
    numbers: Array
    allowed: Array

    def stored(self, values: Array) -> Array:
        """What is read of ``values`` that a kernel stores, whose integers have no sign."""
        if self.dtype.kind == "u" and values.dtype.kind == "i":
            values = values.astype(f"i{self.dtype.itemsize}").view(self.dtype)
        return wide(values)

    def met(self, found: Array, at: Array | slice) -> Array:
        """Where the numbers that were found are those expected at these elements."""
        wanted = self.numbers[at]
        with np.errstate(all="ignore"):
            near = (np.abs(found - wanted) <= self.allowed[at]) | (found == wanted)
        return np.asarray(near | ((found != found) & (wanted != wanted)))


class StoreJudge(Watcher):
    """Counts by copy what is stored, and what of it is not as expected."""

    def __init__(self, scope: KernelScope, expected: Mapping[str, Expected], copies: int) -> None:
        self._scope, self._expected = scope, expected
        self._stored, self._bad = np.zeros(copies, np.int64), np.zeros(copies, np.int64)

    def access(self, frame: Frame, op: Op, kind: str, pointer: Any, mask: Any, values: Array | None) -> None:
        """``op`` stores ``values``."""
        if kind != "store" or values is None:
            return
        scope, launch = self._scope, self._scope.launch
        where = pointer.elements(np.dtype(np.int64)) if isinstance(pointer, AffineBlock) else np.asarray(pointer)
        active = True if mask is None else mask.elements() if isinstance(mask, MaskBox) else np.asarray(mask)
        shape = np.broadcast_shapes(
            where.shape, values.shape, np.shape(active), (frame.count, *(1,) * (values.ndim - 1))
        )
        for name in scope.owners(op):
            expected = self._expected.get(name)
            if expected is None:
                continue
            element = np.broadcast_to(elements_at(where - expected.address, launch.argument(name)), shape)
            there = (element >= 0) & active
            at = np.maximum(element, 0)
            good = expected.met(np.broadcast_to(expected.stored(values), shape), at)
            which = frame.programs // launch.programs
            for counts, lanes in ((self._stored, there), (self._bad, there & ~good)):
                np.add.at(counts, which, lanes.reshape(len(which), -1).sum(axis=1))

    def fitting(self) -> Array:
        """How much each copy stores of what was expected, where the kernel as it is does not, or stores elsewhere.

        None of a copy that stores anything else, or less than the kernel stores rightly: it leaves out what was wrong,
        and with it what was right.
        """
        apart = (self._bad[0] > 0) | (self._stored != self._stored[0])
        fits = (self._bad == 0) & apart & (self._stored >= self._stored[0] - self._bad[0])
        return np.where(fits, self._stored, 0)
