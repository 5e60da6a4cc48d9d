"""What atomics add to elements of memory in narrow floats, with the same sum in float64 beside it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.interpreter.convert import widen
from triton_lab.interpreter.dtypes import user_name
from triton_lab.interpreter.frame import Frame
from triton_lab.ir import Op
from triton_lab.launch.access import Event
from triton_lab.launch.checks.carried_sums import COSTLY, FRACTION, MANY
from triton_lab.launch.launch import Launch
from triton_lab.launch.replay import Watcher
from triton_lab.launch.tape import block_shape, brought

Array = NDArray[Any]

_FADD = 5  # Triton's number of float addition among the atomics


@dataclass(frozen=True)
class Total:
    """What one element of memory came to. ``program`` and ``lane`` were the last to add; ``cost`` counts roundings."""

    address: int
    program: int
    lane: int
    sum: Any
    exact: float
    terms: int
    cost: float
    type: str


class Atomics(Watcher):
    """False if the kernel has no such atomics."""

    def __init__(self, launch: Launch) -> None:
        plan = launch.executable.plan
        self._ops = {
            op.index: function.types[op.operands[1]].element
            for function in plan.functions.values()
            for op in function.walk()
            if op.name == "tt.atomic_rmw"
            and op.attributes.get("atomic_rmw_op") == _FADD
            and function.types[op.operands[1]].element in FRACTION
        }
        self._by_index = {op.index: op for op in plan.walk()}
        # By operation: address, what was there, what was added, program and lane, as they happened.
        self._seen: dict[int, list[tuple[Array, Array, Array, Array, Array]]] = {index: [] for index in self._ops}

    def __bool__(self) -> bool:
        return bool(self._ops)

    def access(self, frame: Frame, op: Op, kind: str, pointer: Any, mask: Any, values: Array | None) -> None:
        if op.index not in self._ops or values is None:
            return
        added = brought(frame, op, kind, values)
        assert added is not None
        event = Event(0, frame.programs, pointer, mask, block_shape(frame, op, pointer, mask))
        whole = (frame.count, *event.shape)
        chosen = np.flatnonzero(event.active())
        size = max(1, int(np.prod(event.shape)))
        rank = len(event.shape)
        before, terms = (
            np.broadcast_to(array.reshape(-1, *(1,) * rank) if array.ndim == 1 else array, whole).reshape(-1)[chosen]
            for array in (values, added)
        )
        address = event.addresses().reshape(-1)[chosen]
        self._seen[op.index].append((address, before, terms, frame.programs[chosen // size], chosen % size))

    def totals(self) -> Iterator[tuple[Op, list[Total]]]:
        """By operation, one for each element whose sum has lost too much."""
        for index, parts in sorted(self._seen.items()):
            if not parts:
                continue
            address, before, terms, program, lane = (np.concatenate(column) for column in zip(*parts, strict=True))
            order = np.argsort(address, kind="stable")
            heads = np.flatnonzero(np.concatenate([[True], np.diff(address[order]) != 0]))
            counts = np.diff(np.append(heads, len(order)))
            wide = widen(terms[order]).astype(np.float64)
            start = before[order[heads]].astype(np.float64)
            exact = start + np.add.reduceat(wide, heads)
            last = order[heads + counts - 1]
            sums = (widen(before[last]) + widen(terms[last])).astype(before.dtype)
            scale = np.maximum(np.abs(exact), np.sqrt(start**2 + np.add.reduceat(wide**2, heads)))
            off = np.abs(sums.astype(np.float64) - exact) / np.where(scale > 0, scale, np.inf)
            element = self._ops[index]
            cost = np.where(np.isfinite(off), off * 2.0 ** FRACTION[element], 0.0)
            found = [
                Total(
                    int(address[last[k]]),
                    int(program[last[k]]),
                    int(lane[last[k]]),
                    sums[k],
                    float(exact[k]),
                    int(counts[k]),
                    float(cost[k]),
                    user_name(element),
                )
                for k in np.flatnonzero((cost > COSTLY) & (counts >= MANY)).tolist()
            ]
            if found:
                yield self._by_index[index], found
