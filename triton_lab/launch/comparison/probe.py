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

# How many programs are run: more of them, up to a number, while they store few wrong elements. And at how many elements
# of an argument their results are looked at.
_PROGRAMS, _MOST, _ENOUGH, _ELEMENTS = 2, 12, 24, 1 << 16
# Of the wrong elements so many must be mended, and the others may change by so many roundings of the greatest one.
_MENDED, _ROUNDINGS = 0.95, 256


@dataclass(frozen=True)
class Probe:
    """The ``programs`` to run, None for all; by argument the elements to look at, and what they held ``before``.

    ``own`` says which of these elements the programs store in the launch, and no others do.
    """

    side: Side
    programs: Array | None
    elements: Mapping[str, Array]
    before: Mapping[str, Array]
    plain: Mapping[str, Compared]
    own: Mapping[str, Array]

    @classmethod
    def of(cls, side: Side, plain: Sequence[Compared]) -> Probe:
        """Some programs that store wrong elements, and what they store; ``plain`` are the results.

        All programs are run where several make one element: by atomics, or by loads of what others have stored.
        """
        launch = side.launch
        stored: dict[str, list[Array]] = {}
        by: dict[str, list[Array]] = {}
        wrong = {one.name: ~np.asarray(one.explained).reshape(-1) for one in plain}
        bads: dict[int, int] = {}
        together = {one.kind for one in launch.done if one.argument in wrong} - {"store"}
        for access in launch.done if not together and launch.programs > _PROGRAMS else ():
            if access.argument not in wrong:
                continue
            argument, bad = launch.argument(access.argument), wrong[access.argument]
            for event in access.events:
                where = elements_at(event.addresses() - argument.address, argument)
                mine = np.broadcast_to(event.programs.reshape(-1, *(1,) * (where.ndim - 1)), where.shape)
                there = event.active() & (where >= 0)
                stored.setdefault(access.argument, []).append(where[there])
                by.setdefault(access.argument, []).append(mine[there])
                for program, count in zip(*np.unique(mine[there][bad[where[there]]], return_counts=True), strict=True):
                    bads[int(program)] = bads.get(int(program), 0) + int(count)
        programs = _chosen(bads)
        elements, before, own = {}, {}, {}
        memory = launch.snapshot.memory() if launch.snapshot is not None else None
        for one in plain:
            at = np.arange(min(one.a.size, _ELEMENTS))
            if one.a.size > _ELEMENTS and one.name in stored:
                at = np.unique(np.concatenate(stored[one.name]))[:_ELEMENTS]
            elements[one.name] = at
            mine = np.zeros(one.a.size, np.bool_)
            if one.name in stored:
                where, which = np.concatenate(stored[one.name]), np.isin(np.concatenate(by[one.name]), list(programs))
                mine[where[which]] = True
                mine[where[~which]] = False
            own[one.name] = mine[at]
            if memory is not None:
                before[one.name] = read(memory, launch.argument(one.name)).reshape(-1)[at]
        chosen = np.array(sorted(programs), np.int64) if programs and before else None
        return cls(side, chosen, elements, before, {one.name: one for one in plain}, own)

    def fits(self, switch: Switch) -> bool:
        """Whether each element that the programs store is near what was expected, some wrong ones among them."""
        found = self.run(switch)
        right = [self._right(name, self.elements[name], each) for name, each in (found or {}).items()]
        return all(fits for fits, _ in right) and any(mended for _, mended in right)

    def run(self, switch: Switch) -> dict[str, Array] | None:
        """What is at the elements after a run of the programs; None if the run was stopped."""
        launch = self.side.launch
        try:
            executable = switch.executable(launch)
            memory = replay(switch.launch(launch), executable=executable, programs=self.programs, strict=True)
        except Exception:  # an edit may make of a kernel what Triton would refuse
            return None
        return {name: read(memory, launch.argument(name)).reshape(-1)[at] for name, at in self.elements.items()}

    def wrong(self, name: str) -> Array:
        """Which of the elements that the chosen programs store are wrong."""
        bad = ~self._well(name)
        return bad if self.programs is None else bad & self.own[name]

    def _well(self, name: str) -> Array:
        """Which of the elements are right in the launch."""
        return np.asarray(self.plain[name].explained).reshape(-1)[self.elements[name]]

    def _right(self, name: str, at: Array, found: Array) -> tuple[bool, bool]:
        """Whether all that was stored is right: what was wrong is much nearer, and what was right is so still.

        And whether something wrong was stored anew.
        """
        if self.programs is not None:
            # Others than the chosen programs store the rest.
            was, own = self.before[name], self.own[name]
            stored = (found != was) & ~((found != found) & (was != was))
            # What the programs store elsewhere now, others may have to store here.
            moved = bool((stored & ~own).any()) and stored.sum() >= (own & self._well(name)).sum()
            here = np.flatnonzero(stored if moved else stored | own)
            at, found = at[here], found[here]
        one = self.plain[name]
        expected, before = (np.asarray(each).reshape(-1)[at] for each in (self.side.against[name], one.a))
        wrong = ~np.asarray(one.explained).reshape(-1)[at]
        some = bool(wrong.any())
        if not is_float(found.dtype) and not is_float(expected.dtype):
            return np.array_equal(found, expected), some
        a, b, was = wide(found), wide(expected), wide(before)
        finite = np.isfinite(b)
        if not np.array_equal(a[~finite], b[~finite], equal_nan=True):
            return False, some
        most = float(np.max(np.abs(b), initial=0.0, where=finite))
        rounding = max(unit_roundoff(each.dtype) for each in (found, expected) if is_float(each.dtype)) * most
        with np.errstate(invalid="ignore"):
            left, had = np.abs(a - b)[finite], np.abs(was - b)[finite]
            had = np.where(np.isnan(had), np.inf, had)
            mended, kept = left <= np.maximum(had / 4, rounding), left <= 4 * had + _ROUNDINGS * rounding
        wrong = wrong[finite]
        enough = not wrong.any() or float(np.mean(mended[wrong])) >= _MENDED
        return bool(enough and kept[~wrong].all()), some


def _chosen(bads: Mapping[int, int]) -> set[int]:
    """The programs to run, of those that store so many wrong elements: the first and the last ones differ most."""
    order = sorted(bads)
    ends = [one for pair in zip(order, reversed(order), strict=True) for one in pair]
    found: set[int] = set()
    for program in ends:
        enough = len(found) >= _PROGRAMS and sum(bads[one] for one in found) >= _ENOUGH
        if enough or len(found) == _MOST:
            break
        found.add(program)
    return found
