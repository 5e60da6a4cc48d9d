"""Results that depend on masked-off lanes of a load without ``other=``.

Triton does not define the value of such lanes; here, and in the code that it compiles for sm_90 today, it is 0. Most of
them are never used: the store has the same mask, or ``tl.where`` discards them. So the launch is replayed with other
numbers there, and stores that then differ are reported. If the launch is too large for a replay, the lanes are followed
while it runs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from triton_lab import messages
from triton_lab.interpreter.bound_plan import Executable
from triton_lab.interpreter.frame import Frame
from triton_lab.interpreter.kernel_errors import KernelError
from triton_lab.interpreter.machine import Limits
from triton_lab.interpreter.memory_regions import Memory
from triton_lab.interpreter.variants import arithmetic_variants
from triton_lab.ir import Op, effects
from triton_lab.launch.byte_ranges import Ints, Ranges, true_ranges
from triton_lab.launch.checks.analysis.evidence import Evidence, EvidenceLanes
from triton_lab.launch.checks.analysis.finding_text import FoundLanes, element, finding, line_of, listed, others
from triton_lab.launch.checks.analysis.finding_text import program as named
from triton_lab.launch.checks.analysis.masked_off_lanes import Off, TurnedOff, suspects
from triton_lab.launch.checks.rule import Concerned, Rule
from triton_lab.launch.diagnosis.finding import Finding
from triton_lab.launch.diagnosis.severity import WARNING
from triton_lab.launch.recording.watcher import Watcher
from triton_lab.launch.replay.replay_run import replay
from triton_lab.localization import N_, _, ngettext, translated

Array = NDArray[Any]

_MEND = N_(
    "On a GPU, masked-off lanes are undefined unless you pass other=. (This run used 0.) "
    'Pass other=0 for a sum or other=float("-inf") for a maximum, or replace these lanes '
    "with tl.where before they are used."
)
# A loop whose end depends on such lanes may never end.
_STEPS = 10_000


class UndefinedRule(Rule):
    """A stored value depends on masked-off lanes of a load without ``other=``."""

    kind = "undefined"
    severity = WARNING
    subject = N_("uses of masked-off lanes")
    summary = N_("A stored value depends on masked-off lanes of a load without other=.")
    why = N_(
        "Triton does not define the value of a masked-off lane. Today's code for sm_90 gives 0. Another version or "
        "another GPU may give the old contents of a register."
    )
    remedy = N_(
        'Pass `other=0` for a sum or `other=float("-inf")` for a maximum, or replace these lanes with `tl.where` '
        "before they are used."
    )
    intended = N_("If you mean 0. Then write `other=0`: it costs nothing and makes this clear.")
    blind = N_(
        "The launch is run again with two other numbers in these lanes. A dependence that neither number shows is "
        "missed."
    )
    concerned = Concerned.ONE
    told_by_fill = True
    mark = N_("depends on masked-off lanes")

    def check(self, evidence: Evidence, found: Sequence[Finding]) -> Iterator[Finding]:
        """One finding for each load whose masked-off lanes have an effect, and each argument with the effect."""
        launch = evidence.launch
        if launch.snapshot is None or not evidence.complete:
            return
        for index, hangs in _looked(evidence).items():
            yield from _told(evidence, evidence.ops[index], hangs)

    def watchers(self, evidence: Evidence) -> Mapping[str, Watcher | None]:
        """One that follows masked-off lanes; None if no load has such lanes that may be used."""
        loads = [op.index for op in suspects(evidence.launch.executable.plan)]
        return {"turned off": TurnedOff(evidence.launch, loads) if loads else None}

    def noun(self, finding: Finding) -> str:
        """Stored values are counted by lanes, other effects by programs."""
        return "program" if finding.argument is None else "lane"

    def programs_mark(self, count: int) -> str:
        """The words for programs whose course depends on such lanes."""
        return ngettext(
            "{count} program depends on masked-off lanes", "{count} programs depend on masked-off lanes", count
        )


@dataclass
class _Hangs:
    """What depends on the ``off`` lanes of a load: lanes of stores, or ``programs`` that take another branch."""

    off: Off
    stored: FoundLanes
    programs: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    error: KernelError | None = None

    def __bool__(self) -> bool:
        return bool(len(self.programs)) or any(True for _unused in self.stored)


def _looked(evidence: Evidence) -> dict[int, _Hangs]:
    """The dependent results by load, from the watcher of the launch or from replays. Raises CannotReplay."""
    seen = evidence.launch.watched.get("turned off")
    if isinstance(seen, TurnedOff):
        by_load = {
            index: _Hangs(off, seen.reached.get(index, FoundLanes()), np.flatnonzero(seen.of(index)))
            for index, off in seen.off.items()
        }
        return {index: hangs for index, hangs in by_load.items() if hangs}
    off = {op.index: _off(evidence, op) for op in suspects(evidence.launch.executable.plan)}
    off = {index: one for index, one in off.items() if one}
    if not off:
        return {}
    trial = _Trial(evidence)
    together = trial.of(off)
    if not together:
        return {}
    alone = {index: hangs for index, one in off.items() if (hangs := trial.of({index: one}))} if len(off) > 1 else {}
    return alone or {next(iter(off)): together}


def _off(evidence: Evidence, op: Op) -> Off:
    found = Off()
    for event in evidence.tape.events.get(op.index, ()):
        found.add(event)
    return found


class _Trial:
    """Replays the launch with numbers in masked-off lanes. Raises CannotReplay."""

    def __init__(self, evidence: Evidence) -> None:
        self._evidence = evidence
        steps = _Steps()
        self._right = replay(evidence.launch, access_observer=steps)
        old = evidence.tape.limits
        self._limits = Limits(batch=old.batch, memory=old.memory, steps=4 * steps.most + _STEPS, schedule=old.schedule)

    def of(self, off: dict[int, Off]) -> _Hangs:
        """What differs if these loads give masked-off lanes a large positive or a large negative number."""
        first = next(iter(off.values()))
        for sign in (1, -1):
            executable = Executable.of(self._evidence.launch.executable.plan, arithmetic_variants.far(off, sign))
            try:
                memory = replay(self._evidence.launch, executable=executable, limits=self._limits, strict=True)
            except KernelError as error:
                some = np.array(sorted(first.lanes)) if error.programs is None else np.unique(error.programs)
                return _Hangs(first, FoundLanes(), some, error)
            where = _differing(self._right, memory)
            if len(where):
                return _Hangs(first, self._stored(where, off))
        return _Hangs(first, FoundLanes())

    def _stored(self, where: Ranges, off: dict[int, Off]) -> FoundLanes:
        """The lanes that store to ``where``: those of programs with masked-off lanes, or all if there are none."""
        mine = np.array(sorted({program for one in off.values() for program in one.lanes}))
        found, all_ = FoundLanes(whole=True), FoundLanes(whole=True)
        for sight in self._evidence.sights("store", "atomic"):
            if effects.writes(sight.op) and where.meets(*self._evidence.hull(sight)):
                lanes = self._evidence.lanes(sight, where)
                all_.add(sight, lanes)
                found.add(sight, lanes.where(np.isin(lanes.program, mine)))
        return found if any(True for _unused in found) else all_


class _Steps(Watcher):
    """Counts the loop iterations of a launch."""

    most = 0

    def access(self, frame: Frame, op: Op, kind: str, pointer: Any, mask: Any, values: Array | None) -> None:
        self.most = max(self.most, frame.machine.steps)


def _differing(right: Memory, other: Memory) -> Ranges:
    """The bytes that differ between two memories."""
    return Ranges.joined(
        true_ranges(one.data.view(np.uint8) != two.data.view(np.uint8), one.start)
        for one, two in zip(right.regions, other.regions, strict=True)
        if not np.array_equal(one.data, two.data)
    )


# --- Findings --------------------------------------------------------------------------------------


def _told(evidence: Evidence, op: Op, hangs: _Hangs) -> Iterator[Finding]:
    launch = evidence.launch
    known: set[str | None] = set()
    for store, lanes, count in hangs.stored:
        argument = evidence.owner(store)
        name = None if argument is None else argument.name
        if name in known:
            continue
        known.add(name)
        number = int(lanes.program[0])
        yield finding(
            launch,
            "undefined",
            _(
                "{program} stores a value to {element} ({line}) that depends on masked-off {lane} of this load{others}"
            ).format(
                program=named(launch, number),
                element=element(argument, int(lanes.address[0])),
                line=line_of(launch, store),
                lane=_lane(evidence, op, hangs.off, number),
                others=others(count),
            ),
            translated(_MEND),
            op=op,
            argument=argument,
            lanes=lanes,
            count=count,
            where=hangs.stored.where(store),
        )
    if known or not len(hangs.programs):
        return
    number = int(hangs.programs[0])
    error = hangs.error
    nowhere = np.zeros_like(hangs.programs)
    where = (
        ""
        if error is None or error.op is None
        else _(": another value leads to a fault in {line_of}").format(line_of=line_of(launch, error.op))
    )
    yield finding(
        launch,
        "undefined",
        _("what {program} does depends on masked-off {lane} of this load{where}{more}").format(
            program=named(launch, number),
            lane=_lane(evidence, op, hangs.off, number),
            where=where,
            more=messages.in_all(len(hangs.programs), "program"),
        ),
        translated(_MEND),
        op=op,
        lanes=listed([EvidenceLanes.timeless(hangs.programs, nowhere, nowhere)]),
    )


def _lane(evidence: Evidence, op: Op, off: Off, program: int) -> str:
    """``lane 100``: the first masked-off lane of a program, or of another program if it has none."""
    plan = evidence.launch.executable.plan
    shape = next(one.types[op.results[0]].shape for one in plan.functions.values() if op in one.walk())
    lane = off.lanes.get(program, next(iter(off.lanes.values()), 0))
    return messages.lane(lane, shape) or _("lane")
