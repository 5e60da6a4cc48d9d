"""The barriers between a program's threads: `tl.debug_barrier`, and those that Triton's compiler puts at atomics.

One thread does an atomic on a scalar. If its result is used, the other threads get it through shared memory, after a
barrier. Triton 3.9 also puts a barrier before each atomic that releases, and one after each that acquires, of a scalar
or a block (seen in the PTX for sm_90 of both versions).
"""

from __future__ import annotations

import numpy as np

from triton_lab.ir import Plan, effects
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


def around_atomics() -> bool:
    """Whether the installed Triton puts barriers before atomics that release, and after those that acquire."""
    from triton import __version__

    major, minor = __version__.split(".")[:2]
    return (int(major), int(minor)) >= (3, 9)


class Barriers:
    """All barriers within the programs of a launch."""

    def __init__(self, evidence: Evidence, used: set[int]) -> None:
        met = list(evidence.tape.barriers)
        around = around_atomics()
        for sight in evidence.sights("atomic"):
            op, event = sight.op, sight.event
            if around and effects.releases(op) and event.order:
                met.append((event.order - 1, event.programs))  # what came before is done
            if (op.index in used and not event.shape) or (around and effects.acquires(op)):
                met.append((event.order, event.programs))
        keys = [programs * TIMES + time for time, programs in met]
        self._keys = np.sort(np.concatenate(keys)) if keys else np.zeros(0, np.int64)

    def last(self, program: Ints, time: Ints | int, never: int = 0) -> Ints:
        """The time of each program's last barrier before a time; ``never`` if there is none."""
        if not len(self._keys):
            return np.full(len(program), never, np.int64)
        at = np.searchsorted(self._keys, program * TIMES + time, side="left") - 1
        found = self._keys[np.maximum(at, 0)]
        return np.where((at >= 0) & (found // TIMES == program), found % TIMES, never)
