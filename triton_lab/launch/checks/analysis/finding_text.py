"""How findings name what they have at hand: of a launch its programs and lines, of addresses the elements."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from triton_lab import messages
from triton_lab.ir import Op
from triton_lab.launch.access import elements_at
from triton_lab.launch.argument import Argument
from triton_lab.launch.byte_ranges import NOTHING, Ints, Ranges
from triton_lab.launch.checks.analysis.evidence import EvidenceLanes, SeenAccess
from triton_lab.launch.diagnosis.finding import MOST_STRETCHES, Finding
from triton_lab.launch.membership_classes import distinct, ordering

if TYPE_CHECKING:
    from triton_lab.launch.recording.launch_record import Recorded

# So many lanes a finding lists.
LISTED = 100


def program(launch: Recorded, number: int) -> str:
    """``program (3, 0, 0)``, as it stands in a sentence."""
    return messages.who(number, launch.grid)


def programs(launch: Recorded, numbers: Ints) -> str:
    """The first of them, and how many more there are."""
    return messages.programs(distinct(numbers).tolist(), launch.grid)


def element(argument: Argument | None, address: int) -> str:
    """``x_ptr[3, 5]``, or how many bytes before or behind ``x_ptr`` an address lies."""
    if argument is None:
        return messages.address(address)
    number = int(elements_at(np.array([address - argument.address]), argument)[0])
    if number >= 0:
        return messages.element(argument.name, number, argument.shape)
    place, rest = divmod(address - argument.storage_address, argument.itemsize)
    exact = f"element {place}" if not rest else f"byte {address - argument.storage_address}"
    return f"{exact} of the storage of {argument.name}"


def others(count: int) -> str:
    """What follows the first of ``count`` lanes."""
    return messages.in_all(count, "lane")


def line_of(launch: Recorded, op: Op) -> str:
    """``line 12``, for use in the middle of a sentence; of a helper in another file, where that is."""
    place = launch.lines.get(op.index)
    if place is None:
        return "another place"
    return messages.place(place.file, place.line) if place.file not in ("", launch.file) else f"line {place.line}"


class LaneTally:
    """Lanes that were found bit by bit: how many, those that can be among the first of them all, and where all are.

    Each touches so many bytes as ``itemsize`` says; 0 where lanes have no addresses.
    """

    def __init__(self, itemsize: int = 0) -> None:
        self.count = 0
        self._itemsize = itemsize
        self._parts: list[EvidenceLanes] = []
        self._where: list[Ranges] = []
        # Whether lanes are among them of which it is not known where they are.
        self._nowhere = False

    def add(self, lanes: EvidenceLanes) -> None:
        """Some more lanes, by program, then lane."""
        self.count += len(lanes)
        self._parts.append(_may_be_listed(lanes))
        if len(self._parts) > LISTED:
            self._parts = [listed(self._parts)]
        self._nowhere |= not self._itemsize
        if self._itemsize:
            self._where.append(Ranges.of(lanes.address, lanes.address + self._itemsize))
            if len(self._where) > LISTED:
                self._where = [Ranges.joined(self._where)]

    def join(self, other: LaneTally) -> None:
        """All that another one has."""
        self.count += other.count
        self._parts += other._parts
        self._where += other._where
        self._nowhere |= other._nowhere

    @property
    def where(self) -> Ranges:
        """The bytes that all of them touch; nothing where that is not known of each."""
        return NOTHING if self._nowhere else Ranges.joined(self._where)

    def listed(self) -> EvidenceLanes:
        """The lanes to list."""
        return listed(self._parts)


class FoundLanes:
    """The lanes that a check has found, by operation: how many, the first of them, and where they all are if asked."""

    def __init__(self, whole: bool = False) -> None:
        self._whole = whole
        self._where: dict[int, list[Ranges]] = {}
        self._ops: dict[int, Op] = {}
        self._parts: dict[int, list[EvidenceLanes]] = {}
        self._counts: dict[int, int] = {}

    def add(self, sight: SeenAccess, lanes: EvidenceLanes) -> None:
        """Some more lanes, by program, then lane; none are no finding."""
        if len(lanes):
            index = sight.op.index
            self._ops[index] = sight.op
            self._parts.setdefault(index, []).append(_may_be_listed(lanes))
            self._counts[index] = self._counts.get(index, 0) + len(lanes)
            if self._whole:
                where = self._where.setdefault(index, [])
                where.append(Ranges.of(lanes.address, lanes.address + sight.itemsize))
                if len(where) > LISTED:
                    where[:] = [Ranges.joined(where)]

    def where(self, op: Op) -> Ranges:
        """The bytes that all lanes of an operation touch; nothing where nobody asked for them."""
        return Ranges.joined(self._where.get(op.index, ()))

    def __iter__(self) -> Iterator[tuple[Op, EvidenceLanes, int]]:
        """Operations, the lanes to list, and how many there are in all."""
        for index in sorted(self._ops):
            yield self._ops[index], listed(self._parts[index]), self._counts[index]


def stretches(first: Ints, stop: Ints) -> Ints:
    """(stretches, 2) what lies in any of some stretches, as `Finding.extent` has it; none where there are too many."""
    found = Ranges.of(first, stop)
    return np.stack([found.start, found.stop], axis=1)[: len(found) if len(found) <= MOST_STRETCHES else 0]


def listed(parts: Sequence[EvidenceLanes]) -> EvidenceLanes:
    """The first lanes of all parts, of as many programs as possible, sorted by program; a part is sorted so, too."""
    few = [_may_be_listed(part) for part in parts]
    program, lane, address, time = (
        np.concatenate([getattr(part, name) for part in few]) for name in ("program", "lane", "address", "time")
    )
    lanes = _may_be_listed(EvidenceLanes(program, lane, address, time).at(ordering(program, lane)))
    _, rank = _ranks(lanes)
    return lanes.at(np.sort(ordering(rank)[:LISTED]))


def _may_be_listed(lanes: EvidenceLanes) -> EvidenceLanes:
    """Those of a part that can be among the first of all: millions need not be kept for a hundred."""
    if len(lanes) <= LISTED:
        return lanes
    number, rank = _ranks(lanes)
    most = 1 if int(number[-1]) >= LISTED else LISTED
    return lanes.at(np.flatnonzero((number <= LISTED) & (rank < most)))


def _ranks(lanes: EvidenceLanes) -> tuple[Ints, Ints]:
    """Which program a lane is of, counted from 1, and which lane of it, counted from 0."""
    heads = np.concatenate([[True], lanes.program[1:] != lanes.program[:-1]])
    index = np.arange(len(lanes))
    return np.cumsum(heads), index - np.maximum.accumulate(np.where(heads, index, 0))


def named_file(launch: Recorded, file: str) -> str:
    """``file`` where a line alone would not do, in a notebook's cell or in another file than the kernel; else ""."""
    return file if file and (file != launch.file or messages.cell(file)) else ""


def finding(
    launch: Recorded,
    kind: str,
    message: str,
    mend: str,
    *,
    op: Op | None = None,
    argument: Argument | None = None,
    lanes: EvidenceLanes | None = None,
    count: int | None = None,
    where: Ranges = NOTHING,
    **more: Any,
) -> Finding:
    """A `Finding` at ``op``'s line, with the lanes that are `listed`; ``count`` where there are more than these.

    ``where`` has the bytes of all of them.
    """
    place = None if op is None else launch.lines.get(op.index)
    if lanes is not None:
        more["programs"], more["lanes"], more["events"] = lanes.program, lanes.lane, lanes.time
        count = len(lanes) if count is None else count
        if argument is not None and argument.itemsize:
            more["elements"] = (lanes.address - argument.address) // argument.itemsize
    if argument is not None and argument.itemsize and len(where):
        first, last = where.start - argument.address, where.stop - 1 - argument.address
        more["extent"] = stretches(first // argument.itemsize, last // argument.itemsize + 1)
    return Finding(
        kind,
        message,
        mend,
        line=None if place is None else place.line,
        column=None if place is None else place.column,
        excerpt=() if place is None else place.excerpt,
        argument=None if argument is None else argument.name,
        count=count or 0,
        kernel=launch.kernel,
        file="" if place is None else named_file(launch, place.file),
        op=None if op is None else op.index,
        **more,
    )
