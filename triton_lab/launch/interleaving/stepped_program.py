"""`SteppedProgram`: one program of a launch, which stops before each step and goes on when it is told to."""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from triton_lab import messages
from triton_lab.access_fault_message import WRONG
from triton_lab.interpreter.affine_block import AffineBlock
from triton_lab.interpreter.frame import Frame
from triton_lab.interpreter.kernel_errors import KernelError
from triton_lab.interpreter.machine import Limits, Machine
from triton_lab.interpreter.mask_box import MaskBox
from triton_lab.interpreter.memory_regions import Memory, Reachable
from triton_lab.interpreter.program_strands import Wait
from triton_lab.interpreter.resumable_regions import started
from triton_lab.ir import Op
from triton_lab.launch.recording.launch_record import Recorded
from triton_lab.launch.recording.progress_callback import LATE, is_late
from triton_lab.launch.recording.replay_error import CannotReplay
from triton_lab.launch.recording.watcher import Watcher
from triton_lab.localization import _, translated

Array = NDArray[Any]
# Where a program stands: before a step; waiting for the other program; at its end; stopped by an error.
Standing = Literal["ready", "waiting", "ended", "failed"]

_MOST_ITERATIONS = 1_000_000  # of all loops of a program, if the launch has no limit of its own
_SECONDS = 60.0  # that one step may take
_INT64 = np.dtype(np.int64)


@dataclass(frozen=True, eq=False)
class MemoryAccess:
    """A load, store or atomic of ``program``.

    ``addresses`` (elements,) are those of the active lanes, in bytes. ``values`` (elements,) are what was loaded or
    stored, or what an atomic found; ``after`` is what memory holds then. ``is_step`` is False for memory that no other
    program of the pair touches.
    """

    program: int
    op: int
    kind: str
    addresses: Array
    values: Array
    after: Array
    is_step: bool


class _Abandoned(KernelError):
    """The rest of the program is not needed."""


class SteppedProgram(Watcher):
    """``program`` of ``launch`` on a thread of its own, in ``memory``. One thread runs at a time.

    ``steps`` has the indices of the operations that are steps; None: only waiting for the other program stops it.
    """

    def __init__(self, launch: Recorded, program: int, memory: Memory, steps: Collection[int] | None) -> None:
        self.program = program
        self._launch = launch
        self.memory = memory
        self.standing: Standing = "ready"
        self.error = ""
        self.next: int | None = None  # the operation of the next step
        self.done: list[MemoryAccess] = []
        # What the program's values follow from: the accesses, without iterations of a wait that changed nothing.
        self.history: list[tuple[int, bytes]] = []
        self._steps = steps
        # A store is told before memory is asked for, and counts once it is over.
        self._announced: tuple[Op, str, Array, Array] | None = None
        self._storing: tuple[Op, str, Array, Array] | None = None
        self._begun = 0  # the length of the history when the last loop iteration began
        self._has_stepped = True
        self._abandoned = False
        self._raised: BaseException | None = None
        self._go, self._stopped = threading.Semaphore(0), threading.Semaphore(0)
        machine = _machine(self, launch, memory)
        context = contextvars.copy_context()
        self._thread = threading.Thread(target=context.run, args=(self._run, machine), daemon=True)
        self._thread.start()

    def advance(self) -> list[MemoryAccess]:
        """Run to the next stop: the step that it stood before, and what follows of its own. Returns the accesses.

        Raises CannotReplay if the time is up.
        """
        if self.standing in ("ended", "failed"):
            return []
        self.done = []
        self.standing = "ready"
        self._go.release()
        if not self._stopped.acquire(timeout=_SECONDS):
            raise CannotReplay(translated(LATE))
        if self._raised is not None:
            raise self._raised
        return self.done

    def abandon(self) -> None:
        """End the program where it stands."""
        self._abandoned = True
        self._go.release()
        self._thread.join(_SECONDS)

    # --- On the program's thread ---------------------------------------------------------------------

    def _run(self, machine: _SteppedMachine) -> None:
        try:
            self._go.acquire()
            if not self._abandoned:
                machine.run_alone(self.program)
            self._finish_store()
            self.standing = "ended"
        except _Abandoned:
            pass
        except KernelError as error:
            self.standing, self.error = "failed", self._reason(error)
        except BaseException as error:
            self._raised = error
        self._stopped.release()

    def _reason(self, error: KernelError) -> str:
        """Why the program stopped; the machine itself does not name what an access touches."""
        if error.fault is None or error.op is None:
            return error.message
        place = self._launch.lines.get(error.op.index)
        told = f"{messages.access_noun(error.fault.access)} {translated(WRONG[error.fault.kind])}"
        return told if place is None else _("line {line}: {what}").format(line=place.line, what=told)

    def _pause(self) -> None:
        # Memory counts changes for the program that runs: those of the other one do not end its iteration.
        memory = self.memory
        counts = memory.version, memory.watching, memory.awaited
        self._stopped.release()
        self._go.acquire()
        memory.version, memory.watching, memory.awaited = counts
        if self._abandoned:
            raise _Abandoned("")

    def before(self, op: Op) -> None:
        """The program is about to touch memory."""
        self._finish_store()
        if self._steps is not None and op.index in self._steps:
            self.next = op.index
            self._has_stepped = True
            self._pause()
            self.next = None
        self._storing, self._announced = self._announced, None

    def begin_iteration(self) -> None:
        """An iteration of a loop begins."""
        if is_late():
            raise CannotReplay(translated(LATE))
        self._begun = len(self.history)

    def wait(self, wait: Wait) -> None:
        """An iteration achieved nothing: the program waits for the other one."""
        self.standing = "waiting"
        if not wait.counts:
            del self.history[self._begun :]
        # A loop of which no access is a step would run for ever before it came to a stop.
        if not self._has_stepped or self._steps is None:
            self._pause()
        self._has_stepped = False

    def access(self, frame: Frame, op: Op, kind: str, pointer: Any, mask: Any, values: Array | None) -> None:
        where = pointer.elements(_INT64) if isinstance(pointer, AffineBlock) else pointer
        active = mask.elements() if isinstance(mask, MaskBox) else np.True_ if mask is None else mask
        what = np.zeros(1, np.uint8) if values is None else values
        self._finish_store()
        where, what, active = np.broadcast_arrays(where, what, active)
        told = op, kind, where[active].copy(), what[active].copy()
        if kind == "store":
            self._announced = told
        else:
            self._add(*told)

    def _finish_store(self) -> None:
        if self._storing is not None:
            stored, self._storing = self._storing, None
            self._add(*stored)

    def _add(self, op: Op, kind: str, addresses: Array, values: Array) -> None:
        is_step = self._steps is not None and op.index in self._steps
        after = values if kind != "atomic" else held(self.memory, addresses, values.dtype)
        self.done.append(MemoryAccess(self.program, op.index, kind, addresses, values, after, is_step))
        self.history.append((op.index, b"" if kind == "store" else values.tobytes()))


def held(memory: Memory, addresses: Array, dtype: np.dtype[Any]) -> Array:
    """The elements that memory holds at some addresses; 0 where nothing is mapped."""
    found = np.zeros(len(addresses), dtype)
    for k, address in enumerate(addresses.tolist()):
        region = memory.holding(address)
        if region is not None and address + dtype.itemsize <= region.stop:
            at = address - region.start
            found[k] = region.data[at : at + dtype.itemsize].view(dtype)[0]
    return found


class _SteppedMachine(Machine):
    """Runs one program, and asks it before each access."""

    def __init__(self, stepped: SteppedProgram, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._stepped = stepped

    def memory_for(self, op: Op) -> Reachable:
        self._stepped.before(op)
        return super().memory_for(op)

    def tick(self, loop: Op, frame: Frame) -> None:
        super().tick(loop, frame)
        self._stepped.begin_iteration()

    def run_alone(self, program: int) -> None:
        """Run a program to its end, also one that waits for another: that one runs in between."""
        if not self.executable.waiting_loops:
            self.run(np.array([program], np.int64))
            return
        with np.errstate(all="ignore"):
            strands = [started(self, np.array([program], np.int64))]
            while strands:
                outcome = strands[0].run()
                if isinstance(outcome, Wait):
                    self._stepped.wait(outcome)
                else:
                    strands = outcome


def _machine(stepped: SteppedProgram, launch: Recorded, memory: Memory) -> _SteppedMachine:
    snapshot, executable = launch.snapshot, launch.executable
    if snapshot is None:
        raise CannotReplay(_("the launch was recorded without the data that a rerun needs"))
    limits = Limits() if launch.tape is None else launch.tape.limits
    machine = _SteppedMachine(
        stepped,
        executable,
        snapshot.arguments,
        launch.grid,
        memory,
        access_observer=stepped,
        limits=Limits(batch=1, steps=limits.steps or _MOST_ITERATIONS, memory=limits.memory, schedule=limits.schedule),
    )
    # Regions are matched by their start addresses: those of the copy replace those of the launch.
    machine.allow(executable.reach(memory.beginning_at(snapshot.owners)))
    return machine
