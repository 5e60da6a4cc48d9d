"""`AccessEvent`: one execution of a load, store or atomic by the programs that ran together."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.interpreter.affine_block import AffineBlock
from triton_lab.interpreter.mask_box import MaskBox
from triton_lab.interpreter.runtime_values import take

Array = NDArray[Any]
_INT64 = np.dtype(np.int64)


@dataclass(frozen=True, eq=False)
class AccessEvent:
    """One execution of an access by the ``programs`` (linear numbers, ascending) that ran together.

    ``pointer`` and ``mask`` are in the interpreter's compact forms; ``order`` counts the launch's events. For a
    compare-and-swap, ``took`` says which lanes found the value that they expected. ``strayed`` is None except in the
    event that stopped the launch, which changed no memory: there it marks the lanes, bool ``(len(programs), *shape)``,
    that may not touch their addresses.
    """

    order: int
    programs: Array
    pointer: AffineBlock | Array
    mask: MaskBox | Array | None
    shape: tuple[int, ...]
    took: Array | None = None
    strayed: Array | None = None

    def addresses(self) -> Array:
        """Byte addresses, int64 ``(len(programs), *shape)``."""
        pointer = self.pointer
        if isinstance(pointer, AffineBlock):
            # A copy, since an `AffineBlock` caches its elements and an event must stay small.
            found = AffineBlock(pointer.base, pointer.strides, pointer.shape).elements(_INT64)
        else:
            found = pointer
        return np.broadcast_to(found, (len(self.programs), *self.shape))

    def active(self) -> Array:
        """Which lanes touch memory, bool ``(len(programs), *shape)``."""
        if self.mask is None:
            return np.broadcast_to(np.True_, (len(self.programs), *self.shape))
        found = self.mask.elements() if isinstance(self.mask, MaskBox) else self.mask
        return np.broadcast_to(found, (len(self.programs), *self.shape))

    @property
    def lanes(self) -> int:
        """How many lanes touch memory. For a mask box this is computed without visiting each lane."""
        if self.mask is None:
            return len(self.programs) * math.prod(self.shape)
        if isinstance(self.mask, np.ndarray) or self.mask.shape != self.shape:
            return int(np.count_nonzero(self.active()))
        inside = np.ones(len(self.programs), np.int64)
        for low, high in zip(self.mask.lower, self.mask.upper, strict=True):
            inside *= np.maximum(0, high - low)
        return int(inside.sum())

    def astray(self) -> Array:
        """Which lanes stopped the launch, bool ``(len(programs), *shape)``."""
        found = np.False_ if self.strayed is None else self.strayed
        return np.broadcast_to(found, (len(self.programs), *self.shape))

    def of(self, rows: Array) -> AccessEvent:
        """The event cut to the programs at ``rows`` (positions in ``programs``)."""
        pointer, mask, took, strayed = (
            None if value is None else take(value, rows) for value in (self.pointer, self.mask, self.took, self.strayed)
        )
        assert isinstance(pointer, (np.ndarray, AffineBlock))
        assert mask is None or isinstance(mask, (np.ndarray, MaskBox))
        assert took is None or isinstance(took, np.ndarray)
        assert strayed is None or isinstance(strayed, np.ndarray)
        return replace(self, programs=self.programs[rows], pointer=pointer, mask=mask, took=took, strayed=strayed)

    def among(self, chosen: Array) -> AccessEvent:
        """The event cut to the programs that are in ``chosen``, which ascends too."""
        if not len(chosen):
            return self.of(np.zeros(0, np.int64))
        # `np.isin` is much slower, as it hashes.
        place = np.minimum(np.searchsorted(chosen, self.programs), len(chosen) - 1)
        return self.of(np.flatnonzero(chosen[place] == self.programs))

    @property
    def nbytes(self) -> int:
        """The bytes that the event's arrays take."""
        pointer = self.pointer.base if isinstance(self.pointer, AffineBlock) else self.pointer
        mask = self.mask.nbytes if isinstance(self.mask, np.ndarray) else 0
        lanes = sum(lanes.nbytes for lanes in (self.took, self.strayed) if lanes is not None)
        return int(pointer.nbytes + mask + lanes + self.programs.nbytes)
