"""Where values flow through control: what is handed on by branches, yields, loops, calls and regions.

An edge says that its target may be its source, unchanged. What an operation computes has no edges here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from triton_lab.ir.plan import Function, Op, Plan, Region


class Value(NamedTuple):
    """A value of a function of the plan."""

    function: str
    number: int


class Edge(NamedTuple):
    """``target`` may be ``source``."""

    source: Value
    target: Value


# Their results are all handed on, none computed.
HANDS_ON = frozenset({"scf.for", "scf.while", "scf.if", "tt.call"})


def edges(plan: Plan) -> Iterator[Edge]:
    """All edges of ``plan``, function by function."""
    for function in plan.functions.values():
        yield from _within(plan, function, function.body)


def endings(region: Region) -> list[Op]:
    """The operations that end the region, with what it yields; branches within it are not among them."""
    return [block.ops[-1] for block in region.blocks if not block.ops[-1].successors]


def _within(plan: Plan, function: Function, region: Region) -> Iterator[Edge]:
    """The edges of a region. A branch counts the blocks of the region that it stands in."""
    for block in region.blocks:
        for op in block.ops:
            for successor in op.successors:
                yield from _pairs(function, successor.operands, region.blocks[successor.block].arguments)
            yield from _called(plan, function, op) if op.name == "tt.call" else _around(function, op)
            for inner in op.regions:
                yield from _within(plan, function, inner)


def _around(function: Function, op: Op) -> Iterator[Edge]:
    """Between an operation and its regions."""
    if op.name == "scf.for":
        (body,) = op.regions
        first = body.blocks[0].arguments
        # The counter begins at the lower bound; what else it is, is computed.
        for sources in (op.operands[3:], *(end.operands for end in endings(body))):
            yield from _pairs(function, sources, first[1:])
            yield from _pairs(function, sources, op.results)
        yield from _pairs(function, op.operands[:1], first[:1])
    elif op.name == "scf.while":
        before, after = op.regions
        yield from _pairs(function, op.operands, before.blocks[0].arguments)
        for end in endings(after):
            yield from _pairs(function, end.operands, before.blocks[0].arguments)
        for end in endings(before):
            yield from _pairs(function, end.operands[1:], after.blocks[0].arguments)
            yield from _pairs(function, end.operands[1:], op.results)
    elif op.name == "scf.if":
        for region in op.regions:
            for end in endings(region):  # none where there is no else
                yield from _pairs(function, end.operands, op.results)
    elif op.name == "tt.map_elementwise":
        yield from _mapped(function, op)
    else:
        yield from _combined(function, op)


def _combined(function: Function, op: Op) -> Iterator[Edge]:
    """The function of a reduction or a scan takes elements, or what it returned before."""
    for region in op.regions:
        ends = endings(region)
        for end in ends:
            yield from _pairs(function, end.operands, op.results)
        for position, argument in enumerate(region.blocks[0].arguments):
            # Several blocks are reduced together: one element of each, then as much that was combined.
            for sources in (op.operands, *(end.operands for end in ends)):
                if sources:
                    yield from _pairs(function, [sources[position % len(sources)]], [argument])


def _mapped(function: Function, op: Op) -> Iterator[Edge]:
    """The function of a map takes ``pack`` elements of each block, and returns as many for each result."""
    (region,) = op.regions
    pack = int(op.attributes.get("pack", 1))
    yield from _pairs(function, _repeated(op.operands, pack), region.blocks[0].arguments)
    for end in endings(region):
        yield from _pairs(function, end.operands, _repeated(op.results, pack))


def _repeated(numbers: Sequence[int], times: int) -> list[int]:
    return [number for number in numbers for _ in range(times)]


def _called(plan: Plan, function: Function, op: Op) -> Iterator[Edge]:
    callee = plan.functions[op.attributes["callee"]]
    for source, target in zip(op.operands, callee.arguments, strict=True):
        yield Edge(Value(function.name, source), Value(callee.name, target))
    for end in endings(callee.body):
        for source, target in zip(end.operands, op.results, strict=False):  # one that never returns has none
            yield Edge(Value(callee.name, source), Value(function.name, target))


def _pairs(function: Function, sources: Iterable[int], targets: Iterable[int]) -> Iterator[Edge]:
    # Unreachable ends hand on nothing: so many as there are.
    for source, target in zip(sources, targets, strict=False):
        yield Edge(Value(function.name, source), Value(function.name, target))
