"""The memory elements to which lanes of a value are stored, so that a wrong value can be shown in memory."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from triton_lab.ir import Op, dataflow, effects, traits
from triton_lab.launch.byte_ranges import Ints, Ranges
from triton_lab.launch.checks.analysis.evidence import Evidence, SeenAccess
from triton_lab.launch.diagnosis.finding import MOST_ENDS


def stored_from(evidence: Evidence, op: Op, where: Ranges) -> tuple[tuple[str, Ints], ...]:
    """The elements of each argument to which these lanes of ``op``'s result were last stored, by program, then lane.

    ``where`` has the lanes, numbered over all programs. Only values that stay in their lanes are followed: not if a
    block is reduced or transposed before the store, or stored by another operation than ``tl.store``.
    """
    flow = dataflow.Flow.of(evidence.launch.executable.plan)
    sights: dict[str, list[SeenAccess]] = {}
    for sight in evidence.sights("store"):
        argument = evidence.owner(sight.op)
        if argument is not None and argument.itemsize:
            sights.setdefault(argument.name, []).append(sight)
    kept = {sight.op.index: _keeps(evidence, flow, op, sight.op) for some in sights.values() for sight in some}
    found = []
    for name, some in sights.items():
        argument = evidence.launch.argument(name)
        address = _last([sight for sight in some if kept[sight.op.index]], where)
        elements = (address - argument.address) // argument.itemsize
        if len(elements):
            _, first = np.unique(elements, return_index=True)
            found.append((name, elements[np.sort(first)][:MOST_ENDS]))
    return tuple(found)


def _last(sights: Sequence[SeenAccess], where: Ranges) -> Ints:
    """The addresses to which the lanes were last stored, by program, then lane."""
    lanes, addresses = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for sight in reversed(sights):
        event = sight.event
        size = max(1, math.prod(event.shape))
        before = np.searchsorted(where.stop, event.programs * size, side="right")
        rows = np.flatnonzero(np.searchsorted(where.start, (event.programs + 1) * size) > before)
        if not len(rows):
            continue
        part = event.of(rows)
        numbers = (part.programs[:, None] * size + np.arange(size)).reshape(part.active().shape)
        there = part.active() & where.covers(numbers)
        lanes.append(numbers[there])
        addresses.append(part.addresses()[there])
        where -= Ranges.of(lanes[-1], lanes[-1] + 1)
    every = np.concatenate(lanes)
    return np.concatenate(addresses)[np.argsort(every)]


def _keeps(evidence: Evidence, flow: dataflow.Flow, op: Op, store: Op) -> bool:
    """Whether the stored value is computed from the result of ``op``, lane by lane."""
    function, position = flow.function_of[store.index], effects.operands_of(store).value
    if position is None:
        return False
    functions = evidence.launch.executable.plan.functions
    value = dataflow.Value(function, store.operands[position])
    shape = functions[function].types[value.number].shape
    own = dataflow.Value(flow.function_of[op.index], op.results[0])

    def through(made: Op) -> bool:
        types = functions[flow.function_of[made.index]].types
        return traits.is_in_place(made, types) and types[made.results[0]].shape == shape

    return functions[own.function].types[own.number].shape == shape and own in flow.behind([value], through)
