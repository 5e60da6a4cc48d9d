"""Reports what stopped the launch: accesses out of bounds, failed assertions, deadlock."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING

import numpy as np

from triton_lab import messages
from triton_lab.access_fault_message import AccessGuard, FaultingLane, TensorText, owner_of
from triton_lab.backend.source.access_source import guard_at
from triton_lab.interpreter.kernel_errors import AccessFault, Deadlock, KernelError, StepLimit, Unsupported
from triton_lab.ir import Op, effects
from triton_lab.ir.access_masks import guard
from triton_lab.launch.argument import Argument
from triton_lab.launch.byte_ranges import Ints
from triton_lab.launch.checks.analysis.evidence import EvidenceLanes
from triton_lab.launch.checks.analysis.finding_text import LISTED, element, finding, listed, programs
from triton_lab.launch.diagnosis.finding import Finding
from triton_lab.launch.replay.replay_run import CannotReplay, replay
from triton_lab.localization import _, translated

if TYPE_CHECKING:
    from triton_lab.launch.recording.launch_record import Recorded

# The kinds of findings for operations that touch no memory.
_REFUSED = {"tt.assert": "assertion", "tt.gather": "out-of-bounds"}
# The most replays of a launch to find all programs that fail.
ROUNDS = 16


def check(launch: Recorded, parts: Sequence[KernelError] | None = None) -> Iterator[Finding]:
    """Findings for what stopped the launch, and for all other programs that would have stopped it.

    ``parts`` has the other programs' errors if the launch ran in parts; otherwise replays find them.
    """
    error = launch.error
    if not isinstance(error, KernelError) or isinstance(error, (Unsupported, StepLimit)):
        return
    if isinstance(error, Deadlock):
        yield _deadlock(launch, error)
    elif error.fault is None:
        yield from _refused(launch, error, more(launch, error) if parts is None else parts)
    else:
        yield from _faults(launch, error, more(launch, error) if parts is None else parts)


def _refused(launch: Recorded, error: KernelError, others: Iterable[KernelError]) -> Iterator[Finding]:
    """The finding for an operation that touches no memory and was stopped because of its values."""
    name = "" if error.op is None else error.op.name
    kind = _REFUSED.get(name)
    if kind is None:
        return
    same = [each for each in others if each.fault is None and each.op is not None and each.op is error.op]
    numbers = np.unique(np.concatenate([each.numbers for each in (error, *same)]))
    message = f"{messages.program(int(numbers[0]), launch.grid)}: {error.message}"
    yield finding(
        launch,
        kind,
        message,
        translated(messages.HINT_REFUSED[name]),
        op=error.op,
        count=len(numbers),
        programs=numbers[:LISTED],
        stopped=True,
    )


def _deadlock(launch: Recorded, error: Deadlock) -> Finding:
    """The finding for programs that wait, and for what; elements are listed if all wait for the same tensor."""
    numbers = error.numbers
    op, where, argument = error.op, "", None
    elements = np.empty(0, np.int64)
    if op is not None and effects.waits(op):
        # A wait is recorded as an event only when it ends.
        argument = launch.owner_of(op.index)
        where = "" if argument is None else f" for {argument.name}"
    elif len(numbers) and (last := _last_looks(launch, numbers[:LISTED]))[0] is not None:
        # A waiting program waits for what it touched last.
        index, address = last[0]
        op = next(one for one in launch.executable.plan.walk() if one.index == index)
        argument = launch.owner_of(index)
        where = f" for {element(argument, address)}"
        if argument is not None and argument.itemsize and all(argument is _owner(launch, look) for look in last):
            elements = np.array([look[1] - argument.address for look in last if look]) // argument.itemsize
    verb = messages.noun(len(numbers), "waits", "wait")
    return finding(
        launch,
        "deadlock",
        _("{programs} {verb}{where}, and no other program can end the wait").format(
            programs=programs(launch, numbers), verb=verb, where=where
        ),
        translated(messages.HINT_DEADLOCK),
        op=op,
        argument=argument,
        count=len(numbers),
        programs=numbers[:LISTED],
        elements=elements,
        stopped=True,
    )


_Look = tuple[int, int]  # an operation's index and the address of its first lane


def _last_looks(launch: Recorded, numbers: Ints) -> list[_Look | None]:
    """The last access of each program; None for a program that touched nothing."""
    found: list[_Look | None] = [None] * len(numbers)
    latest = np.full(len(numbers), -1, np.int64)
    for index, events in launch.events.items():
        for event in events:
            for k in np.flatnonzero(np.isin(numbers, event.programs) & (latest < event.order)):
                row = int(np.flatnonzero(event.programs == numbers[k])[0])
                latest[k], found[k] = event.order, (index, int(event.addresses()[row].reshape(-1)[0]))
    return found


def _owner(launch: Recorded, look: _Look | None) -> Argument | None:
    return None if look is None else launch.owner_of(look[0])


def _faults(launch: Recorded, error: KernelError, others: Iterable[KernelError]) -> Iterator[Finding]:
    """One finding for each kind of fault and operation."""
    found: dict[tuple[int, str], list[tuple[Op, AccessFault, EvidenceLanes]]] = {}
    failed, impossible = [error], None
    try:
        failed.extend(others)
    except CannotReplay as reason:
        impossible = reason
    for one in failed:
        if one.fault is not None:
            assert one.op is not None and one.programs is not None  # the machine has set both
            lanes = EvidenceLanes.timeless(one.programs, one.fault.lanes, one.fault.addresses)
            found.setdefault((one.op.index, one.fault.kind), []).append((one.op, one.fault, lanes))
    for (_unused, kind), parts in sorted(found.items()):
        op, fault, _first = parts[0]
        lanes = listed([part for _op, _fault, part in parts])
        total = sum(len(part) for _op, _fault, part in parts)
        first = _faulting_lane(launch, op, fault, lanes, total)
        yield finding(
            launch,
            kind,
            f"{first} ({first.owner})" if first.owner else str(first),
            first.hint,
            op=op,
            argument=None if first.owner is None else launch.argument(first.owner.name),
            lanes=lanes,
            count=total,
            stopped=op is error.op and error.fault is not None and kind == error.fault.kind,
        )
    if impossible is not None:
        raise impossible


def _faulting_lane(launch: Recorded, op: Op, fault: AccessFault, lanes: EvidenceLanes, total: int) -> FaultingLane:
    """The first of the lanes, described as in the error that stopped it."""
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
        total,
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


def more(launch: Recorded, error: KernelError) -> Iterator[KernelError]:
    """The errors of programs that had not run yet when the launch stopped.

    Each replay leaves out the programs that have failed, so that the result does not depend on the batches of the grid.
    There are none for programs that wait for others, since these cannot run without them.
    """
    if launch.executable.waiting_loops:
        return
    left = np.setdiff1d(np.asarray(launch.own), error.numbers)
    for _unused in range(ROUNDS):
        if not len(left):
            return
        try:
            replay(launch, programs=left, strict=True)
        except KernelError as another:
            if another.programs is None or another.op is None:
                return
            known = launch.executable.roots.get(another.op.index) is not None
            # A replay lacks memory that the launch would have found later.
            if another.fault is None or known or another.fault.kind == "null-pointer":
                yield another
            left = np.setdiff1d(left, another.programs)
        else:
            return
