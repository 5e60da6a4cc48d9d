"""Masked-off lanes that take part in a reduction, and change what is stored.

``other=`` gives masked-off lanes a value. A reduction of the loaded lanes must not see it: 0 is right for a sum, and
wrong for a maximum of negative numbers; after ``x - mean`` it is no longer 0. Some programs are run again with the
neutral value in such lanes of the reduction; if they then store the same numbers, nothing is reported.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.interpreter.bound_plan import Executable
from triton_lab.interpreter.frame import Frame
from triton_lab.interpreter.kernel_errors import KernelError
from triton_lab.interpreter.observers import together
from triton_lab.interpreter.runtime_values import Value
from triton_lab.interpreter.variants.arithmetic_variants import ordinary
from triton_lab.ir import Op, effects
from triton_lab.ir.dataflow import Flow
from triton_lab.ir.dataflow import Value as PlanValue
from triton_lab.ir.neutral_values import combined_by, neutral
from triton_lab.launch.byte_ranges import Ints
from triton_lab.launch.checks.analysis.evidence import Evidence, EvidenceLanes
from triton_lab.launch.checks.analysis.finding_text import element, finding, line_of, listed, program
from triton_lab.launch.checks.rule import Concerned, Rule
from triton_lab.launch.diagnosis.finding import Finding
from triton_lab.launch.diagnosis.severity import NOTE
from triton_lab.launch.propagation.masked_lane_marks import MaskedTerms
from triton_lab.launch.recording.access_event import AccessEvent
from triton_lab.launch.recording.tape import block_shape, brought
from triton_lab.launch.recording.watcher import Watcher
from triton_lab.launch.replay.replay_run import replay, scratch
from triton_lab.localization import N_, _, translated

Array = NDArray[Any]

_MOST = 4  # programs that are run again
_MEND = N_(
    "Give these lanes the neutral value in the reduced block: tl.where(mask, x, 0.0) for a sum, "
    'tl.where(mask, x, float("-inf")) for a maximum.'
)
# Of rounding, which another value of a masked-off lane may change: relative, by the bytes of a float.
_ROUNDING = {8: 1e-9, 4: 1e-4, 2: 3e-2, 1: 0.3}


class MaskedReductionRule(Rule):
    """Masked-off lanes take part in a reduction, and a stored value depends on them."""

    kind = "masked-reduction"
    severity = NOTE
    subject = N_("masked-off lanes in reductions")
    summary = N_("Masked-off lanes of a load take part in a reduction, and a stored value depends on them.")
    why = N_(
        "A block has more lanes than a row has elements, and `other=` fills them. 0 adds nothing to a sum, but it is "
        "the maximum of negative numbers, and `x - mean` makes another number of it, which a sum of squares counts. "
        "The result is wrong wherever the block does not divide the row."
    )
    remedy = N_(
        "Replace the lanes just before the reduction: `tl.where(mask, x, 0.0)` for a sum, "
        '`tl.where(mask, x, float("-inf"))` for a maximum.'
    )
    intended = N_("If the elements beyond the edge count as `other`, as in a maximum over a border of zeros.")
    blind = N_(
        "Up to 4 programs are looked at. Reductions of several values at once, such as `tl.argmax`, scans, and lanes "
        "that also depend on elements that were loaded are not examined, nor is a product (`tl.dot`) itself."
    )
    concerned = Concerned.ONE
    superseded_by = ("undefined",)
    mark = N_("depends on masked-off lanes")

    def check(self, evidence: Evidence, found: Sequence[Finding]) -> Iterator[Finding]:
        """One finding for each reduction."""
        launch = evidence.launch
        if launch.snapshot is None or not evidence.complete or launch.executable.waiting_loops:
            return
        programs = _programs(evidence)
        if not len(programs):
            return
        terms, stored = MaskedTerms(launch), _Stores()
        both = together([terms, stored])
        replay(launch, observer=both, access_observer=both, programs=programs, memory=scratch(launch))
        for index in sorted({index for index, _unused in terms.off}):
            yield from _told(evidence, terms, stored, evidence.ops[index], programs)


def _programs(evidence: Evidence) -> Ints:
    """Some programs in which a load that reaches a reduction has masked-off lanes."""
    plan, own = evidence.launch.executable.plan, evidence.launch.own
    found = np.zeros(0, np.int64)
    reduced = [op for op in plan.walk() if op.name == "tt.reduce"]
    if not reduced:
        return found
    flow = Flow.of(plan)
    behind = flow.behind({PlanValue(flow.function_of[op.index], one) for op in reduced for one in op.operands})
    some = np.unique(np.linspace(own.start, own.stop - 1, min(_MOST, len(own))).astype(np.int64))
    for op in filter(None, map(flow.maker.get, behind)):
        for event in evidence.tape.events.get(op.index, ()) if op.name == "tt.load" else ():
            if event.mask is None or len(found) == len(some):
                break
            chosen = event.of(np.flatnonzero(np.isin(event.programs, some)))
            off = ~chosen.active().all(axis=tuple(range(1, 1 + len(event.shape))))
            found = np.union1d(found, chosen.programs[off])
    return found


@dataclass(frozen=True, eq=False)
class _Store:
    """One execution of a store: where each lane stores, whether it does, and what."""

    op: Op
    programs: Ints
    addresses: Ints
    active: Array
    values: Array


class _Stores(Watcher):
    """Keeps what is stored."""

    def __init__(self) -> None:
        self.all: list[_Store] = []

    def access(self, frame: Frame, op: Op, kind: str, pointer: Any, mask: Any, values: Array | None) -> None:
        values = brought(frame, op, values) if effects.writes(op) else None
        if values is not None:
            event = AccessEvent(0, frame.programs, pointer, mask, block_shape(frame, op, pointer))
            whole = np.broadcast_to(values, (frame.count, *event.shape)).copy()
            self.all.append(_Store(op, frame.programs, event.addresses(), event.active(), whole))


def _told(evidence: Evidence, terms: MaskedTerms, stored: _Stores, op: Op, programs: Ints) -> Iterator[Finding]:
    launch, right = evidence.launch, _Stores()
    table = {op.name: _Neutral(terms, op)}
    try:
        replay(
            launch,
            executable=Executable.of(launch.executable.plan, table),
            access_observer=right,
            programs=programs,
            strict=True,
        )
    except KernelError:  # what it would do then is no better
        return
    apart = [
        (was, other, np.nonzero(differing.reshape(len(differing), -1)))
        for was, other in zip(stored.all, right.all, strict=False)
        if was.op is other.op and was.values.shape == other.values.shape
        if (differing := was.active & _apart(was.values, other.values)).any()
    ]
    if not apart:
        return
    was, other, first = apart[0]
    same = [(each, where) for each, _unused, where in apart if each.op is was.op]
    lanes = EvidenceLanes.timeless(
        np.concatenate([each.programs[where[0]] for each, where in same]),
        np.concatenate([where[1] for _unused, where in same]),
        np.concatenate([each.addresses.reshape(len(each.programs), -1)[where] for each, where in same]),
    )
    argument, term = evidence.owner(was.op), terms.terms[op.index].term
    yield finding(
        launch,
        MaskedReductionRule.kind,
        _(
            "masked-off lanes take part in this reduction{term}: without them {program} stores {right} to {element} "
            "({line}), and not {wrong}"
        ).format(
            term="" if term is None else _(", the first with the value {term}").format(term=f"{term:.6g}"),
            program=program(launch, int(lanes.program[0])),
            right=f"{other.values.reshape(len(other.programs), -1)[first][0]:.6g}",
            element=element(argument, int(lanes.address[0])),
            line=line_of(launch, was.op),
            wrong=f"{was.values.reshape(len(was.programs), -1)[first][0]:.6g}",
        ),
        translated(_MEND),
        op=op,
        argument=argument,
        lanes=listed([lanes]),
        count=len(lanes),
    )


def _apart(one: Array, other: Array) -> Array:
    """Where two numbers differ by more than rounding."""
    if one.dtype.kind != "f":
        return np.asarray(one != other)
    a, b = one.astype(np.float64), other.astype(np.float64)
    with np.errstate(invalid="ignore"):
        near = np.abs(a - b) <= _ROUNDING[one.dtype.itemsize] * np.maximum(np.abs(a), np.abs(b))
    return np.asarray(~(near | (a == b) | (np.isnan(a) & np.isnan(b))))


class _Neutral:
    """Runs a reduction with the neutral value in the lanes that are off."""

    def __init__(self, terms: MaskedTerms, op: Op) -> None:
        self._terms = terms
        self._op = op
        self._times: Counter[int] = Counter()

    def __call__(self, frame: Frame, op: Op, *operands: Value) -> Any:
        time = self._times[op.index]
        self._times[op.index] += 1
        off = self._terms.off.get((op.index, time)) if op.index == self._op.index else None
        number = None if off is None else neutral(combined_by(op), frame.type(op.operands[0]))
        if off is None or number is None:
            return ordinary(op.name)(frame, op, *operands)
        values = frame.spread(op, 0, operands[0])
        return ordinary(op.name)(frame, op, np.where(off, np.array(number).astype(values.dtype), values))
