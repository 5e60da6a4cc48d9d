"""Which elements of an argument each event of a launch stores, in the order of the events, and which none stores.

If no program has stored the wrong elements, and all that was stored is right, then a change of what is stored cannot be
the cause: it is where or how often programs store, by the grid, a loop, a mask or an address.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.footprint.access_blocks import Blocks
from triton_lab.interpreter.affine_block import AffineBlock
from triton_lab.ir.effects import Role
from triton_lab.launch.access import elements_at
from triton_lab.launch.comparison.argument_difference import Compared
from triton_lab.launch.comparison.chunks import in_order

if TYPE_CHECKING:
    from triton_lab.launch.access import Access
    from triton_lab.launch.argument import Argument
    from triton_lab.launch.launch import Launch
    from triton_lab.launch.recording.access_event import AccessEvent

Ints = NDArray[np.int64]

_LONG = 256  # elements of a run from which on a slice is faster than a number for each element


@dataclass(frozen=True, eq=False)
class StoreEvent:
    """The event at ``position`` among those of its ``access``, which stores or updates."""

    access: Access
    position: int
    event: AccessEvent


def store_events(launch: Launch, name: str) -> list[StoreEvent]:
    """The events that store to an argument, in order."""
    accesses = [access for access in launch.done if access.kind != "load" and access.argument == name]
    found = [StoreEvent(access, k, event) for access in accesses for k, event in enumerate(access.events)]
    return sorted(found, key=lambda one: one.event.order)


def number_last(launch: Launch, name: str, size: int, *, programs: bool) -> NDArray[np.int32]:
    """For each of an argument's ``size`` elements the number of the event that stored it last, or its program; else -1.

    Numbers of events count those of `store_events`.
    """
    found = np.full(size, -1, np.int32)
    argument = launch.argument(name)
    places = in_order(lambda one: _places(one.event, argument), store_events(launch, name), size)
    for number, pieces in enumerate(places):
        for at, program in pieces:
            found[at] = program if programs else number
    return found


def _places(event: AccessEvent, argument: Argument) -> list[tuple[slice | Ints, Any]]:
    """The elements that an event touches, in order, and the program or programs that do."""
    runs = _runs(event, argument)
    if runs is not None:
        return runs
    active = event.active()
    at = elements_at(event.addresses()[active] - argument.address, argument)
    program = event.programs.astype(np.int32).reshape(-1, *(1,) * (active.ndim - 1))
    stored = np.broadcast_to(program, active.shape)[active]
    inside = at >= 0
    return [(at, stored) if inside.all() else (at[inside], stored[inside])]


def _runs(event: AccessEvent, argument: Argument) -> list[tuple[slice | Ints, Any]] | None:
    """The elements as long slices of a contiguous argument; None if they are not."""
    size, pointer, mask = argument.itemsize, event.pointer, event.mask
    if not (isinstance(pointer, AffineBlock) and pointer.shape == event.shape and argument.is_contiguous):
        return None
    if isinstance(mask, np.ndarray) or (mask is not None and mask.shape != event.shape):
        return None
    blocks = Blocks.around(pointer, mask, event.programs, Role.STORE, size)
    if blocks is None or not _long(blocks):
        return None
    start, stop, program = blocks.runs()
    first, last = start - argument.address, stop - argument.address
    if (first % size).any() or (first < 0).any() or (last > math.prod(argument.shape) * size).any():
        return None
    rows = zip((first // size).tolist(), (last // size).tolist(), program.tolist(), strict=True)
    return [(slice(low, high), by) for low, high, by in rows]


def _long(blocks: Blocks) -> bool:
    """Whether elements beside each other make long runs."""
    beside = [axis for axis, stride in enumerate(blocks.strides) if stride == blocks.size]
    return bool(beside) and int(blocks.extents[:, beside[-1]].max(initial=0)) >= _LONG


@dataclass(frozen=True, eq=False)
class StoreCoverage:
    """By argument that a launch writes the program that stored each element last (-1: none), and how many were stored.

    ``updated``: some are written by atomics, which begin with what is there.
    """

    programs: int
    last: Mapping[str, NDArray[np.int32]]
    lanes: Mapping[str, int]
    updated: bool

    @classmethod
    def of(cls, launch: Launch) -> StoreCoverage:
        """The coverage of a launch."""
        written = [one for one in launch.done if one.kind != "load" and one.argument is not None]
        names = dict.fromkeys(str(one.argument) for one in written)
        last = {
            name: number_last(launch, name, math.prod(launch.argument(name).shape), programs=True) for name in names
        }
        lanes = {name: sum(one.event.lanes for one in store_events(launch, name)) for name in names}
        return cls(launch.programs, last, lanes, any(one.kind == "atomic" for one in written))

    @cached_property
    def leaves_some(self) -> bool:
        """Whether an element may have been left out: no program stored it, or programs add to what is there."""
        return self.updated or any(bool((one < 0).any()) for one in self.last.values())

    @cached_property
    def repeats_some(self) -> bool:
        """Whether an element was stored more than once."""
        return any(self.lanes[name] > np.count_nonzero(one >= 0) for name, one in self.last.items())

    def untouched(self, plain: Sequence[Compared]) -> bool:
        """Whether there are wrong elements, and no program has stored any of them."""
        wrong = {one.name: ~np.asarray(one.explained).reshape(-1) for one in plain}
        some = any(bool(one.any()) for one in wrong.values())
        never = all(not (self.last[name] >= 0)[bad].any() for name, bad in wrong.items() if name in self.last)
        return some and never and not self.updated

    def needed(self, plain: Sequence[Compared]) -> int | None:
        """How many programs would store all elements, if each stored as many as those of the launch; or None.

        Only where the launch's programs store apart, none of them nothing, and all that they store is right: then
        more of them would go on as these do.
        """
        if not self.untouched(plain) or self.repeats_some:
            return None
        found = set()
        for one in plain:
            last = self.last.get(one.name)
            if last is None or not (~np.asarray(one.explained)).any():
                continue
            counts = np.bincount(last[last >= 0], minlength=self.programs)
            if not counts.min():
                return None
            found.add(math.ceil(len(last) / int(counts.max())))
        return max(found, default=None)
