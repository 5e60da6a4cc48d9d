"""``ttng``: barriers in shared memory, fences of proxies; and partitions of warps."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.interpreter import runtime_values as values
from triton_lab.interpreter.asynchronous.mbarriers import PHASE_NEVER_ENDS, MBarrier
from triton_lab.interpreter.asynchronous.partitions import Partitions
from triton_lab.interpreter.asynchronous.pending_work import PendingWork
from triton_lab.interpreter.frame import Frame
from triton_lab.interpreter.kernel_errors import Deadlock
from triton_lab.interpreter.op_registry import control, impl
from triton_lab.interpreter.ops.local_memory import truth, view_of
from triton_lab.interpreter.runtime_values import Value
from triton_lab.ir import Op
from triton_lab.localization import _

Array = NDArray[Any]
_WARP = 32


def chosen(frame: Frame, op: Op, operands: Sequence[Value], position: int | None) -> tuple[Frame, Sequence[Value]]:
    """The programs whose predicate, the operand at ``position``, is set, and their operands."""
    if position is None or position >= len(operands):
        return frame, operands
    wanted = truth(frame, op, position, operands[position])
    if wanted.all():
        return frame, operands
    rows = np.flatnonzero(wanted)
    return frame.part(rows), [values.take(one, rows) for one in operands]


@impl("ttng.init_barrier")
def init_barrier(frame: Frame, op: Op, bar: Value) -> None:
    MBarrier(view_of(bar), frame.programs).init(op.attributes["count"])


@impl("ttng.inval_barrier")
def inval_barrier(frame: Frame, op: Op, bar: Value) -> None:
    MBarrier(view_of(bar), frame.programs).invalidate()


def arrive(frame: Frame, op: Op, bar: Value, count: int, expected: int = 0) -> None:
    """Arrive at a barrier, for all programs of the frame; then may be the turn of others."""
    if not frame.count:
        return
    asynchronous, view = frame.machine.asynchronous, view_of(bar)
    _unused, knows = asynchronous.clock(frame.programs)
    clock = knows if asynchronous.partitions is not None else None
    ended = MBarrier(view, frame.programs).arrive(count, expected, clock)
    if asynchronous.partitions is not None:
        asynchronous.partitions.tick(frame.programs)
    asynchronous.version += 1
    asynchronous.tell("arrived", op, frame.programs, view)
    if ended:
        asynchronous.tell("phase", op, frame.programs, view)
    asynchronous.moment()


@impl("ttng.barrier_expect")
def barrier_expect(frame: Frame, op: Op, *operands: Value) -> None:
    """One arrival, which expects so many bytes."""
    frame, operands = chosen(frame, op, operands, 1)  # type: ignore[assignment]
    arrive(frame, op, operands[0], 1, op.attributes["size"])


@impl("ttng.arrive_barrier")
def arrive_barrier(frame: Frame, op: Op, *operands: Value) -> None:
    frame, operands = chosen(frame, op, operands, 1)  # type: ignore[assignment]
    arrive(frame, op, operands[0], op.attributes["count"])


@impl("ttng.async_copy_mbarrier_arrive")
def async_copy_arrive(frame: Frame, op: Op, bar: Value) -> None:
    """Arrive once the copies that were started before have landed.

    Without ``noIncrement`` the phase expects this arrival besides those that the barrier was initialised for; with it
    each thread arrives.
    """
    view, asynchronous = view_of(bar), frame.machine.asynchronous
    arrivals = 1
    if op.attributes.get("noIncrement"):
        arrivals = _WARP * frame.machine.executable.plan.warps
    else:
        MBarrier(view, frame.programs).expect_more(1)
    earlier = asynchronous.pending("copies", frame.programs)
    work = PendingWork(op, "copies", frame.programs, bars=((view, None, arrivals),), after=earlier)
    asynchronous.add(work)


@impl("ttng.wait_barrier")
def wait_barrier(frame: Frame, op: Op, *operands: Value) -> None:
    """Wait for the end of a phase: work that reports to the barrier lands now, and other partitions run."""
    frame, operands = chosen(frame, op, operands, 2)  # type: ignore[assignment]
    if not frame.count:
        return
    view, asynchronous = view_of(operands[0]), frame.machine.asynchronous
    asynchronous.moment()
    bar = MBarrier(view, frame.programs)
    parity = np.broadcast_to(values.elements(operands[1], frame.type(op.operands[1])).reshape(-1), (frame.count,))
    asynchronous.tell("waits", op, frame.programs, view)
    while (waiting := bar.pending(parity)).any():
        rows = np.flatnonzero(waiting)
        some = view.take(rows) if len(view.base) > 1 else view
        if asynchronous.land_next(frame.programs[rows], some, op):
            continue
        name = view.buffer.name or _("the barrier")
        left = MBarrier(some, frame.programs[rows])
        told = _("the wait for phase {phase} of {name} never ends: {state}").format(
            name=name, phase=int(parity[rows[0]]), state=left.told()
        )
        hint = (
            _("Let what arrives at {name} wait until the phase before was waited for.").format(name=name)
            if left.is_missed
            else _(
                "Compare what the phase expects with what arrives: the count of mbarrier.init, the arrivals, the bytes "
                "of mbarrier.expect. Check the phase: it starts at 0 and changes with each use."
            )
        )
        reason = Deadlock(told, op, frame.programs[rows], rule=PHASE_NEVER_ENDS, hint=hint)
        if asynchronous.partitions is None:
            raise reason
        asynchronous.partitions.wait(reason)
    bar.see()
    if asynchronous.partitions is not None:
        asynchronous.partitions.learn(frame.programs, bar.released(asynchronous.partitions.count))
    asynchronous.tell("waited", op, frame.programs, view)


@impl("ttg.fence_async_shared", "ttng.fence_async_shared")
def fence_async_shared(frame: Frame, op: Op) -> None:
    frame.machine.asynchronous.fence(frame.programs, op)


@impl("ttng.tmem_wait", "ttng.fence_mbarrier_init_release_cluster")
def already_done(frame: Frame, op: Op) -> None:
    """Nothing: a program's own accesses of tensor memory and its initialised barriers are complete at once."""


@control("ttg.warp_specialize")
def warp_specialize(frame: Frame, op: Op, *captured: Value) -> Any:
    first, holder = frame.region(op)[:2]
    inner = holder.terminator
    handed = [frame.environment[number] for number in inner.operands] or list(captured)
    works = [partial(frame.run, first)]
    works += [partial(frame.run, code, handed) for code in frame.routine.regions[inner.index]]
    asynchronous = frame.machine.asynchronous
    partitions = Partitions(lambda: asynchronous.version, frame.programs, asynchronous.schedule)
    asynchronous.part(partitions)
    try:
        results = partitions.run(works)[0]
    finally:
        asynchronous.part(None)
    return results[0] if len(results) == 1 else results
