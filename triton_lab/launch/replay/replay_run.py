"""`replay`: runs a recorded launch again with observers, to find what the record does not hold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.interpreter.asynchronous.async_events import Listener
from triton_lab.interpreter.asynchronous.pending_work import PROXIES, Queue
from triton_lab.interpreter.bound_plan import Executable
from triton_lab.interpreter.frame import Frame, Observer
from triton_lab.interpreter.kernel_errors import KernelError, StepLimit
from triton_lab.interpreter.machine import Limits, Machine
from triton_lab.interpreter.memory_regions import Memory
from triton_lab.interpreter.runtime_values import Value, take
from triton_lab.ir import Op, effects
from triton_lab.launch.byte_ranges import Ranges
from triton_lab.launch.recording.launch_record import Recorded
from triton_lab.launch.recording.progress_callback import LATE, TookTooLong, breathe, is_late, within
from triton_lab.launch.recording.replay_error import CannotReplay
from triton_lab.launch.recording.watcher import Watcher
from triton_lab.localization import _, translated
from triton_lab.messages import count

Array = NDArray[Any]

_LOOP = "scf.while"
PATIENCE = 10_000  # iterations that a replay allows a loop which the launch itself never ran
# A replay may take this many seconds plus this many times the launch's time. A changed kernel may run `_OFTEN` times
# the launch's loop iterations plus `_SPARE`.
SECONDS, TIMES = 30.0, 30.0
_OFTEN, _SPARE = 4, 10_000


class _Only(Watcher):
    """Passes only the events of the given programs to an observer, in a run of all programs."""

    def __init__(self, observer: Observer, programs: Array) -> None:
        self.observer = observer
        self.programs = programs
        self._seen = self._rows_seen = np.zeros(0, np.int64)

    def _rows(self, frame: Frame) -> Array:
        if frame.programs is not self._seen:  # programs that run on together share one array of their numbers
            self._seen, self._rows_seen = frame.programs, np.flatnonzero(np.isin(frame.programs, self.programs))
        return self._rows_seen

    def after(self, frame: Frame, op: Op, operands: Sequence[Value], result: Any) -> None:
        rows = self._rows(frame)
        if len(rows) == frame.count:
            self.observer.after(frame, op, operands, result)
        elif len(rows):
            theirs = [take(value, rows) for value in operands]
            one = len(op.results) == 1
            found = take(result, rows) if one else tuple(take(value, rows) for value in result or ())
            self.observer.after(frame.part(rows), op, theirs, found)

    def access(self, frame: Frame, op: Op, kind: str, pointer: Any, mask: Any, values: Array | None) -> None:
        rows = self._rows(frame)
        if len(rows) == frame.count:
            self.observer.access(frame, op, kind, pointer, mask, values)
        elif len(rows):
            where, which, what = (None if value is None else take(value, rows) for value in (pointer, mask, values))
            assert what is None or isinstance(what, np.ndarray)
            self.observer.access(frame.part(rows), op, kind, where, which, what)

    def barrier(self, frame: Frame, op: Op) -> None:
        rows = self._rows(frame)
        if len(rows):
            self.observer.barrier(frame if len(rows) == frame.count else frame.part(rows), op)

    def handed(self, frame: Frame, numbers: Sequence[int], values: Sequence[Value]) -> None:
        if int(frame.programs[0]) in self.programs:
            self.observer.handed(frame, numbers, values)

    def joined(self, pieces: Sequence[tuple[Array, Value, Array | None]], programs: int, result: Value) -> None:
        self.observer.joined(pieces, programs, result)


def replay(
    launch: Recorded,
    *,
    executable: Executable | None = None,
    observer: Observer | None = None,
    access_observer: Observer | None = None,
    programs: Array | None = None,
    limits: Limits | None = None,
    strict: bool = False,
    held: tuple[Ranges, int] | None = None,
    memory: Memory | None = None,
    events: Listener | None = None,
    fences: frozenset[Queue] = PROXIES,
) -> Memory:
    """Run ``launch`` again on a copy of its memory from before it, and return that memory after the run.

    The user's tensors are not touched. ``executable`` may replace the launch's own if it takes the same arguments. A
    launch that failed fails again at the same place, silently unless ``strict``. The grid is cut into the same batches
    as before, unless ``limits`` say otherwise. Only ``programs`` are run and observed; if programs wait for others, all
    run and only ``programs`` are observed. ``held`` gives addresses and the byte to put there before the run, and
    ``memory`` is a copy of the launch's memory to run in, by default a new one. ``events`` gets what happens
    asynchronously; ``fences`` is that of `Asynchronous`. Raises CannotReplay.

    Every replay ends: it obeys the launch's own limit on iterations; a launch that was stopped in a loop is stopped
    there again; and after a time limit (`progress_callback.within`) the replay raises CannotReplay.
    """
    snapshot = launch.snapshot
    if snapshot is None:
        raise CannotReplay(_("the launch was recorded without the data that a rerun needs"))
    memory = snapshot.memory(held) if memory is None else memory
    runs = executable or launch.executable
    if programs is not None and runs.waiting_loops:
        observer = observer and _Only(observer, programs)
        access_observer = access_observer and _Only(access_observer, programs)
        programs = None
    if runs.waiting_loops and is_cut_short(launch) and observer is None and access_observer is None:
        access_observer = Watcher()  # programs take turns differently under an observer, and the launch had one
    machine = _Patient(
        _only_in(runs, launch.executable),
        runs,
        snapshot.arguments,
        launch.grid,
        memory,
        observer=observer,
        access_observer=access_observer,
        limits=_limits(launch, limits, strict and executable is not None),
        progress=_between_batches,
        events=events,
        fences=fences,
    )
    # Regions are matched by their start addresses: the replay's regions replace those of the launch.
    machine.allow(runs.reach(memory.beginning_at(snapshot.owners)))
    try:
        with within(SECONDS + TIMES * max(launch.seconds, launch.interpreted)):
            machine.run(launch.own if programs is None else programs)
    except _Late:
        raise TookTooLong(_told_late(machine)) from None
    except _Endless as error:
        raise CannotReplay(error.message) from None
    except KernelError as error:
        if isinstance(error, StepLimit) and not strict and not is_cut_short(launch):
            raise CannotReplay(
                _("in a rerun, {message}, which is the limit of this launch").format(message=error.message)
            ) from None
        if strict or launch.error is None:
            raise
    return memory


def scratch(launch: Recorded) -> Memory:
    """Memory to run the launch's own kernel in again, if only observers look at the run. Raises CannotReplay.

    What the kernel only reads is not copied.
    """
    snapshot = launch.snapshot
    assert snapshot is not None
    everywhere = frozenset(held.start for held in snapshot.regions)
    starts = [None if own is None else frozenset(own) for own in snapshot.owners]
    reach = launch.executable.reach(starts)
    ops = [op for op in launch.executable.plan.walk() if op.index in reach]

    def of(does: Callable[[Op], bool]) -> frozenset[int]:
        return frozenset().union(*(everywhere if (own := reach[op.index]) is None else own for op in ops if does(op)))

    return snapshot.scratch(of(effects.reads), of(effects.writes))


def _between_batches(done: int, total: int) -> None:
    if done < total and is_late():
        raise _Late(translated(LATE))
    if not is_late():
        breathe()


def is_cut_short(launch: Recorded) -> bool:
    """Whether the launch was stopped inside a loop, by a limit or by hand."""
    error = launch.error
    return error is not None and (isinstance(error, StepLimit) or not isinstance(error, KernelError))


def _limits(launch: Recorded, given: Limits | None, changed: bool) -> Limits:
    """The limits of a replay; ``changed`` means that it runs another kernel, which may never end."""
    tape = launch.tape
    limits = given or (Limits() if tape is None else tape.limits)
    if tape is None or tape.steps is None:
        return limits
    bounds = [limits.steps]
    if changed:
        bounds.append(_OFTEN * tape.steps + _SPARE)
    if is_cut_short(launch):
        bounds.append(tape.limits.steps)
    return replace(limits, steps=min((bound for bound in bounds if bound is not None), default=None))


def _told_late(machine: Machine) -> str:
    """The message that a replay was given up, and how far it had come."""
    steps = _(" and {iterations}").format(iterations=count(machine.steps, "loop iteration")) if machine.steps else ""
    return _("the rerun was stopped after {programs}{steps}, since it took too long").format(
        programs=count(machine.ended, "program"), steps=steps
    )


class _Late(KernelError):
    """The replay takes too long."""


class _Endless(KernelError):
    """A loop that the launch never ran does not end."""


class _Patient(Machine):
    """Stops loops in ``left_out`` (by index) after `PATIENCE`: the launch never ran them, and they may never end."""

    def __init__(self, left_out: Collection[int], *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._left_out = left_out
        self._spent: Counter[int] = Counter()

    def tick(self, loop: Op, frame: Frame) -> None:
        super().tick(loop, frame)
        if is_late():
            raise _Late(translated(LATE), loop, frame.programs)
        if loop.index not in self._left_out:
            return
        self._spent[loop.index] += 1
        if self._spent[loop.index] > PATIENCE:
            where = _("the loop in line {line}").format(line=loop.location.line) if loop.location else "a loop"
            raise _Endless(
                _(
                    "{where} computes no value that is stored, so the compiler removed it from the launch; as it is "
                    "written, it does not end within {iterations}"
                ).format(where=where, iterations=count(PATIENCE, "iteration")),
                loop,
                frame.programs,
            )


def _only_in(runs: Executable, launched: Executable) -> set[int]:
    """The indices of the ``scf.while`` loops that are not in the launched kernel."""
    if runs is launched:
        return set()
    kept = {op.location for op in launched.plan.walk() if op.name == _LOOP}
    return {op.index for op in runs.plan.walk() if op.name == _LOOP and op.location not in kept}


class _Values(Watcher):
    def __init__(self, ops: Collection[int]) -> None:
        self.values: dict[int, list[Array]] = {op: [] for op in ops}

    def access(self, frame: Frame, op: Op, kind: str, pointer: Any, mask: Any, values: Array | None) -> None:
        if op.index in self.values and values is not None:
            shape = values.shape[1:]
            self.values[op.index].append(np.broadcast_to(values, (frame.count, *shape)).copy())


def recall(launch: Recorded, ops: Collection[int]) -> dict[int, list[Array]]:
    """The values that each execution of these accesses loaded or stored, in order: ``(programs, *block)`` arrays."""
    watcher = _Values(ops)
    replay(launch, access_observer=watcher)
    return {
        op: [
            np.broadcast_to(values, (len(event.programs), *event.shape))
            # A launch that failed, or was too long to be recorded whole, has fewer events than it ran.
            for values, event in zip(watcher.values[op], launch.events.get(op, ()), strict=False)
        ]
        for op in ops
    }


__all__ = ["CannotReplay", "recall", "replay"]
