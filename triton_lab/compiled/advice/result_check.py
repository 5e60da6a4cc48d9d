"""`ResultCheck`: whether an edited launch leaves the same in memory as the launch itself, but for rounding."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.interpreter.kernel_errors import KernelError
from triton_lab.launch.comparison.argument_difference import DIFFERENT, EQUAL, NEAR, UNKNOWN, VERDICTS, Compared
from triton_lab.launch.comparison.bounds.bound import Bound
from triton_lab.launch.comparison.bounds.error_bounds import bounds
from triton_lab.launch.comparison.launch_results import read, written_by
from triton_lab.launch.comparison.rerun import may_be_rounding
from triton_lab.launch.recording.progress_callback import TookTooLong, within
from triton_lab.launch.recording.replay_error import CannotReplay
from triton_lab.launch.replay.parallel_replay import memory_after

if TYPE_CHECKING:
    from triton_lab.launch.launch import Launch


_BOUNDED = 16  # programs whose rounding is bounded


@dataclass(frozen=True, eq=False)
class ResultCheck:
    """Compares with the results of ``launch``; the bounds of rounding may take ``seconds``, once.

    Bounds are computed for some programs. What others leave may differ by as much as the largest of these bounds. The
    rounding of a sum by atomics of all programs grows with the square of their number, as each rounds the sum so far.
    """

    launch: Launch
    seconds: float

    @cached_property
    def _wanted(self) -> Mapping[str, NDArray[Any]]:
        memory = memory_after(self.launch)
        return {name: read(memory, self.launch.argument(name)) for name in written_by(self.launch)}

    @cached_property
    def _bounds(self) -> Mapping[str, Bound]:
        """The bounds of what some programs leave; empty where they take too long, or are not known."""
        begin = max(0, (self.launch.programs - _BOUNDED) // 2)
        some = replace(self.launch, part=range(begin, min(begin + _BOUNDED, self.launch.programs)))
        try:
            return bounds(some, False, seconds=self.seconds)
        except (CannotReplay, KernelError):
            return {}

    def verdict(self, tried: Launch, seconds: float) -> str:
        """One of `VERDICTS` for the edited launch; UNKNOWN also if all programs take longer than ``seconds``."""
        try:
            with within(seconds):
                memory = memory_after(replace(tried, part=None))
        except TookTooLong:
            return UNKNOWN
        except (CannotReplay, KernelError):
            return DIFFERENT
        found = [
            Compared(name, wanted, read(memory, self.launch.argument(name))) for name, wanted in self._wanted.items()
        ]
        return max((self._judged(one) for one in found), key=VERDICTS.index, default=EQUAL)

    def _judged(self, one: Compared) -> str:
        if not one.count:
            return EQUAL
        if not may_be_rounding(one):
            return DIFFERENT
        bound = self._bounds.get(one.name)
        if bound is None:
            return UNKNOWN
        size = np.broadcast_to(bound.size, one.a.shape)
        known = (size > 0) & np.isfinite(size)
        if not known.any():
            return UNKNOWN
        # Both results lie within such a bound of the exact one; other programs compute alike.
        most = size[known].max()
        allowed = np.where(known, 2 * size, 4 * most)
        if any(access.kind == "atomic" and access.argument == one.name for access in self.launch.accesses):
            allowed = np.full(size.shape, 2 * most * max(1.0, self.launch.programs / _BOUNDED) ** 2)
        return NEAR if bool((one.absolute <= allowed).all()) else DIFFERENT
