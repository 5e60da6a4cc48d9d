"""`Transfer`: what one access of a launch moves between registers or shared memory, and global memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from triton_lab.compiled.transactions.access_matching import Joined
from triton_lab.compiled.transactions.sectors import SECTOR, Counts, Dealt, SectorCounter, dealt
from triton_lab.launch.access import Access
from triton_lab.launch.recording.access_event import AccessEvent
from triton_lab.localization import N_, _, translated

Array: TypeAlias = NDArray[Any]
_WIDEST = 16  # bytes that a lane moves at once
_ONCE = ("store", "atomic", "async copy")
# The counters of Nsight Compute, by PTX's word: it counts an asynchronous copy as a load.
COUNTERS = {"ld": "op_ld", "cp.async": "op_ld", "st": "op_st", "atom": "op_atom", "red": "op_red"}
_WAITS = N_("the machine code loads it only inside a branch; a GPU counts less if the branch is not taken")
_WORDS = {"load": "ld", "store": "st", "atomic": "atom", "async copy": "cp.async", "descriptor": ""}


@dataclass(frozen=True, eq=False)
class Transfer:
    """An access to global memory, counted.

    ``dealt`` says which thread moves what; None where no threads do (a descriptor's box) or it is unknown.
    ``problem`` says why, or what the counts leave out. ``told``: the machine code gives the vectors' width, else a
    rule does. ``counts`` are by program.
    """

    joined: Joined
    dealt: Dealt | None
    counts: Counts
    told: bool = True
    problem: str = ""

    @property
    def access(self) -> Access:
        return self.joined.access

    @property
    def line(self) -> int | None:
        return self.access.line

    @property
    def argument(self) -> str | None:
        return self.access.argument

    @property
    def way(self) -> str:
        """``load``, ``store``, ``atomic``, ``async copy`` or ``descriptor``; ``left out`` by the compiler."""
        return self.joined.operation.way if self.joined.operation else "left out"

    @property
    def word(self) -> str:
        """PTX's word for it: ``ld``, ``st``, ``atom``, ``red``, ``cp.async``; "" where no lane accesses memory."""
        return self.joined.opcode or _WORDS.get(self.way, "")

    @property
    def width(self) -> int:
        """The bytes that a lane moves at once; 0 where unknown."""
        return self.dealt.width if self.dealt is not None else 0

    @property
    def requests(self) -> int:
        """Warp instructions with at least one active lane, over all programs.

        Asynchronous copies count the same way, although they run whatever their mask says and fill masked lanes with
        zeros.
        """
        return int(self.counts.requests.sum())

    @property
    def sectors(self) -> int:
        """The 32-byte sectors of the requests."""
        return int(self.counts.sectors.sum())

    @property
    def collides(self) -> bool:
        """Whether lanes of a request change the same element. A GPU then asks for more than the sectors counted here:
        an H100 for 256 instead of 64 where four lanes share each element, by a rule that is not known.
        """
        return self.word in ("atom", "red") and self.lane_bytes > self.wanted

    @property
    def wanted(self) -> int:
        """The bytes in the sectors that at least one lane uses."""
        return int(self.counts.wanted.sum())

    @property
    def lane_bytes(self) -> int:
        """The bytes of all lanes, where each lane counts."""
        return int(self.counts.lanes.sum())

    @property
    def moved(self) -> int:
        """The bytes of the sectors."""
        return self.sectors * SECTOR

    @property
    def efficiency(self) -> float:
        """The fraction of moved bytes that are used; 1.0 where nothing moves."""
        return self.wanted / self.moved if self.moved else 1.0

    @property
    def issued(self) -> int:
        """Warp instructions that run, including those without an active lane."""
        if self.dealt is None:
            return 0
        events = self.access.completed.events
        ran = sum(len(event.programs) for event in events) + self.joined.copies * len(self.counts.requests)
        return ran * int((self.dealt.positions >= 0).any(axis=-1).sum())

    def counters(self) -> dict[str, int]:
        """Nsight Compute's counts, by the names of its metrics."""
        if not self.word or self.dealt is None:
            return {}
        kind = COUNTERS[self.word]
        return {
            f"l1tex__t_requests_pipe_lsu_mem_global_{kind}.sum": self.requests,
            f"l1tex__t_sectors_pipe_lsu_mem_global_{kind}.sum": self.sectors,
        }

    def lanes(self, program: int, iteration: int = 0) -> tuple[Array, Array] | None:
        """The address of each lane's vector, and whether the lane is active: ``(warps, instructions, lanes)`` each.

        None where the program does not reach the access, or no threads move it.
        """
        if self.dealt is None or iteration >= self.access.iterations:
            return None
        for event in self.access.parts(iteration):
            rows = np.flatnonzero(event.programs == program)
            if len(rows):
                addresses, on = self.dealt.lanes(event.of(rows[:1]))
                return addresses[0], on[0]
        return None


def transfer(joined: Joined, programs: int, warps: int, lanes: int) -> Transfer:
    """Count an access of a launch of ``programs`` programs, which each have ``warps`` warps of ``lanes`` lanes."""
    access, operation = joined.access.completed, joined.operation
    none = Counts.none(programs)
    if operation is None:
        return Transfer(joined, None, none, problem=_("the compiler removed it, or merged it with an equal one"))
    if operation.way == "descriptor":
        return Transfer(joined, None, _boxes(access, programs))
    if operation.refused:
        return Transfer(joined, None, none, problem=operation.refused)
    if operation.linear is not None and any(any(basis) for basis in operation.linear.bases("block")):
        return Transfer(joined, None, none, problem=_("a cluster of CTAs shares the block, which is not counted here"))
    events = access.parts(0) if joined.once and access.events else access.events
    widths = {one.lane_bytes for one in joined.instructions}
    width = widths.pop() if len(widths) == 1 else 0
    deal = None
    if width:
        try:
            deal = _dealt(joined, width, lanes, warps)
        except ValueError:
            deal = None
    told = deal is not None
    deal = deal or _dealt(joined, _by_rule(joined, events, lanes, warps), lanes, warps)
    if joined.merged and all(joined.merged):
        return Transfer(joined, None, none, problem=_("another load of the same addresses fetches it, too"))
    if any(joined.merged) and len(joined.merged) == deal.positions.shape[1]:
        deal = Dealt(deal.positions[:, ~np.array(joined.merged)], deal.width)
    counter = SectorCounter(deal, programs)
    for event in events:
        counter.add(event)
    return Transfer(joined, deal, counter.counts, told, translated(_WAITS) if joined.waits else "")


def _dealt(joined: Joined, width: int, lanes: int, warps: int) -> Dealt:
    assert joined.operation is not None
    once = joined.operation.way in _ONCE
    return dealt(joined.operation.linear, joined.access.itemsize, width, lanes, warps, once)


def _by_rule(joined: Joined, events: list[AccessEvent], lanes: int, warps: int) -> int:
    """The bytes of the widest aligned vectors of adjacent elements under one mask, over all recorded events."""
    size = joined.access.itemsize
    width = size
    linear = joined.operation.linear if joined.operation else None
    if linear is None:
        return size
    held = 1 << sum(any(basis) for basis in linear.bases("register"))
    while width * 2 <= _WIDEST and width * 2 // size <= held and _fits(joined, events, width * 2, lanes, warps):
        width *= 2
    return width


def _fits(joined: Joined, events: list[AccessEvent], width: int, lanes: int, warps: int) -> bool:
    single = _dealt(joined, joined.access.itemsize, lanes, warps)
    size, count = joined.access.itemsize, width // joined.access.itemsize
    steps = np.arange(count) * size
    for event in events:
        addresses, on = single.lanes(event)
        shape = (*addresses.shape[:2], addresses.shape[2] // count, count, addresses.shape[3])
        grouped, masks = addresses.reshape(shape), on.reshape(shape)
        apart = grouped - grouped[:, :, :, :1]
        if (
            (apart != steps[:, None]).any()
            or (grouped[:, :, :, 0] % width).any()
            or (masks != masks[:, :, :, :1]).any()
        ):
            return False
    return True


def _boxes(access: Access, programs: int) -> Counts:
    """The counts of a descriptor's boxes, which a unit of its own moves.

    It accesses the sectors of its elements; no warp makes a request of the counted kind.
    """
    counts = Counts.none(programs)
    for event in access.events:
        addresses, on = (one.reshape(len(event.programs), -1) for one in (event.addresses(), event.active()))
        for row, program in enumerate(event.programs):
            inside = addresses[row][on[row]]
            counts.sectors[program] += len(np.unique(inside // SECTOR))
            counts.wanted[program] += len(np.unique(inside)) * access.itemsize
            counts.lanes[program] += len(inside) * access.itemsize
    return counts


def total(transfers: list[Transfer]) -> Mapping[str, int]:
    """The sums of their `counters`."""
    found: dict[str, int] = {}
    for one in transfers:
        for name, value in one.counters().items():
            found[name] = found.get(name, 0) + value
    return found
