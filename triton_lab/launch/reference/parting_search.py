"""`parting`: searches the values of a kernel among those of its reference, and finds the first that is not there."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.launch.comparison.launch_results import of_launch
from triton_lab.launch.comparison.number_formats import numpy_type, unit_roundoff
from triton_lab.launch.recording.progress_callback import breathe, within
from triton_lab.launch.recording.replay_error import CannotReplay
from triton_lab.launch.reference.block_search import BlockPlace, factor, find, tolerance
from triton_lab.launch.reference.kernel_steps import KernelStep, KernelSteps
from triton_lab.launch.reference.parting import Match, Parting
from triton_lab.launch.reference.reference_trace import ReferenceStep, ReferenceTrace, traced
from triton_lab.localization import _

if TYPE_CHECKING:
    from triton_lab.launch.launch import Launch

Array = NDArray[Any]

SECONDS = 60.0  # for all of it
MOST_PROGRAMS = 3  # programs that are looked at: those that store wrong elements
_ROUNDINGS = 64  # roundings by which a value of the kernel may differ from the reference's


def parting(launch: Launch, reference: Callable[..., Any]) -> Parting | None:
    """Where a launch and its reference part; None if the results agree, up to rounding.

    The kernel's values in a few programs that store wrong elements are searched in all values that the reference
    computes. Raises what `lab.compare` raises for the reference, and CannotReplay: also if that takes longer than
    a minute, or if the reference's values take too much memory.
    """
    with within(SECONDS):
        return _first_parting(launch, reference)


def _first_parting(launch: Launch, reference: Callable[..., Any]) -> Parting | None:
    results = of_launch(launch, "cpu")
    trace = traced(launch, reference, results.written)
    if not trace.is_whole:
        raise CannotReplay(_("the values of the reference take too much memory to be compared one by one"))
    for name in results.written:
        if name not in trace.results:
            continue
        wanted = trace.steps[trace.results[name]].values
        relative = _relative(launch, name)
        got = results.arrays[name]
        if wanted.size != got.size:
            continue
        programs = _wrong_programs(launch, name, _wrong(got, wanted.reshape(got.shape), relative))
        if programs:
            return _parted(launch, trace, name, programs, relative)
    return None


def _relative(launch: Launch, name: str) -> float:
    """How far values may be apart: roundings of the narrowest float among what the kernel reads and this argument."""
    dtypes = [numpy_type(one.dtype) for one in launch.arguments if one.kind in ("tensor", "descriptor")]
    return _ROUNDINGS * max([2.0**-24, *(unit_roundoff(dtype) for dtype in dtypes)]) * 4


def _wrong(got: Array, wanted: Array, relative: float) -> Array:
    one, other = got.astype(np.float64), wanted.astype(np.float64)
    with np.errstate(invalid="ignore"):
        near = np.abs(one - other) <= relative * np.abs(other) + tolerance(one, other, relative)
    return np.asarray(~(near | (one == other) | (np.isnan(one) & np.isnan(other))))


def _wrong_programs(launch: Launch, name: str, wrong: Array) -> tuple[int, ...]:
    """The first programs that store wrong elements; if no program does, the first that store there."""
    bad = np.flatnonzero(wrong.reshape(-1))
    if not len(bad):
        return ()
    found: list[int] = []
    others: list[int] = []
    for access in launch.done:
        if access.kind == "load" or access.argument != name:
            continue
        for iteration in range(access.iterations):
            elements = np.where(access.mask(iteration), access.element(None, iteration), -1)
            flat = elements.reshape(len(elements), -1)
            hits = np.flatnonzero(np.isin(flat, bad).any(axis=1))
            found += [program for program in hits.tolist() if program not in found]
            others += [program for program in np.flatnonzero((flat >= 0).any(axis=1)).tolist() if program not in others]
            if len(found) >= MOST_PROGRAMS:
                return tuple(found[:MOST_PROGRAMS])
    return tuple(found or others[:MOST_PROGRAMS])


def _parted(launch: Launch, trace: ReferenceTrace, name: str, programs: tuple[int, ...], relative: float) -> Parting:
    kernel = KernelSteps(launch, programs)
    matched = dict(_matches(kernel, trace, relative))
    stores = kernel.stored(name)
    ends = sorted({index for _store, value in stores for index in kernel.behind([value])})
    others = {index for index in ends if index in matched and not _is_result(matched[index], trace, name)}
    passed, agreed = _unmatched(kernel, ends, matched, others)
    seen = {one.reference.number for one in matched.values() if not one.partial}
    rest, _known = trace.ancestors(trace.results[name], lambda number: number in seen)
    rest = [number for number in rest if not (trace.steps[number].is_argument or trace.steps[number].moves)]
    first = kernel.steps[min(passed)] if passed else None
    due = trace.steps[rest[0]] if rest else None
    by = None
    if first is not None and due is not None and first.blocks:
        by = factor(next(iter(first.blocks.values())), due.values, relative)
    lines = [launch.lines.get(access.op) for access in launch.done if access.argument == name and access.kind != "load"]
    remarks = []
    if not kernel.is_whole:
        remarks.append(_("Not all values of the kernel were looked at: they take too much memory."))
    return Parting(
        launch,
        name,
        programs,
        first,
        due,
        tuple(matched[index] for index in agreed if not passed or index < passed[0]),
        tuple(matched[index] for index in sorted(matched)),
        by,
        matched[first.op.index] if first is not None and first.op.index in others else None,
        next((line.line for line in lines if line is not None), None),
        tuple(remarks),
    )


def _matches(kernel: KernelSteps, trace: ReferenceTrace, relative: float) -> Iterator[tuple[int, Match]]:
    """The steps of the kernel whose values, in all programs, lie in one value of the reference."""
    for index, step in kernel.steps.items():
        if step.blocks and not step.is_constant:
            found = _match(step, trace, relative)
            if found is not None:
                yield index, found


def _match(step: KernelStep, trace: ReferenceTrace, relative: float) -> Match | None:
    """The first step of the reference that holds the value, or whose sums or extremes are those of the value."""
    blocks = list(step.blocks.values())
    candidates = [one for one in trace.steps if one.is_argument == step.is_load]
    for one in candidates:
        found = _found_all(blocks, one, relative)
        if found is not None:
            return Match(step, one, found)
    for one in candidates:
        for way in (np.sum, np.max) if one.reduces else ():
            for axis in range(blocks[0].ndim):
                found = _found_all([way(block.astype(np.float64), axis=axis) for block in blocks], one, relative)
                if found is not None:
                    return Match(step, one, found, partial=True)
    return None


def _found_all(blocks: list[Array], one: ReferenceStep, relative: float) -> BlockPlace | None:
    breathe()
    first = find(blocks[0], one.values, relative)
    if first is None or any(find(block, one.values, relative) is None for block in blocks[1:]):
        return None
    return first


def _is_result(match: Match, trace: ReferenceTrace, name: str) -> bool:
    """Whether a value is the expected result, in whatever order of axes."""
    number = trace.results[name]
    while number != match.reference.number and trace.steps[number].moves and trace.steps[number].inputs:
        number = trace.steps[number].inputs[0]
    return number == match.reference.number and not match.partial


def _unmatched(
    kernel: KernelSteps, ends: list[int], matched: Collection[int], others: Collection[int]
) -> tuple[list[int], list[int]]:
    """The steps behind the stored values that match nothing, back to the nearest that do; and these.

    ``others`` are stored, and match something else than the result: what is behind them is right.
    """
    passed: set[int] = set()
    agreed: set[int] = set()
    todo = list(ends)
    while todo:
        index = todo.pop()
        if index in passed or index in agreed:
            continue
        step = kernel.steps[index]
        if index in others:
            passed.add(index)
            todo += [number for number in step.inputs if number in matched]
            continue
        if index in matched:
            agreed.add(index)
            continue
        if not step.is_constant and step.blocks:
            passed.add(index)
        todo += step.inputs
    return sorted(passed), sorted(agreed)


__all__ = ["parting"]
