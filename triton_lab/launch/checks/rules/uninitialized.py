"""Reads of uninitialised memory: `torch.empty`, padding, gaps. Values that are read and discarded do not count.

If another program writes the memory unordered with the read, it is reported as a race, since the read may come before
or after the write.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from triton_lab.ir import effects
from triton_lab.launch.argument import Argument
from triton_lab.launch.byte_ranges import NOTHING, Flags, Ranges
from triton_lab.launch.checks.analysis.evidence import Evidence, SeenAccess
from triton_lab.launch.checks.analysis.finding_text import FoundLanes, element, finding, others, program
from triton_lab.launch.checks.analysis.live_read_effects import LiveUses
from triton_lab.launch.checks.analysis.read_effects import ReadEffects
from triton_lab.launch.checks.race.barriers import results_used
from triton_lab.launch.checks.race.races import Races
from triton_lab.launch.checks.rule import Concerned, Rule
from triton_lab.launch.diagnosis.finding import Finding
from triton_lab.launch.diagnosis.severity import ERROR
from triton_lab.launch.recording.poison import POISONED, still_poisoned
from triton_lab.launch.recording.replay_error import CannotReplay
from triton_lab.launch.recording.watcher import Watcher
from triton_lab.localization import N_, _, translated

_MEND = N_("Create the tensor with torch.zeros, fill it first, or mask off the lanes that were never written.")


class UninitializedRule(Rule):
    """A lane loads an element that was never written."""

    kind = "uninitialized"
    severity = ERROR
    subject = N_("reads of uninitialized memory")
    summary = N_("A lane loads an element that was never written.")
    why = N_(
        "`torch.empty` gives memory with its old contents. On a GPU this is often the result of an earlier run, so "
        "the kernel seems right until the memory is used for other data."
    )
    remedy = N_(
        "Create the tensor with `torch.zeros`, fill it first, or mask off the lanes that were never written. If two "
        "tensors were exchanged in the call, the message says so."
    )
    intended = N_("Never. A value that is read and then discarded is not reported.")
    blind = N_(
        "Only memory that torch allocated uninitialized during the recording is watched, up to the size in the "
        "check's message. A read that races with the write is a `race`."
    )
    concerned = Concerned.ONE
    unsteady = N_("a read of memory that was never written")
    mark = N_("read before it was written")

    def check(self, evidence: Evidence, found: Sequence[Finding]) -> Iterator[Finding]:
        """One finding for each load and atomic that reads such memory, with the programs in which it has an effect."""
        launch = evidence.launch
        if not len(evidence.tape.fresh) or launch.snapshot is None:
            return
        reads = _Reads(evidence, evidence.once(Races))
        users = _users(evidence, reads)
        unwritten_reads = FoundLanes(whole=True)
        for sight, left in reads:
            lanes = evidence.lanes(sight, left, whole=True)
            using = users.get(sight.op.index)
            unwritten_reads.add(sight, lanes if using is None else lanes.where(using[lanes.program]))
        for op, lanes, count in unwritten_reads:
            argument = evidence.owner(op)
            what = element(argument, int(lanes.address[0]))
            deed = _("updates") if effects.updates(op) else _("loads")
            yield finding(
                launch,
                self.kind,
                _("{program} {deed} {what}, which was never written{others}").format(
                    program=program(launch, int(lanes.program[0])), deed=deed, what=what, others=others(count)
                ),
                translated(_MEND) + _exchanged(evidence, argument, unwritten_reads.where(op)),
                op=op,
                argument=argument,
                lanes=lanes,
                count=count,
                where=unwritten_reads.where(op),
            )
        if any(True for _unused in reads.of_unknown()):
            raise CannotReplay(
                _(
                    "torch.empty returned more than {size} MB at once, and whether the kernel reads "
                    "unwritten memory there is not known: use torch.zeros, or a smaller tensor"
                ).format(size=f"{POISONED / 2**20:.0f}")
            )

    def watchers(self, evidence: Evidence) -> Mapping[str, Watcher | None]:
        """One that follows the values read from such memory; None if all memory has been written."""
        return {"uses": LiveUses(evidence.launch, evidence.tape.blank) if len(evidence.tape.blank) else None}


def _exchanged(evidence: Evidence, argument: Argument | None, where: Ranges) -> str:
    """A hint that two tensors may be exchanged; else "".

    It is given if no element of a tensor that is only read was written before, but a tensor of the same shape and dtype
    that is only stored to was.
    """
    owners = [(sight.kind, owner) for sight in evidence.in_order if (owner := evidence.owner(sight.op)) is not None]
    stored = {owner.name: owner for kind, owner in owners if kind == "store"}
    read = {owner.name for kind, owner in owners if kind != "store"}
    if argument is None or argument.name in stored or not len(where):
        return ""
    if int((where.stop - where.start).sum()) < math.prod(argument.shape) * argument.itemsize:
        return ""
    for name, other in stored.items():
        held = Ranges.of([other.address], [other.address + math.prod(other.shape) * other.itemsize])
        alike = (other.shape, other.dtype) == (argument.shape, argument.dtype)
        if name not in read and alike and not len(evidence.tape.fresh & held):
            return _(
                " Check whether {name} and {other} are exchanged in the call: {other}, which the "
                "kernel only stores to, already held data."
            ).format(name=argument.name, other=name)
    return ""


class _Reads:
    """All reads of such memory in execution order, each with the bytes that were still unwritten then."""

    def __init__(self, evidence: Evidence, races: Races) -> None:
        self._evidence = evidence
        self._used = results_used(evidence.launch.executable.plan)
        hulls = [evidence.hull(sight) for sight in evidence.in_order if _reads(sight, self._used)]
        asked = Ranges.of([low for low, _unused in hulls], [high for _unused, high in hulls])
        tape, snapshot = evidence.tape, evidence.launch.snapshot
        assert snapshot is not None
        unsure = tape.unwritten & asked
        if len(unsure) and snapshot.missing:
            raise CannotReplay(snapshot.missing)
        self._left = (still_poisoned(unsure, snapshot.held) | (tape.blank & asked)) - races.bytes()
        self._unknown = tape.unknown & asked

    def __iter__(self) -> Iterator[tuple[SeenAccess, Ranges]]:
        return self._of(self._left)

    def of_unknown(self) -> Iterator[tuple[SeenAccess, Ranges]]:
        """The reads of memory for which it is not known whether it was written."""
        return self._of(self._unknown)

    def _of(self, left: Ranges) -> Iterator[tuple[SeenAccess, Ranges]]:
        evidence = self._evidence
        for sight in evidence.in_order:
            if not len(left):
                break
            if not left.meets(*evidence.hull(sight)):
                continue
            if _reads(sight, self._used) and len(left & evidence.runs(sight).bytes()):
                yield sight, left
            if effects.writes(sight.op):
                left -= evidence.runs(sight).bytes()


def _users(evidence: Evidence, reads: _Reads) -> dict[int, Flags]:
    """For each operation that only reads: the programs that use the values it reads from such memory.

    Operations for which this cannot be found have no entry. Raises CannotReplay.
    """
    where: dict[int, Ranges] = {}
    for sight, left in reads:
        if not effects.writes(sight.op):
            bytes_read = left & evidence.runs(sight).bytes()
            where[sight.op.index] = where.get(sight.op.index, NOTHING) | bytes_read
    if not where:
        return {}
    seen = evidence.launch.watched.get("uses")
    if isinstance(seen, LiveUses):
        return {index: seen.of(index) for index in where}
    uses = ReadEffects(evidence.launch)
    together = uses.of(Ranges.joined(where.values()))
    if len(where) == 1 or not together.any():
        return dict.fromkeys(where, together)
    return {index: uses.of(bytes_read) for index, bytes_read in where.items()}


def _reads(sight: SeenAccess, used: set[int]) -> bool:
    """Whether the access uses the content of memory."""
    if not effects.reads(sight.op):
        return False
    return sight.op.attributes.get("atomic_rmw_op") != effects.Rmw.XCHG or sight.op.index in used
