"""Experiments that change how a launch rounds: a GPU's ways, orders of sums, narrow inputs, documented errors."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from triton_lab import messages
from triton_lab.interpreter.kernel_errors import KernelError
from triton_lab.ir import Plan, traits
from triton_lab.launch.comparison.argument_difference import Compared
from triton_lab.launch.comparison.bounds.error_bounds import bounds
from triton_lab.launch.comparison.bounds.rounding_rules import APPROXIMATE
from triton_lab.launch.comparison.experiment import Experiment
from triton_lab.launch.comparison.gpu_ways import emulations
from triton_lab.launch.comparison.mutation_search import Search
from triton_lab.launch.comparison.numerics import (
    Switch,
    combined,
    exact,
    in_tf32,
    in_threads,
    roundings,
    together,
)
from triton_lab.launch.comparison.rerun import Side, as_near, measured, tried
from triton_lab.launch.recording.progress_callback import is_late
from triton_lab.launch.recording.replay_error import CannotReplay
from triton_lab.launch.replay.replay_run import replay
from triton_lab.localization import _

if TYPE_CHECKING:
    from triton_lab.launch.comparison.comparison_result import Comparison


def sides_of(comparison: Comparison) -> list[Side]:
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


def casts(comparison: Comparison, seconds: float) -> Iterator[Experiment]:
    """The casts of a kernel, of which one alone may round what was expected not to be rounded."""
    if comparison.other is None and comparison.launch.target != "gpu":
        for side in sides_of(comparison):
            with contextlib.suppress(CannotReplay):
                yield from Search.of(side, None, {one.name: one.bound for one in comparison}).casts(seconds)


def rounding_experiments(comparison: Comparison) -> Iterator[Experiment]:
    """Other orders of sums, other inputs of dots, more bits, and all that a GPU computes in another way."""
    on_gpu = "gpu" in {comparison.launch.target, getattr(comparison.other, "target", "")}
    for side in sides_of(comparison):
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


@dataclass(frozen=True)
class Documented:
    """A function that a GPU approximates, with a documented error but undocumented bits; ``ops`` are its operations.

    The error is in `rounding_rules`; ``told`` is its text.
    """

    name: str
    ops: frozenset[str]
    told: str


_DOCUMENTED = ("division", "exp2", "square root", "sine", "erf")


def documented(plan: Plan, emulated: Collection[str]) -> list[Documented]:
    """The documented functions of float32 that the kernel calls and whose bits are not ``emulated`` (operations by
    name), each alone and then all at once.
    """
    used = {
        op.name
        for function in plan.functions.values()
        for op in function.walk()
        if op.results and function.types[op.results[0]].element == "f32"
    } - set(emulated)
    found = []
    for name in _DOCUMENTED:
        there = {op for op in used if traits.of(op).rounding.unit == name}
        if there:
            ulps = max(APPROXIMATE[op] for op in there)
            found.append(Documented(name, frozenset(there), f"{messages.significant(ulps)} ulp"))
    if len(found) > 1:
        names = _(" and ").join(one.name for one in found)
        told = ", ".join(dict.fromkeys(one.told for one in found))
        found.append(Documented(names, frozenset().union(*(one.ops for one in found)), told))
    return found


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
        executable = base.executable(side.launch)
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
                name = f"{base.name}, {name}"
                cause = _("{cause}, and {other}").format(cause=base.cause, other=cause)
            within = sum(int(np.count_nonzero(where)) for where in near)
            done = replace(made, name=name, cause=cause, within=within, documented=True)
            yield done
            if done.explains:
                return
