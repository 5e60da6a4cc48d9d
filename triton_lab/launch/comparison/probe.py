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
from triton_lab.launch.comparison.number_formats import is_float, wide
from triton_lab.launch.comparison.numerics import Switch
from triton_lab.launch.comparison.rerun import FAR, Side
from triton_lab.launch.replay.replay_run import replay

Array = NDArray[Any]

_PROGRAMS, _ELEMENTS = 2, 1 << 12


@dataclass(frozen=True)
class Probe:
    """The ``programs`` to run, None for all, and by argument the numbers of the ``elements`` to look at."""

    side: Side
    programs: Array | None
    elements: Mapping[str, Array]

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
            return cls(side, None, every)
        chosen = np.array(sorted(programs), np.int64)
        elements = {
            name: np.unique(np.concatenate([at[np.isin(mine, chosen)] for at, mine in pairs]))[:_ELEMENTS]
            for name, pairs in stored.items()
        }
        return cls(side, chosen, elements)

    def fits(self, switch: Switch) -> bool:
        """Whether, with the ``switch`` on, each element is near what was expected."""
        launch = self.side.launch
        try:
            executable = switch.executable(launch.executable.plan)
            memory = replay(switch.launch(launch), executable=executable, programs=self.programs, strict=True)
        except Exception:  # an edit may make of a kernel what Triton would refuse
            return False
        for name, at in self.elements.items():
            if not len(at):
                continue
            found = read(memory, launch.argument(name)).reshape(-1)[at]
            expected = np.asarray(self.side.against[name]).reshape(-1)[at]
            if not is_float(found.dtype) and not is_float(expected.dtype):
                if not np.array_equal(found, expected):
                    return False
                continue
            a, b = wide(found), wide(expected)
            finite = np.isfinite(b)
            if not np.array_equal(a[~finite], b[~finite], equal_nan=True):
                return False
            most = float(np.max(np.abs(b), initial=0.0, where=finite))
            with np.errstate(invalid="ignore"):
                if not (np.abs(a - b)[finite] <= most * FAR).all():
                    return False
        return True
