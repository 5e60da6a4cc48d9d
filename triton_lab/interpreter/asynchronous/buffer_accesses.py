"""The past and pending accesses of a buffer. An access that races with one of them on a GPU is refused.

- Work that is pending on bytes: a copy into them, or a copy or a product that may still read them.
- The proxy: what a program itself reads and writes (the generic proxy) and what TMA and the tensor core do (the async
  proxy) are in order only after `fence_async_shared`.
- Partitions of warps: only barriers order two accesses of different partitions; the partitions' clocks record
  them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from triton_lab.interpreter.asynchronous.partitions import Partitions
from triton_lab.interpreter.asynchronous.shared_views import SharedView
from triton_lab.interpreter.kernel_errors import KernelError
from triton_lab.ir import Op
from triton_lab.localization import N_, _, translated

Array = NDArray[Any]

# The kinds of what is refused; each is a `KernelError.rule`.
USED_BEFORE_WAIT = "used-before-wait"
WRITTEN_WHILE_READ = "written-while-read"
MISSING_FENCE = "missing-fence"
PARTITION_RACE = "partition-race"
OUT_OF_BOUNDS = "out-of-bounds"


# The epoch of what has not happened yet.
_NEVER = np.iinfo(np.int64).max


@dataclass(slots=True, eq=False)
class Access:
    """An access by ``op`` in ``partition``, at ``epoch`` of that partition's clock: when it began, or ended if that
    is later.

    ``unfenced``: for which of the programs no fence has come since; where partitions run, ``fences`` are those of
    each, by their epochs. ``moment`` counts all accesses.
    """

    view: SharedView
    programs: Array
    writes: bool
    op: Op
    partition: int
    epoch: Array
    unfenced: Array
    moment: int
    fences: dict[int, Array] = field(default_factory=dict)

    def ends(self, programs: Array, epoch: Array) -> None:
        """It ends for these programs, at these epochs."""
        rows, theirs = _common(self.programs, programs)
        self.epoch[rows] = epoch[theirs]


class Pending(Protocol):
    """Work that is pending on a buffer; see `PendingWork`."""

    @property
    def op(self) -> Op: ...
    @property
    def queue(self) -> str: ...
    @property
    def programs(self) -> Array: ...
    @property
    def waits(self) -> Array: ...


class Clocks(Protocol):
    """What orders the accesses of a launch; see `Asynchronous`."""

    moments: int

    @property
    def has_proxies(self) -> bool: ...
    @property
    def partitions(self) -> Partitions | None: ...
    def clock(self, programs: Array) -> tuple[int, Array]: ...
    def touched(self, accesses: BufferAccesses) -> None: ...


class BufferAccesses:
    """The accesses of one buffer, and the work that is pending on it."""

    def __init__(self, clocks: Clocks) -> None:
        self.clocks = clocks
        self.pending: list[tuple[Pending, SharedView, bool]] = []
        self.generic: list[Access] = []
        self.ordered: list[Access] = []

    def check(
        self,
        view: SharedView,
        programs: Array,
        op: Op,
        *,
        writes: bool,
        queue: str = "",
        fenced: bool = False,
        ends_later: bool = False,
    ) -> Access | None:
        """Note an access, and raise KernelError if something that is not in order with it touches the same bytes.

        ``queue`` is that of work, "" for what the program does itself (copies of cp.async are as that). ``fenced``: a
        fence must order it after what the program did. ``ends_later``: it ends only when its program waits for it.
        Returns what was noted for other partitions.
        """
        in_bounds(view, programs)
        partitions = self.clocks.partitions
        if partitions is not None and not writes and len(view.unwritten(programs)):
            partitions.pause()  # what another partition is about to copy here is then pending
        self._check_pending(view, programs, writes, queue)
        if partitions is not None:
            self._check_order(view, programs, op, writes)
        if fenced and view.buffer.shared and self.clocks.has_proxies:
            self._check_fences(view, programs, writes)
        if queue in ("", "copies") and self.clocks.has_proxies:
            self._note(self.generic, view, programs, op, writes)
        if partitions is None:
            return None
        noted = self._note(self.ordered, view, programs, op, writes)
        if ends_later:
            noted.epoch[:] = _NEVER
        return noted

    def fence(self, programs: Array, partition: int, knows: Array | None) -> None:
        """A fence of these programs: what they have done themselves, and know of, is in order with the async proxy.

        ``knows``: the partition's clock, ``(programs, partitions)``.
        """
        left = []
        for one in self.generic:
            rows, theirs = _common(one.programs, programs)
            if knows is None:
                one.unfenced[rows] = False
            else:
                known = (one.partition == partition) | (knows[theirs, one.partition] >= one.epoch[rows])
                fenced = one.fences.setdefault(partition, np.full(len(one.programs), _NEVER))
                fenced[rows[known]] = np.minimum(fenced[rows[known]], knows[theirs[known], partition])
            if one.unfenced.any():
                left.append(one)
        self.generic = left

    @property
    def is_empty(self) -> bool:
        """Whether nothing is left that a later access could be out of order with."""
        return not (self.generic or self.ordered)

    def forget_reads(self, programs: Array, before: int) -> None:
        """What these programs have read before a moment is in order with the async proxy: it has been used up."""
        self.generic = [
            one
            for one in self.generic
            if one.writes or one.moment > before or not np.isin(one.programs, programs).all()
        ]

    def _check_pending(self, view: SharedView, programs: Array, writes: bool, queue: str) -> None:
        for work, held, arriving in self.pending:
            if not (arriving or writes) or queue == work.queue == "tensor core":
                continue
            wrong = self._met(view, programs, held, work.programs, work.waits >= 0)
            if len(wrong):
                texts, rule = (_ARRIVING, USED_BEFORE_WAIT) if arriving else (_LEAVING, WRITTEN_WHILE_READ)
                raise _refused(texts, rule, view, work.op, wrong)

    def _check_fences(self, view: SharedView, programs: Array, writes: bool) -> None:
        mine, knows = self.clocks.clock(programs)
        for one in self.generic:
            if writes or one.writes:
                rows, theirs = _common(one.programs, programs)
                unfenced = one.unfenced.copy()
                for partition, epoch in one.fences.items():
                    # A fence counts if the access that comes now knows of it.
                    own = partition == mine or not len(knows)
                    known = epoch[rows] != _NEVER if own else knows[theirs, partition] >= epoch[rows]
                    unfenced[rows[known]] = False
                wrong = self._met(view, programs, one.view, one.programs, unfenced)
                if len(wrong):
                    texts = _UNFENCED_STORE if one.writes else _UNFENCED_LOAD
                    raise _refused(texts, MISSING_FENCE, view, one.op, wrong)

    def _check_order(self, view: SharedView, programs: Array, op: Op, writes: bool) -> None:
        mine, knows = self.clocks.clock(programs)
        for one in self.ordered:
            if one.partition == mine or not (writes or one.writes):
                continue
            rows, theirs = _common(one.programs, programs)
            unknown = np.zeros(len(one.programs), bool)
            unknown[rows] = knows[theirs, one.partition] < one.epoch[rows]
            if not unknown.any():
                continue
            wrong = self._met(view, programs, one.view, one.programs, unknown)
            if len(wrong):
                raise _refused(_UNORDERED, PARTITION_RACE, view, one.op, wrong)

    def _met(self, view: SharedView, programs: Array, held: SharedView, holders: Array, counts: Array) -> Array:
        """The programs for which ``view`` shares bytes with what another access holds, if that counts for them."""
        if not counts.any():
            return programs[:0]
        rows, theirs = _common(holders, programs)
        kept = counts[rows]
        rows, theirs = rows[kept], theirs[kept]
        if not len(rows):
            return programs[:0]
        ahead = held.based(holders)[rows] - view.based(programs)[theirs]
        met = np.zeros(len(rows), bool)
        for distance in set(ahead.tolist()):
            if view.laid.meets(held.laid, distance):
                met |= ahead == distance
        return programs[theirs[met]]

    def _note(self, kept: list[Access], view: SharedView, programs: Array, op: Op, writes: bool) -> Access:
        mine, knows = self.clocks.clock(programs)
        epoch = knows[:, mine] if len(knows) else np.zeros(len(programs), np.int64)
        self.clocks.moments += 1
        if not self.generic and not self.ordered:
            self.clocks.touched(self)
        unfenced = np.ones(len(programs), bool)
        entry = Access(view, programs, writes, op, mine, epoch.copy(), unfenced, self.clocks.moments)
        base = view.fixed()
        for k, one in enumerate(kept):
            same = one.partition == mine and one.writes == writes and one.view.placement is view.placement
            if same and base is not None and one.view.fixed() == base and np.array_equal(one.programs, programs):
                kept[k] = entry  # an earlier access of the same partition is in order wherever this one is
                return entry
        kept.append(entry)
        return entry


def in_bounds(view: SharedView, programs: Array) -> None:
    """Raise KernelError if a part of a buffer is not within it."""
    wrong = view.outside(programs)
    if len(wrong):
        first = int(view.based(programs)[np.searchsorted(programs, wrong[0])]) + view.placement.low
        told = _("the index is out of range: {name} has {size} bytes, and bytes {first} to {last} are accessed").format(
            name=view.buffer.name or _("the buffer"),
            size=f"{view.buffer.size:,}",
            first=f"{first:,}",
            last=f"{first + view.placement.high - view.placement.low - 1:,}",
        )
        raise KernelError(told, None, wrong, rule=OUT_OF_BOUNDS)


def _common(some: Array, others: Array) -> tuple[Array, Array]:
    """The positions of the programs that are in both, in each; both ascend."""
    if some is others or np.array_equal(some, others):
        everyone = np.arange(len(some))
        return everyone, everyone
    _unused, first, second = np.intersect1d(some, others, assume_unique=True, return_indices=True)
    return first, second


def _refused(texts: tuple[str, str], rule: str, view: SharedView, other: Op, programs: Array) -> KernelError:
    location = other.location
    line = "" if location is None else _(" of line {line}").format(line=location.line)
    place = "" if location is None else _(" in line {line}").format(line=location.line)
    told = translated(texts[0]).format(name=view.buffer.name or _("the buffer"), line=line, place=place)
    return KernelError(told, None, programs, rule=rule, hint=translated(texts[1]), other=other)


# What is refused, and what to do about it.
_ARRIVING = (
    N_("{name} is used while the operation{line} that writes it is still running"),
    N_(
        "Wait for the operation first: async_copy.wait_group(...) after commit_group(), mbarrier.wait(...) for the "
        "phase of this use, or warpgroup_mma_wait(...)."
    ),
)
_LEAVING = (
    N_("{name} is written while the operation{line} may still read it"),
    N_("Wait first: tma.store_wait(...), warpgroup_mma_wait(...), or mbarrier.wait(...) on the operation's barrier."),
)
_UNFENCED_STORE = (
    N_("the store{line} writes {name}, and no fence follows: TMA and the tensor core may not see the stored values"),
    N_("Call fence_async_shared() after the store, and before mbarrier.arrive if there is one."),
)
_UNFENCED_LOAD = (
    N_("the load{line} reads {name}, and no fence follows: TMA may overwrite it before it is read"),
    N_("Call fence_async_shared() after the load, and before mbarrier.arrive if there is one."),
)
_UNORDERED = (
    N_("another partition accesses {name}{place}, and no barrier orders the two accesses"),
    N_(
        "Let one partition arrive at a barrier after its access, and let the other wait at this barrier before its "
        "own access."
    ),
)
