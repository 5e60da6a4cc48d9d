"""Finds sums that lose their terms: many terms in a narrow float, and counters that stand still.

Sums that a loop carries, and sums of atomics in memory, are also computed in float64 and compared. `tl.sum` and
`tl.cumsum` are not examined: they add in a tree, which loses little.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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
from triton_lab.launch.diagnosis.finding import Finding
from triton_lab.launch.recording.launch_record import Recorded
from triton_lab.launch.recording.watcher import Watcher
from triton_lab.launch.replay.replay_run import replay

Array = NDArray[Any]

_MEND = "Accumulate in float32: begin with tl.zeros(..., dtype=tl.float32), and convert once, when the sum is stored."
_MEND_COUNT = "Count in an integer: a float of this width cannot tell the next number from this one."
_MEND_ATOMIC = "Add to a float32 tensor, and convert when all have added."


def check(evidence: Evidence) -> Iterator[Finding]:
    """One finding for each addition with a loss."""
    launch = evidence.launch
    if launch.snapshot is None:
        return
    looked = _looked(evidence)
    for op, losses in looked.sums.losses():
        yield _of_a_loop(evidence, op, losses)
    for op, totals in looked.atomics.totals():
        yield _of_atomics(evidence, op, totals)


def watcher(evidence: Evidence) -> Watcher | None:
    """The watcher for the running launch; None if it has no such sums."""
    looked = _Watcher(evidence.launch)
    return looked if looked.sums or looked.atomics else None


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

    def access(self, frame: Frame, op: Op, kind: str, pointer: Any, mask: Any, values: Array | None) -> None:
        self.atomics.access(frame, op, kind, pointer, mask, values)


def _of_a_loop(evidence: Evidence, op: Op, losses: list[Loss]) -> Finding:
    launch = evidence.launch
    worst = max(losses, key=lambda loss: loss.cost)
    if worst.step is not None:
        text = (
            f"{program(launch, worst.program)} counts in {worst.type} and stands still: "
            f"{_number(worst.sum)} + {_number(worst.step)} is {_number(worst.sum)} again; "
            f"in float64 it comes to {worst.exact:.8g}"
        )
    else:
        text = (
            f"{program(launch, worst.program)} adds up {messages.count(worst.terms, 'term')} in {worst.type} "
            f"and gets {_number(worst.sum)}; in float64 they make {worst.exact:.8g}{_off(worst.sum, worst.exact)}"
        )
    numbers = np.array([loss.program for loss in losses], np.int64)
    lanes = EvidenceLanes.timeless(
        numbers, np.array([loss.lane for loss in losses], np.int64), np.zeros(len(losses), np.int64)
    )
    mend = _MEND if worst.step is None else _MEND_COUNT
    size = next(one.types[op.results[0]].size for one in launch.executable.plan.functions.values() if op in one.walk())
    every = np.concatenate([loss.program * max(1, size) + loss.lanes for loss in losses])
    ends = stored_from(evidence, op, Ranges.of(every, every + 1))
    text += messages.in_all(len(losses), "program")
    return finding(launch, "lost-precision", text, mend, op=op, lanes=lanes, ends=ends)


def _of_atomics(evidence: Evidence, op: Op, totals: list[Total]) -> Finding:
    worst = max(totals, key=lambda total: total.cost)
    argument = evidence.owner(op)
    text = (
        f"{messages.count(worst.terms, 'atomic addition')} in {worst.type} "
        f"{messages.noun(worst.terms, 'brings', 'bring')} {element(argument, worst.address)} "
        f"to {_number(worst.sum)}; in float64 they make {worst.exact:.8g}{_off(worst.sum, worst.exact)}"
        f"{others(len(totals))}"
    )
    lanes = EvidenceLanes.timeless(
        *(np.array([getattr(total, name) for total in totals], np.int64) for name in ("program", "lane", "address"))
    )
    return finding(evidence.launch, "lost-precision", text, _MEND_ATOMIC, op=op, argument=argument, lanes=lanes)


def _number(value: Any) -> str:
    return f"{float(value):.8g}"


def _off(sum: Any, exact: float) -> str:
    """The relative error in words."""
    return f" ({abs(float(sum) - exact) / abs(exact):.2g} of it lost)" if exact else ""
