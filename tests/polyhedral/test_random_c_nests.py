"""Random C nests against the same programs in Python: domains, dependences, results, and legal orders."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from tests.polyhedral.random_c_nests import CTrace, random_c_nest, starting_memory, trace
from triton_lab.polyhedral import Dependence, Schedule, Scop, scop
from triton_lab.polyhedral.core.loop_tree import every_loop

Pairs = dict[tuple[str, ...], set[tuple[int, ...]]]
_MOST_INSTANCES = 120


def _pairs(found: Scop, dependences: tuple[Dependence, ...]) -> Pairs:
    pairs: Pairs = {}
    for each in dependences:
        pairs.setdefault((each.kind, each.source, each.target), set()).update(map(tuple, each.pairs(found).tolist()))
    return pairs


def _happened(seen: CTrace) -> tuple[Pairs, Pairs]:
    """The pairs that met in memory, and those of a read with the write whose value it read."""
    memory: Pairs = {}
    values: Pairs = {}
    last: dict[tuple[str, int], tuple[str, tuple[int, ...]]] = {}
    for later, (name, point) in enumerate(seen.instances):
        for place in seen.reads[later]:
            if place in last:
                values.setdefault(("flow", last[place][0], name), set()).add((*last[place][1], *point))
        for place in seen.writes[later]:
            last[place] = (name, point)
        for earlier in range(later):
            source, before = seen.instances[earlier]
            for kind, first, second in (
                ("flow", seen.writes[earlier], seen.reads[later]),
                ("anti", seen.reads[earlier], seen.writes[later]),
                ("output", seen.writes[earlier], seen.writes[later]),
            ):
                if set(first) & set(second):
                    memory.setdefault((kind, source, name), set()).add((*before, *point))
    return memory, values


def _ran(schedule: Schedule, start: dict[str, list[int]]) -> dict[str, list[int]]:
    given = {name: np.array(values if name != "s" else values[0]) for name, values in start.items()}
    after = schedule.run({name: value for name, value in given.items() if name in {"s", "A", "B"}})
    return {name: np.atleast_1d(value).tolist() for name, value in after.items() if name in start}


@pytest.mark.parametrize("seed", range(900, 912))
def test_a_scop_does_what_its_c_does(seed: int) -> None:
    random = Random(seed)
    nest = random_c_nest(random)
    start = starting_memory(random)
    found = scop(nest.text)
    found = found.bind(**{k: v for k, v in (("n", 3), ("s", start["s"][0])) if k in found.parameters})
    seen = trace(nest, 3, start)
    for statement in (s for s in found.statements if s.name.startswith("L")):
        points = set(map(tuple, found.points(statement.name).tolist()))
        ran = {point for name, point in seen.instances if name == statement.name}
        assert ran <= points if nest.depends else ran == points
    if len(seen.instances) <= _MOST_INSTANCES:
        memory, values = _happened(seen)
        kept, flows = _pairs(found, found.dependences), _pairs(found, found.value_dependences)
        assert all(pairs <= kept[key] for key, pairs in memory.items())
        assert all(pairs <= flows[key] for key, pairs in values.items())
    orders = [found.schedule, *(found.schedule.reverse(name) for name in _single_loops(found))]
    for order in orders:
        if order is found.schedule or order.legality:
            ran_memory = _ran(order, start)
            assert ran_memory == {name: seen.memory[name] for name in ran_memory}


def _single_loops(found: Scop) -> list[str]:
    """The loops whose name no other loop has."""
    names = [loop.name for loop in every_loop(found.schedule.tree)]
    return [name for name in names if names.count(name) == 1]
