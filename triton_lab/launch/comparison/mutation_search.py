"""`Search`: tries slips in a launch: one change at a time, then two at once, the most promising first.

Each run guides the search for pairs: changes that alone mend or reduce part of the difference come first. A pair is
named only if both changes together leave nothing that rounding does not explain, and neither does so alone.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.interpreter.kernel_errors import KernelError
from triton_lab.launch.comparison.argument_difference import DISTINCT, Compared, beyond_chance
from triton_lab.launch.comparison.bounds.bound import Bound
from triton_lab.launch.comparison.experiment import Experiment
from triton_lab.launch.comparison.experiment_results import Half, Pairs
from triton_lab.launch.comparison.mutations.experiments import Experiments
from triton_lab.launch.comparison.mutations.ir_query import lines_in, on_lines
from triton_lab.launch.comparison.mutations.written_kernel import as_written
from triton_lab.launch.comparison.number_formats import wide
from triton_lab.launch.comparison.numerics import Switch
from triton_lab.launch.comparison.probe import Probe
from triton_lab.launch.comparison.relations import part_of
from triton_lab.launch.comparison.replicas.replaced_values import ReplacedValues
from triton_lab.launch.comparison.rerun import Side, as_near, tried
from triton_lab.launch.comparison.time_budget import Budget
from triton_lab.launch.recording.progress_callback import is_late
from triton_lab.launch.recording.replay_error import CannotReplay
from triton_lab.launch.replay.replay_run import replay

if TYPE_CHECKING:
    from triton_lab.launch.launch import Launch

Array = NDArray[Any]

# For so many seconds other causes are looked for beside one that would make the kernel unusual.
RIVALS, _RIVALS = 1.0, 3  # and how many are run
# Of a launch that takes so many seconds, each change is run on some programs first.
_SLOW = 0.5


@dataclass(eq=False)
class Search:
    """The changes tried on one ``side`` so far; ``plain`` is its unchanged result, with rounding bounds."""

    side: Side
    other: Launch | None
    plain: list[Compared]
    runs: list[tuple[Switch, Experiment, float]] = field(default_factory=list)
    seen: set[tuple[str, frozenset[int]]] = field(default_factory=set)
    effects: set[bytes] = field(default_factory=set)  # what the kernel makes, unchanged and with each change
    probed: int = 0  # how many switches were run on some programs only
    all_probed: bool = True

    @classmethod
    def of(cls, side: Side, other: Launch | None, allowed: Mapping[str, Bound | None]) -> Search:
        """A new search; ``allowed`` are the rounding bounds by argument, None if not known. Raises CannotReplay.

        The side gets the kernel as it was written, if that gives the same results.
        """
        plain = side.held(replay(side.launch))
        written = replace(side, launch=as_written(side.launch))
        try:
            same = _bytes(written.held(replay(written.launch, strict=True))) == _bytes(plain)
        except Exception:  # what the compiler leaves out of a launch may not even run
            same = False
        return cls(written if same else side, other, [replace(one, bound=allowed[one.name]) for one in plain])

    @cached_property
    def experiments(self) -> Experiments:
        """The changes that follow from the kernel."""
        wrong = [one.name for one in self.plain if not one.explained.all()]
        return Experiments(self.side.launch, wrong or [one.name for one in self.plain if one.count])

    def one_by_one(self) -> Iterator[Experiment]:
        """Try the usual changes alone, up to the first that is the cause; what they do is the start for pairs."""
        launch = self.side.launch
        slow = max(launch.seconds, launch.interpreted) > _SLOW and beyond_chance(self.plain)
        rarer = self.experiments.rarer() if beyond_chance(self.plain) else ()
        yield from self._explained(
            chain(self.experiments.usual(self.other), rarer), Budget(math.inf), slow, listed=True
        )

    def casts(self, seconds: float) -> Iterator[Experiment]:
        """The cast, or the narrow type, without which most of the error is gone, and the rest is rounding."""
        budget = Budget(seconds)
        for switch in self.experiments.roundings():
            if budget.spent or is_late():
                return
            done, results = tried(self.side, switch, self.plain)
            done = as_near(self.side, switch, done, results)
            if done.helps:
                yield done
            if done.helps and done.names_it:
                return

    def derived(self, seconds: float, doubtful: Experiment | None = None) -> Iterator[Experiment]:
        """Try what follows from the kernel, for ``seconds``: on some programs first, and what fits there on all.

        ``doubtful`` is an explanation that is already known, and would make the kernel unusual.
        """
        if beyond_chance(self.plain):
            tiers = self.experiments.derived(self.probe, copies=doubtful is None)
            yield from self._explained(tiers, Budget(seconds), True, doubtful=doubtful)

    def with_rival(self, found: Experiment) -> Experiment:
        """An explanation by a missing factor, term or function, with another one as simple at the earliest line."""
        if found.rival is not None or not found.is_missing or not beyond_chance(self.plain):
            return found
        named = lines_in(found.name)
        if len(named) != 1:
            return found  # where the value is made, and where it is taken
        values = ReplacedValues(self.experiments, self.probe)
        others = [(min(lines), one) for one in values.simple(RIVALS) if (lines := lines_in(one.name))]
        others = [each for each in others if each[1].cause == found.cause and each[0] not in named]
        for line, switch in sorted(others, key=lambda each: each[0])[:_RIVALS]:
            alone = replace(switch, name=switch.name.removesuffix(on_lines(lines_in(switch.name))) + on_lines([line]))
            done, results = tried(self.side, alone, self.plain)
            done = as_near(self.side, alone, done, results)
            if done.names_it:
                return replace(found, rival=done)
        return found

    def _explained(
        self,
        tiers: Iterable[Iterable[Switch]],
        budget: Budget,
        probing: bool,
        doubtful: Experiment | None = None,
        listed: bool = False,
    ) -> Iterator[Experiment]:
        """Try changes, up to the end of the first tier with one that explains all: the last one is the likeliest.

        If the kernel would be unusual with it, others may explain it as well, and a usual one among them is likelier.
        """
        found: list[tuple[Switch, Experiment]] = []
        for switch in _with_ends(tiers):
            if switch is None:
                if any(not one.unusual for one, _unused in found):
                    break
                continue
            if budget.spent or is_late():
                self.all_probed = False
                break
            if doubtful is not None and doubtful.place and not self.experiments.decides(switch.ops):
                continue  # what was changed is an address or a mask
            if switch.unusual and (found or doubtful):
                continue
            if (switch.name, switch.ops) in self.seen:
                continue
            self.seen.add((switch.name, switch.ops))
            if probing and not switch.whole and switch.grid is None and not self.probe.fits(switch):
                self.probed += 1
                continue
            done, results = tried(self.side, switch, self.plain)
            done = as_near(self.side, switch, done, results)
            done = replace(done, doubtful=switch.unusual, of_memory=bool(switch.zeroed))
            if done.helps and not done.names_it:
                done = replace(done, telling=beyond_chance(self.plain, results))
            if done.names_it:
                found.append((switch, done))
                budget = Budget(min(budget.seconds, RIVALS))
            elif listed:
                yield done
                made = _bytes(results)
                # One with no effect, with the same effect as another, or that was stopped may be half of a pair.
                promise = -1.0 if not results or made in self.effects else self._promise(results)
                self.runs.append((switch, done, promise))
                self.effects.add(made)
        yield from self._ranked(found)

    def _ranked(self, found: Sequence[tuple[Switch, Experiment]]) -> Iterator[Experiment]:
        """The likeliest explanation, last: with the next one that is as good as it, at another line."""
        ranked = sorted(found, key=lambda one: (one[0].unusual, not one[1].removes))
        if not ranked:
            return
        (first, best), *others = ranked
        equal = (
            done
            for switch, done in others
            if switch.unusual == first.unusual
            and done.removes == best.removes
            and self._lines(switch).isdisjoint(self._lines(first))
        )
        best = replace(best, rival=next(equal, None))
        yield best

    def _lines(self, switch: Switch) -> set[int]:
        lines = (self.side.launch.lines.get(index) for index in switch.ops)
        return {line.line for line in lines if line is not None}

    @cached_property
    def probe(self) -> Probe:
        """The few programs on which changes are tried first."""
        return Probe.of(self.side, self.plain)

    def in_pairs(self, seconds: float) -> Pairs:
        """Try two changes at once, the most promising first, up to the first cause, for ``seconds`` at most."""
        ranked = [switch for switch, _, _ in sorted(self.runs, key=lambda run: -run[2])]
        pairs = [(one, two) for k, one in enumerate(ranked) for two in ranked[k + 1 :] if one.goes_with(two)]
        at = {switch: k + 1 for k, switch in enumerate(ranked)}
        pairs.sort(key=lambda pair: at[pair[0]] * at[pair[1]])
        if not beyond_chance(self.plain):
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
        told = " and ".join(parts) if all(parts) and count >= DISTINCT else ""
        return replace(half, mends=count, where=told)


def _with_ends(tiers: Iterable[Iterable[Switch]]) -> Iterator[Switch | None]:
    """The switches, and None at the end of each tier."""
    for tier in tiers:
        yield from tier
        yield None


def _bytes(found: Sequence[Compared]) -> bytes:
    return b"".join(one.a.tobytes() for one in found)


def _alike(one: Compared) -> float:
    """The correlation of the two results, from -1 to 1."""
    a, b = (np.asarray(wide(each))[one.finite] for each in (one.a, one.b))
    with np.errstate(all="ignore"):
        a, b = a - a.mean() if a.size else a, b - b.mean() if b.size else b
        found = float((a * b).sum() / np.sqrt((a * a).sum() * (b * b).sum()))
    return found * a.size / one.a.size if np.isfinite(found) else 0.0
