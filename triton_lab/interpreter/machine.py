"""Runs a plan over a grid, in batches of programs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from triton_lab.interpreter.asynchronous.async_events import Listener
from triton_lab.interpreter.asynchronous.asynchronous_work import Asynchronous
from triton_lab.interpreter.asynchronous.pending_work import PROXIES, Queue
from triton_lab.interpreter.asynchronous.schedules import LAZY
from triton_lab.interpreter.bound_plan import Executable
from triton_lab.interpreter.frame import Environment, Frame, Marks, Observer
from triton_lab.interpreter.kernel_errors import Deadlock, KernelError, StepLimit
from triton_lab.interpreter.memory_regions import Memory, MemoryRegion, Reachable
from triton_lab.interpreter.printing import KernelPrinter
from triton_lab.interpreter.program_strands import Strand, Wait
from triton_lab.interpreter.runtime_values import Value
from triton_lab.ir import Op
from triton_lab.ir.spin_wait_memory import Awaited, awaited
from triton_lab.localization import _
from triton_lab.messages import count

Array = NDArray[Any]

# The bytes of live values that a batch is sized for. A batch runs one operation after another over its values, so they
# should fit into the cache that a processor's cores share. Each operation costs microseconds of Python, so a batch
# should have many programs.
BATCH_BYTES = 8 << 20
# The most programs in a batch if they may wait. Programs that queue at one lock are tried once for each of them.
_MOST_WAITING = 1024


# What runs a launch; "auto" lets triton-lab choose.
Engine = Literal["auto", "numpy", "native"]


@dataclass(slots=True)
class Limits:
    """What a launch may use.

    ``batch`` fixes the number of programs that run together. ``memory`` limits the bytes that the values of all running
    programs take, ``steps`` the loop iterations, ``lines`` the printed lines. ``schedule`` decides when asynchronous
    work of a Gluon kernel lands (`schedules`). The launcher chooses ``engine``; a `Machine` itself always uses NumPy.
    """

    batch: int | None = None
    steps: int | None = None
    memory: int = 1 << 30
    lines: int = 100_000
    engine: Engine = "auto"
    schedule: str = LAZY


def batch_size(limits: Limits, footprint: int) -> int:
    """How many programs run together, of which each has ``footprint`` bytes of live values."""
    return limits.batch or max(1, min(BATCH_BYTES, limits.memory) // max(1, footprint))


class Machine:
    """One launch: a kernel, its arguments, its grid and its memory."""

    def __init__(
        self,
        executable: Executable,
        arguments: Sequence[Value],
        grid: tuple[int, int, int],
        memory: Memory,
        *,
        observer: Observer | None = None,
        access_observer: Observer | None = None,
        limits: Limits | None = None,
        progress: Callable[[int, int], None] | None = None,
        printer: KernelPrinter | None = None,
        marks: Marks | None = None,
        events: Listener | None = None,
        fences: frozenset[Queue] = PROXIES,
    ) -> None:
        self.executable = executable
        self.arguments = arguments
        self.grid = grid
        self.memory = memory
        self.observer = observer
        self.access_observer = access_observer
        self.limits = limits or Limits()
        self.progress = progress
        self.printer = printer
        self.marks = marks
        self.steps = 0
        self.asynchronous = Asynchronous(executable.plan, self.limits.schedule, events, fences)
        self.ended = 0
        # In a kernel whose programs may wait: the strand that runs, or ran last.
        self._turn: Strand | None = None
        self._awaited: Awaited[MemoryRegion] | None = None
        self._has_asked = False
        self._anything = Reachable(memory)
        self._reachable: Mapping[int, Reachable] = {}

    def run(self, programs: range | Array | None = None) -> None:
        """Run ``programs`` (linear numbers, ascending), or the whole grid.

        Raises KernelError. Memory keeps what was stored before the error.
        """
        total = self.grid[0] * self.grid[1] * self.grid[2]
        todo: range | Array = range(total) if programs is None else programs
        if not len(todo):
            return
        try:
            with np.errstate(all="ignore"):
                if self.executable.waiting_loops:
                    self._run_waiting(todo)
                else:
                    self._run_batches(todo)
        except KeyboardInterrupt as error:
            if self._turn is not None and self._turn.wait is not None:
                error.kernel_at = int(self._turn.programs[0]), self._turn.wait.op.index  # type: ignore[attr-defined]
            raise
        finally:
            if self.printer is not None:
                self.printer.close()

    def allow(self, reach: Mapping[int, frozenset[MemoryRegion] | None]) -> None:
        """Restrict each access, by operation index, to the given regions; None or a missing index allows all."""
        self._reachable = {op: Reachable(self.memory, regions) for op, regions in reach.items()}

    def memory_for(self, op: Op) -> Reachable:
        """The memory that ``op`` may touch."""
        return self._reachable.get(op.index, self._anything)

    def allowed(self, access: int) -> frozenset[MemoryRegion] | None:
        """The regions that an access, by operation index, is restricted to; None: all are allowed."""
        reachable = self._reachable.get(access)
        return None if reachable is None else reachable.allowed

    def batch_size(self) -> int:
        """How many programs run together."""
        return batch_size(self.limits, self.executable.routines[self.executable.plan.kernel.name].footprint)

    def tick(self, loop: Op, frame: Frame) -> None:
        """Called once per iteration of every loop. Raises StepLimit beyond the limit."""
        self.steps += 1
        if self.asynchronous.partitions is not None:
            self.asynchronous.partitions.check()
        if self.limits.steps is not None and self.steps > self.limits.steps:
            raise StepLimit(
                _("the launch took more than {iterations}").format(
                    iterations=count(self.limits.steps, "loop iteration")
                ),
                loop,
                frame.programs,
            )

    def narrow(self) -> None:
        """From now on count only those changes of memory that may end a wait, if these are known."""
        if not self._has_asked:
            self._has_asked = True
            self._awaited = awaited(self.executable.plan, self.executable.waiting_loops, self.allowed)
            self.memory.awaited = None if self._awaited is None else self._awaited.memory

    def deciding(self, loop: Op, carried: Sequence[Value]) -> Sequence[Value]:
        """Those loop-carried values of a waiting loop that may end the wait; all of them if that is unknown."""
        return carried if self._awaited is None else [carried[k] for k in self._awaited.carried[loop.index]]

    def explain(self, error: Exception, op: Op, frame: Frame) -> KernelError:
        """``error``, with the operation and the programs in which it happened."""
        if isinstance(error, KernelError):
            if error.op is None:
                error.op = op
                error.programs = error.together = frame.programs
                if error.fault is not None:
                    rows = error.fault.programs
                    error.programs = frame.programs[rows if frame.count > 1 else np.zeros_like(rows)]
            return error
        return KernelError(f"{op.name}: {type(error).__name__}: {error}", op, frame.programs)

    def _batches(self, todo: range | Array, size: int) -> Iterator[Array]:
        for start in range(0, len(todo), size):
            yield np.asarray(todo[start : start + size], np.int64)

    def _run_batches(self, todo: range | Array) -> None:
        from triton_lab.interpreter.ops.control import run_body

        routine = self.executable.routines[self.executable.plan.kernel.name]
        for programs in self._batches(todo, self.batch_size()):
            run_body(Frame(self, routine, programs, Environment()), self.arguments)
            self.asynchronous.ended()
            if self.printer is not None:
                self.printer.flush()
            self._have_ended(len(programs), len(todo))

    def _have_ended(self, programs: int, total: int) -> None:
        self.ended += programs
        if self.progress is not None:
            self.progress(self.ended, total)

    def _run_waiting(self, todo: range | Array) -> None:
        """Run each batch until its programs end or wait; then run the waiting ones again and again, in turns.

        Under an observer each program runs alone, whatever the batch, and a wait ends as early as possible. Only so can
        a wait that ends too early be seen: the others have not yet done what it should wait for.
        """
        from triton_lab.interpreter.resumable_regions import started

        watched = self.observer is not None or self.access_observer is not None
        size = 1 if watched else self.limits.batch or min(self.batch_size(), _MOST_WAITING)
        waiting: list[Strand] = []
        heads: dict[int, Strand] = {}
        for programs in self._batches(todo, size):
            late = self._settled([started(self, programs)], len(todo))
            waiting += late
            if watched and waiting:
                waiting = self._hurried(waiting, late, heads, len(todo))
        while waiting:
            version, ended = self.memory.version, self.ended
            waiting = self._settled(waiting, len(todo))
            waits = [strand.wait for strand in waiting if strand.wait is not None]
            if self.ended == ended and self.memory.version == version and not any(wait.counts for wait in waits):
                numbers = np.sort(np.concatenate([strand.programs for strand in waiting]))
                raise Deadlock(_("every remaining program waits for another one"), waits[0].op, numbers)

    def _hurried(self, waiting: list[Strand], late: list[Strand], heads: dict[int, Strand], total: int) -> list[Strand]:
        """Run those of ``waiting`` that may go on by now, and return those that still wait. ``late`` are the newest of
        them.

        Strands that wait at one place mostly wait for the same thing. So only the first of them (``heads``, by
        operation) is tried; the others follow if it went on. Trying all of them after every program would cost the
        square of the grid.
        """
        _note(late, heads)
        for place, head in list(heads.items()):
            version = self.memory.version
            still = self._settled([head], total)
            stays = head.wait is not None and head.wait.op.index == place
            if not (still and stays) or self.memory.version != version:
                waiting = self._settled([strand for strand in waiting if still or strand is not head], total)
                heads.clear()
                _note(waiting, heads)
                break
        return waiting

    def _settled(self, strands: list[Strand], total: int) -> list[Strand]:
        """Run ``strands`` in order, and the strands that they part into, until nothing changes except by busy ones.

        Returns those that wait.
        """
        waiting: list[Strand] = []
        for _unused in range(_MOST_WAITING):
            todo, waiting, has_changed = strands[::-1], [], False
            while todo:
                strand, version = todo.pop(), self.memory.version
                self._turn = strand
                outcome = None if strand.is_stuck else strand.run()
                is_busy = isinstance(outcome, Wait) and outcome.busy
                has_changed |= self.memory.version != version and not is_busy
                if outcome is None or isinstance(outcome, Wait):
                    waiting.append(strand)
                elif outcome:
                    todo += outcome[::-1]
                else:
                    self._have_ended(len(strand.programs), total)
            if not has_changed:
                break
            strands = waiting
        return waiting


def _note(strands: list[Strand], heads: dict[int, Strand]) -> None:
    """Make the first strand that waits at a place its head.

    A strand that counts while it waits is not taken: it may count only its own tries.
    """
    for strand in strands:
        if strand.wait is not None and not strand.wait.counts:
            heads.setdefault(strand.wait.op.index, strand)
