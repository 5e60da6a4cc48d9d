"""The barriers between a program's threads: `tl.debug_barrier`, and atomics on a scalar.

One thread does such an atomic. If its result is used, the other threads get it through shared memory, after a barrier.
"""

from __future__ import annotations

import numpy as np

from triton_lab.ir import Plan
from triton_lab.ir.value_flow import taken
from triton_lab.launch.byte_ranges import Ints
from triton_lab.launch.checks.analysis.evidence import Evidence

# A key is a program's number times this, plus a time.
TIMES = np.int64(1) << 32


def results_used(plan: Plan) -> set[int]:
    """The indices of the operations of which any result is used."""
    found: set[int] = set()
    for function in plan.functions.values():
        ops = list(function.walk())
        uses = {value for op in ops for value in taken(op)}
        found.update(op.index for op in ops if uses.intersection(op.results))
    return found


class Barriers:
    """All barriers within the programs of a launch."""

    def __init__(self, evidence: Evidence, used: set[int]) -> None:
        met = list(evidence.tape.barriers)
        for sight in evidence.sights("atomic"):
            if sight.op.index in used and not sight.event.shape:
                met.append((sight.event.order, sight.event.programs))
        keys = [programs * TIMES + time for time, programs in met]
        self._keys = np.sort(np.concatenate(keys)) if keys else np.zeros(0, np.int64)

    def last(self, program: Ints, time: Ints | int, never: int = 0) -> Ints:
        """The time of each program's last barrier before a time; ``never`` if there is none."""
        if not len(self._keys):
            return np.full(len(program), never, np.int64)
        at = np.searchsorted(self._keys, program * TIMES + time, side="left") - 1
        found = self._keys[np.maximum(at, 0)]
        return np.where((at >= 0) & (found // TIMES == program), found % TIMES, never)
