"""Finds causes of a difference by experiments: each changes one thing and runs the launch again."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.launch.comparison.argument_difference import DIFFERENT, EQUAL, Compared
from triton_lab.launch.comparison.error_bounds import bounds
from triton_lab.launch.comparison.experiment_results import Causes, Experiment, Pairs
from triton_lab.launch.comparison.launch_results import inputs_differ
from triton_lab.launch.comparison.mutation_search import Search
from triton_lab.launch.comparison.numerics import (
    Switch,
    combined,
    documented,
    emulations,
    exact,
    in_threads,
    precisions,
    roundings,
    together,
)
from triton_lab.launch.comparison.rerun import Side, measured, tried
from triton_lab.launch.recording.replay_error import CannotReplay
from triton_lab.launch.replay.replay_run import replay
from triton_lab.localization import N_, _, translated

if TYPE_CHECKING:
    from triton_lab.launch.comparison.comparison_result import Comparison
    from triton_lab.launch.launch import Launch
    from triton_lab.launch.recording.access_event import AccessEvent

Array = NDArray[Any]

# Findings that may make two runs of one kernel differ.
_UNSTEADY = {
    "race": N_("a race: the result depends on the order of the programs"),
    "lane-collision": N_("several lanes of one program store to one element"),
    "uninitialized": N_("a read of memory that was never written"),
}


# The seconds for trying pairs of slips, after the single ones; the user waits for it.
PAIRS = 2.0


def causes(comparison: Comparison, seconds: float | None = None) -> Causes:
    """Run the experiments that affect the kernels of ``comparison``. Replays the launches.

    If no single slip explains the difference, pairs are tried for ``seconds`` at most, `PAIRS` by default.
    """
    seconds = PAIRS if seconds is None else seconds
    if comparison.verdict == EQUAL:
        return Causes((), (), True)
    named = tuple(_named(comparison))
    slips = comparison.verdict == DIFFERENT and not named
    # If rounding is known not to explain it, other roundings are tried last. For elements that depend on a choice that
    # rounding may change, this is not known.
    differing = [one for one in comparison if one.count and one.written]
    bounded = all(one.bound is not None for one in differing) and any(one.beyond for one in differing)
    found: tuple[Experiment, ...] = ()
    pairs: tuple[Pairs, ...] = ()
    for is_rounding in (False, True) if bounded else (True, False):
        if any(one.names_it for one in found) or any(one.found for one in pairs):
            break
        if is_rounding:
            nearer = _experiments(comparison)
            # A rounding that is known not to be the cause must not be named for reducing the error. What a GPU does to
            # its own kernel is no such rounding: it may flush and spill.
            twin = comparison.other is comparison.launch
            found += tuple(replace(one, telling=False) if bounded and slips and not twin else one for one in nearer)
        elif slips:
            singles, pairs = _on_slips(comparison, seconds)
            found += singles
    return Causes(found, named, pairs=pairs)


# --- What is known without an experiment ------------------------------------------------------------


def _named(comparison: Comparison) -> Iterator[str]:
    """Causes known without experiments: races and the like, sums in any order, another dtype, other inputs."""
    launches = [comparison.launch] if comparison.other is None else [comparison.launch, comparison.other]
    inputs = {inputs_differ(argument.name) for argument in comparison.launch.arguments}
    yield from (remark for remark in comparison.remarks if remark in inputs)
    differing = {one.name for one in comparison if one.count}
    seen: set[str] = set()
    for launch in launches:
        for finding in launch.findings:
            kind = _UNSTEADY.get(finding.kind)
            if kind is not None and finding.kind not in seen:
                seen.add(finding.kind)
                text = _("{cause} (line {line})") if finding.line is not None else "{cause}"
                yield text.format(cause=translated(kind), line=finding.line)
        if not seen and (line := _float_atomics(launch, differing)) is not None:
            seen.add("atomics")
            yield _("atomic additions of floats, which happen in any order (line {line})").format(line=line)
        if not seen and (line := _taken_in_turn(launch, differing)) is not None:
            seen.add("turns")
            yield _("what programs add up one after another, in the order in which they run (line {line})").format(
                line=line
            )
    yield from _precisions(comparison)
    first = comparison.first
    lead = None if first is None else first.turned
    if lead is not None and lead.types[1] and lead.types[0] != lead.types[1]:
        here, there = comparison.titles
        yield _("{name} on line {line} is {types} in {here} and {types_2} in {there}").format(
            name=lead.name, line=lead.line, types=lead.types[0], here=here, types_2=lead.types[1], there=there
        )


def _precisions(comparison: Comparison) -> Iterator[str]:
    """Dots of two launches on GPUs whose inputs have another precision; the interpreter's are those of float32."""
    both = [comparison.launch, comparison.other]
    if comparison.other in (None, comparison.launch) or any(one.target != "gpu" for one in both if one):
        return
    here, there = (sorted(precisions(one.executable.plan)) for one in both if one)
    if here != there and "tf32" in {*here, *there}:
        title, other = comparison.titles
        yield f"tf32 inputs of tl.dot: {', '.join(here)} in {title}, {', '.join(there)} in {other}"


def _float_atomics(launch: Launch, differing: set[str]) -> int | None:
    """The line of float atomic additions to a differing argument, if several add to one element; else None."""
    for access in launch.done:
        if access.kind == "atomic" and access.argument in differing and "float" in access.dtype:
            places = [event.addresses()[event.active()] for event in access.events]
            everywhere = np.concatenate(places) if places else np.zeros(0, np.int64)
            if access.line is not None and len(np.unique(everywhere)) < len(everywhere):
                return access.line
    return None


def _taken_in_turn(launch: Launch, differing: set[str]) -> int | None:
    """The line of a float store to a differing argument, if several programs load and store one element; else None.

    The caller has excluded races, so integer atomics order the programs: a lock or a counter.
    """
    if not any(access.kind == "atomic" and "int" in access.dtype for access in launch.done):
        return None
    loaded = {access.argument for access in launch.done if access.kind == "load"}
    for access in launch.done:
        adds = access.kind == "store" and access.argument in differing & loaded and "float" in access.dtype
        if adds and access.line is not None and _met(access.events):
            return access.line
    return None


def _met(events: Sequence[AccessEvent]) -> bool:
    """Whether several programs touch one address."""
    pairs = []
    for event in events:
        active = event.active()
        programs = np.broadcast_to(event.programs.reshape(-1, *(1,) * len(event.shape)), active.shape)
        pairs.append(np.stack([event.addresses()[active], programs[active]], axis=-1))
    everywhere = np.unique(np.concatenate(pairs), axis=0) if pairs else np.zeros((0, 2), np.int64)
    return len(np.unique(everywhere[:, 0])) < len(everywhere)


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
        found = [tried(side, switch, plain)[0] for switch in [*known, *threads]]
        found += _in_combination(side, known, threads, plain, found)
        if not (on_gpu and any(one.removes for one in found)):
            found += [tried(side, switch, plain)[0] for switch in roundings(plan)]
        yield from found
        if on_gpu and not any(one.removes for one in found):
            yield from _documented(side, known, threads, plain)
    if on_gpu:
        from triton_lab.launch.comparison.gpu_experiments import gpu_experiments

        yield from gpu_experiments(comparison, measured)


def _on_slips(comparison: Comparison, seconds: float) -> tuple[tuple[Experiment, ...], tuple[Pairs, ...]]:
    """Try slips (other masks, strides and the like) in both launches, up to the first change or pair that is the cause.

    They run on the CPU, wherever the launch ran.
    """
    written = [one for one in comparison if one.written]
    names = dict(zip((one.name for one in written), comparison.names, strict=False))
    here, there = comparison.launch, comparison.other
    if there is here:
        return (), ()  # the same kernel
    sides = [(Side(f"{here.kernel} (CPU)", here, {one.name: one.b for one in written}), there)]
    if there is not None:
        sides.append((Side(f"{there.kernel} (CPU)", there, {names[one.name]: one.a for one in written}), here))
    bounds_of = {one.name: one.bound for one in written}
    allowed = [bounds_of, {names[name]: bound for name, bound in bounds_of.items()}]
    searches = []
    for (side, other), near in zip(sides, allowed, strict=False):
        try:
            searches.append(Search.of(side, other, near))
        except CannotReplay:
            continue
    found: list[Experiment] = []
    for search in searches:
        found += search.one_by_one()
        if found and found[-1].names_it:
            return tuple(found), ()
    made = []
    for search in searches:
        made.append(search.in_pairs(seconds / len(searches)))
        if made[-1].found is not None:
            break
    return tuple(found), tuple(made)


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
    side: Side, known: Sequence[Switch], threads: Sequence[Switch], plain: Sequence[Compared]
) -> Iterator[Experiment]:
    """Experiments whether the documented error of approximate functions covers what exact emulation leaves.

    They end with the first that does.
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
