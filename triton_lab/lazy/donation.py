"""Donation: which inputs of a step may be overwritten. Decided before the graph is hashed.

An input's buffer may be overwritten if nobody can see its old value after the step. What a compiler then makes of
the permission is another matter (`placement.py`); but a graph with the permission and one without it are two
graphs, however alike their operations, so the answer belongs in the hash.
"""

from __future__ import annotations

from collections.abc import Collection

from triton_lab.lazy.graph import Graph


def donors(graph: Graph, visible: Collection[int]) -> tuple[int, ...]:
    """The indices of the inputs that are offered: not `visible` after the step, and an output has their size.

    `visible` holds input indices that a living tensor still stands on. Buffers are flat, so an output fits if it
    has as many elements of the same dtype, whatever its shape.
    """
    computed = {output for output in graph.outputs if graph.ops[output].name != "input"}
    room = {(graph.ops[output].numel, graph.ops[output].dtype) for output in computed}
    return tuple(
        index
        for index, number in enumerate(graph.inputs)
        if index not in visible and (graph.ops[number].numel, graph.ops[number].dtype) in room
    )
