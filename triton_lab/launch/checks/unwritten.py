"""Elements of an output that nobody has written when the launch is over: a grid that is too small, a mask too narrow.

It may be meant: another launch may write the rest, and a buffer may be larger than what is used of it. So it is a
note.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from triton_lab.ir import Op, effects
from triton_lab.launch.argument import Argument
from triton_lab.launch.checks.evidence import Evidence, Sight
from triton_lab.launch.checks.words import LISTED, element, finding
from triton_lab.launch.finding import Finding
from triton_lab.launch.footprint import tensor_bytes
from triton_lab.launch.fresh import still_poisoned
from triton_lab.launch.ranges import Ints, Ranges
from triton_lab.launch.snapshot import CannotReplay
from triton_lab.words import count as counted
from triton_lab.words import number

_MEND = (
    "If another launch writes the rest, all is well; if not, start triton.cdiv(n, BLOCK) programs for n elements, and "
    "mask no lane that is one of them."
)


def check(evidence: Evidence) -> Iterator[Finding]:
    """One for each tensor that the launch stores to and leaves holes in, at the first of the operations that store."""
    launch = evidence.launch
    if not evidence.complete or not len(evidence.tape.unwritten) or launch.snapshot is None:
        return
    if launch.snapshot.missing:
        raise CannotReplay(launch.snapshot.missing)
    writes = [sight for sight in evidence.sights("store", "atomic") if effects.writes(sight.op)]
    for argument, op in _outputs(evidence, writes):
        left = _left(evidence, writes, argument)
        numbers, count = _elements(left, argument)
        if not count:
            continue
        first = element(argument, argument.address + int(numbers[0]) * argument.itemsize)
        every = counted(math.prod(argument.shape), "element")
        yield finding(
            launch,
            "unwritten",
            f"no program stored to {first}, and nobody before: {number(count)} of {every}",
            _MEND,
            op=op,
            argument=argument,
            count=count,
            elements=numbers,
        )


def _left(evidence: Evidence, writes: list[Sight], argument: Argument) -> Ranges:
    """The bytes of the argument's elements that nobody has written, through whatever argument."""
    snapshot = evidence.launch.snapshot
    assert snapshot is not None
    storage = Ranges.of([argument.storage_address], [argument.storage_address + argument.storage_bytes])
    left = storage & evidence.tape.unwritten
    left -= Ranges.joined(evidence.runs(sight) for sight in writes if left.meets(*evidence.hull(sight)))
    if len(left):
        left &= tensor_bytes(argument.address, argument.shape, argument.strides, argument.itemsize)
    return still_poisoned(left, snapshot.held)


def _elements(left: Ranges, argument: Argument) -> tuple[Ints, int]:
    """The numbers of the first elements that are whole in ``left``, and how many there are in all."""
    first = -((argument.address - left.start) // argument.itemsize)
    counts = np.maximum(0, (left.stop - argument.address) // argument.itemsize - first)
    some = np.flatnonzero(counts)[:LISTED]
    numbers = [np.arange(first[k], first[k] + min(counts[k], LISTED)) for k in some]
    return np.concatenate([np.empty(0, np.int64), *numbers])[:LISTED], int(counts.sum())


def _outputs(evidence: Evidence, writes: list[Sight]) -> list[tuple[Argument, Op]]:
    """The tensors that operations store to, each with the first of these operations."""
    found: dict[str, tuple[Argument, Op]] = {}
    for sight in writes:
        argument = evidence.owner(sight.op)
        if argument is not None and argument.itemsize:
            found.setdefault(argument.name, (argument, sight.op))
    return list(found.values())
