"""Reads of shared memory that was never written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from triton_lab import messages
from triton_lab.interpreter.asynchronous.async_events import AsyncEvent
from triton_lab.launch.checks.analysis.finding_text import LISTED, finding
from triton_lab.launch.checks.analysis.launch_summary import LaunchSummary
from triton_lab.launch.checks.rule import Concerned, WholeRule
from triton_lab.launch.diagnosis.finding import Finding
from triton_lab.launch.diagnosis.severity import WARNING
from triton_lab.launch.replay.replay_run import replay
from triton_lab.localization import N_, _

MOST = 16  # programs that are run again


class UnwrittenBufferRule(WholeRule):
    """Shared or tensor memory is read that the program has never written."""

    kind = "unwritten-buffer"
    severity = WARNING
    subject = N_("shared memory that was never written")
    summary = N_("Shared or tensor memory is read that the program has never written.")
    why = N_("It holds what an earlier program left there, on the same multiprocessor: mostly other numbers each time.")
    remedy = N_(
        "Fill the buffer first: give `gl.allocate_shared_memory` a value, store to it, or copy into all of it. Of a "
        "ring, read the part that was filled. The first product into an accumulator needs `use_acc=False`."
    )
    intended = N_("If what is read is not used: masked off afterwards, or multiplied by zero where no NaN can be.")
    blind = N_("Up to 16 programs of a launch are looked at.")
    concerned = Concerned.ONE

    def check(self, evidence: LaunchSummary, found: Sequence[Finding]) -> Iterator[Finding]:
        """One finding for each operation that reads such bytes."""
        launch = evidence.launch
        if launch.error is not None:
            return  # what stopped the launch comes first, and may be why nothing was written
        if not any(type.is_shared for one in launch.executable.plan.functions.values() for type in one.types):
            return
        seen: dict[int, tuple[AsyncEvent, set[int]]] = {}

        def listen(event: AsyncEvent) -> None:
            if event.kind == "unwritten" and event.op is not None:
                seen.setdefault(event.op.index, (event, set()))[1].update(event.programs.tolist())

        own = launch.own
        some = np.unique(np.linspace(own.start, own.stop - 1, min(MOST, len(own))).astype(np.int64))
        replay(launch, programs=some, events=listen)
        for _index, (event, programs) in sorted(seen.items()):
            numbers = np.array(sorted(programs), np.int64)
            message = _("{program} reads {name}, which it has never written as a whole").format(
                program=messages.program(int(numbers[0]), launch.grid),
                name=event.touches[0][0].name or _("the buffer"),
            )
            hint = _("Store to the buffer, or copy into it, before it is read.")
            yield finding(launch, self.kind, message, hint, op=event.op, count=len(numbers), programs=numbers[:LISTED])
