"""Schedules run on symbolic terms: two orders that leave equal memories compute the same."""

from __future__ import annotations

from collections.abc import Callable

from triton_lab.polyhedral.core.affine_conditions import value_at
from triton_lab.polyhedral.core.schedule_visits import Ordered
from triton_lab.polyhedral.execute import call_visits


def run_terms(schedule: Ordered) -> dict[tuple[str, tuple[int, ...]], int]:
    """Run the program on symbolic terms: each instance writes a hash of itself and of all that it read.

    Two orders leave equal memories exactly when every surviving value was computed in the same way. Elements that no
    instance wrote hold a hash of their own place.
    """
    scop = schedule.scop
    memory: dict[tuple[str, tuple[int, ...]], int] = {}
    whole = {s.name: s.whole for s in scop.statements}
    elements = {s.name: [(a.kind, a.array, a.subscripts) for a in s.accesses] for s in scop.statements}

    def execute(name: str, iterators: tuple[str, ...]) -> Callable[..., None]:
        def visit(*point: int) -> None:
            environment = {**scop.values, **dict(zip(iterators, point, strict=True))}
            read: list[int] = []
            written: list[tuple[str, tuple[int, ...]]] = []
            for kind, array, subscripts in elements[name]:
                place = (array, tuple(value_at(s, environment) for s in subscripts))
                if kind == "read":
                    read.append(memory.get(place, hash(place)))
                else:
                    written.append(place)
            term = hash((whole[name], point, tuple(read)))
            for place in written:
                memory[place] = term

        return visit

    call_visits(schedule, {s.name: execute(s.name, s.iterators) for s in scop.statements})
    return memory
