"""What stopped the launch, in all programs: accesses that fault, and operations that refuse their values."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

import numpy as np

from triton_lab import messages
from triton_lab.access_fault_message import AccessGuard, FaultingLane, TensorText, owner_of
from triton_lab.backend.source.access_source import guard_at
from triton_lab.interpreter.kernel_errors import AccessFault, KernelError, StepLimit, Unsupported
from triton_lab.ir import Op
from triton_lab.ir.access_masks import guard
from triton_lab.launch.argument import Argument
from triton_lab.launch.checks.analysis.evidence import EvidenceLanes
from triton_lab.launch.checks.analysis.finding_text import LISTED, finding, listed
from triton_lab.launch.checks.analysis.launch_summary import LaunchSummary
from triton_lab.launch.diagnosis.finding import Finding
from triton_lab.launch.recording.replay_error import CannotReplay
from triton_lab.localization import translated

if TYPE_CHECKING:
    from triton_lab.launch.recording.launch_record import Recorded


@dataclass(frozen=True, eq=False)
class Fault:
    """The accesses of one operation that were stopped for one reason: the lanes to list, and the number of all."""

    op: Op
    fault: AccessFault
    lanes: EvidenceLanes
    total: int
    stopped: bool


def error_of(summary: LaunchSummary) -> KernelError | None:
    """The error that stopped the launch; None for one that says nothing about the kernel."""
    error = summary.launch.error
    return error if isinstance(error, KernelError) and not isinstance(error, (Unsupported, StepLimit)) else None


def refusals(summary: LaunchSummary, kind: str, name: str) -> Iterator[Finding]:
    """The finding for an operation ``name`` that touches no memory and was stopped because of its values."""
    launch, error = summary.launch, error_of(summary)
    if error is None or error.fault is not None or error.op is None or error.op.name != name:
        return
    same = [each for each in summary.other_failures(error) if each.fault is None and each.op is error.op]
    numbers = np.unique(np.concatenate([each.numbers for each in (error, *same)]))
    yield finding(
        launch,
        kind,
        f"{messages.program(int(numbers[0]), launch.grid)}: {error.message}",
        translated(messages.HINT_REFUSED[name]),
        op=error.op,
        count=len(numbers),
        programs=numbers[:LISTED],
        stopped=True,
    )


def stopped_by(summary: LaunchSummary, kind: str) -> Iterator[Finding]:
    """The finding for an operation that broke a rule of shared memory, barriers or partitions."""
    error = error_of(summary)
    if error is None or error.rule != kind:
        return
    launch = summary.launch
    same = [each for each in summary.other_failures(error) if each.rule == kind and each.op is error.op]
    numbers = np.unique(np.concatenate([each.numbers for each in (error, *same)]))
    yield finding(
        launch,
        kind,
        f"{messages.program(int(numbers[0]), launch.grid)}: {error.message}",
        error.hint,
        op=error.op,
        count=len(numbers),
        programs=numbers[:LISTED],
        stopped=True,
    )


def access_faults(summary: LaunchSummary, kind: str) -> Iterator[Finding]:
    """One finding for each operation whose accesses were stopped for the reason ``kind``.

    Raises CannotReplay after those that are known.
    """
    error = error_of(summary)
    if error is None or error.fault is None:
        return
    launch = summary.launch
    found, impossible = summary.once(_faults)
    for each in found:
        if each.fault.kind != kind:
            continue
        first = _faulting_lane(launch, each)
        yield finding(
            launch,
            kind,
            f"{first} ({first.owner})" if first.owner else str(first),
            first.hint,
            op=each.op,
            argument=None if first.owner is None else launch.argument(first.owner.name),
            lanes=each.lanes,
            count=each.total,
            stopped=each.stopped,
        )
    if impossible is not None:
        raise impossible


def _faults(summary: LaunchSummary) -> tuple[list[Fault], CannotReplay | None]:
    """The faults of all programs, by operation, and why others are not known."""
    error = error_of(summary)
    assert error is not None
    failed, impossible = [error], None
    try:
        failed.extend(summary.other_failures(error))
    except CannotReplay as reason:
        impossible = reason
    parts: dict[tuple[int, str], list[tuple[Op, AccessFault, EvidenceLanes]]] = {}
    for one in failed:
        if one.fault is not None:
            assert one.op is not None and one.programs is not None  # the machine has set both
            lanes = EvidenceLanes.timeless(one.programs, one.fault.lanes, one.fault.addresses)
            parts.setdefault((one.op.index, one.fault.kind), []).append((one.op, one.fault, lanes))
    found = []
    for (_unused, kind), each in sorted(parts.items()):
        op, fault, _first = each[0]
        stopped = op is error.op and error.fault is not None and kind == error.fault.kind
        lanes = listed([part for _op, _fault, part in each])
        found.append(Fault(op, fault, lanes, sum(len(part) for _op, _fault, part in each), stopped))
    return found, impossible


def _faulting_lane(launch: Recorded, each: Fault) -> FaultingLane:
    """The first of the lanes, described as in the error that stopped it."""
    op, fault, lanes = each.op, each.fault, each.lanes
    address = int(lanes.address[0])
    flat = launch.plan_arguments
    tensors = [tensor for argument in launch.arguments if (tensor := _tensor(argument))]
    origins = [tensor for k in sorted(launch.executable.roots.get(op.index) or ()) if (tensor := _tensor(flat[k]))]
    owner = owner_of(address, origins, tensors)
    return FaultingLane(
        fault.access,
        fault.kind,
        fault.itemsize,
        address,
        messages.who(int(lanes.program[0]), launch.grid),
        messages.lane(int(lanes.lane[0]), fault.block),
        each.total,
        owner,
        tensors,
        _guard(launch, op, owner),
        fault.home,
    )


def _guard(launch: Recorded, op: Op, owner: TensorText | None) -> AccessGuard:
    """The mask or descriptor that let the lanes pass, in the kernel's names."""
    kind, place = guard(op, launch.executable.plan), launch.lines.get(op.index)
    if owner is None or place is None or place.file != launch.file:
        return AccessGuard(kind)
    given = {one.name: one.value for one in launch.arguments if one.kind in ("scalar", "constexpr")}
    elements = math.prod(owner.shape)
    return guard_at(launch.compiled[0].fn, place.line, place.column, owner.name, elements, given, kind)


def _tensor(argument: Argument) -> TensorText | None:
    """The argument for messages; None for a scalar, and for a pointer of which only the address is known."""
    if not argument.itemsize:
        return None
    return TensorText(**{one.name: getattr(argument, one.name) for one in fields(TensorText)})
