"""`Access`: what one load, store or atomic of a kernel did over a whole launch."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from copy import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.launch.argument import Argument
from triton_lab.launch.element_index import inverse
from triton_lab.launch.recording.access_event import AccessEvent
from triton_lab.localization import _
from triton_lab.messages import count as counted

Array = NDArray[Any]
_INT64 = np.dtype(np.int64)


class Access:
    """One access operation of the kernel, over all programs and iterations of a launch.

    An iteration is a program's first, second, ... execution of the operation. All arrays are
    ``(programs, *block)``; where a program does not reach an iteration, its mask is False.
    If the access stopped the launch, the last event of its operation is the one that failed: `strayed` has the lanes
    that may not touch their addresses, and `completed` is the access without that event.

    >>> load, _, store = launch.accesses
    >>> load.kind, load.argument, load.line, load.dtype
    ('load', 'x_ptr', 21, 'float32')
    >>> load.block, load.programs, load.iterations
    ((128,), 8, 1)
    """

    def __init__(
        self,
        op: int,
        kind: str,
        line: int | None,
        column: int | None,
        dtype: str,
        itemsize: int,
        argument: Argument | None,
        programs: int,
        events: list[AccessEvent],
        recall: Callable[[Collection[int]], dict[int, list[Array]]],
    ) -> None:
        self.op = op
        self.kind = kind
        self.line = line
        self.column = column
        self.dtype = dtype
        self.itemsize = itemsize
        self.programs = programs
        self.events = events
        self._argument = argument
        self._recall = recall
        self._index: list[list[tuple[int, Array]]] | None = None

    def __repr__(self) -> str:
        where = "" if self.line is None else f", line {self.line}"
        return f"<{self.kind} of {self.argument or 'memory'}{where}, {counted(self.iterations, 'iteration')}>"

    @property
    def argument(self) -> str | None:
        """The name of the argument whose memory is touched; None if the memory belongs to no single argument."""
        return None if self._argument is None else self._argument.name

    @property
    def block(self) -> tuple[int, ...]:
        """The shape of the block that one program touches at once."""
        return self.events[0].shape if self.events else ()

    @property
    def stopped(self) -> AccessEvent | None:
        """The event that stopped the launch, if it belongs to this operation. It changed no memory."""
        return self.events[-1] if self.events and self.events[-1].strayed is not None else None

    @property
    def completed(self) -> Access:
        """The access without the event that stopped the launch: what it did to memory."""
        if self.stopped is None:
            return self
        other = copy(self)
        other.events, other._index = self.events[:-1], None
        return other

    @property
    def iterations(self) -> int:
        """The largest number of times that any program executes the operation."""
        done = np.zeros(self.programs, np.int64)
        for event in self.events:
            done[event.programs] += 1
        return int(done.max(initial=0))

    def _iterations(self) -> list[list[tuple[int, Array]]]:
        """For each iteration: events, and their rows that belong to it."""
        if self._index is None:
            done = np.zeros(self.programs, np.int64)
            index: list[list[tuple[int, Array]]] = []
            for position, event in enumerate(self.events):
                count = done[event.programs]
                for number in np.flatnonzero(np.bincount(count)):
                    while len(index) <= number:
                        index.append([])
                    index[number].append((position, np.flatnonzero(count == number)))
                done[event.programs] = count + 1
            self._index = index
        return self._index

    def of(self, programs: Array) -> Access:
        """The access cut to some programs (ascending): the others take no part.

        >>> launch.accesses[2].of(np.array([0, 7])).mask().sum(axis=1)
        array([128,   0,   0,   0,   0,   0,   0, 104])
        """
        cut = [event.among(programs) for event in self.events]
        kept = [event for event in cut if len(event.programs)]
        place = self.op, self.kind, self.line, self.column, self.dtype, self.itemsize
        return Access(*place, self._argument, self.programs, kept, self._recall)

    @property
    def lanes(self) -> int:
        """How many lanes its programs have in all iterations, masked-off lanes included."""
        return sum(len(event.programs) * math.prod(event.shape) for event in self.events)

    @property
    def asked(self) -> int:
        """How many bytes its active lanes access, in all programs and iterations; a stopped event counts none.

        >>> [access.asked for access in launch.accesses]
        [4000, 4000, 4000]
        """
        return sum(event.lanes for event in self.completed.events) * self.itemsize

    def parts(self, iteration: int) -> list[AccessEvent]:
        """The events of an iteration, each cut to the programs that are then in this iteration.

        >>> [(len(event.programs), event.shape) for event in launch.accesses[0].parts(0)]
        [(8, (128,))]
        """
        index = self._iterations()
        found = [(self.events[position], rows) for position, rows in (index[iteration] if index else [])]
        return [event if len(rows) == len(event.programs) else event.of(rows) for event, rows in found]

    def _assembled(self, iteration: int, dtype: Any, parts: Callable[[int], Array]) -> Array:
        index = self._iterations()
        if not 0 <= iteration < max(1, len(index)):
            raise IndexError(
                _("iteration {iteration} of {count}: {self}").format(
                    iteration=iteration, count=len(index), self=repr(self)
                )
            )
        result = np.zeros((self.programs, *self.block), dtype)
        for position, rows in index[iteration] if index else []:
            result[self.events[position].programs[rows]] = parts(position)[rows]
        return result

    def address(self, iteration: int = 0) -> Array:
        """Byte addresses, int64; 0 for programs that do not take part.

        >>> first = launch.accesses[0].address()
        >>> first.shape, first.dtype
        ((8, 128), dtype('int64'))
        >>> int(first[1, 0] - first[0, 0])
        512
        """
        return self._assembled(iteration, np.int64, lambda k: self.events[k].addresses())

    def byte_offset(self, iteration: int = 0) -> Array:
        """Byte offsets from the start of the argument's storage.

        >>> launch.accesses[0].byte_offset()[:3, 0]
        array([   0,  512, 1024])
        """
        start = self._argument.storage_address if self._argument is not None else 0
        return np.where(self.executed(iteration), self.address(iteration) - start, 0)

    def executed(self, iteration: int = 0) -> Array:
        """Bool ``(programs, 1, ...)``: which programs execute this iteration, whatever their masks are.

        >>> launch.accesses[0].executed().reshape(-1)
        array([ True,  True,  True,  True,  True,  True,  True,  True])
        """
        result = np.zeros((self.programs, *(1,) * len(self.block)), np.bool_)
        index = self._iterations()
        for position, rows in index[iteration] if index else []:
            result[self.events[position].programs[rows]] = True
        return result

    def order(self, iteration: int = 0) -> int:
        """The number of the first event of this iteration, counted over the launch's events.

        >>> [access.order() for access in launch.accesses]
        [0, 1, 2]
        """
        return min(self.events[position].order for position, _ in self._iterations()[iteration])

    def mask(self, iteration: int = 0) -> Array:
        """Bool ``(programs, *block)``: which lanes touch memory.

        >>> launch.accesses[0].mask().sum(axis=1)
        array([128, 128, 128, 128, 128, 128, 128, 104])
        """
        return self._assembled(iteration, np.bool_, lambda k: self.events[k].active())

    def strayed(self, iteration: int = 0) -> Array:
        """Bool ``(programs, *block)``: which lanes stopped the launch, as they may not touch their addresses.

        >>> bool(launch.accesses[0].strayed().any())
        False
        """
        return self._assembled(iteration, np.bool_, lambda k: self.events[k].astray())

    def values(self, iteration: int = 0) -> Array:
        """The values that were loaded, stored, or found by an atomic; 0 where the launch was stopped before.

        Replays the launch. Raises `CannotReplay` if that is impossible.

        >>> launch.accesses[2].values()[1, :4]
        array([129., 130., 131., 132.], dtype=float32)
        """
        return self.values_of(iteration, self._recall((self.op,)))

    def recall(self, others: Sequence[Access]) -> dict[int, list[Array]]:
        """The values of this access and others of the same launch, by operation, from one replay.

        >>> load, other, store = launch.accesses
        >>> found = load.recall([store])
        >>> load.values_of(0, found)[1, :4], store.values_of(0, found)[1, :4]
        (array([128., 129., 130., 131.], dtype=float32), array([129., 130., 131., 132.], dtype=float32))
        """
        return self._recall({self.op, *(access.op for access in others)})

    def values_of(self, iteration: int, recalled: Mapping[int, list[Array]]) -> Array:
        """`values`, taken from the result of `recall`.

        >>> load = launch.accesses[0]
        >>> load.values_of(0, load.recall([]))[7, 100:106]
        array([996., 997., 998., 999.,   0.,   0.], dtype=float32)
        """
        values = recalled[self.op]
        dtype = values[0].dtype if values else np.float32
        # A load that stopped the launch has no values.
        nothing = np.zeros((self.programs, *self.block), dtype)
        return self._assembled(iteration, dtype, lambda k: values[k] if k < len(values) else nothing)

    def element(self, argument: Argument | str | None = None, iteration: int = 0) -> Array:
        """The element of ``argument`` that each lane points at, as a row-major index over its shape; -1 for none.

        If several elements share an address (stride 0), it is the first of them.

        >>> launch.accesses[2].element()[7, 100:106]
        array([996, 997, 998, 999,  -1,  -1])
        """
        owner = self._argument
        if isinstance(argument, Argument):
            owner = argument
        if owner is None:
            return np.full((self.programs, *self.block), -1)
        position = elements_at(self.address(iteration) - owner.address, owner)
        return np.where(self.executed(iteration), position, -1)

    def element_of(self, program: int, lane: int, iteration: int = 0) -> int:
        """`element` of one lane of one program, computed for that lane alone.

        >>> launch.accesses[2].element_of(program=7, lane=100)
        996
        """
        owner = self._argument
        index = self._iterations()
        for position, rows in index[iteration] if owner is not None and iteration < len(index) else []:
            event = self.events[position]
            at = int(np.searchsorted(event.programs[rows], program))
            if at < len(rows) and event.programs[rows[at]] == program:
                address = event.of(rows[at : at + 1]).addresses().reshape(-1)[lane]
                assert owner is not None
                return int(elements_at(address - owner.address, owner))
        return -1


def elements_at(offsets: Array, argument: Argument) -> Array:
    """The row-major element numbers at byte offsets from an argument's element 0; -1 where there is no element.

    If several elements share an address, it is the first of them.
    """
    offsets, size = np.asarray(offsets), max(1, argument.itemsize)
    # A size is a power of two, and a shift rounds down as `//` does. Dividing takes ten times as long.
    found = inverse(argument.shape, argument.strides).element(offsets >> (size.bit_length() - 1))
    part = (offsets & (size - 1)) != 0
    return np.where(part, -1, found) if part.any() else found
