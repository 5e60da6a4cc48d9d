"""Tensors that are not contiguous and are accessed with the strides of a contiguous tensor of their shape."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from triton_lab.ir import effects
from triton_lab.launch.access import elements_at
from triton_lab.launch.argument import Argument
from triton_lab.launch.byte_ranges import Flags, Ints
from triton_lab.launch.checks.analysis.evidence import Evidence, EvidenceLanes, SeenAccess
from triton_lab.launch.checks.analysis.finding_text import finding, launched_at, listed
from triton_lab.launch.checks.rule import Concerned, Rule
from triton_lab.launch.diagnosis.finding import Finding
from triton_lab.launch.diagnosis.severity import WARNING
from triton_lab.localization import N_, _

_MOST = 1 << 20  # lanes that are examined


class AssumedContiguousRule(Rule):
    """A tensor that is not contiguous is read or written as if it were."""

    kind = "assumed-contiguous"
    severity = WARNING
    subject = N_("strides of tensors that are not contiguous")
    summary = N_("A tensor that is not contiguous is accessed as if it were.")
    why = N_(
        "`x.t()`, `x[::2]` and `x[:, :n]` are views: their rows do not follow one another in memory. A kernel that "
        "multiplies the row by the number of columns then works on elements of several rows, or of none. No access is "
        "out of bounds, so nothing stops it."
    )
    remedy = N_(
        "Pass `x.stride(0)` and `x.stride(1)` to the kernel and multiply the indices by them, or launch it with "
        "`x.contiguous()`."
    )
    intended = N_("If the kernel works on the tensor's memory, and the order of the elements does not matter.")
    blind = N_(
        "Two cases are examined: accesses that would cover whole rows if the tensor were contiguous, and copies "
        "between two tensors of the same shape and different strides."
    )
    concerned = Concerned.ALL
    mark = N_("accessed with strides that are not the tensor's")

    def check(self, evidence: Evidence, found: Sequence[Finding]) -> Iterator[Finding]:
        """One finding for each argument, at the first access that does so."""
        launch = evidence.launch
        strided = [one for one in launch.arguments if _is_strided(one)]
        if not strided or not evidence.complete or launch.programs < 2:
            return
        told: set[str] = set()
        by_op: dict[int, list[SeenAccess]] = {}
        for sight in evidence.sights("load", "store"):
            by_op.setdefault(sight.op.index, []).append(sight)
        for sights in by_op.values():
            op = sights[0].op
            argument = evidence.owner(op)
            if argument is None or argument.name in told or not any(one == argument for one in strided):
                continue
            if sum(sight.event.lanes for sight in sights) > _MOST or effects.by_descriptor(op):
                continue
            lanes = _joined([evidence.active_lanes(sight) for sight in sights])
            wrong = _wrong_rows(lanes, argument, launch.programs)
            if not wrong.any() and not _copied(evidence, sights, argument, by_op):
                continue
            told.add(argument.name)
            shown = lanes.where(wrong) if wrong.any() else lanes
            yield finding(
                launch,
                self.kind,
                _("{name} has shape {shape} and strides {strides}, and is accessed with strides {assumed}").format(
                    name=argument.name, shape=argument.shape, strides=argument.strides, assumed=_contiguous(argument)
                ),
                _(
                    "Launch the kernel with {name}.contiguous(), or pass the strides of {name} to it and multiply the "
                    "indices by them. {place}"
                )
                .format(name=argument.name, place=launched_at(launch))
                .rstrip(),
                op=op,
                argument=argument,
                lanes=listed([shown]),
                count=len(shown),
            )


def _is_strided(argument: Argument) -> bool:
    several = len(argument.shape) > 1 and math.prod(argument.shape) > 1
    return several and argument.kind == "tensor" and not argument.is_contiguous and 0 not in argument.strides


def _contiguous(argument: Argument) -> tuple[int, ...]:
    """The strides that a contiguous tensor of the argument's shape has, in elements."""
    return tuple(math.prod(argument.shape[axis + 1 :]) for axis in range(len(argument.shape)))


def _offsets(lanes: EvidenceLanes, argument: Argument) -> Ints:
    """The distance of each lane from element 0, in elements."""
    return (lanes.address - argument.address) // argument.itemsize


def _wrong_rows(lanes: EvidenceLanes, argument: Argument, programs: int) -> Flags:
    """The lanes of programs whose accesses would be whole rows, and are elements of several rows and columns.

    Nothing if the accesses of any program would not be whole rows: the kernel knows other strides. ``programs`` counts
    those of the launch.
    """
    nothing: Flags = np.zeros(len(lanes), np.bool_)
    columns, total = argument.shape[-1], math.prod(argument.shape)
    offsets = _offsets(lanes, argument)
    if columns < 2 or not len(offsets) or offsets.min() < 0 or offsets.max() >= total:
        return nothing
    wrong = nothing.copy()
    for number in np.unique(lanes.program).tolist():
        own = lanes.program == number
        there = np.unique(offsets[own])
        whole = there[0] % columns == 0 and len(there) % columns == 0 and there[-1] - there[0] + 1 == len(there)
        # Together the programs of the launch have no more rows than the tensor.
        if not whole or (programs - 1) * (len(there) // columns) >= total // columns:
            return nothing
        if not _is_box(there, argument):
            wrong |= own
    return wrong


def _is_box(offsets: Ints, argument: Argument) -> bool:
    """Whether the elements at some offsets are all of the tensor's, and form a box of its indices."""
    numbers = elements_at(offsets * argument.itemsize, argument)
    if (numbers < 0).any():
        return False
    index = np.unravel_index(numbers, argument.shape)
    return math.prod(int(one.max() - one.min()) + 1 for one in index) == len(np.unique(numbers))


def _copied(
    evidence: Evidence, sights: Sequence[SeenAccess], argument: Argument, by_op: dict[int, list[SeenAccess]]
) -> bool:
    """Whether each lane loads what it stores to the same offset of a contiguous tensor of the same shape."""
    if sights[0].kind != "load":
        return False
    for others in by_op.values():
        other = evidence.owner(others[0].op)
        if others[0].kind != "store" or other is None or other.shape != argument.shape or not other.is_contiguous:
            continue
        if len(others) != len(sights):
            continue
        pairs = zip(sights, others, strict=True)
        if all(_same_offsets(evidence, one, argument, two, other) for one, two in pairs):
            return True
    return False


def _same_offsets(evidence: Evidence, one: SeenAccess, a: Argument, two: SeenAccess, b: Argument) -> bool:
    left, right = evidence.active_lanes(one), evidence.active_lanes(two)
    if len(left) != len(right) or not len(left):
        return False
    same = (left.program == right.program).all() and (left.lane == right.lane).all()
    return bool(same and (_offsets(left, a) == _offsets(right, b)).all())


def _joined(parts: Sequence[EvidenceLanes]) -> EvidenceLanes:
    names = ("program", "lane", "address", "time")
    return EvidenceLanes(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))
