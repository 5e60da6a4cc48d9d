"""Asynchronous work: what is pending, what waits for it, and when it lands.

A copy into a buffer lands when the kernel has waited for it, and no earlier, unless the schedule says otherwise: so a
kernel that forgets to wait touches bytes that are still pending, and is stopped there.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.interpreter.asynchronous.async_events import AsyncEvent, EventKind, Listener
from triton_lab.interpreter.asynchronous.buffer_accesses import BufferAccesses
from triton_lab.interpreter.asynchronous.mbarriers import MBarrier
from triton_lab.interpreter.asynchronous.partitions import Partitions
from triton_lab.interpreter.asynchronous.pending_work import PROXIES, PendingWork, Queue
from triton_lab.interpreter.asynchronous.schedules import LandingSchedule
from triton_lab.interpreter.asynchronous.shared_views import Buffer, SharedView
from triton_lab.interpreter.kernel_errors import KernelError
from triton_lab.ir import Op, Plan
from triton_lab.localization import _

Array = NDArray[Any]
# What its own partition waits for; the other queues report to barriers.
_WAITED_FOR = ("copies", "stores", "products")
STORE_NOT_WAITED = "store-not-waited-for"


class Asynchronous:
    """The asynchronous work of a launch, and what orders it: groups, barriers, fences, partitions.

    ``fences``: the queues that fences must order after the program's own accesses. In a module that the compiler still
    works on, some or all of them have none yet.
    """

    def __init__(
        self,
        plan: Plan,
        schedule: str = "lazy",
        listener: Listener | None = None,
        fences: frozenset[Queue] = PROXIES,
    ) -> None:
        self._plan = plan
        self._fences = fences
        self.schedule = LandingSchedule(schedule)
        self.listener = listener
        self.partitions: Partitions | None = None
        # Counts what may end a wait: arrivals, and work that is started or lands.
        self.version = 0
        # Counts the accesses of programs themselves.
        self.moments = 0
        self._works = 0
        self._time = 0
        self._pending: list[PendingWork] = []
        self._groups: defaultdict[tuple[str, int], Counter[int]] = defaultdict(Counter)  # by queue and partition
        self._accesses: list[BufferAccesses] = []

    # --- Who touches what ----------------------------------------------------------------------------------------

    def buffer(self, programs: Array, size: int, name: str, shared: bool, site: int) -> Buffer:
        """A new buffer, in shared or in tensor memory."""
        made = Buffer(programs, size, name, shared, site)
        made.accesses = BufferAccesses(self)
        return made

    def touched(self, accesses: BufferAccesses) -> None:
        """A buffer has accesses that a later one may be out of order with; see `Clocks`."""
        self._accesses.append(accesses)

    @cached_property
    def has_proxies(self) -> bool:
        """Whether anything in the kernel goes through the async proxy, so that fences matter."""
        return bool(self._fences) and any(op.name.startswith("ttng.") for op in self._plan.walk())

    def clock(self, programs: Array) -> tuple[int, Array]:
        """The number of the partition that runs, and what these programs of it know: ``(programs, partitions)``."""
        if self.partitions is None:
            return 0, np.zeros((0, 0), np.int64)
        return self.partitions.clock(programs)

    def read(self, view: SharedView, programs: Array, op: Op) -> Array:
        """What a program itself reads. Raises KernelError if that is not in order with what is pending."""
        view.buffer.accesses.check(view, programs, op, writes=False)
        self.tell("read", op, programs, view)
        self._tell_unwritten(op, programs, view)
        return view.read(programs)

    def write(self, view: SharedView, programs: Array, op: Op, values: Array) -> None:
        """What a program itself writes. Raises KernelError if that is not in order with what is pending."""
        view.buffer.accesses.check(view, programs, op, writes=True)
        self.tell("written", op, programs, view)
        view.write(programs, values)

    def part(self, partitions: Partitions | None) -> None:
        """From now on run partitions; None: these have ended. What was before is in order with what comes then."""
        self.partitions = partitions
        for one in self._accesses:
            one.ordered = []
        self._accesses = [one for one in self._accesses if not one.is_empty]

    def forget_reads(self, programs: Array, moment: int) -> None:
        """What these programs had read by a moment is in order with the async proxy: it has been used up."""
        for one in self._accesses:
            one.forget_reads(programs, moment)

    def fence(self, programs: Array, op: Op) -> None:
        """Put what these programs have read and written themselves in order with the async proxy."""
        mine, knows = self.clock(programs)
        for one in self._accesses:
            if one.generic:
                one.fence(programs, mine, knows if len(knows) else None)
        self._accesses = [one for one in self._accesses if not one.is_empty]
        self.tell("fenced", op, programs)

    # --- Work ----------------------------------------------------------------------------------------------------

    def add(self, work: PendingWork) -> None:
        """Start a piece of work; its bytes are pending from now on.

        Raises KernelError if they are touched by what is not in order with it.
        """
        for view, writes in work.touches:
            noted = view.buffer.accesses.check(
                view,
                work.programs,
                work.op,
                writes=writes,
                queue=work.queue,
                fenced=work.queue in self._fences,
                ends_later=work.queue in _WAITED_FOR,
            )
            if noted is not None and work.queue in _WAITED_FOR:
                work.noted.append(noted)
        for view in work.reads:
            self._tell_unwritten(work.op, work.programs, view)
        self._works += 1
        self.version += 1
        work.number = self._works
        work.waits = np.zeros(len(work.programs), np.int64)
        work.partition, knows = self.clock(work.programs)
        work.clock = knows.copy() if len(knows) else None
        if work.queue == "tensor core":
            work.after = [
                one for one in self._pending if one.queue == "tensor core" and one.partition == work.partition
            ]
        for view, writes in work.touches:
            view.buffer.accesses.pending.append((work, view, writes))
        self._pending.append(work)
        self.tell("issued", work.op, work.programs, work=work)
        if self.schedule.at_once():
            self._land(work, work.left(), None)
            self._tidy()

    def pending(self, queue: Queue, programs: Array) -> list[PendingWork]:
        """The work in a queue that has not landed for some of these programs, the oldest first."""
        mine = self.clock(programs)[0]
        return [
            one for one in self._pending if one.queue == queue and one.partition == mine and len(one.left(programs))
        ]

    def commit(self, queue: Queue, programs: Array, op: Op) -> None:
        """Make one group of all work in a queue that these programs have not committed yet."""
        counts = self._groups[queue, self.clock(programs)[0]]
        counts.update(programs.tolist())
        for work in self.pending(queue, programs):
            chosen = work.left(programs)
            chosen = chosen[work.waits[chosen] == 0]
            work.waits[chosen] = [counts[program] for program in work.programs[chosen].tolist()]
        self.tell("committed", op, programs, queue=queue)

    def wait(self, queue: Queue, programs: Array, left: int, op: Op) -> None:
        """End all groups of these programs but the last ``left``."""
        counts = self._groups[queue, self.clock(programs)[0]]
        for work in self.pending(queue, programs):
            chosen = work.left(programs)
            last = np.array([counts[program] - left for program in work.programs[chosen].tolist()])
            self._land(work, chosen[(work.waits[chosen] > 0) & (work.waits[chosen] <= last)], op)
        self._tidy()
        self.tell("waited", op, programs, queue=queue)

    def land_next(self, programs: Array, bar: SharedView, op: Op) -> bool:
        """End the oldest work of these programs that reports to this barrier; whether there was any."""
        base = dict(zip(programs.tolist(), bar.based(programs).tolist(), strict=True))
        for work in self._pending:
            for theirs, _bytes, _arrivals in work.bars:
                if theirs.buffer is not bar.buffer:
                    continue
                places = theirs.based(work.programs).tolist()
                chosen = [k for k in work.left().tolist() if base.get(int(work.programs[k])) == places[k]]
                if chosen:
                    self._land(work, np.array(chosen), op)
                    self._tidy()
                    return True
        return False

    def moment(self) -> None:
        """A moment between operations, at which the schedule may end work, or let other partitions run."""
        if not self.schedule.is_random:
            return
        number = self.schedule.landing(len(self._pending))
        if number is not None:
            work = self._pending[number]
            self._land(work, work.left(), None)
            self._tidy()
        if self.partitions is not None and self.schedule.gives_way():
            self.partitions.pause()

    def ended(self) -> None:
        """The programs of a batch have ended. Raises KernelError if TMA may still read their shared memory."""
        for work in self._pending:
            if work.queue == "stores":
                programs = work.programs[work.waits >= 0]
                self.clear()
                told = _("the kernel ends while this store may still read shared memory")
                hint = _("Call tma.store_wait(0) before the kernel ends.")
                raise KernelError(told, work.op, programs, rule=STORE_NOT_WAITED, hint=hint)
        self.clear()

    def clear(self) -> None:
        """Forget all work and all buffers."""
        self._pending = []
        self._groups.clear()
        self._accesses = []

    def tell(self, kind: EventKind, op: Op | None, programs: Array, *views: SharedView, **more: Any) -> None:
        """Tell the listener of an event, which is about ``views``, else about all that its ``work`` touches."""
        if self.listener is None:
            return
        self._time += 1
        work = more.get("work")
        touched = [(one, kind == "written") for one in views]
        if work is not None and not views:
            touched = sorted(work.touches, key=lambda one: not one[1])  # what it writes comes first
        self.listener(
            AsyncEvent(
                time=self._time,
                kind=kind,
                op=op,
                programs=programs,
                partition=more.get("partition", self.clock(programs)[0]),
                queue=work.queue if work is not None else more.get("queue", ""),
                work=0 if work is None else work.number,
                work_op=None if work is None else work.op,
                touches=tuple((one.buffer, np.asarray(one.base), writes) for one, writes in touched),
            )
        )

    def _tell_unwritten(self, op: Op, programs: Array, view: SharedView) -> None:
        """Tell the listener of a read of bytes that were never written."""
        if self.listener is not None and len(missing := view.unwritten(programs)):
            part = view if len(view.base) == 1 else view.take(np.searchsorted(programs, missing))
            self.tell("unwritten", op, missing, part)

    def _land(self, work: PendingWork, chosen: Array, op: Op | None) -> None:
        """End work for the programs at these positions, and what has to end before it."""
        if not len(chosen):
            return
        programs = work.programs[chosen]
        for earlier in work.after:
            self._land(earlier, earlier.left(programs), op)
        if work.effect is not None:
            work.effect(chosen)
        work.waits[chosen] = -1
        if self.partitions is not None:
            epoch = self.partitions.epoch(work.partition, programs)
            for noted in work.noted:
                noted.ends(programs, epoch)
        self.version += 1
        self.tell("landed", op, programs, work=work)
        for bar, size, arrivals in work.bars:
            barrier = MBarrier(bar.take(chosen) if len(bar.base) > 1 else bar, programs)
            clock = None if work.clock is None else work.clock[chosen]
            ended = barrier.arrive(arrivals, clock=clock) if size is None else barrier.land(size, clock)
            if size is None:
                self.tell("arrived", work.op, programs, bar, work=work)
            if ended:
                self.tell("phase", work.op, programs, bar)

    def _tidy(self) -> None:
        over = {id(work) for work in self._pending if not len(work.left())}
        if not over:
            return
        for work in self._pending:
            if id(work) in over:
                for view, _writes in work.touches:
                    accesses = view.buffer.accesses
                    accesses.pending = [entry for entry in accesses.pending if entry[0] is not work]
        self._pending = [work for work in self._pending if id(work) not in over]
        for work in self._pending:
            work.after = [one for one in work.after if id(one) not in over]
