"""`%` and `//` of negative numbers that decide an index, a mask or a loop: in Triton they round to zero, as in C."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.interpreter.bound_plan import Executable
from triton_lab.interpreter.frame import Frame
from triton_lab.interpreter.kernel_errors import KernelError
from triton_lab.interpreter.runtime_values import Value as Held
from triton_lab.interpreter.variants.arithmetic_variants import ordinary
from triton_lab.ir import Op, effects
from triton_lab.ir.dataflow import Flow, Value
from triton_lab.launch.checks.analysis.evidence import Evidence, EvidenceLanes
from triton_lab.launch.checks.analysis.finding_text import finding, listed, others, program
from triton_lab.launch.checks.analysis.integer_bounds import IntegerBounds
from triton_lab.launch.checks.rule import Concerned, Rule
from triton_lab.launch.diagnosis.finding import Finding
from triton_lab.launch.diagnosis.severity import WARNING
from triton_lab.launch.recording.access_event import AccessEvent
from triton_lab.launch.recording.tape import block_shape
from triton_lab.launch.recording.watcher import Watcher
from triton_lab.launch.replay.replay_run import replay
from triton_lab.localization import N_, _, translated

Array = NDArray[Any]
_FLOORED = {"arith.remsi": np.remainder, "arith.divsi": np.floor_divide}
_MEND = {
    "arith.remsi": N_("Add the divisor first: (i - 1 + n) % n. For any negative number, write ((i % n) + n) % n."),
    "arith.divsi": N_(
        "Make the number positive first, (i + n) // n - 1, or mask off negative ones. tl.cdiv is the same."
    ),
}


class NegativeDivisionRule(Rule):
    """A remainder or a quotient of a negative number decides an index, and is another one than in Python."""

    kind = "negative-division"
    severity = WARNING
    subject = N_("remainders of negative numbers")
    summary = N_("An index depends on `%` or `//` of a negative number, which Triton rounds differently than Python.")
    why = N_(
        "In Triton, integers are divided as on the GPU: the quotient is rounded to zero, and the remainder has the "
        "sign of the left side. `-1 % n` is -1 and not n - 1, `-1 // 2` is 0 and not -1. Code that is right in Python "
        "reads the element before the tensor."
    )
    remedy = N_("Make the left side positive: `(i - 1 + n) % n`. `tl.cdiv` has the same rule.")
    intended = N_("If the kernel was written for division as in C, and accesses elements on both sides of 0.")
    blind = N_("An access is reported only if its active lanes would touch other elements with Python's rounding.")
    concerned = Concerned.ONE

    def check(self, evidence: Evidence, found: Sequence[Finding]) -> Iterator[Finding]:
        """One finding for each access that a division decides, at the division."""
        launch = evidence.launch
        deciding = _deciding(evidence)
        if not deciding or launch.snapshot is None:
            return
        floored = _Floored(frozenset().union(*deciding.values()))
        watcher = _Accesses()
        table = dict.fromkeys(_FLOORED, floored)
        try:
            replay(launch, executable=Executable.of(launch.executable.plan, table), access_observer=watcher)
        except KernelError:  # what it would touch is no better
            return
        told: set[int] = set()
        for index, lanes in _moved(evidence, watcher):
            origin = next((one for one in sorted(deciding.get(index, ())) if one in floored.examples), None)
            if origin is None or origin in told:
                continue
            told.add(origin)
            left, right, result = floored.examples[origin]
            division, remainder = evidence.ops[origin], evidence.ops[origin].name == "arith.remsi"
            yield finding(
                launch,
                self.kind,
                _(
                    "in {program}, {left} {sign} {right} is {result} (in Python it is {other}), and decides which "
                    "elements are accessed{others}"
                ).format(
                    program=program(launch, int(lanes.program[0])),
                    left=left,
                    sign="%" if remainder else "//",
                    right=right,
                    result=result,
                    other=left % right if remainder else left // right,
                    others=others(len(lanes)),
                ),
                translated(_MEND[division.name]),
                op=division,
                argument=evidence.owner(evidence.ops[index]),
                lanes=listed([lanes]),
                count=len(lanes),
            )


class _Floored:
    """Divides as Python does, in the ``ops`` alone; ``examples`` has operands and the GPU's result by operation."""

    def __init__(self, ops: frozenset[int]) -> None:
        self.ops = ops
        self.examples: dict[int, tuple[int, int, int]] = {}

    def __call__(self, frame: Frame, op: Op, left: Held, right: Held) -> Held:
        plain: Held = ordinary(op.name)(frame, op, left, right)
        if op.index not in self.ops:
            return plain
        a, b = np.broadcast_arrays(frame.elements(op, 0, left), frame.elements(op, 1, right))
        truncated = np.broadcast_to(frame.elements(op, 0, plain), a.shape)
        quotient = _FLOORED[op.name](a, np.where(b == 0, 1, b)).astype(a.dtype)
        result: Array = np.where(b == 0, truncated, quotient)
        wrong = np.flatnonzero(result != truncated)
        if len(wrong):
            example = (int(a.reshape(-1)[wrong[0]]), int(b.reshape(-1)[wrong[0]]), int(truncated.reshape(-1)[wrong[0]]))
            self.examples.setdefault(op.index, example)
        return result


def _deciding(evidence: Evidence) -> dict[int, frozenset[int]]:
    """By access: the divisions behind its addresses, its mask and the loops, whose left side may be negative."""
    flow = Flow.of(evidence.launch.executable.plan)
    divisions = [op for op in evidence.ops.values() if op.name in _FLOORED]
    if not divisions:
        return {}
    reach = IntegerBounds(evidence.launch, flow)
    lefts = {op.index: Value(flow.function_of[op.index], op.operands[0]) for op in divisions}
    negative = {index for index, left in lefts.items() if reach.bounds(left)[0] < 0}
    result: dict[int, frozenset[int]] = {}
    for access in evidence.ops.values() if negative else ():
        if not effects.is_access(access):
            continue
        at = effects.operands_of(access)
        numbers = [access.operands[one] for one in (at.address, at.mask, *at.coordinates) if one is not None]
        behind = flow.behind(Value(flow.function_of[access.index], one) for one in numbers)
        mine = {op.index for each in behind if (op := flow.maker.get(each)) is not None} & negative
        if mine:
            result[access.index] = frozenset(mine)
    return result


class _Accesses(Watcher):
    """The accesses of a replay, by operation."""

    def __init__(self) -> None:
        self.events: dict[int, list[AccessEvent]] = {}

    def access(self, frame: Frame, op: Op, kind: str, pointer: Any, mask: Any, values: Array | None) -> None:
        event = AccessEvent(0, frame.programs, pointer, mask, block_shape(frame, op, pointer))
        self.events.setdefault(op.index, []).append(event)


def _moved(evidence: Evidence, watcher: _Accesses) -> Iterator[tuple[int, EvidenceLanes]]:
    """Each access whose active lanes touch other elements than those of the replay, with these lanes."""
    tape = evidence.tape
    seen = {index: list(events) for index, events in tape.events.items()}
    if tape.stopped is not None:
        seen.setdefault(tape.stopped[0], []).append(tape.stopped[1])
    for index, events in sorted(seen.items()):
        parts = []
        for event, other in zip(events, watcher.events.get(index, ()), strict=False):
            if event.shape != other.shape or not np.array_equal(event.programs, other.programs):
                continue
            on, there = event.active(), other.active()
            moved = (on & there & (event.addresses() != other.addresses())) | (on != there)
            if moved.any():
                parts.append(EvidenceLanes.of(event, moved))
        if parts:
            names = ("program", "lane", "address", "time")
            yield index, EvidenceLanes(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))
