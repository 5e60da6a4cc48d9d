"""Where lanes of a value are stored: what is wrong with a number in a register is seen where it comes to memory."""

from __future__ import annotations

from itertools import groupby

import numpy as np

from triton_lab.ir import Op, dataflow, effects
from triton_lab.launch.checks.evidence import Evidence, Sight
from triton_lab.launch.checks.words import LISTED
from triton_lab.launch.ranges import Ints

# What a value may pass through on its way: each lane stays where it is.
_LANE_BY_LANE = ("arith.", "math.", "tt.fp_to_fp", "tt.extern_elementwise")


def stored_from(evidence: Evidence, op: Op, programs: Ints, lanes: Ints) -> tuple[tuple[str, Ints], ...]:
    """The elements of each argument in which these lanes (row-major in the block) of ``op``'s result were stored last.

    Lane by lane: where a block is summed up or turned on its way, or stored by another operation than ``tl.store``,
    nobody knows.
    """
    flow = dataflow.Flow.of(evidence.launch.executable.plan)
    found: dict[str, dict[tuple[int, int], int]] = {}
    for index, sights in groupby(evidence.sights("store"), key=lambda sight: sight.op.index):
        store = evidence.ops[index]
        argument = evidence.owner(store)
        if argument is None or not argument.itemsize or not _keeps(evidence, flow, op, store):
            continue
        known = found.setdefault(argument.name, {})
        for sight in sights:
            for program, lane, address in _lanes_of(sight, programs, lanes):
                known[program, lane] = (address - argument.address) // argument.itemsize
    kept = ((name, np.array(list(dict.fromkeys(known.values()))[:LISTED], np.int64)) for name, known in found.items())
    return tuple((name, elements) for name, elements in kept if len(elements))


def _keeps(evidence: Evidence, flow: dataflow.Flow, op: Op, store: Op) -> bool:
    """Whether what is stored is computed from the result of ``op``, lane by lane."""
    function, position = flow.function_of[store.index], effects.operands_of(store).value
    if position is None:
        return False
    functions = evidence.launch.executable.plan.functions
    value = dataflow.Value(function, store.operands[position])
    shape = functions[function].types[value.number].shape
    own = dataflow.Value(flow.function_of[op.index], op.results[0])

    def through(made: Op) -> bool:
        types = functions[flow.function_of[made.index]].types
        return made.name.startswith(_LANE_BY_LANE) and types[made.results[0]].shape == shape

    return functions[own.function].types[own.number].shape == shape and own in flow.behind([value], through)


def _lanes_of(sight: Sight, programs: Ints, lanes: Ints) -> list[tuple[int, int, int]]:
    """Program, lane and address of those lanes that an event stores."""
    event = sight.event
    if not len(event.programs):
        return []
    row = np.minimum(np.searchsorted(event.programs, programs), len(event.programs) - 1)
    there = event.programs[row] == programs
    if not there.any():
        return []
    part, lane = event.of(row[there]), lanes[there]
    count = len(lane)
    address = part.addresses().reshape(count, -1)[np.arange(count), lane]
    active = part.active().reshape(count, -1)[np.arange(count), lane]
    kept = (programs[there][active], lane[active], address[active])
    return list(zip(*(one.tolist() for one in kept), strict=True))
