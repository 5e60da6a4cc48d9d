"""What two programs that are stepped do, in words: their accesses, their places, and values of memory."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from triton_lab import messages
from triton_lab.ir.effects import ACCESSES
from triton_lab.launch.access import elements_at
from triton_lab.launch.interleaving.interleavings import InterleavingState
from triton_lab.launch.interleaving.stepped_program import MemoryAccess
from triton_lab.launch.maps.value_histogram import as_float
from triton_lab.localization import N_, _, translated
from triton_lab.views.drawing.drawing_text import number_text

if TYPE_CHECKING:
    from triton_lab.launch.argument import Argument
    from triton_lab.launch.launch import Launch

Array = NDArray[np.generic]
NEXT = {"load": N_("load from {name}"), "store": N_("store to {name}"), "atomic": N_("atomic on {name}")}


class InterleavingWords:
    """The words for steps of programs of ``launch``."""

    def __init__(self, launch: Launch) -> None:
        self.launch = launch

    @cached_property
    def kinds(self) -> dict[int, str]:
        """The kind of each access, by the operation's index."""
        return {op.index: ACCESSES[op.name].kind for op in self.launch.executable.plan.walk() if op.name in ACCESSES}

    def _argument(self, address: int) -> Argument | None:
        for one in self.launch.arguments:
            if one.storage_bytes and one.storage_address <= address < one.storage_address + one.storage_bytes:
                return one
        return None

    def element(self, address: int) -> str:
        """The name of the element at an address: ``out_ptr[0]``."""
        argument = self._argument(address)
        if argument is None:
            return messages.address(address)
        number = int(elements_at(np.array([address - argument.address]), argument)[0])
        return messages.element(argument.name, number, argument.shape) if number >= 0 else argument.name

    def told(self, access: MemoryAccess) -> str:
        """An access in words: ``load out_ptr[0]: 3``."""
        where = self._where(access)
        if access.kind == "atomic":
            before, after = value_text(access.values), value_text(access.after)
            if before == after:
                return _("atomic on {where}: finds {before}, which stays").format(where=where, before=before)
            return _("atomic on {where}: {before} becomes {after}").format(where=where, before=before, after=after)
        if access.kind == "store":
            return _("store {value} to {where}").format(value=value_text(access.values), where=where)
        return _("load {where}: {value}").format(where=where, value=value_text(access.values))

    def _where(self, access: MemoryAccess) -> str:
        if not len(access.addresses):
            return _("nothing (all lanes are masked off)")
        first = self.element(int(access.addresses[0]))
        if len(access.addresses) == 1:
            return first
        return _("{first} to {last}").format(first=first, last=self.element(int(access.addresses[-1])))

    def line(self, op: int | None) -> int | None:
        """The line of an operation, if it is known."""
        place = None if op is None else self.launch.lines.get(op)
        return None if place is None else place.line

    def standing(self, state: InterleavingState, which: int) -> str:
        """Where a program (0 or 1 of the pair) stands: its next step, its end, what it waits for."""
        standing, op = state.standings[which], state.next[which]
        if standing == "failed":
            return state.errors[which]
        if standing == "ended":
            return _("has ended")
        if standing == "waiting":
            return _("waits until memory changes")
        if op is None:
            return ""
        argument = self.launch.owner_of(op)
        what = translated(NEXT[self.kinds[op]]).format(name=_("memory") if argument is None else argument.name)
        line = self.line(op)
        return what if line is None else _("line {line}: {what}").format(line=line, what=what)

    def with_line(self, access: MemoryAccess) -> str:
        """An access in words, with its line."""
        line = self.line(access.op)
        told = self.told(access)
        return told if line is None else _("line {line}: {what}").format(line=line, what=told)


def value_text(values: Array) -> str:
    """One value, or the range of several."""
    numbers = as_float(values).reshape(-1)
    if not len(numbers):
        return "-"
    if len(numbers) == 1 or bool((numbers == numbers[0]).all()):
        return number_text(numbers[0]) if np.isfinite(numbers[0]) else str(numbers[0])
    return _("{low} to {high}").format(low=number_text(np.nanmin(numbers)), high=number_text(np.nanmax(numbers)))
