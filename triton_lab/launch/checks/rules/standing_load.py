"""Loads in a loop whose mask changes with the iteration but whose offsets do not.

Each iteration then loads the same elements. This may be intended, if each iteration needs another length of one block,
so it is a note.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from triton_lab import messages
from triton_lab.interpreter.mask_box import MaskBox
from triton_lab.ir import Op, dataflow, effects
from triton_lab.launch.byte_ranges import Flags
from triton_lab.launch.checks.analysis.evidence import Evidence
from triton_lab.launch.checks.analysis.finding_text import LISTED, finding, program
from triton_lab.launch.checks.rule import Concerned, Rule
from triton_lab.launch.diagnosis.finding import Finding
from triton_lab.launch.diagnosis.severity import NOTE
from triton_lab.launch.recording.access_event import AccessEvent
from triton_lab.localization import N_, _, translated

_MEND = N_(
    "Advance the offsets as the mask does (x_ptr + k + offsets), or advance the pointers "
    "at the end of each iteration (x_ptrs += BLOCK)."
)


class StandingLoadRule(Rule):
    """A load in a loop loads the same elements in each iteration, although its mask changes."""

    kind = "standing-load"
    severity = NOTE
    subject = N_("loads that a loop repeats")
    summary = N_("A load in a loop loads the same elements in each iteration, although its mask changes.")
    why = N_(
        "The loop should go over a row, but reads its first block again and again. The result is right for a row of "
        "one block, and wrong for a longer one."
    )
    remedy = N_(
        "Advance the offsets as the mask does, `x_ptr + k + offsets`, or advance the pointers at the end of each "
        "iteration, `x_ptrs += BLOCK`."
    )
    intended = N_("If each iteration needs another part of the same block.")
    blind = N_("Only loads in `for` loops are examined, and only if the loop changes the mask but not the address.")
    concerned = Concerned.ONE

    def check(self, evidence: Evidence, found: Sequence[Finding]) -> Iterator[Finding]:
        """One finding for each such load, if a program loads an element again."""
        launch = evidence.launch
        flow = dataflow.Flow.of(launch.executable.plan)
        for function in launch.executable.plan.functions.values():
            for loop in (op for op in function.walk() if op.name == "scf.for"):
                carried = {dataflow.Value(function.name, one) for one in loop.regions[0].blocks[0].arguments}
                for op in (one for region in loop.regions for block in region.blocks for one in block.ops):
                    if op.name == "tt.load" and _stands(flow, function.name, op, carried):
                        yield from _told(evidence, op)


def _stands(flow: dataflow.Flow, function: str, load: Op, carried: set[dataflow.Value]) -> bool:
    """Whether the mask of ``load`` depends on values that the loop carries, and its address does not."""
    at = effects.operands_of(load)
    if at.mask is None:
        return False
    address, mask = (flow.behind([dataflow.Value(function, load.operands[one])]) for one in (at.address, at.mask))
    return not address & carried and bool(mask & carried)


def _told(evidence: Evidence, op: Op) -> Iterator[Finding]:
    """The finding for programs whose first lane loads its element in more than one iteration."""
    launch, argument = evidence.launch, evidence.owner(op)
    first: dict[int, int] = {}
    for event in evidence.tape.events.get(op.index, ()):
        for number in event.programs[_first_lane(event)].tolist():
            first[number] = first.get(number, 0) + 1
    programs = np.array(sorted(number for number, times in first.items() if times > 1), np.int64)
    if not len(programs):
        return
    number = int(programs[0])
    text = _("{program} loads the same elements in {iterations}: the mask advances, but the offsets do not{more}")
    if argument is not None:
        text = _(
            "{program} loads the same elements of {name} in {iterations}: the mask advances, but the offsets do "
            "not{more}"
        )
    yield finding(
        launch,
        "standing-load",
        text.format(
            program=program(launch, number),
            name="" if argument is None else argument.name,
            iterations=messages.count(first[number], "iteration"),
            more=messages.in_all(len(programs), "program"),
        ),
        translated(_MEND),
        op=op,
        argument=argument,
        count=len(programs),
        programs=programs[:LISTED],
    )


def _first_lane(event: AccessEvent) -> Flags:
    """(programs,) whether the first lane is active."""
    on: Flags = np.ones(1, np.bool_)
    if isinstance(event.mask, MaskBox):
        for lower, upper in zip(event.mask.lower, event.mask.upper, strict=True):
            on = on & (lower <= 0) & (upper > 0)
    elif event.mask is not None:
        on = event.mask.reshape(len(event.mask), -1)[:, 0]
    return np.broadcast_to(on, event.programs.shape)
