"""Finds causes of a difference by experiments: each changes one thing and runs the launch again."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.interpreter.kernel_errors import KernelError
from triton_lab.launch.comparison.argument_difference import DIFFERENT, EQUAL, UNKNOWN, Compared
from triton_lab.launch.comparison.bounds.error_bounds import bounds
from triton_lab.launch.comparison.experiment_results import Causes, Experiment, Pairs
from triton_lab.launch.comparison.gpu_ways import emulations
from triton_lab.launch.comparison.known_causes import named_causes, unsteady
from triton_lab.launch.comparison.memory_experiments import memory_experiments
from triton_lab.launch.comparison.mutation_search import RIVALS, Search
from triton_lab.launch.comparison.numerics import (
    Switch,
    combined,
    documented,
    exact,
    in_tf32,
    in_threads,
    roundings,
    together,
)
from triton_lab.launch.comparison.rerun import Side, as_near, measured, tried
from triton_lab.launch.recording.progress_callback import TookTooLong, is_late, left, within
from triton_lab.launch.recording.replay_error import CannotReplay
from triton_lab.launch.replay.replay_run import replay
from triton_lab.localization import _

if TYPE_CHECKING:
    from triton_lab.launch.comparison.comparison_result import Comparison

Array = NDArray[Any]

# The seconds for trying pairs of slips, after the single ones; the user waits for it.
PAIRS = 2.0
# The same for changes that follow from the kernel.
DERIVED = 6.0


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
                found += _in_time(_casts(comparison))
                if any(one.names_it for one in found):
                    break
            if is_rounding:
                nearer = _in_time(_experiments(comparison))
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
    return Causes(tuple(found), named, pairs=pairs, seconds=seconds if late else None, probed=probed)


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


def _sides(comparison: Comparison) -> list[Side]:
    """The sides that the interpreter can run; for a launch on the GPU its run on the CPU, compared with the GPU's."""
    written = [one for one in comparison if one.written]
    mine, theirs = {one.name: one.a for one in written}, {one.name: one.b for one in written}
    if comparison.other is comparison.launch:
        return [Side(comparison.titles[1], comparison.launch, mine)]
    on_gpu = [launch for launch in (comparison.launch, comparison.other) if launch and launch.target == "gpu"]
    sides = []
    if comparison.launch not in on_gpu:
        sides.append(Side(comparison.titles[0], comparison.launch, theirs))
    if comparison.other is not None and comparison.other not in on_gpu:
        names = dict(zip(mine, comparison.names, strict=False))
        sides.append(Side(comparison.titles[1], comparison.other, {names[name]: mine[name] for name in mine}))
    return sides


def _casts(comparison: Comparison) -> Iterator[Experiment]:
    """The casts of a kernel, of which one alone may round what was expected not to be rounded."""
    if comparison.other is None and comparison.launch.target != "gpu":
        for side in _sides(comparison):
            with contextlib.suppress(CannotReplay):
                yield from Search.of(side, None, {one.name: one.bound for one in comparison}).casts(PAIRS)


def _experiments(comparison: Comparison) -> Iterator[Experiment]:
    on_gpu = "gpu" in {comparison.launch.target, getattr(comparison.other, "target", "")}
    for side in _sides(comparison):
        plan = side.launch.executable.plan
        try:
            plain = side.held(replay(side.launch))
        except CannotReplay as error:
            yield Experiment("running it again", "", side.title, 0, 0, 1, None, math.nan, math.nan, str(error))
            continue
        threads: list[Switch] = []
        try:
            threads = in_threads(side.launch)
        except RuntimeError as error:
            yield measured(_("sums as threads of a GPU do"), "", side.title, plain, None, str(error))
        known = emulations(side.launch)
        found: list[Experiment] = []
        for switch in [*known, *threads]:
            found.append(tried(side, switch, plain)[0])
            yield found[-1]
        combinations = _in_combination(side, known, threads, plain, found)
        found += combinations
        yield from combinations
        most = max((one.equal for one in found if not one.failed), default=0)
        if not (on_gpu and any(one.removes for one in found)):
            for switch in roundings(plan):
                found.append(tried(side, switch, plain)[0])
                yield found[-1]
        if on_gpu and not any(one.removes for one in found):
            yield from _documented(side, known, threads, plain, most)
    if on_gpu:
        yield from _in_full_float32(comparison)
        from triton_lab.launch.comparison.gpu_experiments import gpu_experiments

        yield from gpu_experiments(comparison, measured)


def _in_full_float32(comparison: Comparison) -> Iterator[Experiment]:
    """For a launch on the GPU with dots in tf32 and an expected result: that of its run on the CPU, in float32."""
    launch = comparison.launch
    plan = launch.executable.plan
    if comparison.other is not None or launch.target != "gpu" or not any(in_tf32(plan, op) for op in plan.walk()):
        return
    plain = [one for one in comparison if one.written]
    side = Side(f"{launch.kernel} (CPU)", launch, {one.name: one.b for one in plain})
    switch = Switch(_("tl.dot in full float32"), _("tf32 inputs of tl.dot"))
    try:
        found = side.run(switch)
    except (KernelError, CannotReplay) as error:
        yield measured(switch.name, switch.cause, side.title, plain, None, str(error))
        return
    made = measured(switch.name, switch.cause, side.title, plain, found)
    yield as_near(side, switch, made, found) if made.helps else made


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
    probing = DERIVED if seconds is None else seconds / 2
    for search in searches:
        found += _in_time(search.one_by_one())
        if found and found[-1].names_it:
            if found[-1].doubtful:
                last = found.pop()
                found += [*_in_time(search.derived(min(probing, RIVALS), last)), last]
            return tuple(found), (), sum(one.probed for one in searches)
    for search in searches:
        found += _in_time(search.derived(max(0.0, min(probing, left())) / len(searches)))
        if found and found[-1].names_it:
            return tuple(found), (), sum(one.probed for one in searches)
    made = []
    trying = PAIRS if seconds is None else seconds
    # What one change that was not tried may explain must not be laid to two.
    for search in searches if in_pairs and all(one.all_probed for one in searches) else ():
        made.append(search.in_pairs(max(0.0, min(trying, left())) / len(searches)))
        if made[-1].found is not None:
            break
    return tuple(found), tuple(made), sum(one.probed for one in searches)


def _in_combination(
    side: Side,
    known: Sequence[Switch],
    threads: Sequence[Switch],
    plain: Sequence[Compared],
    alone: Sequence[Experiment],
) -> list[Experiment]:
    """Experiments with several of a GPU's ways at once, if none removes the difference ``alone``.

    They end with the first that does, without the ways that it does not need: only what changes the result is a cause.
    """
    found: list[Experiment] = []
    for parts in together(known, threads) if not any(one.removes for one in alone) else ():
        if is_late():
            break
        done, _ = tried(side, combined(parts), plain)
        if done.removes:
            return [*found, tried(side, combined(_needed(side, parts, plain)), plain)[0]]
        found.append(done)
    return found


def _needed(side: Side, parts: Sequence[Switch], plain: Sequence[Compared]) -> list[Switch]:
    """``parts``, which remove the difference together, without those that can be left out."""
    needed = list(parts)
    for one in parts:
        less = [other for other in needed if other is not one]
        if less and tried(side, combined(less), plain)[0].removes:
            needed = less
    return needed


def _documented(
    side: Side, known: Sequence[Switch], threads: Sequence[Switch], plain: Sequence[Compared], most: int
) -> Iterator[Experiment]:
    """Experiments whether the documented error of approximate functions covers what exact emulation leaves.

    They end with the first that does. A documented error covers much. So it is tried only beside ways of a GPU that
    make as many elements bit-equal as any other, ``most``: what these explain is no matter of the function.
    """
    plan = side.launch.executable.plan
    functions = documented(plan, {name for one in known for layers in one.layers for name in layers})
    for base in exact(known, threads) if functions else ():
        executable = base.executable(plan)
        found = side.held(replay(side.launch, executable=executable))
        made = measured(base.name, base.cause, side.title, plain, found)
        if base.name and made.removes:
            yield made
            return
        if made.equal < most:
            continue
        for one in functions:
            allowed = bounds(side.launch, executable=executable, only=one.ops)
            near = [replace(each, bound=allowed[each.name]).explained for each in found]
            name = _("the documented error of {name} ({told})").format(name=one.name, told=one.told)
            cause = _("the GPU's approximate {name}, as far as its documented error explains ({told})").format(
                name=one.name, told=one.told
            )
            if base.name:
                name, cause = f"{base.name}, {name}", f"{base.cause}, and {cause}"
            within = sum(int(np.count_nonzero(where)) for where in near)
            done = replace(made, name=name, cause=cause, within=within, documented=True)
            yield done
            if done.explains:
                return
