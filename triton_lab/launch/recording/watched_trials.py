"""`WatchedTrials`: what an autotuner's trials wrote, and what memory held before the first one."""

from __future__ import annotations

from triton_lab.backend.plugin import launcher
from triton_lab.backend.plugin.recorders import LaunchCall, Watch
from triton_lab.interpreter.runtime_values import Value
from triton_lab.ir import effects
from triton_lab.launch.access_footprint import runs
from triton_lab.launch.byte_ranges import Ranges
from triton_lab.launch.recording import snapshot
from triton_lab.launch.recording.tape import Tape

# Trials are watched for this long, which a launch takes several times longer for, and in this much memory for each.
_SECONDS = 1.0
_BYTES = 16 << 20


class WatchedTrials:
    """The trials of a record, by kernel, until the launch follows for which they were made."""

    def __init__(self) -> None:
        self._tapes: dict[int, Tape] = {}
        self._writes: dict[str, list[Ranges]] = {}
        self._memory: dict[str, snapshot.Snapshot] = {}
        self._seconds = _SECONDS

    def before(self, call: LaunchCall) -> Watch:
        """What watches a trial. Before the first one its memory is copied, if it is small."""
        if self._seconds <= 0 or call.target != "cpu":
            return Watch()
        if call.metadata.name not in self._memory:
            values: tuple[Value, ...] = tuple(value for leaf in call.leaves for value in leaf.values)
            self._memory[call.metadata.name] = snapshot.take(call.memory, values, call.owners, _BYTES)
        tape = self._tapes[id(call)] = Tape(_BYTES, launcher.limits)
        return Watch(accesses=tape)

    def after(self, call: LaunchCall) -> None:
        """Note what a watched trial wrote."""
        tape = self._tapes.pop(id(call), None)
        if tape is None:
            return
        self._seconds -= call.seconds
        if call.error is None and not tape.dropped:
            writing = {op.index for op in call.executable.plan.walk() if effects.writes(op)}
            parts = [runs(event, tape.kinds[op][2]) for op in writing & tape.events.keys() for event in tape.events[op]]
            self._writes.setdefault(call.metadata.name, []).append(Ranges.joined(parts))

    def ended(self, kernel: str) -> tuple[Ranges, snapshot.Snapshot | None]:
        """The bytes that the trials of a kernel wrote, and memory before them: None if it is not known."""
        memory = self._memory.pop(kernel, None)
        return Ranges.joined(self._writes.pop(kernel, [])), None if memory is None or memory.missing else memory
