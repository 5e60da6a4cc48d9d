"""`Search`: tries slips in a launch: one change at a time, then two at once, the most promising first.

Each run guides the search for pairs: changes that alone mend or reduce part of the difference come first. A pair is
named only if both changes together leave nothing that rounding does not explain, and neither does so alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.interpreter.kernel_errors import KernelError
from triton_lab.launch.comparison.argument_difference import Compared
from triton_lab.launch.comparison.bounds.bound import Bound
from triton_lab.launch.comparison.experiment_results import Experiment, Half, Pairs
from triton_lab.launch.comparison.mutations.addressing import addresses
from triton_lab.launch.comparison.mutations.catalog import meanings, rarer
from triton_lab.launch.comparison.mutations.last_steps import LastSteps
from triton_lab.launch.comparison.mutations.single_edits import SingleEdits
from triton_lab.launch.comparison.mutations.written_kernel import as_written
from triton_lab.launch.comparison.number_formats import is_float, wide
from triton_lab.launch.comparison.numerics import Switch
from triton_lab.launch.comparison.probe import Probe
from triton_lab.launch.comparison.relations import part_of
from triton_lab.launch.comparison.rerun import Side, as_near, tried
from triton_lab.launch.comparison.time_budget import Budget
from triton_lab.launch.recording.progress_callback import is_late
from triton_lab.launch.recording.replay_error import CannotReplay
from triton_lab.launch.replay.replay_run import replay

if TYPE_CHECKING:
    from triton_lab.launch.launch import Launch

Array = NDArray[Any]

# How many different values must become right (fewer may by chance), and for integers how many elements.
_DISTINCT, _WHOLE = 4, 16
# For so many seconds other causes are looked for beside one that would make the kernel unusual.
RIVALS = 1.0
# Of a launch that takes so many seconds, each change is run on some programs first.
_SLOW = 0.5


@dataclass(eq=False)
class Search:
    """The changes tried on one ``side`` so far; ``plain`` is its unchanged result, with rounding bounds."""

    side: Side
    other: Launch | None
    plain: list[Compared]
    runs: list[tuple[Switch, Experiment, float]] = field(default_factory=list)
    probed: int = 0  # how many switches were run on some programs only
    all_probed: bool = True

    @classmethod
    def of(cls, side: Side, other: Launch | None, allowed: Mapping[str, Bound | None]) -> Search:
        """A new search; ``allowed`` are the rounding bounds by argument, None if not known. Raises CannotReplay."""
        plain = side.held(replay(side.launch))
        return cls(side, other, [replace(one, bound=allowed[one.name]) for one in plain])

    def one_by_one(self) -> Iterator[Experiment]:
        """Try every change alone, up to the first that is the cause."""
        launch = self.side.launch
        others = rarer(launch) if _telling(self.plain) else ()
        seen: set[bytes] = {_bytes(self.plain)}
        slow = max(launch.seconds, launch.interpreted) > _SLOW and _telling(self.plain)
        for switch in chain(addresses(launch, self.other), meanings(launch), others):
            if slow and switch.grid is None and not self.probe.fits(switch):
                self.probed += 1
                continue
            done, found = tried(self.side, switch, self.plain)
            done = replace(
                as_near(self.side, switch, done, found), doubtful=switch.unusual, of_memory=bool(switch.zeroed)
            )
            if done.helps and not done.names_it:
                done = replace(done, telling=_telling(self.plain, found))
            yield done
            if done.names_it:
                return
            made = _bytes(found)
            # A change with no effect, with the same effect as another, or that was stopped may still be half of a pair.
            self.runs.append((switch, done, -1.0 if not found or made in seen else self._promise(found)))
            seen.add(made)

    def derived(self, seconds: float, doubtful: Experiment | None = None) -> Iterator[Experiment]:
        """Try what follows from the kernel, for ``seconds``: on some programs first, and what fits there on all.

        The first change that explains all is the cause, unless the kernel would be unusual with it: then others may
        explain it as well, and a usual one among them is likelier. ``doubtful`` is such a change that is already known.
        """
        wrong = [one.name for one in self.plain if not one.explained.all()]
        if not _telling(self.plain):
            return
        side, budget = self._written(), Budget(seconds)
        probe, edits = replace(self.probe, side=side), SingleEdits(side.launch, wrong)
        found: list[Experiment] = []
        # A last step may stand for many slips before it.
        last = LastSteps(side.launch, wrong).switches(self.plain) if doubtful is None else ()
        for switch in chain(edits.switches(), last):
            if doubtful is not None and doubtful.place and not edits.decides(switch.ops):
                continue  # what was changed is an address or a mask
            if budget.spent or is_late():
                self.all_probed = False
                break
            self.probed += 1
            if (switch.unusual and (found or doubtful)) or not probe.fits(switch):
                continue
            done, results = tried(side, switch, self.plain)
            done = as_near(side, switch, done, results)
            if done.names_it:
                found.append(replace(done, doubtful=switch.unusual))
                if not switch.unusual:
                    break
                budget = Budget(min(seconds, RIVALS))
        yield from reversed(found)

    @cached_property
    def probe(self) -> Probe:
        """The few programs on which changes are tried first."""
        return Probe.of(self.side, self.plain)

    def _written(self) -> Side:
        """The side with the kernel as it was written, if that gives the same results."""
        side = replace(self.side, launch=as_written(self.side.launch))
        try:
            same = _bytes(side.held(replay(side.launch, strict=True))) == _bytes(self.plain)
        except Exception:  # what the compiler leaves out of a launch may not even run
            same = False
        return side if same else self.side

    def in_pairs(self, seconds: float) -> Pairs:
        """Try two changes at once, the most promising first, up to the first cause, for ``seconds`` at most."""
        ranked = [switch for switch, _, _ in sorted(self.runs, key=lambda run: -run[2])]
        pairs = [(one, two) for k, one in enumerate(ranked) for two in ranked[k + 1 :] if one.goes_with(two)]
        at = {switch: k + 1 for k, switch in enumerate(ranked)}
        pairs.sort(key=lambda pair: at[pair[0]] * at[pair[1]])
        if not _telling(self.plain):
            pairs = []
        budget, count = Budget(seconds), 0
        for one, two in pairs:
            if budget.spent or is_late():
                break
            count += 1
            both = one.with_(two)
            done, found = tried(self.side, both, self.plain)
            done = as_near(self.side, both, done, found)
            if done.names_it:
                one, two, done = self._nearest(one, two, done, budget)
                return Pairs(self.side.title, count, len(pairs), seconds, done, (self._half(one), self._half(two)))
        return Pairs(self.side.title, count, len(pairs), seconds, None, ())

    def _nearest(self, one: Switch, two: Switch, done: Experiment, budget: Budget) -> tuple[Switch, Switch, Experiment]:
        """The best pair among those with another change for ``one`` or ``two``: it leaves less, or is likelier."""
        for keeps in (1, 0):
            for switch, _, _ in self.runs:
                kept = (one, two)[keeps]
                if budget.spent or switch in (one, two) or not switch.goes_with(kept):
                    continue
                both = kept.with_(switch) if keeps == 0 else switch.with_(kept)
                again, found = tried(self.side, both, self.plain)
                if again.failed or again.equal < done.equal:
                    continue
                again = as_near(self.side, both, again, found)
                earlier = self._place(switch) < self._place((one, two)[1 - keeps])
                if again.names_it and (again.equal > done.equal or earlier):
                    one, two, done = (switch, two, again) if keeps == 1 else (one, switch, again)
        return one, two, done

    def _place(self, switch: Switch) -> int:
        return next(k for k, run in enumerate(self.runs) if run[0] is switch)

    def _promise(self, found: Sequence[Compared]) -> float:
        """A score of how much of the difference a change removes.

        It counts elements that become right or nearer, less those that become wrong, and the gain in correlation with
        the expected result, which is high if a result is wrong by a factor.
        """
        total = 0.0
        for one, was in zip(found, self.plain, strict=True):
            now = replace(one, bound=was.bound)
            wrong, still = ~was.explained, ~now.explained
            if not wrong.any():
                total -= float(np.count_nonzero(still)) / max(1, still.size)
                continue
            gained = np.count_nonzero(wrong & ~still) / max(1, int(np.count_nonzero(wrong)))
            lost = np.count_nonzero(~wrong & still) / max(1, int(np.count_nonzero(~wrong)))
            before, after = (np.nan_to_num(each.absolute, nan=np.inf)[wrong] for each in (was, now))
            nearer = np.mean(after < before / 4) - np.mean(after > before * 4)
            total += 2 * gained - lost + nearer / 2 + _alike(now) - _alike(was)
        return total

    def _half(self, switch: Switch) -> Half:
        """The elements that ``switch`` mends alone."""
        half = Half(switch.name, switch.cause)
        try:
            near = self.side.bounded(switch)
        except (KernelError, CannotReplay):
            return half
        parts, count = [], 0
        for one, was in zip(near, self.plain, strict=True):
            mended = np.asarray(one.explained & ~was.explained)
            if mended.any():
                count += int(np.count_nonzero(mended))
                parts.append(part_of(one.name, mended) or "")
        told = " and ".join(parts) if all(parts) and count >= _DISTINCT else ""
        return replace(half, mends=count, where=told)


def _bytes(found: Sequence[Compared]) -> bytes:
    return b"".join(one.a.tobytes() for one in found)


def _telling(plain: Sequence[Compared], found: Sequence[Compared] = ()) -> bool:
    """Whether the differing elements (that are right in ``found``) are too many to become right by chance."""
    for k, one in enumerate(plain):
        wrong = ~one.explained & found[k].same if found else ~one.explained
        counts = np.unique(np.asarray(wide(one.b))[wrong], return_counts=True)[1]
        whole = is_float(one.dtype) or counts.sum() >= _WHOLE
        if (len(counts) >= _DISTINCT and whole) or (len(counts) > 1 and counts.sum() - counts.max() >= _WHOLE):
            return True
    return False


def _alike(one: Compared) -> float:
    """The correlation of the two results, from -1 to 1."""
    a, b = (np.asarray(wide(each))[one.finite] for each in (one.a, one.b))
    with np.errstate(all="ignore"):
        a, b = a - a.mean() if a.size else a, b - b.mean() if b.size else b
        found = float((a * b).sum() / np.sqrt((a * a).sum() * (b * b).sum()))
    return found * a.size / one.a.size if np.isfinite(found) else 0.0
