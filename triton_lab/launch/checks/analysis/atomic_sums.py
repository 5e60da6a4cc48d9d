"""Sums that atomics add to memory in narrow floats, compared with the same sums in float64."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from triton_lab.interpreter.dtypes import user_name
from triton_lab.interpreter.frame import Frame
from triton_lab.interpreter.number_conversion import widen
from triton_lab.ir import Op, effects
from triton_lab.launch.checks.analysis.loop_sums import COSTLY, MANY, Inexact
from triton_lab.launch.checks.analysis.sum_chains import FRACTION
from triton_lab.launch.propagation.lane_sets import lifted
from triton_lab.launch.recording.access_event import AccessEvent
from triton_lab.launch.recording.launch_record import Recorded
from triton_lab.launch.recording.tape import block_shape, brought
from triton_lab.launch.recording.watcher import Watcher

Array = NDArray[Any]

# After this many lanes, their sums are combined by element.
_MOST_LANES = 1 << 20


@dataclass(frozen=True)
class Total(Inexact):
    """The sum in one element of memory. ``program`` and ``lane`` were the last to add to it."""

    address: int


class _Sums(NamedTuple):
    """The sums that atomics have added, by element or by lane, in execution order.

    ``start`` is the value that the first atomic found at ``address``; ``sum`` and ``squares`` are sums over the
    ``number`` terms in float64. The last atomic found ``before`` and added ``term``, in ``lane`` of ``program``.
    """

    address: Array
    start: Array
    sum: Array
    squares: Array
    number: Array
    before: Array
    term: Array
    program: Array
    lane: Array


def _by_element(parts: Sequence[_Sums]) -> _Sums:
    """The sums combined, one for each element."""
    whole = _Sums(*(np.concatenate(column) for column in zip(*parts, strict=True)))
    order = np.argsort(whole.address, kind="stable")
    heads = np.flatnonzero(np.concatenate([[True], np.diff(whole.address[order]) != 0])[: len(order)])
    if not len(heads):
        return whole
    last = order[np.append(heads[1:], len(order)) - 1]
    sums, squares, number = (
        np.add.reduceat(column[order], heads) for column in (whole.sum, whole.squares, whole.number)
    )
    return _Sums(
        whole.address[last],
        whole.start[order[heads]],
        sums,
        squares,
        number,
        whole.before[last],
        whole.term[last],
        whole.program[last],
        whole.lane[last],
    )


class Atomics(Watcher):
    """Watches floating-point atomic additions in narrow types; False if the kernel has none."""

    def __init__(self, launch: Recorded) -> None:
        plan = launch.executable.plan
        self._ops = {
            op.index: function.types[op.operands[1]].element
            for function in plan.functions.values()
            for op in function.walk()
            if op.name == "tt.atomic_rmw"
            and op.attributes.get("atomic_rmw_op") == effects.Rmw.FADD
            and function.types[op.operands[1]].element in FRACTION
        }
        self._by_index = {op.index: op for op in plan.walk()}
        self._seen: dict[int, list[_Sums]] = {index: [] for index in self._ops}
        self._since: Counter[int] = Counter()

    def __bool__(self) -> bool:
        return bool(self._ops)

    def access(self, frame: Frame, op: Op, kind: str, pointer: Any, mask: Any, values: Array | None) -> None:
        if op.index not in self._ops or values is None:
            return
        added = brought(frame, op, values)
        assert added is not None
        event = AccessEvent(0, frame.programs, pointer, mask, block_shape(frame, op, pointer))
        whole = (frame.count, *event.shape)
        chosen = np.flatnonzero(event.active())
        size = max(1, int(np.prod(event.shape)))
        rank = len(event.shape)
        before, terms = (np.broadcast_to(lifted(array, rank), whole).reshape(-1)[chosen] for array in (values, added))
        wide = widen(terms).astype(np.float64)
        one = np.ones(len(chosen), np.int64)
        address = event.addresses().reshape(-1)[chosen]
        program, lane = frame.programs[chosen // size], chosen % size
        seen = self._seen[op.index]
        seen.append(_Sums(address, before, wide, wide**2, one, before, terms, program, lane))
        self._since[op.index] += len(chosen)
        if self._since[op.index] > _MOST_LANES:
            seen[:] = [_by_element(seen)]
            self._since.clear()

    def totals(self) -> Iterator[tuple[Op, list[Total]]]:
        """For each operation, a `Total` for each element whose sum has lost too much."""
        for index, parts in sorted(self._seen.items()):
            if not parts:
                continue
            each = _by_element(parts)
            start = each.start.astype(np.float64)
            exact = start + each.sum
            sums = (widen(each.before) + widen(each.term)).astype(each.before.dtype)
            scale = np.maximum(np.abs(exact), np.sqrt(start**2 + each.squares))
            off = np.abs(sums.astype(np.float64) - exact) / np.where(scale > 0, scale, np.inf)
            element = self._ops[index]
            cost = np.where(np.isfinite(off), off * 2.0 ** FRACTION[element], 0.0)
            found = [
                Total(
                    int(each.program[k]),
                    int(each.lane[k]),
                    sums[k],
                    float(exact[k]),
                    int(each.number[k]),
                    float(cost[k]),
                    user_name(element),
                    int(each.address[k]),
                )
                for k in np.flatnonzero((cost > COSTLY) & (each.number >= MANY)).tolist()
            ]
            if found:
                yield self._by_index[index], found
