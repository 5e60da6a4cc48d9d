"""Elements of a launch's outputs that were never written, neither by the launch nor before."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from triton_lab.ir import Op
from triton_lab.launch.access_footprint import tensor_bytes
from triton_lab.launch.argument import Argument
from triton_lab.launch.byte_ranges import Ranges
from triton_lab.launch.checks.analysis.launch_summary import Write
from triton_lab.launch.recording.uninitialized_memory import still_poisoned

if TYPE_CHECKING:
    from triton_lab.launch.recording.launch_record import Recorded


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
