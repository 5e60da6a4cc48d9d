"""`Parting`: the first step at which a kernel and its reference part, and the steps before it at which they agree."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.launch.comparison.launch_results import of_launch
from triton_lab.launch.comparison.number_formats import numpy_type, unit_roundoff
from triton_lab.launch.reference.block_search import BlockPlace, factor, find, tolerance
from triton_lab.launch.reference.kernel_steps import KernelStep, KernelSteps
from triton_lab.launch.reference.reference_trace import ReferenceStep, ReferenceTrace, traced
from triton_lab.localization import _
from triton_lab.providers import provided

if TYPE_CHECKING:
    from triton_lab.launch.launch import Launch
    from triton_lab.views.launch.comparison.parting_view import PartingView

Array = NDArray[Any]

MOST_PROGRAMS = 3  # programs that are looked at: those that store wrong elements
_ROUNDINGS = 64  # roundings by which a value of the kernel may differ from the reference's


@dataclass(frozen=True, eq=False)
class Match:
    """A value of the kernel that is one of the reference: a sub-block of it, as ``found`` says. ``partial``: the sum or
    the greatest of its lanes is; it is on the way to that value."""

    kernel: KernelStep
    reference: ReferenceStep
    found: BlockPlace
    partial: bool = False

    def told(self) -> str:
        """The match in a sentence."""
        if self.partial:
            return _("{line}: {name}, reduced, equals {reference}").format(
                line=_line(self.kernel.line), name=_of_kernel(self.kernel), reference=_of_reference(self.reference)
            )
        how = _(", transposed") if self.found.is_transposed else ""
        return _("{line}: {name} equals {reference}{how}").format(
            line=_line(self.kernel.line), name=_of_kernel(self.kernel), reference=_of_reference(self.reference), how=how
        )


@dataclass(frozen=True, eq=False)
class Parting:
    """Where ``argument`` begins to be wrong: the first ``kernel`` step behind it that is no value of the reference,
    and the first ``reference`` step behind the expected result that the kernel has no value for.

    ``matches`` are the last values before that on which both agree, and ``all_matches`` all of them. ``factor``: the
    kernel's value is the reference's times this, if that is all. ``instead``: the kernel's value is this value of the
    reference, but not the result. ``until`` is the line of the store: the mistake lies
    from the kernel step's line on up to it. ``programs`` were looked at.
    """

    launch: Launch = field(repr=False)
    argument: str
    programs: tuple[int, ...]
    kernel: KernelStep | None
    reference: ReferenceStep | None
    matches: tuple[Match, ...]
    all_matches: tuple[Match, ...] = field(repr=False)
    factor: float | None = None
    instead: Match | None = None
    until: int | None = None
    remarks: tuple[str, ...] = ()

    @property
    def line(self) -> int | None:
        """The line of the kernel's first value that is none of the reference's; that of the store if all are."""
        return self.until if self.kernel is None else self.kernel.line

    def title(self) -> str:
        """Where they part, on one line.

        >>> found = lab.compare(launch, lambda x_ptr, y_ptr, **_: (x_ptr + y_ptr) * 2).parting
        >>> found.title()
        'out_ptr: what line 23 stores is `x_ptr + y_ptr` (add), not the result'
        """
        if self.kernel is not None and self.instead is not None:
            return _("{argument}: what {line} stores is {reference}, not the result").format(
                argument=self.argument,
                line=_line(self.kernel.line),
                reference=_of_reference(self.instead.reference),
            )
        if self.kernel is None:
            return _("{argument}: all values are values of the reference, up to the store on line {line}").format(
                argument=self.argument, line=self.until
            )
        return _("{argument}: the first value that is not in the reference is on {line}").format(
            argument=self.argument, line=_line(self.kernel.line)
        )

    def lines(self) -> list[str]:
        """The matches before the parting, and the two steps at which they part."""
        found = [one.told() for one in self.matches]
        if self.kernel is not None and self.instead is None:
            found.append(
                _("{line}: {name} is no value of the reference").format(
                    line=_line(self.kernel.line), name=_of_kernel(self.kernel)
                )
            )
        if self.reference is not None:
            found.append(
                _("the reference computes {reference}, which the kernel does not").format(
                    reference=_of_reference(self.reference)
                )
            )
        if self.factor is not None:
            found.append(_("the kernel's value is the reference's times {factor}").format(factor=f"{self.factor:.6g}"))
        return [*found, *self.remarks]

    def text(self) -> str:
        """The parting in words.

        >>> found = lab.compare(launch, lambda x_ptr, y_ptr, **_: (x_ptr + y_ptr) * 2).parting
        >>> print(found.text())
        out_ptr: what line 23 stores is `x_ptr + y_ptr` (add), not the result
          line 21: `x` equals `x_ptr`
          line 22: `y` equals `y_ptr`
          the reference computes `(x_ptr + y_ptr) * 2` (mul), which the kernel does not
          the kernel's value is the reference's times 0.5
        """
        return "\n".join([self.title(), *(f"  {line}" for line in self.lines())])

    def __repr__(self) -> str:
        return self.text()

    def plot(self) -> PartingView:
        """The picture: the kernel's steps on the left, the reference's on the right, and lines between equal ones."""
        view: PartingView = provided("Parting.plot")(self)
        return view

    def _repr_mimebundle_(
        self, include: object = None, exclude: object = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """The picture, for Jupyter."""
        return self.plot()._repr_mimebundle_(include, exclude)


def _line(line: int | None) -> str:
    return _("line {line}").format(line=line) if line is not None else _("a line that is not known")


def _of_kernel(step: KernelStep) -> str:
    return f"`{step.name}`" if step.name else _("a value in `{text}`").format(text=step.text)


def _of_reference(step: ReferenceStep) -> str:
    if step.is_argument:
        return f"`{step.text}`"
    return f"`{step.text}` ({step.operation})" if step.text else step.operation


def parting(launch: Launch, reference: Callable[..., Any]) -> Parting | None:
    """Where a launch and its reference part; None if the results agree, up to rounding.

    The kernel's values in a few programs that store wrong elements are searched in all values that the reference
    computes. Raises what `lab.compare` raises for the reference, and CannotReplay.
    """
    results = of_launch(launch, "cpu")
    trace = traced(launch, reference, results.written)
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
    passed, agreed = _unmatched(kernel, ends, matched.keys() - others)
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
    if not kernel.is_whole or not trace.is_whole:
        remarks.append(_("Not all values were looked at: they take too much memory."))
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


def _unmatched(kernel: KernelSteps, ends: list[int], matched: Collection[int]) -> tuple[list[int], list[int]]:
    """The steps behind the stored values that match nothing, back to the nearest that do; and these."""
    passed: set[int] = set()
    agreed: set[int] = set()
    todo = list(ends)
    while todo:
        index = todo.pop()
        if index in passed or index in agreed:
            continue
        step = kernel.steps[index]
        if index in matched:
            agreed.add(index)
            continue
        if not step.is_constant and step.blocks:
            passed.add(index)
        todo += step.inputs
    return sorted(passed), sorted(agreed)


__all__ = ["Match", "Parting", "parting"]
