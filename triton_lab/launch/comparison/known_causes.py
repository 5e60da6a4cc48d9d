"""Causes of a difference that are known without an experiment: races and the like, sums in any order, NaN."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.interpreter.bound_plan import Executable
from triton_lab.interpreter.frame import Frame
from triton_lab.interpreter.kernel_errors import KernelError
from triton_lab.interpreter.variants.arithmetic_variants import ordinary
from triton_lab.ir import Op, traits
from triton_lab.launch.checks.rule import rules
from triton_lab.launch.comparison.number_formats import unit_roundoff, wide
from triton_lab.launch.comparison.numerics import precisions
from triton_lab.launch.comparison.rerun import may_be_rounding
from triton_lab.launch.recording.replay_error import CannotReplay
from triton_lab.launch.replay.replay_run import replay
from triton_lab.localization import _, translated

if TYPE_CHECKING:
    from triton_lab.launch.comparison.argument_difference import Compared
    from triton_lab.launch.comparison.comparison_result import Comparison
    from triton_lab.launch.launch import Launch
    from triton_lab.launch.recording.access_event import AccessEvent

Array = NDArray[Any]

_APART = 8.0  # as many times as what is expected of so many terms, sums in two orders may differ


def unsteady(comparison: Comparison) -> Iterator[str]:
    """The findings that may make two runs of one kernel differ. A slip, such as in an address, may be behind them."""
    seen: set[str] = set()
    for launch in _launches(comparison):
        for finding in launch.findings:
            cause = rules()[finding.kind].unsteady
            if cause and finding.kind not in seen:
                seen.add(finding.kind)
                text = _("{cause} (line {line})") if finding.line is not None else "{cause}"
                yield text.format(cause=translated(cause), line=finding.line)


def _launches(comparison: Comparison) -> list[Launch]:
    return [comparison.launch] if comparison.other is None else [comparison.launch, comparison.other]


def named_causes(comparison: Comparison) -> Iterator[str]:
    """Other causes known without experiments: sums in any order, another dtype."""
    # What differs by far more than the order of additions explains has another cause, which is the one to look for.
    apart = [one for one in comparison if one.count]
    differing = {one.name for one in apart} if all(may_be_rounding(one) for one in apart) else set[str]()
    found = {finding.kind for launch in _launches(comparison) for finding in launch.findings}
    seen = {kind for kind in found if rules()[kind].unsteady}
    for launch in _launches(comparison):
        if not seen and (line := _float_atomics(comparison, launch, differing)) is not None:
            seen.add("atomics")
            yield _("atomic additions of floats, which happen in any order (line {line})").format(line=line)
        if not seen and (line := _taken_in_turn(launch, differing)) is not None:
            seen.add("turns")
            yield _("what programs add up one after another, in the order in which they run (line {line})").format(
                line=line
            )
    yield from _precisions(comparison)
    indices = any(one.count and one.a.dtype.kind in "iu" for one in comparison if one.written)
    if comparison.other is not comparison.launch and indices and (line := _beside_nan(comparison.launch)) is not None:
        yield _(
            "NaN among the values of an argmax or argmin: the result depends on the order of the comparisons (line "
            "{line})"
        ).format(line=line)
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
        yield _("tf32 inputs of tl.dot: {here} in {title}, {there} in {other}").format(
            here=", ".join(here), title=title, there=", ".join(there), other=other
        )


def _beside_nan(launch: Launch) -> int | None:
    """The line of the first reduction of several values at once, such as an argmax, that takes NaN; else None."""
    plan, seen = launch.executable.plan, set[int]()
    every = [op for op in plan.walk() if traits.of(op.name).kind is traits.Kind.REDUCES and len(op.operands) > 1]

    def watched(frame: Frame, op: Op, *operands: Any) -> Any:
        arrays = [frame.elements(op, k, one) for k, one in enumerate(operands) if frame.type(op.operands[k]).is_float]
        if any(np.isnan(one).any() for one in arrays):
            seen.add(op.index)
        return ordinary(op.name)(frame, op, *operands)

    try:
        if every:
            replay(launch, executable=Executable.of(plan, {op.name: watched for op in every}))
    except (KernelError, CannotReplay):
        return None
    lines = [launch.lines.get(op.index) for op in every if op.index in seen]
    return next((line.line for line in lines if line is not None), None)


def _float_atomics(comparison: Comparison, launch: Launch, differing: set[str]) -> int | None:
    """The line of float atomic additions to a differing argument, if several add to one element; else None.

    None also if so few additions cannot differ by so much in another order.
    """
    for access in launch.done:
        if access.kind == "atomic" and access.argument in differing and "float" in access.dtype:
            places = [event.addresses()[event.active()] for event in access.events]
            _places, counts = np.unique(np.concatenate(places or [np.zeros(0, np.int64)]), return_counts=True)
            most = int(counts.max(initial=0))
            if access.line is not None and most > 1 and _may_be_order(comparison[access.argument], most):
                return access.line
    return None


def _may_be_order(one: Compared, count: int) -> bool:
    """Whether sums of ``count`` terms in another order may be apart by so much.

    Each addition rounds; the terms may be larger than their sum, by the root of their number if their signs are random.
    """
    greatest = float(np.max(np.abs(wide(one.b)), initial=0.0, where=one.finite))
    error = float(np.max(one.absolute, initial=0.0, where=one.finite))
    return bool(error <= _APART * count**1.5 * unit_roundoff(one.a.dtype) * greatest)


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
