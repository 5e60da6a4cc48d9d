"""Checks a plan against the rules of the IR. Tests check every plan that they read; launches do not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from triton_lab.ir import effects
from triton_lab.ir.plan import Function, Op, Plan, Region
from triton_lab.ir.types import Type
from triton_lab.ir.value_flow import HANDS_ON, TERMINATORS, Handover, handovers, taken


class InvalidPlan(ValueError):
    """The plan breaks a rule of the IR."""


def verify(plan: Plan) -> None:
    """Raise InvalidPlan for the first rule that is broken, naming the operation and the rule."""
    _operations_are_unique(plan)
    for function in plan.functions.values():
        _results_are_unique(function)
        for name, region in _regions(function):
            _blocks_end(function, name, region)
        _Values(function).check()
    for function in plan.functions.values():
        for op in function.walk():
            if op.name == "tt.call" and op.attributes.get("callee") not in plan.functions:
                raise _refuse(function, op, f"there is no function {op.attributes.get('callee')}")
    for handover in handovers(plan):
        _agrees(handover)
    for function in plan.functions.values():
        for op in function.walk():
            if effects.is_access(op):
                _touches(function, op)


def _refuse(function: Function, op: Op | None, rule: str) -> InvalidPlan:
    where = "" if op is None else f", operation {op.index} ({op.name})"
    line = "" if op is None or op.location is None else f", line {op.location.line}"
    return InvalidPlan(f"{function.name}{where}{line}: {rule}")


def _operations_are_unique(plan: Plan) -> None:
    seen: set[int] = set()
    for function in plan.functions.values():
        for op in function.walk():
            if op.index in seen:
                raise _refuse(function, op, "another operation has the same index")
            seen.add(op.index)


def _results_are_unique(function: Function) -> None:
    """Check that each value is defined once and has a type."""
    seen: set[int] = set()
    for op, numbers in _made(function):
        for number in numbers:
            if not 0 <= number < len(function.types):
                raise _refuse(function, op, f"value {number} has no type")
            if number in seen:
                raise _refuse(function, op, f"value {number} comes into being twice")
            seen.add(number)


def _made(function: Function) -> Iterator[tuple[Op | None, Sequence[int]]]:
    """All results, and all block arguments with the operation that holds the block."""
    for block in function.body.blocks:
        yield None, block.arguments
    for op in function.walk():
        yield op, op.results
        for region in op.regions:
            for block in region.blocks:
                yield op, block.arguments


# The operations that may end a region's blocks, by the operation that holds the region. Those in `_ANYWHERE` may, too.
_ENDS = {
    "tt.func": ({"tt.return"},),
    "scf.if": ({"scf.yield"}, {"scf.yield"}),
    "scf.for": ({"scf.yield"},),
    "scf.while": ({"scf.condition"}, {"scf.yield"}),
    "tt.reduce": ({"tt.reduce.return"},),
    "tt.scan": ({"tt.scan.return"},),
    "tt.map_elementwise": ({"tt.map_elementwise.return"},),
    "ttg.warp_specialize": ({"ttg.warp_yield"}, {"ttg.warp_specialize.partitions"}),
}
_PARTITIONS = "ttg.warp_specialize.partitions"  # any number of regions
_FILLED = {"scf.if": 1}  # else may be missing
_ANYWHERE = {"cf.br", "cf.cond_br", "ub.unreachable"}


def _regions(function: Function) -> Iterator[tuple[set[str], Region]]:
    """All regions, with the operations that may end their blocks."""
    yield _ENDS["tt.func"][0] | _ANYWHERE, function.body
    for op in function.walk():
        ends = ({"ttg.warp_return"},) * len(op.regions) if op.name == _PARTITIONS else _ENDS.get(op.name, ())
        if len(op.regions) != len(ends) or not all(region.blocks for region in op.regions[: _FILLED.get(op.name)]):
            raise _refuse(function, op, f"it has {len(op.regions)} regions, or one of them is empty")
        for each, region in zip(ends, op.regions, strict=True):
            yield each | _ANYWHERE, region


def _blocks_end(function: Function, ends: set[str], region: Region) -> None:
    """Check that each block has one terminator, at its end, of a kind that belongs there and leading forward."""
    for number, block in enumerate(region.blocks):
        if not block.ops:
            raise _refuse(function, None, "a block is empty")
        *body, last = block.ops
        for op in body:
            if op.name in TERMINATORS:
                raise _refuse(function, op, "it stands in the middle of a block")
        if last.name not in ends:
            raise _refuse(function, last, f"a block ends with it, where {' or '.join(sorted(ends))} must")
        for successor in last.successors:
            if not number < successor.block < len(region.blocks):
                raise _refuse(function, last, f"it leads from block {number} to block {successor.block}")


class _Values:
    """Checks which values are visible where.

    A value is visible if it is defined earlier in the block, around the region, or in a block that lies on every path
    here.
    """

    def __init__(self, function: Function) -> None:
        self.function = function

    def check(self) -> None:
        self._region(self.function.body, frozenset())

    def _region(self, region: Region, outside: frozenset[int]) -> None:
        # The values visible at the start of each block, on every path to it; None if no path leads there.
        there: list[frozenset[int] | None] = [outside, *[None] * (len(region.blocks) - 1)]
        for number, block in enumerate(region.blocks):
            before = there[number]
            if before is None:
                continue  # it never runs
            known = set(before) | set(block.arguments)
            for op in block.ops:
                missing = [value for value in taken(op) if value not in known]
                if missing:
                    raise _refuse(self.function, op, f"value {missing[0]} is not there yet, or out of scope")
                for inner in op.regions:
                    if inner.blocks:
                        self._region(inner, frozenset(known))
                known.update(op.results)
            for successor in block.ops[-1].successors:
                other = there[successor.block]
                there[successor.block] = frozenset(known) if other is None else other & known


def _agrees(handover: Handover) -> None:
    """Check that as many values are taken as passed on, of equal types. Functions of elements take a
    block's elements.
    """
    op, giver, sources, taker, targets = handover
    if len(sources) != len(targets):
        raise _refuse(giver, op, f"{len(sources)} values are handed on, and {len(targets)} taken")
    by_element = bool(op.regions) and op.name not in HANDS_ON
    for source, target in zip(sources, targets, strict=True):
        one, other = giver.types[source], taker.types[target]
        if by_element:
            one, other = _scalar(one), _scalar(other)
        if one != other:
            raise _refuse(giver, op, f"a value of type {one} is handed on, and one of type {other} taken")


def _scalar(type: Type) -> Type:
    return Type(type.element, (), type.pointee)


def _touches(function: Function, op: Op) -> None:
    """Check that an access's operands are of the kinds that `effects` says."""
    try:
        at = effects.operands_of(op)
    except ValueError as error:
        raise _refuse(function, op, str(error)) from None
    address = function.types[op.operands[at.address]]
    described = effects.by_descriptor(op)
    if not (address.is_descriptor if described else address.is_pointer) or address.pointee is None:
        raise _refuse(function, op, f"its address is of type {address}")
    touched = _touched(function, op, at, address)
    for name, position in (("value", at.value), ("expected value", at.expected), ("other value", at.other)):
        if position is not None:
            _matches(function, op, name, op.operands[position], touched)
    if at.mask is not None and function.types[op.operands[at.mask]] != Type("i1", address.shape):
        raise _refuse(function, op, f"its mask is of type {function.types[op.operands[at.mask]]}")
    for position in (*at.coordinates, *(() if at.timeout is None else (at.timeout,))):
        if not function.types[op.operands[position]].is_integer:
            raise _refuse(function, op, f"operand {position} is of type {function.types[op.operands[position]]}")
    result = effects.ACCESSES[op.name].result
    if len(op.results) != (result is not None):
        raise _refuse(function, op, f"it has {len(op.results)} results")
    if result == "token" and not function.types[op.results[0]].is_opaque:
        raise _refuse(function, op, f"its result is of type {function.types[op.results[0]]}")
    if result == "held":
        _matches(function, op, "result", op.results[0], touched)
    elif result == "answer" and function.types[op.results[0]].element != "i1":
        raise _refuse(function, op, f"its result is of type {function.types[op.results[0]]}")


def _touched(function: Function, op: Op, at: effects.Operands, address: Type) -> Type:
    """What the access touches: the block of elements that pointers point at, or that a descriptor describes."""
    pointee = address.pointee
    assert pointee is not None
    if address.is_pointer:
        return Type(pointee.element, address.shape, pointee.pointee)
    rows = function.types[op.operands[at.coordinates[0]]].shape
    # Descriptors have unsigned elements where values have signless ones.
    return Type(pointee.element.removeprefix("u"), (*rows, *pointee.shape[1:]) if rows else pointee.shape)


def _matches(function: Function, op: Op, name: str, number: int, touched: Type) -> None:
    """Check that a value has the type that the access touches. A descriptor's block may have more axes of
    length one.
    """
    type = function.types[number]
    same = type.shape == touched.shape or (effects.by_descriptor(op) and type.size == touched.size)
    if not same or (type.element, type.pointee) != (touched.element, touched.pointee):
        raise _refuse(function, op, f"its {name} is of type {type}, and it touches {touched}")
