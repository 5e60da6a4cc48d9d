"""Elements of an output that are not written after the launch: the grid is too small, or a mask too narrow.

This may be intended: another launch may write the rest, or a buffer may be larger than its used part. So it is a note.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from triton_lab.ir import Op
from triton_lab.launch.access import elements_at
from triton_lab.launch.access_footprint import tensor_bytes
from triton_lab.launch.argument import Argument
from triton_lab.launch.byte_ranges import Ints, Ranges
from triton_lab.launch.checks.analysis.finding_text import LISTED, element, finding, stretches
from triton_lab.launch.checks.analysis.launch_summary import LaunchSummary, Write
from triton_lab.launch.checks.rule import Concerned, WholeRule
from triton_lab.launch.diagnosis.finding import Finding
from triton_lab.launch.diagnosis.severity import NOTE
from triton_lab.launch.recording.poison import still_poisoned
from triton_lab.launch.recording.replay_error import CannotReplay
from triton_lab.localization import N_, _, translated
from triton_lab.messages import count as counted
from triton_lab.messages import number

if TYPE_CHECKING:
    from triton_lab.launch.recording.launch_record import Recorded

_MOST = 1 << 20  # elements of a tensor in which diagonals are looked for
_MEND = N_(
    "If another launch writes the rest, ignore this. Otherwise start triton.cdiv(n, BLOCK) programs for n elements, "
    "and do not mask off lanes of existing elements."
)


class UnwrittenRule(WholeRule):
    """Elements of an output were not written: the grid is too small, or a mask too narrow."""

    kind = "unwritten"
    severity = NOTE
    subject = N_("elements of outputs that no program stores to")
    summary = N_("Elements of an output were not written: the grid is too small, or a mask too narrow.")
    why = N_(
        "`torch.empty` gives memory with its old contents. On a GPU this is often the result of an earlier run, so a "
        "test may pass although the kernel never stored these elements."
    )
    remedy = N_(
        "Start `triton.cdiv(n, BLOCK)` programs for n elements, with masks that are true for every element. If the "
        "rest must be 0, create the tensor with `torch.zeros`."
    )
    intended = N_("If another launch writes the rest, or if the buffer is larger than the part in use.")
    blind = N_("Only memory that torch allocated uninitialized is watched. A launch that was stopped is not examined.")
    concerned = Concerned.ALL
    unrepaired = True
    superseded_by = ("small-grid", "unused-grid-axis")
    mark = N_("never written")

    def check(self, evidence: LaunchSummary, found: Sequence[Finding]) -> Iterator[Finding]:
        """One finding for each tensor that is stored to incompletely, at the first operation that stores to it."""
        launch = evidence.launch
        if not evidence.complete or not len(evidence.unwritten) or launch.snapshot is None:
            return
        if launch.snapshot.missing:
            raise CannotReplay(launch.snapshot.missing)
        yield from _findings(launch, evidence.unwritten, evidence.writes())


def _findings(launch: Recorded, unwritten: Ranges, writes: Sequence[Write]) -> Iterator[Finding]:
    """Findings for bytes that were ``unwritten`` before the launch and still are; ``writes`` by operation."""
    for argument, op in outputs(writes):
        left = never_written(launch, unwritten, writes, argument)
        first, counts = _elements(left, argument)
        count = int(counts.sum())
        if not count:
            continue
        numbers = _listed(first, counts)
        place = element(argument, argument.address + int(numbers[0]) * argument.itemsize)
        every = counted(math.prod(argument.shape), "element")
        yield finding(
            launch,
            UnwrittenRule.kind,
            _("{count} of {every} were not written, neither by this launch nor before, the first at {place}").format(
                place=place, count=number(count), every=every
            ),
            _on_diagonals(writes, argument) or translated(_MEND),
            op=op,
            argument=argument,
            count=count,
            elements=numbers,
            extent=stretches(first, first + counts),
        )


def _on_diagonals(writes: Sequence[Write], argument: Argument) -> str:
    """The hint for ``row * N + column`` of two blocks of one axis each; "" if the elements stored are others.

    Then lane k stores row k and column k: no element stored has a neighbour in its row or column that is stored, and
    most have one on the diagonal.
    """
    if len(argument.shape) < 2 or math.prod(argument.shape) > _MOST or 0 in argument.strides:
        return ""
    box = tensor_bytes(argument.address, argument.shape, argument.strides, argument.itemsize)
    stored = Ranges.joined(write.bytes() for write in writes) & box
    if not len(stored):
        return ""
    addresses = np.concatenate(
        [np.arange(*one, argument.itemsize) for one in zip(stored.start, stored.stop, strict=True)]
    )
    numbers = elements_at(addresses - argument.address, argument)
    there = np.zeros(argument.shape, np.bool_)
    there.ravel()[numbers[numbers >= 0]] = True
    neighbours = (there[..., 1:] & there[..., :-1]).any() or (there[..., 1:, :] & there[..., :-1, :]).any()
    diagonal = int(np.count_nonzero(there[..., 1:, 1:] & there[..., :-1, :-1]))
    if neighbours or 2 * diagonal < np.count_nonzero(there) or not diagonal:
        return ""
    return _(
        "The elements stored lie on a diagonal of {name}: each lane takes its number as row and as column. "
        "For all pairs of rows and columns, write rows[:, None] and columns[None, :]."
    ).format(name=argument.name)


def _elements(left: Ranges, argument: Argument) -> tuple[Ints, Ints]:
    """The first element that lies whole in each range, and the number of such elements."""
    first = -((argument.address - left.start) // argument.itemsize)
    return first, np.maximum(0, (left.stop - argument.address) // argument.itemsize - first)


def _listed(first: Ints, counts: Ints) -> Ints:
    """The numbers of the first elements, to list."""
    some = np.flatnonzero(counts)[:LISTED]
    return np.concatenate([np.arange(first[k], first[k] + min(counts[k], LISTED)) for k in some])[:LISTED]


def never_written(launch: Recorded, unwritten: Ranges, writes: Sequence[Write], argument: Argument) -> Ranges:
    """The bytes of the argument's elements that were not written through any argument."""
    assert launch.snapshot is not None
    storage = Ranges.of([argument.storage_address], [argument.storage_address + argument.storage_bytes])
    left = storage & unwritten
    left -= Ranges.joined(write.bytes() for write in writes if left.meets(*write.hull))
    if len(left):
        left &= tensor_bytes(argument.address, argument.shape, argument.strides, argument.itemsize)
    return still_poisoned(left, launch.snapshot.held)


def outputs(writes: Sequence[Write]) -> list[tuple[Argument, Op]]:
    """The tensors that operations store to, each with the first of these operations."""
    found: dict[str, tuple[Argument, Op]] = {}
    for write in writes:
        if write.owner is not None and write.owner.itemsize:
            found.setdefault(write.owner.name, (write.owner, write.op))
    return list(found.values())
