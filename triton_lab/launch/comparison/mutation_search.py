"""`Search`: tries slips in a launch: one change at a time, then two at once, the most promising first.

Each run guides the search for pairs: changes that alone mend or reduce part of the difference come first. A pair is
named only if both changes together leave nothing that rounding does not explain, and neither does so alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.interpreter.kernel_errors import KernelError
from triton_lab.launch.comparison.argument_difference import DISTINCT, Compared, beyond_chance, chance_bits
from triton_lab.launch.comparison.bounds.bound import Bound
from triton_lab.launch.comparison.experiment import Experiment
from triton_lab.launch.comparison.experiment_results import Half, Pairs
from triton_lab.launch.comparison.mutations.experiments import Experiments
from triton_lab.launch.comparison.mutations.ir_query import split_at_lines
from triton_lab.launch.comparison.numerics import Switch
from triton_lab.launch.comparison.probe import Probe
from triton_lab.launch.comparison.relations import part_of
from triton_lab.launch.comparison.rerun import Side, as_near, promise, tried
from triton_lab.launch.comparison.sources.written_kernel import as_written
from triton_lab.launch.comparison.stored_elements import StoreCoverage
from triton_lab.launch.comparison.time_budget import Budget, Effort, in_turn
from triton_lab.launch.recording.progress_callback import TookTooLong, is_late
from triton_lab.launch.recording.replay_error import CannotReplay
from triton_lab.launch.replay.replay_run import replay

if TYPE_CHECKING:
    from triton_lab.launch.launch import Launch

Array = NDArray[Any]

# For so many seconds other causes are looked for beside one that explains all, times the square of its cost, and for
# this share of the time that it took to find it: what explains it as well may stand as far behind.
RIVALS, _SHARE = 0.5, 0.5
# So many seconds a tier of changes may take before the next one has its turn.
_TURN = 1.0
# Explanations are alike if one costs less than so much more, and if chance may part their counts of bit-equal elements.
_ALIKE, _DEVIATIONS = 0.5, 3
_NAMED = 2  # so many explanations of equal rank are told
# Of a launch that takes so many seconds, each change is run on some programs first.
_SLOW = 0.5


@dataclass(eq=False)
class Search:
    """The changes tried on one ``side`` so far; ``plain`` is its unchanged result, with rounding bounds.

    ``suspects`` is that of `Experiments`.
    """

    side: Side
    other: Launch | None
    plain: list[Compared]
    effort: Effort
    coverage: StoreCoverage
    suspects: Callable[[], Collection[str]] = tuple
    runs: list[tuple[Switch, Experiment, float]] = field(default_factory=list)
    found: list[tuple[Switch, Experiment]] = field(default_factory=list)  # what explains all
    seen: set[tuple[str, frozenset[int]]] = field(default_factory=set)
    effects: set[bytes] = field(default_factory=set)  # what the kernel makes, unchanged and with each change
    probed: int = 0  # how many switches were run on some programs only
    all_probed: bool = True
    began: Budget = field(default_factory=lambda: Budget(math.inf))

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
        bounded = [replace(one, bound=allowed[one.name]) for one in plain]
        coverage = StoreCoverage.of(side.launch)
        return cls(written if same else side, other, bounded, Effort(chance_bits(bounded)), coverage)

    @cached_property
    def experiments(self) -> Experiments:
        """The changes that follow from the kernel."""
        wrong = [one.name for one in self.plain if not one.explained.all()]
        arguments = wrong or [one.name for one in self.plain if one.count]
        return Experiments(self.side.launch, arguments, self.coverage, self.plain, self.suspects)

    def one_by_one(self, seconds: float) -> Iterator[Experiment]:
        """Try the usual changes alone, up to the first that is the cause; what they do is the start for pairs.

        Gives those that explain nothing; the others are in ``found``.
        """
        launch, budget = self.side.launch, Budget(seconds)
        slow = max(launch.seconds, launch.interpreted) > _SLOW and beyond_chance(self.plain)
        yield from self._explained(self.experiments.usual(self.other), budget, slow, listed=True, counted=False)
        left = Budget(self._patience) if self.found else budget
        yield from self._explained(self.experiments.rarer(), left, slow, listed=True)

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

    @property
    def _patience(self) -> float:
        return max(RIVALS * max(1.0, self.effort.cost - _ALIKE) ** 2, _SHARE * self.began.taken)

    def derived(self, seconds: float) -> None:
        """Try what follows from the kernel, for ``seconds``: on some programs first, and what fits there on all.

        If an explanation is known, others that are as simple are looked for, for a short time.
        """
        usual = not self.found or any(not switch.unusual for switch, _done in self.found)
        # Looked for before the time of the changes begins.
        first = frozenset[int]() if self.found else self.experiments.locating
        tiers = self.experiments.derived(self.probe, self.effort, usual, first)
        try:
            for _one in self._explained(tiers, Budget(min(seconds, self._patience) if self.found else seconds), True):
                pass
        except TookTooLong:
            self.all_probed = False

    def explanation(self) -> list[Experiment]:
        """The likeliest explanation, with those as good at other lines; after it one that makes the kernel unusual."""
        usual = [each for each in self.found if not each[0].unusual]
        likely = [each for each in usual or self.found if each[1].removes] or usual or self.found
        least = min(switch.cost for switch, _done in likely)
        likely = [each for each in likely if each[0].cost < least + _ALIKE]
        most = max(done.equal for _switch, done in likely)
        likely = [each for each in likely if most - each[1].equal <= _DEVIATIONS * math.sqrt(most)]
        # Of those that cost the same what stands on one line says more than what may be changed on either of two.
        lines = {done.name: set(split_at_lines(done.name)[1]) for _switch, done in likely}
        (first, best), *others = sorted(likely, key=lambda each: (each[0].cost, len(lines[each[1].name])))
        apart = [best]
        for _switch, done in others:
            if lines[done.name] and all(lines[done.name].isdisjoint(lines[one.name]) for one in apart):
                apart.append(done)
        if len(apart) > 1:
            if len(apart) > _NAMED:
                # Too many for all to be named: what is nearest to the results comes first.
                apart.sort(key=self._nearness, reverse=True)
            best = replace(apart[0], rivals=tuple(apart[1:]))
        doubtful = [done for switch, done in self.found if switch.unusual and not first.unusual]
        return [best, *doubtful[:1]]

    def _nearness(self, done: Experiment) -> int:
        """The place in the program of the last operation that a change edits."""
        place = self.experiments.place
        return max((place[op] for op in done.switch.ops if op in place), default=-1) if done.switch is not None else -1

    def _explained(
        self,
        tiers: Iterable[Iterable[Switch]],
        budget: Budget,
        probes: bool,
        listed: bool = False,
        counted: bool = True,
    ) -> Iterator[Experiment]:
        """Try changes; after one that explains all, for a short time. Gives the others if ``listed``.

        ``counted``: no more of them than before one fits by chance.
        """
        self.effort.budget = budget
        placed = len(self.found) > 0 and all(switch.unusual and done.place for switch, done in self.found)
        for switch in in_turn(tiers, _TURN, lambda one: one.copied):
            if (self.effort.budget.spent and not switch.copied) or (counted and self.effort.spent) or is_late():
                self.all_probed = False
                break
            if placed and not self.experiments.decides(switch.ops):
                continue  # what was changed is an address or a mask
            if switch.ops and not self.experiments.reaches(switch.ops):
                continue
            switch = replace(switch, cost=switch.cost + self.experiments.extra_cost(switch))
            if (switch.unusual and self.found) or switch.cost >= self.effort.cost:
                continue
            if (switch.name, switch.ops) in self.seen:
                continue
            self.seen.add((switch.name, switch.ops))
            self.effort.tried += counted
            if probes and not (switch.whole or switch.copied) and switch.grid is None and not self.probe.fits(switch):
                self.probed += 1
                continue
            done, results = tried(self.side, switch, self.plain)
            done = as_near(self.side, switch, done, results)
            done = replace(done, doubtful=switch.unusual, of_memory=bool(switch.zeroed))
            if done.helps and not done.names_it:
                done = replace(done, telling=beyond_chance(self.plain, results))
            if done.names_it:
                self.found.append((switch, done))
                if not switch.unusual and switch.cost + _ALIKE < self.effort.cost:
                    self.effort.cost = switch.cost + _ALIKE
                    self.effort.budget = Budget(min(budget.seconds, self._patience))
            elif listed:
                yield done
                made = _bytes(results)
                # One with no effect, with the same effect as another, or that was stopped may be half of a pair.
                idle = not results or made in self.effects
                self.runs.append((switch, done, -1.0 if idle else promise(self.plain, results)))
                self.effects.add(made)

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


def _bytes(found: Sequence[Compared]) -> bytes:
    return b"".join(one.a.tobytes() for one in found)
