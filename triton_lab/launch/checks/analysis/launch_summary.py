"""`LaunchSummary`: what is known about a whole launch, whether it was recorded whole or ran in parts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self, TypeVar

import numpy as np

from triton_lab.interpreter.kernel_errors import KernelError
from triton_lab.ir import Op
from triton_lab.launch.argument import Argument
from triton_lab.launch.byte_ranges import NOTHING, Bounds, Ints, Ranges
from triton_lab.launch.checks.analysis.other_failures import other_failures

if TYPE_CHECKING:
    from triton_lab.launch.recording.launch_record import Recorded

Made = TypeVar("Made")


@dataclass(frozen=True, eq=False)
class Write:
    """The writes of an operation, or its reads: the argument ``owner``, the addresses' bounds, and the ``bytes``."""

    op: Op
    owner: Argument | None
    hull: tuple[int, int]
    bytes: Callable[[], Bounds]


class LaunchSummary:
    """A launch of which no accesses are known. `Evidence` knows those of a tape, `sharding.merge` those of parts."""

    def __init__(self, launch: Recorded) -> None:
        self.launch = launch
        self._made: dict[Callable[[Any], Any], tuple[Any, Exception | None]] = {}
        self._readers: set[Callable[[Any], Any]] = set()
        self._read: dict[str, Ranges] = {}

    def close(self) -> None:
        """Release the values that checks share: they refer back to this summary, and so keep the launch's memory."""
        self._made.clear()
        self._readers.clear()
        self._read.clear()

    @property
    def complete(self) -> bool:
        """Whether all accesses of the launch are known."""
        return False

    @property
    def unwritten(self) -> Ranges:
        """The bytes that were never written before the launch."""
        return NOTHING

    def idle(self) -> Ints:
        """The numbers of the programs that touched no memory."""
        return np.empty(0, np.int64)

    def writes(self) -> Sequence[Write]:
        """The writes of the launch, by operation."""
        return ()

    def reads(self) -> Sequence[Write]:
        """The reads of the launch, by operation, in the same form."""
        return ()

    def bytes_read(self, argument: Argument) -> Ranges:
        """The bytes that any program reads through an argument."""
        if argument.name not in self._read:
            self._read[argument.name] = Ranges.joined(one.bytes() for one in self.reads() if one.owner == argument)
        return self._read[argument.name]

    def read_by_several(self) -> Ranges:
        """The bytes that several programs read; nothing if that would take long."""
        return NOTHING

    def knows_extents(self, argument: Argument) -> bool:
        """Whether each extent of a tensor is a number that the launch passes, half of one, or an extent of the grid.

        Then the kernel hardly means to work on a part of it.
        """
        given = [one.value for one in self.launch.arguments if one.kind in ("scalar", "constexpr")]
        numbers = {value for value in given if type(value) is int}
        told = numbers | {number // 2 for number in numbers if number % 2 == 0} | {1, *self.launch.grid}
        return told.issuperset(argument.shape)

    def other_failures(self, error: KernelError) -> Iterator[KernelError]:
        """The errors of other programs than that which stopped the launch with ``error``. Raises CannotReplay."""
        return other_failures(self.launch, error)

    def once(self, make: Callable[[Self], Made]) -> Made:
        """What ``make`` finds in this launch, found once for all rules; raises what it raised.

        If it has read memory, each rule that asks for it counts as a reader.
        """
        snapshot = self.launch.snapshot
        if make not in self._made:
            before = 0 if snapshot is None else snapshot.reads
            try:
                self._made[make] = make(self), None
            except Exception as error:  # each rule that needs it says why it could not check
                self._made[make] = None, error
            if snapshot is not None and snapshot.reads > before:
                self._readers.add(make)
        elif snapshot is not None and make in self._readers:
            snapshot.reads += 1
        made, failed = self._made[make]
        if failed is not None:
            raise failed
        found: Made = made
        return found
