"""What tensors of indices and lengths hold: bounds that launches suggest, and where they can be relied on."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from triton_lab.ir import Op, Region, effects, traits
from triton_lab.ir.dataflow import Flow
from triton_lab.ir.traits import Kind
from triton_lab.ir.value_flow import Value, decisive
from triton_lab.launch.assumption import quantities
from triton_lab.launch.recording.argument_contents import SIGNED, contents_range
from triton_lab.polyhedral.kernels.argument_memory import memories

if TYPE_CHECKING:
    from triton_lab.launch.launch import Launch

# So many bounds are offered for what one tensor holds.
_MOST_BOUNDS = 16
_MOST_DIVISORS = 3


def lasting(launch: Launch) -> frozenset[str]:
    """The tensors of signed integers that hold the same during the launch, and are read as what they are.

    No store may reach their memory: one through a pointer of unknown origin reaches all.
    """
    plan, roots = launch.executable.plan, launch.executable.roots
    starts = memories(launch)
    lost: set[int | None] = set()
    misread: set[str] = set()
    for function, op in [(each, op) for each in plan.functions.values() for op in each.walk()]:
        if not effects.is_access(op):
            continue
        reached = roots.get(op.index)
        if reached is None:
            if effects.writes(op):
                return frozenset()
            continue
        owners = [launch.plan_arguments[k] for k in reached]
        if effects.writes(op):
            lost.update(starts.get(one.name) for one in owners)
        pointee = function.types[op.operands[effects.operands_of(op).address]].pointee
        misread.update(one.name for one in owners if pointee is None or pointee.bits != 8 * one.itemsize)
    tensors = [one for one in launch.arguments if one.kind in ("tensor", "descriptor") and one.dtype in SIGNED]
    return frozenset(one.name for one in tensors if one.name not in misread and starts.get(one.name) not in lost)


def _users(launch: Launch) -> Mapping[str, frozenset[int]]:
    """For each lasting tensor: the accesses whose address, mask or number of iterations depends on what it holds."""
    plan, roots = launch.executable.plan, launch.executable.roots
    flow, useful = Flow.of(plan), lasting(launch)
    around: dict[int, tuple[int, ...]] = {}
    for each in plan.functions.values():
        _around(each.body, (), around)
    found: dict[str, set[int]] = {}
    for op in plan.walk():
        if not useful or not effects.is_access(op):
            continue
        at = effects.operands_of(op)
        places = [at.address, *at.coordinates, *([] if at.mask is None else [at.mask])]
        function = flow.function_of[op.index]
        numbers = [*(op.operands[place] for place in places), *around[op.index]]
        behind = flow.behind(Value(function, number) for number in numbers)
        for value in behind:
            maker = flow.maker.get(value)
            if maker is None or not effects.is_access(maker) or maker.index == op.index:
                continue
            for k in roots.get(maker.index) or ():
                name = launch.plan_arguments[k].name
                if name in useful:
                    found.setdefault(name, set()).add(op.index)
    return {name: frozenset(ops) for name, ops in found.items()}


def _around(region: Region, outer: tuple[int, ...], found: dict[int, tuple[int, ...]]) -> None:
    """For each operation, the values that decide how often the loops and branches around it run it."""
    for op in (op for block in region.blocks for op in block.ops):
        found[op.index] = outer
        for inner in op.regions:
            _around(inner, (*outer, *decisive(op)), found)


def indexed(launch: Launch) -> Iterator[tuple[str, frozenset[int], list[str]]]:
    """Each lasting tensor that others are accessed by, the accesses, and the tensors that they touch."""
    roots = launch.executable.roots
    for name, ops in _users(launch).items():
        touched = [launch.plan_arguments[k].name for op in sorted(ops) for k in sorted(roots.get(op) or ())]
        yield name, ops, [one for one in touched if launch.argument(one).shape]


def bounds_of(launches: Sequence[Launch], name: str, others: Sequence[str]) -> list[str]:
    """Bounds for what the tensor ``name`` holds, which it keeps in all launches: extents of the tensors ``others``.

    The nearest come first, each with its end and without; then extents times what these numbers are divided by.
    """
    ranges = [contents_range(one, one.argument(name)) for one in launches]
    known = [one for one in ranges if one is not None and one[0] <= one[1]]
    if not known or None in ranges:
        return []
    low = min(0, *(one[0] for one in known))
    tables = [quantities(one.arguments, one.grid) for one in launches]
    found = []
    for text, values in _ends(launches, others, _divisors(launches[0], name), tables):
        tops = [one[1] for one in ranges if one is not None]
        if all(value >= top for value, top in zip(values, tops, strict=True)):
            open_end = all(value > top for value, top in zip(values, tops, strict=True))
            distance = max(value - top for value, top in zip(values, tops, strict=True))
            found.append((distance, [*([f"{text})"] if open_end else []), f"{text}]"]))
    found.sort(key=lambda one: (-one[1][0].count("*"), one[0]))
    return [f"{name} in [{low}, {end}" for _distance, ends in found for end in ends][:_MOST_BOUNDS]


def _ends(
    launches: Sequence[Launch], others: Sequence[str], divisors: Sequence[str], tables: Sequence[Mapping[str, int]]
) -> Iterator[tuple[str, list[int]]]:
    first = launches[0]
    extents = [
        f"{other}.shape[{k}]" for other in dict.fromkeys(others) for k in range(len(first.argument(other).shape))
    ]
    for count in range(len(divisors) + 1):
        for names in ((extent, *more) for more in itertools.combinations(divisors, count) for extent in extents):
            if all(name in table for name in names for table in tables):
                yield " * ".join(names), [math.prod(table[name] for name in names) for table in tables]


def _divisors(launch: Launch, name: str) -> list[str]:
    """The kernel's sizes and constants by which what the tensor holds is divided: lengths, by the size of a page."""
    plan, roots = launch.executable.plan, launch.executable.roots
    flow = Flow.of(plan)
    position = [one.name for one in launch.plan_arguments].index(name)
    loads = [op for op in plan.walk() if effects.is_access(op) and position in (roots.get(op.index) or ())]
    ahead = flow.ahead(Value(flow.function_of[op.index], number) for op in loads for number in op.results)
    return list(_divided_by(launch, flow, lambda divided: divided in ahead))[:_MOST_DIVISORS]


def divisors(launch: Launch) -> frozenset[str]:
    """The arguments by which the kernel divides: a launch with 0 there has no meaning."""
    scalars = {one.name for one in launch.arguments if one.kind == "scalar"}
    return frozenset(_divided_by(launch, Flow.of(launch.executable.plan), lambda divided: True)) & scalars


def _divided_by(launch: Launch, flow: Flow, counts: Callable[[Value], bool]) -> dict[str, None]:
    """The arguments and constexprs that are divisors of values that count."""
    plan = launch.executable.plan
    constants = {a.value: a.name for a in launch.arguments if a.kind == "constexpr" and type(a.value) is int}
    arguments = dict(zip(plan.kernel.arguments, launch.plan_arguments, strict=True))
    found: dict[str, None] = {}
    for op in plan.walk():
        function = flow.function_of[op.index]
        if traits.of(op.name).symbol not in ("//", "%") or not counts(Value(function, op.operands[0])):
            continue
        for value in flow.behind([Value(function, op.operands[1])], _hands_over):
            maker = flow.maker.get(value)
            number = maker.attributes.get("value") if maker is not None and maker.name == "arith.constant" else None
            if type(number) is int and number > 1 and number in constants:
                found[constants[number]] = None
            elif maker is None and value.function == plan.kernel.name and value.number in arguments:
                found[arguments[value.number].name] = None
    return found


def _hands_over(op: Op) -> bool:
    return traits.of(op.name).kind in (Kind.MOVES, Kind.CASTS)
