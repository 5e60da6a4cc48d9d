"""What follows from a trace alone, remembered by its form: the simplified graph, its ingredients and keys.

A program that takes the same step again does not pay again for simplifying and hashing it.
"""

from __future__ import annotations

from collections.abc import Collection

from triton_lab.lazy.graph import Graph, StepTrace
from triton_lab.lazy.hashing import Ingredients, ingredients
from triton_lab.lazy.simplification import simplify

LARGEST = 256  # traces; the oldest one is forgotten


class KnownTrace:
    """A trace's simplified `graph`, with the source lines of whoever took the step first.

    `kept` has the indices of the trace's inputs that the graph still has.
    """

    def __init__(self, trace: StepTrace) -> None:
        self.graph, self.kept = simplify(trace.graph())
        self._fitting = _fitting(self.graph)
        self._recipes: dict[tuple[tuple[int, ...], str], Ingredients] = {}
        self._keys: dict[tuple[tuple[int, ...], str, bool], str] = {}

    def donors(self, visible: Collection[int]) -> tuple[int, ...]:
        """The indices of the donated inputs: not `visible` after the step, and with the size of an output.

        `visible` holds the indices of inputs that a live tensor still uses. Buffers are flat, so an output fits if it
        has as many elements of the same dtype, whatever its shape. Whether the compiler uses the permission is decided
        later (`placement`). A graph with it and one without it are two graphs, so it is decided before the graph is
        hashed.
        """
        return tuple(index for index in self._fitting if index not in visible)

    def recipe(self, donors: tuple[int, ...], target: str) -> Ingredients:
        """The ingredients of the graph's hash."""
        found = self._recipes.get((donors, target))
        if found is None:
            found = self._recipes[donors, target] = ingredients(self.graph, donors, target)
        return found

    def key(self, donors: tuple[int, ...], target: str, include_donors: bool) -> str:
        """The graph's hash."""
        found = self._keys.get((donors, target, include_donors))
        if found is None:
            found = self._keys[donors, target, include_donors] = self.recipe(donors, target).key(include_donors)
        return found


def _fitting(graph: Graph) -> tuple[int, ...]:
    """The indices of the inputs that have the size of a computed output."""
    computed = {output for output in graph.outputs if graph.ops[output].name != "input"}
    room = {(graph.ops[output].numel, graph.ops[output].dtype) for output in computed}
    return tuple(
        index for index, number in enumerate(graph.inputs) if (graph.ops[number].numel, graph.ops[number].dtype) in room
    )


class KnownTraces:
    """Traces by their form. It has no lock: steps take `storage.lock`."""

    def __init__(self) -> None:
        self._entries: dict[object, KnownTrace] = {}

    def find(self, trace: StepTrace) -> KnownTrace:
        """What is known of a trace; found out now if it is new."""
        found = self._entries.get(trace.form)
        if found is None:
            found = self._entries[trace.form] = KnownTrace(trace)
            if len(self._entries) > LARGEST:
                del self._entries[next(iter(self._entries))]
        return found

    def clear(self) -> None:
        self._entries.clear()
