"""Sums that lose their terms: many terms in a narrow float, and counters that stand still.

Sums that a loop carries, and sums of atomics in memory, are also computed in float64 and compared. `tl.sum` and
`tl.cumsum` are not examined: they add in a tree, which loses little.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from triton_lab import messages
from triton_lab.interpreter.frame import Frame
from triton_lab.interpreter.runtime_values import Value
from triton_lab.ir import Op
from triton_lab.launch.byte_ranges import Ranges
from triton_lab.launch.checks.analysis.atomic_sums import Atomics, Total
from triton_lab.launch.checks.analysis.evidence import Evidence, EvidenceLanes
from triton_lab.launch.checks.analysis.finding_text import element, finding, others, program
from triton_lab.launch.checks.analysis.loop_sums import CarriedSums, Loss
from triton_lab.launch.checks.analysis.stored_lanes import stored_from
from triton_lab.launch.checks.rule import Concerned, Rule
from triton_lab.launch.diagnosis.finding import Finding
from triton_lab.launch.diagnosis.severity import WARNING
from triton_lab.launch.recording.launch_record import Recorded
from triton_lab.launch.recording.watcher import Watcher
from triton_lab.launch.replay.replay_run import replay
from triton_lab.localization import N_, _, ngettext, translated

Array = NDArray[Any]

_MEND = N_(
    "Accumulate in float32: start with tl.zeros(..., dtype=tl.float32), and convert once, when you store the sum."
)
_MEND_COUNT = N_("Count in an integer. A float of this width cannot represent the next number.")
_MEND_ATOMIC = N_("Add to a float32 tensor, and convert it after all additions.")


class LostPrecisionRule(Rule):
    """A sum is too long for its type: added values are lost in rounding."""

    kind = "lost-precision"
    severity = WARNING
    subject = N_("loss of precision")
    summary = N_("A sum is too long for its type: added values are lost in rounding.")
    why = N_(
        "In float16 and bfloat16, small terms are lost in a large sum: 2048 + 1 is 2048 in float16. The error grows "
        "with the number of terms, and a counter stops."
    )
    remedy = N_(
        "Accumulate in float32: start with `tl.zeros(..., dtype=tl.float32)`, and convert once, when you store the "
        "sum. Count in integers."
    )
    intended = N_("If the tolerance of the result is larger than the loss in the message.")
    blind = N_(
        "Sums that a loop carries and sums of atomics are compared with float64. `tl.sum` and `tl.cumsum` are not "
        "examined: they add in a tree, which loses little."
    )
    concerned = Concerned.ONE
    mark = N_("precision lost")

    def check(self, evidence: Evidence, found: Sequence[Finding]) -> Iterator[Finding]:
        """One finding for each addition with a loss."""
        launch = evidence.launch
        if launch.snapshot is None:
            return
        looked = _looked(evidence)
        for op, losses in looked.sums.losses():
            yield _of_a_loop(evidence, op, losses)
        for op, totals in looked.atomics.totals():
            yield _of_atomics(evidence, op, totals)

    def watchers(self, evidence: Evidence) -> Mapping[str, Watcher | None]:
        """One that adds up in float64; None if the launch has no such sums."""
        looked = _Watcher(evidence.launch)
        return {"accumulation": looked if looked.sums or looked.atomics else None}

    def noun(self, finding: Finding) -> str:
        """A sum of a loop is counted by programs, one of atomics by the lanes that add."""
        return "program" if finding.argument is None else "lane"

    def programs_mark(self, count: int) -> str:
        """The words for programs with a loss."""
        return ngettext("{count} program that loses precision", "{count} programs that lose precision", count)


def _looked(evidence: Evidence) -> _Watcher:
    """The watcher after the launch, or after a replay. Raises CannotReplay."""
    launch = evidence.launch
    seen = launch.watched.get("accumulation")
    if isinstance(seen, _Watcher):
        return seen
    looked = _Watcher(launch)
    if looked.sums or looked.atomics:
        replay(launch, observer=looked if looked.sums else None, access_observer=looked if looked.atomics else None)
    return looked


class _Watcher(Watcher):
    """Watches both kinds of sums."""

    def __init__(self, launch: Recorded) -> None:
        self.sums, self.atomics = CarriedSums(launch), Atomics(launch)

    def after(self, frame: Frame, op: Op, operands: Sequence[Value], result: Any) -> None:
        self.sums.after(frame, op, operands, result)

    def handed(self, frame: Frame, numbers: Sequence[int], values: Sequence[Value]) -> None:
        self.sums.handed(frame, numbers, values)

    def joined(self, pieces: Sequence[tuple[Array, Value, Array | None]], programs: int, result: Value) -> None:
        self.sums.joined(pieces, programs, result)

    def access(self, frame: Frame, op: Op, kind: str, pointer: Any, mask: Any, values: Array | None) -> None:
        self.atomics.access(frame, op, kind, pointer, mask, values)


def _of_a_loop(evidence: Evidence, op: Op, losses: list[Loss]) -> Finding:
    launch = evidence.launch
    worst = max(losses, key=lambda loss: loss.cost)
    if worst.step is not None:
        text = _(
            "{program} counts in {type} and stops at {sum}: {sum} + {step} rounds to {sum}; in float64 it reaches "
            "{exact}"
        )
    elif not worst.exact:
        text = _("{program} adds up {terms} in {type} and gets {sum}; in float64 the sum is {exact}")
    else:
        text = _("{program} adds up {terms} in {type} and gets {sum}; in float64 the sum is {exact} ({share} is lost)")
    text = text.format(
        program=program(launch, worst.program),
        terms=messages.count(worst.terms, "term"),
        type=worst.type,
        sum=_number(worst.sum),
        step=_number(worst.step),
        exact=f"{worst.exact:.8g}",
        share=_lost(worst.sum, worst.exact),
    )
    numbers = np.array([loss.program for loss in losses], np.int64)
    lanes = EvidenceLanes.timeless(
        numbers, np.array([loss.lane for loss in losses], np.int64), np.zeros(len(losses), np.int64)
    )
    mend = translated(_MEND) if worst.step is None else translated(_MEND_COUNT)
    size = next(one.types[op.results[0]].size for one in launch.executable.plan.functions.values() if op in one.walk())
    every = np.concatenate([loss.program * max(1, size) + loss.lanes for loss in losses])
    ends = stored_from(evidence, op, Ranges.of(every, every + 1))
    text += messages.in_all(len(losses), "program")
    return finding(launch, "lost-precision", text, mend, op=op, lanes=lanes, ends=ends)


def _of_atomics(evidence: Evidence, op: Op, totals: list[Total]) -> Finding:
    worst = max(totals, key=lambda total: total.cost)
    argument = evidence.owner(op)
    text = _("{additions} in {type} to {element} give {sum}; in float64 they give {exact}")
    if worst.exact:
        text = _("{additions} in {type} to {element} give {sum}; in float64 they give {exact} ({share} is lost)")
    text = text.format(
        additions=messages.count(worst.terms, "atomic addition"),
        type=worst.type,
        element=element(argument, worst.address),
        sum=_number(worst.sum),
        exact=f"{worst.exact:.8g}",
        share=_lost(worst.sum, worst.exact),
    ) + others(len(totals))
    lanes = EvidenceLanes.timeless(
        *(np.array([getattr(total, name) for total in totals], np.int64) for name in ("program", "lane", "address"))
    )
    return finding(
        evidence.launch, "lost-precision", text, translated(_MEND_ATOMIC), op=op, argument=argument, lanes=lanes
    )


def _number(value: Any) -> str:
    return "" if value is None else f"{float(value):.8g}"


def _lost(sum: Any, exact: float) -> str:
    """The lost share of a sum, ``25%``; "" if the exact sum is 0."""
    return f"{messages.significant(100 * abs(float(sum) - exact) / abs(exact))}%" if exact else ""
