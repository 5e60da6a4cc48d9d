"""Experiments on a difference: each changes one thing, runs the launch again and looks whether it goes away."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from triton_lab import words
from triton_lab.interpreter.errors import KernelError
from triton_lab.launch.comparing.addressing import addresses
from triton_lab.launch.comparing.bounds import bounds
from triton_lab.launch.comparing.causes import Causes, Experiment
from triton_lab.launch.comparing.compared import DIFFERENT, EQUAL, Compared
from triton_lab.launch.comparing.experiments import Switch, documented, exact, in_threads, switches, together
from triton_lab.launch.comparing.meant import meanings
from triton_lab.launch.comparing.results import read
from triton_lab.launch.replay import replay
from triton_lab.launch.snapshot import CannotReplay

if TYPE_CHECKING:
    from triton_lab.launch.access import Event
    from triton_lab.launch.comparing.comparison import Comparison
    from triton_lab.launch.launch import Launch

Array = NDArray[Any]

# Findings that make two runs of one kernel give other numbers.
_UNSTEADY = {
    "race": "a race: what the programs leave hangs on who comes first",
    "lane-collision": "lanes of one program that store to one element",
    "uninitialized": "a read of memory that nobody had written",
}


def causes(comparison: Comparison) -> Causes:
    """Run the experiments that mean something to the kernels of ``comparison``. The launches are replayed."""
    if comparison.verdict == EQUAL:
        return Causes((), (), True)
    named = tuple(_named(comparison))
    slips = comparison.verdict == DIFFERENT and not named
    # Where rounding is known not to explain it, other roundings are tried last.
    bounded = all(one.bound is not None for one in comparison if one.count and one.written)
    found: tuple[Experiment, ...] = ()
    for tried in (_on_slips, _experiments) if bounded else (_experiments, _on_slips):
        if (slips or tried is _experiments) and not any(one.removes or one.explains for one in found):
            found += tuple(tried(comparison))
    return Causes(found, named)


# --- What is known without an experiment ------------------------------------------------------------


def _named(comparison: Comparison) -> Iterator[str]:
    """Races and the like, of either launch; sums in any order; a variable of another dtype; other inputs."""
    launches = [comparison.launch] if comparison.other is None else [comparison.launch, comparison.other]
    yield from (remark for remark in comparison.remarks if "before the two launches" in remark)
    differing = {one.name for one in comparison if one.count}
    seen: set[str] = set()
    for launch in launches:
        for finding in launch.findings:
            kind = _UNSTEADY.get(finding.kind)
            if kind is not None and finding.kind not in seen:
                seen.add(finding.kind)
                yield kind + ("" if finding.line is None else f" (line {finding.line})")
        if not seen and (line := _float_atomics(launch, differing)) is not None:
            seen.add("atomics")
            yield f"atomic additions of floats, which come in any order (line {line})"
        if not seen and (line := _taken_in_turn(launch, differing)) is not None:
            seen.add("turns")
            yield f"what programs add up one after another, in the order in which they get their turn (line {line})"
    first = comparison.first
    lead = None if first is None else first.turned
    if lead is not None and lead.types[1] and lead.types[0] != lead.types[1]:
        here, there = comparison.titles
        yield f"{lead.name} on line {lead.line} is {lead.types[0]} in {here} and {lead.types[1]} in {there}"


def _float_atomics(launch: Launch, differing: set[str]) -> int | None:
    """The line of an atomic addition of floats to an argument that differs, where several meet on one element."""
    for access in launch.done:
        if access.kind == "atomic" and access.argument in differing and "float" in access.dtype:
            places = [event.addresses()[event.active()] for event in access.events]
            everywhere = np.concatenate(places) if places else np.zeros(0, np.int64)
            if access.line is not None and len(np.unique(everywhere)) < len(everywhere):
                return access.line
    return None


def _taken_in_turn(launch: Launch, differing: set[str]) -> int | None:
    """The line of a store of floats to what differs, where several programs load and store the same element.

    With a race that would be another matter; without, atomics of integers keep the programs apart: a lock or a counter.
    """
    if not any(access.kind == "atomic" and "int" in access.dtype for access in launch.done):
        return None
    loaded = {access.argument for access in launch.done if access.kind == "load"}
    for access in launch.done:
        adds = access.kind == "store" and access.argument in differing & loaded and "float" in access.dtype
        if adds and access.line is not None and _met(access.events):
            return access.line
    return None


def _met(events: Sequence[Event]) -> bool:
    """Whether lanes of more than one program touch one address."""
    pairs = []
    for event in events:
        active = event.active()
        programs = np.broadcast_to(event.programs.reshape(-1, *(1,) * len(event.shape)), active.shape)
        pairs.append(np.stack([event.addresses()[active], programs[active]], axis=-1))
    everywhere = np.unique(np.concatenate(pairs), axis=0) if pairs else np.zeros((0, 2), np.int64)
    return len(np.unique(everywhere[:, 0])) < len(everywhere)


# --- Experiments -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Side:
    """One of the two that can be run again: its ``launch``, and what it is held against, by its own names."""

    title: str
    launch: Launch
    against: Mapping[str, Array]


def _sides(comparison: Comparison) -> list[_Side]:
    """Those that the interpreter ran, or can: of a launch on the GPU its run on the CPU, held against the other."""
    written = [one for one in comparison if one.written]
    mine, theirs = {one.name: one.a for one in written}, {one.name: one.b for one in written}
    if comparison.other is comparison.launch:
        return [_Side(comparison.titles[1], comparison.launch, mine)]
    on_gpu = [launch for launch in (comparison.launch, comparison.other) if launch and launch.target == "gpu"]
    sides = []
    if comparison.launch not in on_gpu:
        sides.append(_Side(comparison.titles[0], comparison.launch, theirs))
    if comparison.other is not None and comparison.other not in on_gpu:
        names = dict(zip(mine, comparison.names, strict=False))
        sides.append(_Side(comparison.titles[1], comparison.other, {names[name]: mine[name] for name in mine}))
    return sides


def _experiments(comparison: Comparison) -> Iterator[Experiment]:
    on_gpu = "gpu" in {comparison.launch.target, getattr(comparison.other, "target", "")}
    for side in _sides(comparison):
        plan = side.launch.executable.plan
        try:
            plain = _against(side, replay(side.launch))
        except CannotReplay as error:
            yield Experiment("running it again", "", side.title, 0, 0, 1, None, math.nan, math.nan, str(error))
            continue
        threads: list[Switch] = []
        try:
            threads = in_threads(side.launch)
        except RuntimeError as error:
            yield _measured("sums as threads of a GPU do", "", side.title, plain, None, str(error))
        found = [_try(side, switch, plain) for switch in [*switches(plan, threads), *together(plan, threads)]]
        yield from found
        if on_gpu and not any(one.removes for one in found):
            yield from _documented(side, threads, plain)
    if on_gpu:
        from triton_lab.launch.comparing.on_gpu import gpu_experiments

        yield from gpu_experiments(comparison, _measured)


def _on_slips(comparison: Comparison) -> Iterator[Experiment]:
    """Other masks and strides and what else may have been meant, on either launch, run on the CPU wherever it ran; up
    to the first that is the cause."""
    written = [one for one in comparison if one.written]
    names = dict(zip((one.name for one in written), comparison.names, strict=False))
    here, there = comparison.launch, comparison.other
    if there is here:
        return  # the same kernel
    runs = [(_Side(f"{here.kernel} (CPU)", here, {one.name: one.b for one in written}), there)]
    if there is not None:
        runs.append((_Side(f"{there.kernel} (CPU)", there, {names[one.name]: one.a for one in written}), here))
    for side, other in runs:
        try:
            plain = _against(side, replay(side.launch))
        except CannotReplay:
            continue
        for switch in chain(addresses(side.launch, other), meanings(side.launch)):
            done = _try(side, switch, plain)
            if not done.failed and not done.removes and done.ulps < done.ulps_before:
                done = _as_near(side, switch, done)
            yield done
            if done.removes or done.explains:
                return


def _as_near(side: _Side, switch: Switch, done: Experiment) -> Experiment:
    """With how many elements are as near as rounding explains."""
    executable = switch.executable(side.launch.executable.plan)
    try:
        allowed = bounds(side.launch, False, executable=executable)
        found = _against(side, replay(side.launch, executable=executable))
    except (KernelError, CannotReplay):
        return done
    near = [replace(each, bound=allowed[each.name]).explained for each in found]
    within = sum(int(np.count_nonzero(where)) for where in near)
    return replace(done, within=within) if within == done.total else done


def _try(side: _Side, switch: Switch, plain: Sequence[Compared]) -> Experiment:
    try:
        memory = replay(side.launch, executable=switch.executable(side.launch.executable.plan), strict=True)
    except (KernelError, CannotReplay) as error:
        done = _measured(switch.name, switch.cause, side.title, plain, None, _refused(side.launch, error))
        return replace(done, place=switch.place)
    return replace(_measured(switch.name, switch.cause, side.title, plain, _against(side, memory)), place=switch.place)


def _refused(launch: Launch, error: KernelError | CannotReplay) -> str:
    """Why a run came to no end, in a clause; where it would leave its tensors the error itself has no words for it."""
    if not isinstance(error, KernelError) or error.fault is None:
        return str(error).split("\n", 1)[0] or type(error).__name__
    line = None if error.op is None else launch.lines.get(error.op.index)
    where = "" if line is None else f" on line {line.line}"
    return f"{words.a(error.fault.access)}{where} would go where it may not"


def _documented(side: _Side, threads: Sequence[Switch], plain: Sequence[Compared]) -> Iterator[Experiment]:
    """Whether the documented error of approximated functions covers what is left beside what is known to the bit.

    The experiments end with the first that does.
    """
    plan = side.launch.executable.plan
    functions = documented(plan)
    for base in exact(plan, threads) if functions else ():
        executable = base.executable(plan)
        found = _against(side, replay(side.launch, executable=executable))
        made = _measured(base.name, base.cause, side.title, plain, found)
        if base.name and made.removes:
            yield made
            return
        for one in functions:
            allowed = bounds(side.launch, executable=executable, only=one.ops)
            near = [replace(each, bound=allowed[each.name]).explained for each in found]
            name = f"the documented error of {one.name} ({one.told})"
            cause = f"the GPU's approximate {one.name}, as far as its documented error explains ({one.told})"
            if base.name:
                name, cause = f"{base.name}, {name}", f"{base.cause}, and {cause}"
            within = sum(int(np.count_nonzero(where)) for where in near)
            done = replace(made, name=name, cause=cause, within=within, documented=True)
            yield done
            if done.explains:
                return


def _against(side: _Side, memory: Any) -> list[Compared]:
    return [Compared(name, read(memory, side.launch.argument(name)), other) for name, other in side.against.items()]


def _measured(
    name: str, cause: str, side: str, plain: Sequence[Compared], found: Sequence[Compared] | None, failed: str = ""
) -> Experiment:
    """What became of the difference."""
    total = sum(one.a.size for one in plain)
    before = total - sum(one.count for one in plain)
    if found is None:
        return Experiment(name, cause, side, before, before, total, None, math.nan, math.nan, failed)
    equal = total - sum(one.count for one in found)
    return Experiment(name, cause, side, before, equal, total, _rows(found), _ulps(found), _ulps(plain))


def _ulps(found: Sequence[Compared]) -> float:
    worst = [one.largest_ulps for one in found]
    strange = any(one.nan.any() or one.infinite.any() for one in found)
    return math.inf if strange else max((one.value for one in worst if one is not None), default=0.0)


def _rows(found: Sequence[Compared]) -> tuple[int, int] | None:
    """How many rows are bit-equal, of a single argument that has rows."""
    if len(found) != 1 or found[0].a.ndim < 2 or not found[0].a.size:
        return None
    same = np.asarray(found[0].same.reshape(-1, found[0].a.shape[-1]).all(axis=1))
    return int(same.sum()), same.size
