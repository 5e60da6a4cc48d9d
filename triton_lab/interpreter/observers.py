"""Observers of accesses that need no values, and several observers of one run, since records may be nested."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from triton_lab.interpreter.frame import Frame, Observer
from triton_lab.interpreter.memory_regions import Reachable
from triton_lab.interpreter.runtime_values import Value
from triton_lab.ir import Op, Type


@runtime_checkable
class PlacesObserver(Observer, Protocol):
    """An observer of accesses to which their places can be told before the launch runs, and the values afterwards."""

    def touched(
        self, types: Sequence[Type], op: Op, programs: NDArray[Any], pointer: Any, mask: Any, shape: tuple[int, ...]
    ) -> None:
        """``op`` will access a block of ``shape`` in each of ``programs``; ``types`` are those of its function."""

    def alike(self, kept: dict[Hashable, Any]) -> None:
        """All that was told is what was told before with the same ``kept``, except where memory lies. The observer may
        keep there what it finds out."""

    def stored(self, op: Op, reachable: Reachable, dtype: np.dtype[Any], is_last: bool) -> None:
        """The launch has run: what ``op`` stored is in memory, if it ``is_last`` to store there."""

    def forget(self, is_lost: bool = False) -> None:
        """The launch runs otherwise than was told: what was told so far does not count.

        ``is_lost``: it has stopped, and how far it came is not known.
        """


class _Together:
    def __init__(self, observers: Sequence[Observer]) -> None:
        self.observers = observers

    def after(self, frame: Frame, op: Op, operands: Sequence[Value], result: Any) -> None:
        for one in self.observers:
            one.after(frame, op, operands, result)

    def access(self, frame: Frame, op: Op, kind: str, pointer: Any, mask: Any, values: NDArray[Any] | None) -> None:
        for one in self.observers:
            one.access(frame, op, kind, pointer, mask, values)

    def barrier(self, frame: Frame, op: Op) -> None:
        for one in self.observers:
            one.barrier(frame, op)

    def handed(self, frame: Frame, numbers: Sequence[int], values: Sequence[Value]) -> None:
        for one in self.observers:
            one.handed(frame, numbers, values)

    def joined(
        self, pieces: Sequence[tuple[NDArray[Any], Value, NDArray[Any] | None]], programs: int, result: Value
    ) -> None:
        for one in self.observers:
            one.joined(pieces, programs, result)


def together(observers: Iterable[Observer | None]) -> Observer | None:
    """One observer that calls all of them; None if there is none, which costs nothing."""
    every = [one for one in observers if one is not None]
    if len(every) < 2:
        return every[0] if every else None
    return _Together(every)
