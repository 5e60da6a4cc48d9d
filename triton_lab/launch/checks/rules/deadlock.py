"""Programs that wait for what no other program will do."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from triton_lab import messages
from triton_lab.interpreter.kernel_errors import Deadlock
from triton_lab.ir import effects
from triton_lab.ir.plan import Op
from triton_lab.ir.spin_wait import deciding, handed_on
from triton_lab.launch.argument import Argument
from triton_lab.launch.byte_ranges import Ints
from triton_lab.launch.checks.analysis.finding_text import LISTED, element, finding, programs
from triton_lab.launch.checks.analysis.launch_summary import LaunchSummary
from triton_lab.launch.checks.rule import Concerned, WholeRule
from triton_lab.launch.diagnosis.finding import Finding
from triton_lab.launch.diagnosis.severity import ERROR
from triton_lab.localization import N_, _, ngettext, translated

if TYPE_CHECKING:
    from triton_lab.launch.recording.launch_record import Recorded


class DeadlockRule(WholeRule):
    """Every program waits for another one. The launch stops there."""

    kind = "deadlock"
    severity = ERROR
    subject = N_("deadlock")
    summary = N_("Every program waits for another one.")
    why = N_("A GPU hangs: the kernel never ends, and the process must be killed.")
    remedy = N_(
        "Let each program release its lock on every path. Let programs wait only for programs with a smaller number, "
        "which start first."
    )
    intended = N_("Never: the launch stops here.")
    blind = N_(
        "Here all programs of a launch run at once. On a GPU only as many run as fit, so a program that waits for "
        "one that has not started may hang there but not here."
    )
    concerned = Concerned.ALL
    mark = N_("waited for forever")

    def check(self, evidence: LaunchSummary, found: Sequence[Finding]) -> Iterator[Finding]:
        """At most one finding, about all programs that wait."""
        error = evidence.launch.error
        if isinstance(error, Deadlock) and not error.rule:  # a wait for a barrier has a rule of its own
            yield _deadlock(evidence.launch, error)

    def programs_mark(self, count: int) -> str:
        """The words for programs that wait."""
        return ngettext("{count} program waits forever", "{count} programs wait forever", count)


def _deadlock(launch: Recorded, error: Deadlock) -> Finding:
    """The finding for programs that wait, and for what; elements are listed if all wait for the same tensor."""
    numbers = error.numbers
    op, where, argument = error.op, "", None
    elements = np.empty(0, np.int64)
    if op is not None and effects.waits(op):
        # A wait is recorded as an event only when it ends.
        argument = launch.owner_of(op.index)
        where = "" if argument is None else _(" for {place}").format(place=argument.name)
    elif len(numbers) and (last := _last_looks(launch, numbers[:LISTED], _waited_for(launch, op)))[0] is not None:
        # A waiting program waits for what it read last.
        index, address = last[0]
        op = next(one for one in launch.executable.plan.walk() if one.index == index)
        argument = launch.owner_of(index)
        where = _(" for {place}").format(place=element(argument, address))
        if argument is not None and argument.itemsize and all(argument is _owner(launch, look) for look in last):
            elements = np.array([look[1] - argument.address for look in last if look]) // argument.itemsize
    verb = messages.noun(len(numbers), "waits", "wait")
    return finding(
        launch,
        DeadlockRule.kind,
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


def _waited_for(launch: Recorded, loop: Op | None) -> set[int]:
    """The operations that read what decides whether ``loop`` ends; all that read memory, where that is not known."""
    plan = launch.executable.plan
    holder = next((one for one in plan.functions.values() if loop is not None and loop in one.walk()), None)
    if loop is not None and holder is not None and loop.name == "scf.while":
        ops = deciding(holder, loop, handed_on(plan)).ops
        if ops and not any(op.name == "tt.call" for op in ops):
            return {op.index for op in ops}
    return {op.index for op in plan.walk() if effects.brings_in(op)}


def _last_looks(launch: Recorded, numbers: Ints, ops: Container[int]) -> list[_Look | None]:
    """The last access of each program by one of ``ops``; None for a program that made none."""
    found: list[_Look | None] = [None] * len(numbers)
    latest = np.full(len(numbers), -1, np.int64)
    for index, events in launch.events.items():
        for event in events if index in ops else ():
            for k in np.flatnonzero(np.isin(numbers, event.programs) & (latest < event.order)):
                row = int(np.flatnonzero(event.programs == numbers[k])[0])
                latest[k], found[k] = event.order, (index, int(event.addresses()[row].reshape(-1)[0]))
    return found


def _owner(launch: Recorded, look: _Look | None) -> Argument | None:
    return None if look is None else launch.owner_of(look[0])
