"""Finds causes of a difference by experiments: each changes one thing and runs the launch again."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from triton_lab.launch.comparison.argument_difference import DIFFERENT, EQUAL, NEAR, UNKNOWN
from triton_lab.launch.comparison.experiment import Experiment
from triton_lab.launch.comparison.experiment_results import Causes, Pairs
from triton_lab.launch.comparison.known_causes import named_causes, unsteady
from triton_lab.launch.comparison.memory_experiments import memory_experiments
from triton_lab.launch.comparison.mutation_search import Search
from triton_lab.launch.comparison.rerun import Side
from triton_lab.launch.comparison.rounding_experiments import casts, rounding_experiments
from triton_lab.launch.recording.progress_callback import TookTooLong, is_late, left, within
from triton_lab.launch.recording.replay_error import CannotReplay

if TYPE_CHECKING:
    from triton_lab.launch.comparison.comparison_result import Comparison

# The seconds for trying pairs of slips, after the single ones; the user waits for it.
PAIRS = 2.0
# The same for the usual changes of a launch, each of which is run in full, and for others that follow from the kernel.
USUAL, DERIVED = 5.0, 8.0


def causes(comparison: Comparison, seconds: float | None = None) -> Causes:
    """Run the experiments that affect the kernels of ``comparison``. Replays the launches.

    If no single slip explains the difference, pairs are tried, for `PAIRS` seconds. With ``seconds``, all experiments
    together take no longer, pairs included; the result says so if some were not tried.
    """
    if comparison.verdict == EQUAL:
        return Causes((), (), True)
    named, findings = tuple(named_causes(comparison)), tuple(unsteady(comparison))
    told = comparison.differences.deciding.told(comparison.letters)
    # What was passed to one kernel explains what it makes; no slip in it need be looked for.
    passed = bool(told) and comparison.same
    slips = comparison.verdict in (DIFFERENT, UNKNOWN) and not named and not passed
    # If rounding is known not to explain it, other roundings are tried last. For elements that depend on a choice that
    # rounding may change, this is not known.
    differing = [one for one in comparison if one.count and one.written]
    bounded = all(one.bound is not None for one in differing) and any(one.beyond for one in differing)
    found: list[Experiment] = []
    pairs: tuple[Pairs, ...] = ()
    probed = 0
    with within(math.inf if seconds is None else seconds):
        for is_rounding in (False, True) if bounded else (True, False):
            if any(one.names_it for one in found) or any(one.found for one in pairs) or is_late():
                break
            if is_rounding and not bounded:
                found += _in_time(casts(comparison, PAIRS))
                if any(one.names_it for one in found):
                    break
            if is_rounding:
                nearer = _in_time(rounding_experiments(comparison))
                # A rounding that is known not to be the cause must not be named for reducing the error. What a GPU does
                # to its own kernel is no such rounding: it may flush and spill.
                twin = comparison.other is comparison.launch
                found += [replace(one, telling=False) if bounded and slips and not twin else one for one in nearer]
            elif slips:
                singles, pairs, probed = _on_slips(comparison, seconds, not findings)
                found += singles
        late = is_late()
    # A slip may be behind a race. Other memory is none: the finding says why memory matters.
    slip = any(one.names_it and not one.of_memory for one in found)
    named = ((told,) if told else ()) + (() if slip else findings) + named
    is_rounding = comparison.verdict == NEAR
    limit = seconds if late else None
    return Causes(tuple(found), named, pairs=pairs, seconds=limit, probed=probed, is_rounding=is_rounding)


def _suspects(comparison: Comparison) -> frozenset[str]:
    """The arguments of which the launch loads wrong elements, as far as a reference shows that."""
    found = comparison.dependence
    return frozenset() if found is None else frozenset(one.name for one in found.elements)


def _in_time(experiments: Iterator[Experiment]) -> Iterator[Experiment]:
    """The experiments that end within the time limit."""
    try:
        for one in experiments:
            if is_late() and one.failed:
                return
            yield one
            if is_late():
                return
    except TookTooLong:
        return


# --- Experiments -------------------------------------------------------------------------------------


def _on_slips(
    comparison: Comparison, seconds: float | None, in_pairs: bool
) -> tuple[tuple[Experiment, ...], tuple[Pairs, ...], int]:
    """Try slips (other masks, strides and the like) in both launches, up to the first change or pair that is the cause.

    ``in_pairs``: also two at once.
    They run on the CPU, wherever the launch ran. The number is that of changes that were run on some programs only.
    """
    written = [one for one in comparison if one.written]
    names = dict(zip((one.name for one in written), comparison.names, strict=False))
    here, there = comparison.launch, comparison.other
    if there is here:
        return (), (), 0  # the same kernel
    sides = [(Side(f"{here.kernel} (CPU)", here, {one.name: one.b for one in written}), there)]
    if there is not None:
        sides.append((Side(f"{there.kernel} (CPU)", there, {names[one.name]: one.a for one in written}), here))
    bounds_of = {one.name: one.bound for one in written}
    allowed = [bounds_of, {names[name]: bound for name, bound in bounds_of.items()}]
    found: list[Experiment] = []
    for side, _unused in sides:
        found += _in_time(memory_experiments(side))
        if found and found[-1].names_it:
            return tuple(found), (), 0
    searches = []
    for (side, other), near in zip(sides, allowed, strict=False):
        try:
            searches.append(Search.of(side, other, near))
        except CannotReplay:
            continue
        searches[-1].suspects = partial(_suspects, comparison)
    probing = DERIVED if seconds is None else seconds / 2
    for search in searches:
        found += _in_time(search.one_by_one(USUAL))
        if search.found:
            search.derived(max(0.0, min(probing, left())))
            return (*found, *search.explanation()), (), sum(one.probed for one in searches)
    for search in searches:
        search.derived(max(0.0, min(probing, left())) / len(searches))
        if search.found:
            return (*found, *search.explanation()), (), sum(one.probed for one in searches)
    made = []
    trying = PAIRS if seconds is None else seconds
    # What one change that was not tried may explain must not be laid to two.
    for search in searches if in_pairs and all(one.all_probed for one in searches) else ():
        made.append(search.in_pairs(max(0.0, min(trying, left())) / len(searches)))
        if made[-1].found is not None:
            break
    return tuple(found), tuple(made), sum(one.probed for one in searches)
