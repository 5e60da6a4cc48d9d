"""Builds findings: names programs, lines and elements in messages, and selects the lanes to list."""

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
from triton_lab.localization import _

if TYPE_CHECKING:
    from triton_lab.launch.recording.launch_record import Recorded

# The most lanes that a finding lists.
LISTED = 100


def program(launch: Recorded, number: int) -> str:
    """``program (3, 0, 0)``, for the middle of a sentence."""
    return messages.who(number, launch.grid)


def programs(launch: Recorded, numbers: Ints) -> str:
    """The first program, and the number of the others."""
    return messages.programs(distinct(numbers).tolist(), launch.grid)


def element(argument: Argument | None, address: int) -> str:
    """``x_ptr[3, 5]``, or the element or byte of the storage of ``x_ptr`` if the address is none of its elements."""
    if argument is None:
        return messages.address(address)
    number = int(elements_at(np.array([address - argument.address]), argument)[0])
    if number >= 0:
        return messages.element(argument.name, number, argument.shape)
    place, rest = divmod(address - argument.storage_address, argument.itemsize)
    byte = address - argument.storage_address
    exact = messages.numbered(place, place, "element") if not rest else messages.numbered(byte, byte, "byte")
    return _("{exact} of the storage of {name}").format(exact=exact, name=argument.name)


def others(count: int) -> str:
    """The text behind the first of ``count`` lanes."""
    return messages.in_all(count, "lane")


def line_of(launch: Recorded, op: Op) -> str:
    """``line 12``, for the middle of a sentence; with the file if that is not the kernel's."""
    place = launch.lines.get(op.index)
    if place is None:
        return _("another place")
    if place.file not in ("", launch.file):
        return messages.place(place.file, place.line)
    return _("line {line}").format(line=place.line)


def launched_at(launch: Recorded) -> str:
    """``The launch is in line 12.``; "" if the line is not known."""
    if launch.site is None:
        return ""
    file, number = launch.site
    place = _("line {line}").format(line=number) if file == launch.file else messages.place(file, number)
    return _("The launch is in {place}.").format(place=place)


class LaneTally:
    """Lanes that are found step by step: their number, those that may be listed, and the bytes of all.

    Each lane touches ``itemsize`` bytes; 0 if lanes have no addresses.
    """

    def __init__(self, itemsize: int = 0) -> None:
        self.count = 0
        self._itemsize = itemsize
        self._parts: list[EvidenceLanes] = []
        self._where: list[Ranges] = []
        # Whether the addresses of some lanes are not known.
        self._nowhere = False

    def add(self, lanes: EvidenceLanes) -> None:
        """Add lanes, sorted by program, then lane."""
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
        """Add all lanes of another tally."""
        self.count += other.count
        self._parts += other._parts
        self._where += other._where
        self._nowhere |= other._nowhere

    @property
    def where(self) -> Ranges:
        """The bytes that the lanes touch; nothing if they are not known for all lanes."""
        return NOTHING if self._nowhere else Ranges.joined(self._where)

    def listed(self) -> EvidenceLanes:
        """The lanes to list."""
        return listed(self._parts)


class FoundLanes:
    """The lanes that a check has found, by operation: number, lanes to list, and with ``whole`` the bytes of all."""

    def __init__(self, whole: bool = False) -> None:
        self._whole = whole
        self._where: dict[int, list[Ranges]] = {}
        self._ops: dict[int, Op] = {}
        self._parts: dict[int, list[EvidenceLanes]] = {}
        self._counts: dict[int, int] = {}

    def add(self, sight: SeenAccess, lanes: EvidenceLanes) -> None:
        """Add lanes, sorted by program, then lane; without lanes there is no finding."""
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
        """The bytes that all lanes of an operation touch; nothing without ``whole``."""
        return Ranges.joined(self._where.get(op.index, ()))

    def __iter__(self) -> Iterator[tuple[Op, EvidenceLanes, int]]:
        """For each operation: the operation, the lanes to list, and the number of all lanes."""
        for index in sorted(self._ops):
            yield self._ops[index], listed(self._parts[index]), self._counts[index]


def stretches(first: Ints, stop: Ints) -> Ints:
    """(stretches, 2) the union of stretches, for `Finding.extent`; empty if there are too many."""
    found = Ranges.of(first, stop)
    return np.stack([found.start, found.stop], axis=1)[: len(found) if len(found) <= MOST_STRETCHES else 0]


def listed(parts: Sequence[EvidenceLanes]) -> EvidenceLanes:
    """The lanes to list: the first of all parts, from as many programs as possible; parts are sorted by program."""
    few = [_may_be_listed(part) for part in parts]
    program, lane, address, time = (
        np.concatenate([getattr(part, name) for part in few]) for name in ("program", "lane", "address", "time")
    )
    lanes = _may_be_listed(EvidenceLanes(program, lane, address, time).at(ordering(program, lane)))
    _unused, rank = _ranks(lanes)
    return lanes.at(np.sort(ordering(rank)[:LISTED]))


def _may_be_listed(lanes: EvidenceLanes) -> EvidenceLanes:
    """The lanes of a part that may be listed, so that millions need not stay in memory."""
    if len(lanes) <= LISTED:
        return lanes
    number, rank = _ranks(lanes)
    most = 1 if int(number[-1]) >= LISTED else LISTED
    return lanes.at(np.flatnonzero((number <= LISTED) & (rank < most)))


def _ranks(lanes: EvidenceLanes) -> tuple[Ints, Ints]:
    """For each lane: its program's number in this list from 1, and its own number in the program from 0."""
    heads = np.concatenate([[True], lanes.program[1:] != lanes.program[:-1]])
    index = np.arange(len(lanes))
    return np.cumsum(heads), index - np.maximum.accumulate(np.where(heads, index, 0))


def named_file(launch: Recorded, file: str) -> str:
    """``file`` if a line alone is not enough: in a notebook's cell or in another file than the kernel's; else ""."""
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
    """A `Finding` at ``op``'s line, with the lanes that are `listed`.

    ``count`` is the number of all lanes if there are more, and ``where`` has the bytes of all lanes.
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
