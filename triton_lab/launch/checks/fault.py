"""What stopped the launch: accesses out of bounds, failed assertions, deadlock."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from triton_lab.interpreter.errors import Deadlock, Fault, KernelError, StepLimit, Unsupported
from triton_lab.ir import Op, effects
from triton_lab.launch.checks.evidence import Lanes
from triton_lab.launch.checks.words import LISTED, element, finding, listed, others, program, programs
from triton_lab.launch.finding import Finding
from triton_lab.launch.ranges import Ints
from triton_lab.launch.replay import CannotReplay, replay

if TYPE_CHECKING:
    from triton_lab.launch.launch import Launch

_MEND = {
    "out-of-bounds": "Mask the lanes that lie beyond the argument (mask=offsets < n), or mend the offsets.",
    "null-pointer": "The pointer is null: check the table of pointers, or pass a tensor for it.",
    "misaligned": "Addresses must be multiples of the element's size: check the pointer's type and the offsets.",
}
_MEND_READ_ONLY = "Pass a copy of it (.clone()): what the system lets nobody write to, no kernel can."
_MEND_DEADLOCK = "Release every lock on every path, and wait only for flags that some program sets."
# What operations that touch no memory are stopped for.
_REFUSED = {
    "tt.assert": ("assertion", "The condition does not hold for these programs."),
    "tt.gather": (
        "out-of-bounds",
        "tl.gather moves elements within one block: clamp the index to its axis, and choose with tl.where afterwards.",
    ),
}
# A launch is replayed so many times at most to hear of all programs that fail.
ROUNDS = 16


def check(launch: Launch) -> Iterator[Finding]:
    """What the launch stopped at, and all other programs that would have stopped it."""
    error = launch.error
    if not isinstance(error, KernelError) or isinstance(error, (Unsupported, StepLimit)):
        return
    if isinstance(error, Deadlock):
        yield _deadlock(launch, error)
    elif error.fault is None:
        yield from _refused(launch, error)
    else:
        yield from _faults(launch, error)


def _refused(launch: Launch, error: KernelError) -> Iterator[Finding]:
    """An operation that was stopped for its values and touches no memory."""
    kind_and_mend = _REFUSED.get("" if error.op is None else error.op.name)
    if kind_and_mend is None:
        return
    kind, mend = kind_and_mend
    same = [each for each in _more(launch, error) if each.fault is None and each.op is not None and each.op is error.op]
    numbers = np.unique(np.concatenate([_numbers(each) for each in (error, *same)]))
    message = error.message if kind == "assertion" else f"{program(launch, int(numbers[0]))}: {error.message}"
    yield finding(launch, kind, message, mend, op=error.op, count=len(numbers), programs=numbers[:LISTED])


def _deadlock(launch: Launch, error: Deadlock) -> Finding:
    """The programs that wait, and where the first of them does."""
    numbers = _numbers(error)
    op, where = error.op, ""
    last = max(
        (
            (event.order, index, event)
            for index, events in launch.events.items()
            for event in events
            if len(numbers) and numbers[0] in event.programs
        ),
        default=None,
        key=lambda entry: entry[0],
    )
    if op is not None and effects.waits(op):
        # It is no event before it is over.
        argument = launch.owner_of(op.index)
        where = "" if argument is None else f" for {argument.name}"
    elif last is not None:
        # What a program that waits looked at last is what it waits for.
        _, index, event = last
        op = next(one for one in launch.executable.plan.walk() if one.index == index)
        row = int(np.flatnonzero(event.programs == numbers[0])[0])
        where = f" for {element(launch.owner_of(index), int(event.addresses()[row].reshape(-1)[0]))}"
    verb = "waits" if len(numbers) == 1 else "wait"
    return finding(
        launch,
        "deadlock",
        f"{programs(launch, numbers)} {verb}{where}, and no program is left that could end that",
        _MEND_DEADLOCK,
        op=op,
        count=len(numbers),
        programs=numbers[:LISTED],
    )


def _faults(launch: Launch, error: KernelError) -> Iterator[Finding]:
    """One for each kind and operation."""
    found: dict[tuple[int, str], list[tuple[Op, Fault, Lanes]]] = {}
    failed, impossible = [error], None
    try:
        failed.extend(_more(launch, error))
    except CannotReplay as reason:
        impossible = reason
    for one in failed:
        if one.fault is not None and one.op is not None and one.programs is not None:
            lanes = Lanes.timeless(one.programs, one.fault.lanes, one.fault.addresses)
            found.setdefault((one.op.index, one.fault.kind), []).append((one.op, one.fault, lanes))
    for (index, kind), parts in sorted(found.items()):
        op, fault, _ = parts[0]
        lanes = listed([part for _, _, part in parts])
        total = sum(len(part) for _, _, part in parts)
        argument = launch.owner_of(index)
        end, mend = "", _MEND[kind]
        if argument is not None and argument.itemsize:
            count = (argument.storage_bytes - argument.offset * argument.itemsize) // argument.itemsize
            number = (int(lanes.address[0]) - argument.address) // argument.itemsize
            edge = f"begins at element {-argument.offset}" if number < 0 else f"ends after element {count - 1}"
            end = f" ({argument.name} has shape {argument.shape}, its storage {edge})"
            place = f"element {number} of {argument.name}"
            past = int(lanes.address[0]) - argument.storage_address
            if fault.access != "load" and 0 <= past < argument.storage_bytes and kind == "out-of-bounds":
                end, mend = ", whose memory may only be read", _MEND_READ_ONLY
        else:
            place = element(None, int(lanes.address[0]))
        yield finding(
            launch,
            kind,
            f"{program(launch, int(lanes.program[0]))}: {fault.access} at {place}{end}{others(total)}",
            mend,
            op=op,
            argument=argument,
            lanes=lanes,
            count=total,
        )
    if impossible is not None:
        raise impossible


def _more(launch: Launch, error: KernelError) -> Iterator[KernelError]:
    """The faults of programs that had not run yet when the launch stopped.

    Each round leaves out those that have failed, so that what is found does not depend on how the
    grid was cut into batches. Programs that wait for others cannot go on without them.
    """
    if launch.executable.waiting_loops:
        return
    left = np.setdiff1d(np.arange(launch.programs), _numbers(error))
    for _ in range(ROUNDS):
        if not len(left):
            return
        try:
            replay(launch, programs=left, strict=True)
        except KernelError as another:
            if another.programs is None or another.op is None:
                return
            known = launch.executable.roots.get(another.op.index) is not None
            # Memory that the launch would have found on its way is not there in a replay.
            if another.fault is None or known or another.fault.kind == "null-pointer":
                yield another
            left = np.setdiff1d(left, another.programs)
        else:
            return


def _numbers(error: KernelError) -> Ints:
    return np.unique(error.programs) if error.programs is not None else np.empty(0, np.int64)
