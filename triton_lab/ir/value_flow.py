"""How branches, yields, loops, calls and regions pass values on.

An edge says that its target may be its source, unchanged. There are no edges from operands to computed results.
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
    """``target`` may be ``source``, unchanged."""

    source: Value
    target: Value


class Handover(NamedTuple):
    """``op`` passes values on: ``sources`` of function ``giver`` to ``targets`` of function ``taker``,
    equal in number.
    """

    op: Op
    giver: Function
    sources: Sequence[int]
    taker: Function
    targets: Sequence[int]


# Operations whose results are all passed on, none computed.
HANDS_ON = frozenset({"scf.for", "scf.while", "scf.if", "tt.call"})
LOOPS = frozenset({"scf.for", "scf.while"})
# Operations with a function of elements: its region runs for lanes, and not for programs.
ELEMENT_FUNCTIONS = frozenset({"tt.reduce", "tt.scan", "tt.map_elementwise"})
# What ends a block: it branches to another block, passes on what a region yields, or is never reached.
BRANCHES = frozenset({"cf.br", "cf.cond_br"})
YIELDS = frozenset(
    {
        "tt.return",
        "scf.yield",
        "scf.condition",
        "tt.reduce.return",
        "tt.scan.return",
        "tt.map_elementwise.return",
        "ttg.warp_yield",
        "ttg.warp_return",
    }
)
TERMINATORS = BRANCHES | YIELDS | {"ub.unreachable", "ttg.warp_specialize.partitions"}
# For each operation that decides where control goes: how many of its first operands decide. The others are passed on.
_DECISIVE = {"scf.if": 1, "scf.for": 3, "scf.condition": 1, "cf.cond_br": 1}


def decisive(op: Op) -> tuple[int, ...]:
    """The values that decide where control goes from ``op``, or how often it loops; none for other operations."""
    return op.operands[: _DECISIVE.get(op.name, 0)]


def conditions(plan: Plan) -> dict[Value, Op]:
    """The values by which terminators decide where control goes, with the terminator."""
    return {
        Value(function.name, number): op
        for function in plan.functions.values()
        for op in function.walk()
        if op.name in TERMINATORS
        for number in decisive(op)
    }


def taken(op: Op) -> tuple[int, ...]:
    """All values that ``op`` takes, including those that it passes to the blocks it branches to."""
    return (*op.operands, *(value for successor in op.successors for value in successor.operands))


def endings(region: Region) -> list[Op]:
    """The operations that end the region and give its results. Branches within the region do not count."""
    return [block.ops[-1] for block in region.blocks if block.ops[-1].name in YIELDS]


def edges(plan: Plan) -> Iterator[Edge]:
    """All edges of ``plan``, function by function."""
    for _, giver, sources, taker, targets in handovers(plan):
        for source, target in zip(sources, targets, strict=False):
            yield Edge(Value(giver.name, source), Value(taker.name, target))


def handovers(plan: Plan) -> Iterator[Handover]:
    """All places where ``plan`` passes values on, function by function."""
    for function in plan.functions.values():
        yield from _within(plan, function, function.body)


def _within(plan: Plan, function: Function, region: Region) -> Iterator[Handover]:
    """The handovers of a region. A branch's block numbers count within its own region."""
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


# Pairs of sources and targets, equal in number.
_Pairs = Iterator[tuple[Sequence[int], Sequence[int]]]


def _around(op: Op) -> _Pairs:
    """The pairs between an operation and its regions."""
    if op.name == "scf.for":
        yield from _counted(op)
    elif op.name == "scf.while":
        yield from _conditional(op)
    elif op.name == "scf.if":
        for region in op.regions:
            for end in endings(region):  # none in a missing else
                yield end.operands, op.results
    elif op.name == "tt.map_elementwise":
        yield from _mapped(op)
    elif op.name == "ttg.warp_specialize":
        for end in endings(op.regions[0]):  # the results are those of the first partition
            yield end.operands, op.results
        (holder,) = (block.ops[-1] for block in op.regions[1].blocks)
        for region in holder.regions:  # Triton 3.6 hands values to the outer operation, later versions to the inner one
            yield holder.operands or op.operands, region.blocks[0].arguments
    elif op.name != "ttg.warp_specialize.partitions":
        yield from _combined(op)


def _counted(op: Op) -> _Pairs:
    (body,) = op.regions
    counter, *carried = body.blocks[0].arguments
    initial = op.operands[len(decisive(op)) :]
    for sources in (initial, *(end.operands for end in endings(body))):
        yield sources, carried
        yield sources, op.results
    # The counter starts at the lower bound; its later values are computed.
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
    """The pairs of a reduction or a scan: its function takes elements, or what it returned before."""
    for region in op.regions:
        arguments = region.blocks[0].arguments
        # If several blocks are reduced together, one element of each comes first, then as many combined ones.
        yield (*op.operands, *op.operands), arguments
        for end in endings(region):
            yield (*end.operands, *end.operands), arguments
            yield end.operands, op.results


def _mapped(op: Op) -> _Pairs:
    """The pairs of a map: its function takes ``pack`` elements of each block, and returns as many for each result."""
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
