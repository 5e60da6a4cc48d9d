"""Donation: which inputs of a step may be overwritten. It is decided before the graph is hashed.

An input's buffer may be overwritten if no tensor can read its old value after the step. Whether the compiler uses the
permission is decided later (`placement`). A graph with the permission and one without it are two graphs, even with
equal operations, so the permission belongs in the hash.
"""

from __future__ import annotations

from collections.abc import Collection

from triton_lab.lazy.graph import Graph


def donors(graph: Graph, visible: Collection[int]) -> tuple[int, ...]:
    """The indices of the donated inputs: not `visible` after the step, and with the size of an output.

    `visible` holds the indices of inputs that a live tensor still uses. Buffers are flat, so an output fits if it has
    as many elements of the same dtype, whatever its shape.
    """
    computed = {output for output in graph.outputs if graph.ops[output].name != "input"}
    room = {(graph.ops[output].numel, graph.ops[output].dtype) for output in computed}
    return tuple(
        index
        for index, number in enumerate(graph.inputs)
        if index not in visible and (graph.ops[number].numel, graph.ops[number].dtype) in room
    )
