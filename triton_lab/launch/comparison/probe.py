"""`Probe`: whether a change makes some wrong elements right, from a run of the few programs that store them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.launch.access import elements_at
from triton_lab.launch.comparison.argument_difference import Compared
from triton_lab.launch.comparison.launch_results import read
from triton_lab.launch.comparison.number_formats import is_float, unit_roundoff, wide
from triton_lab.launch.comparison.numerics import Switch
from triton_lab.launch.comparison.rerun import Side
from triton_lab.launch.replay.replay_run import replay

Array = NDArray[Any]

_PROGRAMS, _ELEMENTS = 2, 1 << 12
# Of the wrong elements so many must be mended, and the others may change by so many roundings of the greatest one.
_MENDED, _ROUNDINGS = 0.95, 256


@dataclass(frozen=True)
class Probe:
    """The ``programs`` to run, None for all, and by argument the numbers of the ``elements`` to look at."""

    side: Side
    programs: Array | None
    elements: Mapping[str, Array]
    plain: Mapping[str, Compared]

    @classmethod
    def of(cls, side: Side, plain: Sequence[Compared]) -> Probe:
        """The first programs that store wrong elements, and what they store; ``plain`` are the results as they are."""
        launch = side.launch
        stored: dict[str, list[tuple[Array, Array]]] = {}
        wrong = {one.name: ~np.asarray(one.explained).reshape(-1) for one in plain}
        programs: set[int] = set()
        for access in launch.done:
            if access.kind == "load" or access.argument not in wrong:
                continue
            argument, bad = launch.argument(access.argument), wrong[access.argument]
            for event in access.events:
                active = event.active()
                at = elements_at(event.addresses() - argument.address, argument)
                mine = np.broadcast_to(event.programs.reshape(-1, *(1,) * (at.ndim - 1)), at.shape)
                there = active & (at >= 0)
                stored.setdefault(access.argument, []).append((at[there], mine[there]))
                if len(programs) < _PROGRAMS:
                    hit = np.unique(mine[there][bad[at[there]]])
                    programs.update(hit[: _PROGRAMS - len(programs)].tolist())
        if launch.programs <= _PROGRAMS or not programs:
            every = {one.name: np.arange(min(one.a.size, _ELEMENTS)) for one in plain}
            return cls(side, None, every, {one.name: one for one in plain})
        chosen = np.array(sorted(programs), np.int64)
        elements = {
            name: np.unique(np.concatenate([at[np.isin(mine, chosen)] for at, mine in pairs]))[:_ELEMENTS]
            for name, pairs in stored.items()
        }
        return cls(side, chosen, elements, {one.name: one for one in plain})

    def fits(self, switch: Switch) -> bool:
        """Whether, with the ``switch`` on, each element is near what was expected."""
        launch = self.side.launch
        try:
            executable = switch.executable(launch.executable.plan)
            memory = replay(switch.launch(launch), executable=executable, programs=self.programs, strict=True)
        except Exception:  # an edit may make of a kernel what Triton would refuse
            return False
        return all(
            self._right(name, at, read(memory, launch.argument(name)).reshape(-1)[at])
            for name, at in self.elements.items()
            if len(at)
        )

    def _right(self, name: str, at: Array, found: Array) -> bool:
        """Whether what was wrong is much nearer to what was expected, and what was right is so still."""
        expected, was = (np.asarray(one).reshape(-1)[at] for one in (self.side.against[name], self.plain[name].a))
        if not is_float(found.dtype) and not is_float(expected.dtype):
            return np.array_equal(found, expected)
        a, b, before = wide(found), wide(expected), wide(was)
        finite = np.isfinite(b)
        if not np.array_equal(a[~finite], b[~finite], equal_nan=True):
            return False
        wrong = ~np.asarray(self.plain[name].explained).reshape(-1)[at]
        most = float(np.max(np.abs(b), initial=0.0, where=finite))
        tiny = _ROUNDINGS * max(unit_roundoff(one.dtype) for one in (found, expected) if is_float(one.dtype)) * most
        with np.errstate(invalid="ignore"):
            left, had = np.abs(a - b)[finite], np.abs(before - b)[finite]
            had = np.where(np.isnan(had), np.inf, had)
            mended, kept = left <= np.maximum(had / 4, tiny / _ROUNDINGS), left <= 4 * had + tiny
        wrong = wrong[finite]
        return bool(np.mean(mended[wrong]) >= _MENDED if wrong.any() else True) and bool(kept[~wrong].all())
