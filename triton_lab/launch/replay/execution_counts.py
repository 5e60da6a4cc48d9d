"""How often each operation of a launch ran, over all programs.

A block of the plan runs as often as any recorded access in it. If a block has no access, the launch is replayed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from triton_lab.interpreter.frame import Frame
from triton_lab.interpreter.runtime_values import Value
from triton_lab.ir import Op, Plan, effects
from triton_lab.ir.plan import Block
from triton_lab.ir.value_flow import ELEMENT_FUNCTIONS, LOOPS
from triton_lab.launch.recording.launch_record import Recorded
from triton_lab.launch.recording.watcher import Watcher
from triton_lab.launch.replay.replay_run import CannotReplay, replay

# The operations inside these combine two values into one, and are not counted by themselves.
COMBINING = ELEMENT_FUNCTIONS


@dataclass(frozen=True, eq=False)
class Executed:
    """Execution counts by operation number: ``times`` over all programs, ``depth`` the loops around it in its function.

    ``problem`` says why some counts are not known; these are left out.
    """

    times: Mapping[int, int]
    depth: Mapping[int, int]
    problem: str = ""


def executed(launch: Recorded, replays: bool = True) -> Executed:
    """Count the executions of all operations except those inside of reductions and scans.

    Without ``replays``, counts that need a replay are left out.

    >>> from triton_lab.launch.replay.execution_counts import executed
    >>> found = executed(launch)
    >>> [found.times[access.op] for access in launch.accesses]
    [8, 8, 8]
    """
    plan = launch.executable.plan
    placed = list(_placed(plan))
    depth = depths(plan)
    recorded = {
        op: sum(len(event.programs) for event in events)
        for op, events in launch.events.items()
        if launch.tape is None or not launch.tape.dropped
    }
    entry = plan.kernel.body.blocks[0] if len(plan.kernel.body.blocks) == 1 else None
    times: dict[int, int] = {}
    missing = False
    for block, _ in placed:
        known = [recorded[op.index] for op in block.ops if op.index in recorded]
        if not known and block is entry:
            known = [len(launch.own)]
        # A launch that was stopped ran the first operations of a block more often than the last.
        if known and launch.error is None:
            times.update(dict.fromkeys((op.index for op in block.ops), known[0]))
        elif not _has_access_that_never_ran(block, recorded, launch):
            missing = True
    if not missing or not replays:
        return Executed(times, depth)
    counting = _Counting()
    try:
        replay(launch, observer=counting)
    except CannotReplay as error:
        return Executed(times, depth, _("how often some operations ran is not known: {error}").format(error=error))
    return Executed({index: counting.times.get(index, 0) for index in depth}, depth)


def depths(plan: Plan) -> dict[int, int]:
    """How many loops of its function surround each operation; operations inside of reductions and scans are left out.

    >>> from triton_lab.launch.replay.execution_counts import depths
    >>> set(depths(launch.executable.plan).values())
    {0}
    """
    return {op.index: loops for block, loops in _placed(plan) for op in block.ops}


def _has_access_that_never_ran(block: Block, recorded: Mapping[int, int], launch: Recorded) -> bool:
    complete = launch.error is None and (launch.tape is None or not launch.tape.dropped)
    return complete and any(effects.is_access(op) and op.index not in recorded for op in block.ops)


def _placed(plan: Plan) -> Iterator[tuple[Block, int]]:
    """Each block outside of reductions and scans, with the number of loops around it."""
    for function in plan.functions.values():
        for block in function.body.blocks:
            yield from _inner(block, 0)


def _inner(block: Block, depth: int) -> Iterator[tuple[Block, int]]:
    yield block, depth
    for op in block.ops:
        if op.name not in COMBINING:
            for region in op.regions:
                for each in region.blocks:
                    yield from _inner(each, depth + (op.name in LOOPS))


class _Counting(Watcher):
    def __init__(self) -> None:
        self.times: Counter[int] = Counter()

    def after(self, frame: Frame, op: Op, operands: Sequence[Value], result: Any) -> None:
        self.times[op.index] += frame.count
