"""`record`: records the launches made inside a ``with`` block."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from triton_lab.backend.plugin import launcher
from triton_lab.backend.plugin.recorders import LaunchCall, Recorder, Watch, recorders
from triton_lab.backend.targets.autotuner_trials import tuning_of
from triton_lab.backend.targets.gpu_timer import Clock
from triton_lab.backend.targets.loop_and_memory_limits import limits
from triton_lab.interpreter.observers import together
from triton_lab.interpreter.runtime_values import Value
from triton_lab.ir import Plan, effects
from triton_lab.launch.byte_ranges import NOTHING, Ranges
from triton_lab.launch.checks.check_run import watchers
from triton_lab.launch.launch import Launch
from triton_lab.launch.recording import last_launch, snapshot
from triton_lab.launch.recording.forked_launches import Forked
from triton_lab.launch.recording.launch_list import Launches, launched_elsewhere
from triton_lab.launch.recording.launch_of_call import configuration, described
from triton_lab.launch.recording.launch_site import launch_site
from triton_lab.launch.recording.poison import POISONED, still_poisoned
from triton_lab.launch.recording.proved_assumptions import broken
from triton_lab.launch.recording.tape import Tape
from triton_lab.launch.recording.uninitialized_memory import FreshMemory
from triton_lab.launch.recording.unrecordable import refused
from triton_lab.launch.recording.watched_trials import WatchedTrials
from triton_lab.launch.recording.watcher import Watcher
from triton_lab.launch.recording.written_bytes import written_bytes
from triton_lab.localization import _

if TYPE_CHECKING:
    from triton_lab.launch.sharding.sharded_run import Apart, Cut

# The default bounds in bytes: for a launch's memory and accesses, and for all launches of a record.
MAX_BYTES = 256 << 20
MAX_TOTAL_BYTES = 512 << 20


class LaunchNotRecorded(UserWarning):
    """A launch ran on the GPU alone and was not recorded, because the CPU target cannot run its kernel."""


class LaunchRecorder(Recorder):
    """Makes a `Launch` of each launch that it sees, and adds it to ``launches``."""

    def __init__(
        self,
        launches: Launches,
        max_bytes: int,
        max_total_bytes: int,
        fresh: FreshMemory,
        clock: Clock | None,
        parts: int,
    ) -> None:
        self.launches = launches
        self.max_bytes = max_bytes
        self.max_total_bytes = self.left = max_total_bytes
        self.fresh = fresh
        self.clock = clock
        self.parts = parts
        self.cuts: dict[int, Cut] = {}
        self.forked = Forked()
        self.pending: dict[int, tuple[Tape, snapshot.Snapshot, dict[str, Watcher]]] = {}
        self.trials: list[tuple[str, str, float]] = []
        self.watched_trials = WatchedTrials()

    def before(self, call: LaunchCall) -> Watch:
        if call.trial:
            return self.watched_trials.before(call)
        if self.forked.is_here:
            self.forked.launched(call.metadata.name)
        call.tuning = tuning_of(call.metadata.name, call.target)
        call.site = launch_site()
        extents = [(region.start, region.stop) for region in call.memory.regions]
        unfilled = self.fresh.unfilled(extents)
        blank = Ranges.joined([snapshot.blank(region) & unfilled for region in call.memory.regions if len(unfilled)])
        room = min(self.max_bytes, self.left)
        tape = Tape(room, launcher.limits, self.fresh.unwritten(extents), blank, unfilled - blank)
        values: tuple[Value, ...] = tuple(value for leaf in call.leaves for value in leaf.values)
        kept = snapshot.take(call.memory, values, call.owners, room)
        watching: dict[str, Watcher] = {}
        if kept.missing:
            # There will be no replay, so the checks that need one watch the launch now.
            tape.blank |= still_poisoned(tape.unwritten, lambda start, stop: _bytes(call, start, stop))
            tape.unwritten = NOTHING
            watching = watchers(described(call, tape, kept))
        self.pending[id(call)] = (tape, kept, watching)
        return Watch(
            accesses=together([tape, *watching.values()]),
            operations=together(watching.values()),
            instead=partial(self._in_parts, call) if self.parts > 1 else None,
        )

    def _in_parts(self, call: LaunchCall, apart: Apart) -> bool:
        from triton_lab.launch.sharding.sharded_run import in_parts

        tape, kept, _unused = self.pending[id(call)]
        cut = self.cuts[id(call)] = in_parts(call, tape, kept, self.parts, apart)
        if cut.error is not None:
            raise cut.error.with_traceback(None)
        return bool(cut.done)

    def missed(self, kernel: str, reason: str) -> None:
        self.launches.unseen.append(
            _("the launch of {kernel} was not recorded: {reason}").format(kernel=kernel, reason=reason)
        )
        if self.launches.warns:
            warnings.warn(self.launches.unseen[-1], LaunchNotRecorded, stacklevel=2)

    def timing(self) -> float:
        return 0.0 if self.clock is None else self.clock.room()

    def after(self, call: LaunchCall) -> None:
        if call.trial:
            self.trials.append((call.metadata.name, configuration(call), call.seconds))
            self.watched_trials.after(call)
            return
        tried, before_trials = self.watched_trials.ended(call.metadata.name)
        tape, kept, watching = self.pending.pop(id(call))
        cut = self.cuts.pop(id(call), None)
        if cut is not None and cut.done:
            if cut.error is None:  # with an error nothing was written
                self.fresh.written(tape.fresh & Ranges.joined(one.changed for one in cut.done))
            self._keep(call, _of_parts(call, cut, tape, kept, tried))
            return
        tape.ended(call)
        if len(tape.fresh):
            self.fresh.written(_written(tape, call.executable.plan))
        full = tape.room < self.max_bytes and bool(tape.dropped or kept.missing)
        if full:
            kept.regions = ()
            kept.missing = _(
                "earlier launches fill the {max_total_bytes} MB of this record. Use record(max_total_bytes=...), or "
                "record fewer launches"
            ).format(max_total_bytes=f"{self.max_total_bytes / 2**20:.0f}")
        self.left = max(0, self.left - tape.nbytes - kept.nbytes)
        if self.clock is not None:
            call.time = self.clock.noted(call.source, call.time, call.clocked)
        launch = described(call, tape, kept, tried)
        launch.before_trials = before_trials
        launch.watched = watching
        if full:
            launch.dropped = kept.missing
        if cut is not None and cut.why:
            launch.remark = "; ".join(
                filter(None, (launch.remark, _("it ran as a whole, not in parts: {why}").format(why=cut.why)))
            )
            launch.met = cut.meeting
        self._keep(call, launch)

    def _keep(self, call: LaunchCall, launch: Launch) -> None:
        launch.configs = [(text, seconds) for name, text, seconds in self.trials if name == launch.kernel]
        if not launch.configs and call.tuning is not None and not call.tuning.earlier:
            launch.configs = [(str(one), one.seconds) for one in call.tuning.tried]  # a GPU's driver reports no trials
        self.trials = [trial for trial in self.trials if trial[0] != launch.kernel]
        launch.remark = "; ".join(filter(None, (launch.remark, broken(launch))))
        self.launches.append(launch)
        last_launch.note(launch)


def _of_parts(call: LaunchCall, cut: Cut, tape: Tape, kept: snapshot.Snapshot, tried: Ranges) -> Launch:
    """A launch that ran in parts: it has their findings, but not their accesses or memory."""
    from triton_lab.launch.sharding.merge import verdict

    assert cut.whole is not None
    tape.ended(call)
    tape.dropped = sum(len(one.touched) for one in cut.done)
    launch = described(call, tape, kept, tried)
    vars(launch)["verdict"] = verdict(launch, cut.whole, cut.done)
    kept.regions = ()
    kept.missing = launch.dropped = _(
        "it ran in {number} parts, each checked by itself, and their accesses were not kept: "
        "record it without parts=..., and fewer programs"
    ).format(number=len(cut.done))
    return launch


def _written(tape: Tape, plan: Plan) -> Ranges:
    """The bytes that the launch wrote; all that were unwritten before if accesses were dropped."""
    if tape.dropped:
        return tape.fresh
    writing = {op.index for op in plan.walk() if effects.writes(op)} & tape.events.keys()
    return Ranges.joined(written_bytes(op, tape.events[op], tape.kinds[op][2], tape.shared) for op in writing)


def _bytes(call: LaunchCall, start: int, stop: int) -> NDArray[Any]:
    """The bytes of memory at addresses ``start .. stop - 1`` of one region."""
    region = call.memory.holding(start)
    assert region is not None
    data: NDArray[Any] = region.data[start - region.start : stop - region.start]
    return data


@contextlib.contextmanager
def record(
    *,
    max_bytes: int = MAX_BYTES,
    max_total_bytes: int = MAX_TOTAL_BYTES,
    time: bool = False,
    parts: int = 1,
    schedule: str | None = None,
) -> Iterator[Launches]:
    """Record the launches made inside, on any thread: ``with record() as launches: ...``.

    Each launch adds one `Launch` to the list when it ends; an autotuner's trials are left out. As the last value of a
    cell, the list is a table of the launches, and a launch is its card. ``max_bytes`` bounds the bytes that are stored
    of a launch, for its memory and for its accesses; ``max_total_bytes`` bounds those of all launches together.
    ``launch.dropped`` says what was left out.

    ``time`` measures the kernels' time on a GPU, as ``launch.time``. Each kernel runs again, on copies and after a
    warm-up, for a tenth of a second; all together run for two seconds at most. The others have the time of their own
    run.

    ``parts`` cuts the programs of a launch on the CPU target into that many ranges at most. Each part runs and is
    checked by itself, from the memory before the launch. Here the parts run one after another, so that many more
    programs fit into ``max_bytes``; on the workers of a scheduler (`target`) they run at once. Written bytes, integer
    atomics and findings are merged; the accesses are not stored. A launch runs whole if its programs conflict in
    memory, wait for one another, or use the value that an atomic returns; then ``launch.remark`` says why.

    ``schedule`` decides what a GPU leaves open in Gluon kernels, inside the block and when a launch is replayed:
    "lazy", "eager" or "random:7", as in `limits`. None leaves it as it is.

    Memory from `torch.empty` inside, on this thread, is filled with NaNs and huge integers, so that reads of
    uninitialised memory can be detected (`uninitialized_memory`).

    Raises NotRecorded for launches that cannot be recorded: by Triton's interpreter, or by another driver.

    >>> x, y = torch.arange(1000.0), torch.ones(1000)
    >>> with lab.record() as launches:
    ...     out = add(x, y, block=128)
    >>> launches[0].kernel, launches[0].grid
    ('add_kernel', (8, 1, 1))
    >>> [(access.kind, access.argument) for access in launches[0].accesses]
    [('load', 'x_ptr'), ('load', 'y_ptr'), ('store', 'out_ptr')]
    >>> with lab.record(max_bytes=1 << 20) as launches:  # what is larger is not kept: values cannot be asked for
    ...     out = add(x.repeat(1000), y.repeat(1000))
    >>> launches[0].values("mask")
    Traceback (most recent call last):
        ...
    CannotReplay: the launch's memory (11 MB) was more than a record keeps (1 MB): use...
    >>> with lab.record(parts=4) as launches:
    ...     out = add(x, y, block=128)
    >>> launches[0].findings, launches[0].dropped
    (no findings, 'it ran in 4 parts, each checked by itself, and their accesses were not kept: record it...')
    """
    if parts < 1:
        raise ValueError(_("parts={parts}: a launch has at least one part").format(parts=parts))
    launches = Launches()
    chosen = contextlib.nullcontext() if schedule is None else limits(schedule=schedule)
    with chosen, refused(), FreshMemory(min(max_bytes, POISONED)) as fresh:
        clock = Clock() if time else None
        recorder = LaunchRecorder(launches, max_bytes, max(max_bytes, max_total_bytes), fresh, clock, parts)
        launches.elsewhere = recorder.forked
        with clock or contextlib.nullcontext(), recorders.listening(recorder):
            try:
                yield launches
            finally:
                for what in launched_elsewhere(launches):
                    if launches.warns:
                        warnings.warn(what, LaunchNotRecorded, stacklevel=4)
