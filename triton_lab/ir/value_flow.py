"""Where values flow through control: what is handed on by branches, yields, loops, calls and regions.

An edge says that its target may be its source, unchanged. What an operation computes has no edges here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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


class Handover(NamedTuple):
    """``op`` hands on values, as many as are taken: ``sources`` of function ``giver`` to ``targets`` of ``taker``."""

    op: Op
    giver: Function
    sources: Sequence[int]
    taker: Function
    targets: Sequence[int]


# Their results are all handed on, none computed.
HANDS_ON = frozenset({"scf.for", "scf.while", "scf.if", "tt.call"})
# What ends a block: goes to another one, or hands on what a region yields, or is never reached.
BRANCHES = frozenset({"cf.br", "cf.cond_br"})
YIELDS = frozenset(
    {
        "tt.return",
        "scf.yield",
        "scf.condition",
        "tt.reduce.return",
        "tt.scan.return",
        "tt.map_elementwise.return",
    }
)
TERMINATORS = BRANCHES | YIELDS | {"ub.unreachable"}
# Of what decides where control goes: how many operands do, from the first. The others are handed on.
_DECISIVE = {"scf.if": 1, "scf.for": 3, "scf.condition": 1, "cf.cond_br": 1}


def decisive(op: Op) -> tuple[int, ...]:
    """The values that decide where control goes from ``op``, or how often round; none for other operations."""
    return op.operands[: _DECISIVE.get(op.name, 0)]


def taken(op: Op) -> tuple[int, ...]:
    """All values that ``op`` takes, those for the blocks that it branches to among them."""
    return (*op.operands, *(value for successor in op.successors for value in successor.operands))


def endings(region: Region) -> list[Op]:
    """The operations that end the region, with what it yields; branches within it are not among them."""
    return [block.ops[-1] for block in region.blocks if block.ops[-1].name in YIELDS]


def edges(plan: Plan) -> Iterator[Edge]:
    """All edges of ``plan``, function by function."""
    for _, giver, sources, taker, targets in handovers(plan):
        for source, target in zip(sources, targets, strict=False):
            yield Edge(Value(giver.name, source), Value(taker.name, target))


def handovers(plan: Plan) -> Iterator[Handover]:
    """Where the values of ``plan`` are handed on, function by function."""
    for function in plan.functions.values():
        yield from _within(plan, function, function.body)


def _within(plan: Plan, function: Function, region: Region) -> Iterator[Handover]:
    """The handovers of a region. A branch counts the blocks of the region that it stands in."""
    for block in region.blocks:
        for op in block.ops:
            for successor in op.successors:
                arguments = region.blocks[successor.block].arguments
                yield Handover(op, function, successor.operands, function, arguments)
            if op.name == "tt.call":
                yield from _called(plan, function, op)
            else:
                for sources, targets in _around(op):
                    yield Handover(op, function, sources, function, targets)
            for inner in op.regions:
                yield from _within(plan, function, inner)


# From a list of values to one of as many.
_Pairs = Iterator[tuple[Sequence[int], Sequence[int]]]


def _around(op: Op) -> _Pairs:
    """Between an operation and its regions."""
    if op.name == "scf.for":
        yield from _counted(op)
    elif op.name == "scf.while":
        yield from _conditional(op)
    elif op.name == "scf.if":
        for region in op.regions:
            for end in endings(region):  # none where there is no else
                yield end.operands, op.results
    elif op.name == "tt.map_elementwise":
        yield from _mapped(op)
    else:
        yield from _combined(op)


def _counted(op: Op) -> _Pairs:
    (body,) = op.regions
    counter, *carried = body.blocks[0].arguments
    initial = op.operands[len(decisive(op)) :]
    for sources in (initial, *(end.operands for end in endings(body))):
        yield sources, carried
        yield sources, op.results
    # The counter begins at the lower bound; what else it is, is computed.
    yield op.operands[:1], [counter]


def _conditional(op: Op) -> _Pairs:
    before, after = op.regions
    yield op.operands, before.blocks[0].arguments
    for end in endings(after):
        yield end.operands, before.blocks[0].arguments
    for end in endings(before):
        passed = end.operands[len(decisive(end)) :]
        yield passed, after.blocks[0].arguments
        yield passed, op.results


def _combined(op: Op) -> _Pairs:
    """The function of a reduction or a scan takes elements, or what it returned before."""
    for region in op.regions:
        arguments = region.blocks[0].arguments
        # Several blocks are reduced together: one element of each, then as much that was combined.
        yield (*op.operands, *op.operands), arguments
        for end in endings(region):
            yield (*end.operands, *end.operands), arguments
            yield end.operands, op.results


def _mapped(op: Op) -> _Pairs:
    """The function of a map takes ``pack`` elements of each block, and returns as many for each result."""
    (region,) = op.regions
    pack = int(op.attributes.get("pack", 1))
    yield _repeated(op.operands, pack), region.blocks[0].arguments
    for end in endings(region):
        yield end.operands, _repeated(op.results, pack)


def _repeated(numbers: Sequence[int], times: int) -> list[int]:
    return [number for number in numbers for _ in range(times)]


def _called(plan: Plan, function: Function, op: Op) -> Iterator[Handover]:
    callee = plan.functions[op.attributes["callee"]]
    yield Handover(op, function, op.operands, callee, callee.arguments)
    for end in endings(callee.body):
        yield Handover(op, callee, end.operands, function, op.results)
