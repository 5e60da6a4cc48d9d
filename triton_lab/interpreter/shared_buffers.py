"""Shared memory: buffers of bytes at the offsets of their layouts, and the asynchronous work that is pending on them.

A `SharedBuffer` is one allocation, with bytes for each program. A `SharedView` is a part of it, as a kernel's value:
indexing, slicing and transposing it give other views of the same bytes.

A copy into a buffer lands when the kernel has waited for it, and no earlier: a kernel that forgets to wait reads bytes
that are still pending, and is stopped there. Likewise a buffer that a copy or a product may still read must not be
written.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.interpreter.kernel_errors import KernelError
from triton_lab.ir import Op
from triton_lab.localization import N_, _, translated

Array = NDArray[Any]

_UNWRITTEN = 0xFF  # NaN in each float, -1 in each integer


class SharedBuffer:
    """An allocation of ``size`` bytes for each of ``programs`` (linear numbers, ascending), called ``name``."""

    def __init__(self, programs: Array, size: int, name: str) -> None:
        self.programs = programs
        self.name = name
        self.bytes = np.full((len(programs), -(-size // 16) * 16), _UNWRITTEN, np.uint8)
        # The number of the work that will write, or may still read, each byte; 0 for none. Made when there is some.
        self._arriving: Array | None = None
        self._leaving: Array | None = None
        self._works: dict[int, Op] = {}
        self.barriers: Any = None

    def rows(self, programs: Array) -> Array:
        """The rows of some of the programs."""
        return np.searchsorted(self.programs, programs)

    def will_write(self, number: int, op: Op, rows: Array, places: Array) -> None:
        """Note that work ``number`` writes these bytes some time."""
        if self._arriving is None:
            self._arriving = np.zeros(self.bytes.shape, np.int32)
        self._works[number] = op
        self._arriving[rows, places] = number

    def may_read(self, number: int, op: Op, rows: Array, places: Array) -> None:
        """Note that work ``number`` reads these bytes some time."""
        if self._leaving is None:
            self._leaving = np.zeros(self.bytes.shape, np.int32)
        self._works[number] = op
        self._leaving[rows, places] = number

    def done(self, number: int, rows: Array) -> None:
        """Work ``number`` of these programs has ended."""
        for pending in (self._arriving, self._leaving):
            if pending is not None:
                part = pending[rows]
                part[part == number] = 0
                pending[rows] = part

    def check(self, rows: Array, places: Array, writes: bool, ours: int = 0) -> None:
        """Raise KernelError if work is pending on these bytes that does not allow to read, or to write, them."""
        self._refuse(self._arriving, rows, places, ours, _ARRIVING)
        if writes:
            self._refuse(self._leaving, rows, places, ours, _LEAVING)

    def _refuse(self, pending: Array | None, rows: Array, places: Array, ours: int, told: str) -> None:
        if pending is None:
            return
        found = pending[rows, places]
        wrong = (found != 0) & (found != ours)
        if wrong.any():
            line = self._line(int(found[wrong][0]))
            programs = self.programs[np.unique(np.nonzero(wrong)[0])]
            raise KernelError(translated(told).format(name=self.name or "the buffer", line=line), None, programs)

    def _line(self, number: int) -> str:
        location = self._works[number].location
        return "" if location is None else _(" of line {line}").format(line=location.line)


_ARRIVING = N_(
    "{name} is used while the copy{line} into it is pending. Wait for the copy first: async_copy.wait_group(...), or "
    "mbarrier.wait(...)."
)
_LEAVING = N_(
    "{name} is written while the work{line} may still read it. Wait first: tma.store_wait(...), or "
    "warpgroup_mma_wait(...)."
)


@dataclass(frozen=True, slots=True)
class SharedView:
    """A part of ``buffer``: byte ``base`` of each program, ``(programs,)`` or ``(1,)``, and the ``offsets`` of its
    elements from there, in the shape of the block."""

    buffer: SharedBuffer
    base: Array
    offsets: Array
    dtype: np.dtype[Any]

    def take(self, rows: Array) -> SharedView:
        """The same part, for some of its programs."""
        base = self.base if len(self.base) == 1 else self.base[rows]
        return SharedView(self.buffer, base, self.offsets, self.dtype)

    def places(self, programs: Array) -> tuple[Array, Array]:
        """Rows and first bytes of its elements, for some programs: ``(programs, *1)`` and ``(programs, *block)``."""
        ones = (1,) * self.offsets.ndim
        base = np.broadcast_to(self.base, (len(programs),))
        return self.buffer.rows(programs).reshape(-1, *ones), base.reshape(-1, *ones) + self.offsets

    def read(self, programs: Array, ours: int = 0) -> Array:
        """The elements, ``(programs, *block)``. Raises KernelError if a copy into them is pending."""
        rows, places = self.places(programs)
        self.buffer.check(rows, places, writes=False, ours=ours)
        found: Array = self.buffer.bytes.view(self.dtype)[rows, places // self.dtype.itemsize]
        return found

    def write(self, programs: Array, values: Array, mask: Array | None = None, ours: int = 0) -> None:
        """Store elements, ``(programs, *block)``, where ``mask`` is set. Raises KernelError if work is pending."""
        rows, places = self.places(programs)
        self.buffer.check(rows, places, writes=True, ours=ours)
        held, numbers = self.buffer.bytes.view(self.dtype), places // self.dtype.itemsize
        values = np.broadcast_to(values, numbers.shape)
        if mask is not None:
            values = np.where(mask, values, held[rows, numbers])
        held[rows, numbers] = values

    def every_byte(self, programs: Array) -> tuple[Array, Array]:
        """Rows and numbers of all its bytes."""
        rows, places = self.places(programs)
        return rows[..., None], places[..., None] + np.arange(self.dtype.itemsize)


@dataclass(slots=True)
class PendingWork:
    """Work that is pending for ``programs``: ``values`` that land in ``view``, or a read of ``view`` where None.

    ``waits`` has a number for each program: of the group that it belongs to, 0 before it is committed, -1 once done.
    ``bar`` is the barrier that it reports to, as a view, by
    ``landed``, which gets those programs' part of it.
    """

    number: int
    op: Op
    view: SharedView
    programs: Array
    values: Array | None
    mask: Array | None = None
    bar: SharedView | None = None
    landed: Callable[[SharedView, Array], None] = lambda bar, programs: None
    waits: Array = field(default_factory=lambda: np.zeros(0, np.int64))

    def land(self, chosen: Array) -> None:
        """End the work for the programs at these positions."""
        programs = self.programs[chosen]
        view = self.view.take(chosen) if len(self.view.base) > 1 else self.view
        if self.values is not None:
            values = self.values if self.values.shape[0] == 1 else self.values[chosen]
            mask = None if self.mask is None or self.mask.shape[0] == 1 else self.mask[chosen]
            view.write(programs, values, self.mask if mask is None else mask, self.number)
        view.buffer.done(self.number, view.buffer.rows(programs))
        self.waits[chosen] = -1
        if self.bar is not None:
            bar = self.bar.take(chosen) if len(self.bar.base) > 1 else self.bar
            self.landed(bar, programs)


class Asynchronous:
    """The asynchronous work of a launch, in queues: copies in groups, stores by TMA, products of warp groups."""

    def __init__(self) -> None:
        self.works = 0
        self.queues: dict[str, list[PendingWork]] = {}
        self.groups: dict[str, dict[int, int]] = {}
        # Counts what may end a wait: arrivals and landings.
        self.version = 0
        self.partitions: Any = None

    def add(self, queue: str, copy: PendingWork) -> None:
        """Queue a piece of work; its bytes are pending from now on."""
        copy.waits = np.zeros(len(copy.programs), np.int64)
        rows, places = copy.view.every_byte(copy.programs)
        note = copy.view.buffer.may_read if copy.values is None else copy.view.buffer.will_write
        note(copy.number, copy.op, rows, places)
        self.queues.setdefault(queue, []).append(copy)

    def number(self) -> int:
        """A number for the next piece of work."""
        self.works += 1
        return self.works

    def commit(self, queue: str, programs: Array) -> None:
        """Make one group of all work in a queue that these programs have not committed yet."""
        counts = self.groups.setdefault(queue, {})
        for program in programs.tolist():
            counts[program] = counts.get(program, 0) + 1
        for copy in self.queues.get(queue, ()):
            mine = np.isin(copy.programs, programs) & (copy.waits == 0)
            copy.waits[mine] = [counts[program] for program in copy.programs[mine].tolist()]

    def wait(self, queue: str, programs: Array, left: int) -> None:
        """End all groups of these programs but the last ``left``."""
        counts = self.groups.get(queue, {})
        for copy in self.queues.get(queue, ()):
            mine = np.isin(copy.programs, programs) & (copy.waits > 0)
            limit = np.array([counts.get(program, 0) - left for program in copy.programs.tolist()])
            chosen = np.flatnonzero(mine & (copy.waits <= limit))
            if len(chosen):
                copy.land(chosen)
                self.version += 1
        self._tidy(queue)

    def land_next(self, queue: str, programs: Array, bar: SharedView) -> bool:
        """End the oldest work of these programs that reports to this barrier; whether there was any."""
        base = dict(zip(programs.tolist(), np.broadcast_to(bar.base, (len(programs),)).tolist(), strict=True))
        for copy in self.queues.get(queue, ()):
            if copy.bar is None or copy.bar.buffer is not bar.buffer:
                continue
            theirs = np.broadcast_to(copy.bar.base, (len(copy.programs),)).tolist()
            chosen = [
                k
                for k, (program, place) in enumerate(zip(copy.programs.tolist(), theirs, strict=True))
                if copy.waits[k] >= 0 and base.get(program) == place
            ]
            if chosen:
                copy.land(np.array(chosen))
                self.version += 1
                self._tidy(queue)
                return True
        return False

    def _tidy(self, queue: str) -> None:
        self.queues[queue] = [copy for copy in self.queues.get(queue, ()) if (copy.waits >= 0).any()]
