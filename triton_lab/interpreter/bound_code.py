"""A `Plan` made ready to run: operations bound to their functions, and the lifetimes of values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from triton_lab.interpreter import ops
from triton_lab.interpreter.dtypes import dtype_of
from triton_lab.interpreter.kernel_errors import Unsupported
from triton_lab.interpreter.op_registry import CHECKS, REGISTRY, Implementation
from triton_lab.ir import Block, Function, Op, Plan, Type, traits
from triton_lab.ir.value_flow import TERMINATORS, taken
from triton_lab.localization import _, translated

_NOTHING: Mapping[str, Implementation] = {}


@dataclass(frozen=True, slots=True, eq=False)
class BoundStep:
    """One operation with its function. ``dead`` are the values that nothing uses after it."""

    op: Op
    run: Implementation
    control: bool
    operands: tuple[int, ...]
    results: tuple[int, ...]
    dead: tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class BoundBlock:
    """A block: its steps and its terminator."""

    arguments: tuple[int, ...]
    steps: tuple[BoundStep, ...]
    terminator: Op


@dataclass(frozen=True, slots=True, eq=False)
class Routine:
    """A function as bound blocks: those of its body, and those of each region by operation index."""

    function: Function
    blocks: tuple[BoundBlock, ...]
    regions: dict[int, tuple[BoundBlock, ...]]
    types: tuple[Type, ...]
    # Estimated peak of the bytes that one program's values take.
    footprint: int


def compile_plan(plan: Plan, instead: Mapping[str, Implementation] = _NOTHING) -> dict[str, Routine]:
    """Bind every operation of ``plan``; those named in ``instead`` to the functions there (see `arithmetic_variants`).

    Raises Unsupported, naming the first operation that the interpreter does not run.
    """
    ops.load_all()
    if plan.ctas > 1:
        _refuse_clusters(plan)
    return {name: _routine(function, instead) for name, function in plan.functions.items()}


def waits(plan: Plan, loops: frozenset[int]) -> frozenset[int]:
    """The operations in which programs may wait: ``loops``, and all that contain or call one of them."""
    found: set[int] = set()
    callees: set[str] = set()
    while True:
        before = len(found)
        for function in plan.functions.values():
            for op in function.walk():
                if any(inner.index in loops or inner.attributes.get("callee") in callees for inner in op.walk()):
                    found.add(op.index)
                    callees.add(function.name)
        if len(found) == before:
            return frozenset(found)


def _refuse_clusters(plan: Plan) -> None:
    """Raise Unsupported for shared memory that several programs of a cluster hold in parts."""
    for function in plan.functions.values():
        for op in function.walk():
            if any(function.types[number].is_shared for number in op.results):
                told = _(
                    "the CPU target runs each program by itself: shared memory of a cluster of programs is not run "
                    "(num_ctas={programs})"
                )
                raise Unsupported(told.format(programs=plan.ctas), op)


def _routine(function: Function, instead: Mapping[str, Implementation]) -> Routine:
    regions: dict[int, tuple[BoundBlock, ...]] = {}
    blocks = function.body.blocks
    # If a body has several blocks, later ones may use its values, so none of them dies early.
    codes = tuple(_code(block, regions, len(blocks) > 1, instead) for block in blocks)
    footprint = max((_footprint(code, regions, function) for code in codes), default=0)
    return Routine(function, codes, regions, function.types, footprint)


def _code(
    block: Block, regions: dict[int, tuple[BoundBlock, ...]], keep: bool, instead: Mapping[str, Implementation]
) -> BoundBlock:
    *body, terminator = block.ops
    if terminator.name not in TERMINATORS:
        raise Unsupported(_("a block cannot end with {name}").format(name=terminator.name), terminator)
    last_use: dict[int, int] = {}
    own = set(block.arguments)
    for position, op in enumerate(body):
        own.update(op.results)
        for inner in op.walk():
            for value in taken(inner):
                last_use[value] = position
        for result in op.results:
            last_use[result] = position
    for value in taken(terminator):
        last_use[value] = len(body)
    dying: dict[int, list[int]] = {}
    if not keep:
        for value, position in last_use.items():
            if value in own and position < len(body):
                dying.setdefault(position, []).append(value)
    steps = []
    for position, op in enumerate(body):
        entry = REGISTRY.get(op.name)
        if entry is None:
            told = _("the CPU target cannot run the operation {name}").format(name=op.name)
            reason = traits.of(op.name).refused
            raise Unsupported(f"{told}: {translated(reason)}" if reason else told, op)
        if op.name in CHECKS:
            CHECKS[op.name](op)
        for region in op.regions:
            codes = tuple(_code(inner, regions, len(region.blocks) > 1, instead) for inner in region.blocks)
            regions[op.index] = (*regions.get(op.index, ()), *codes)
        run = instead.get(op.name, entry.run)
        steps.append(BoundStep(op, run, entry.control, op.operands, op.results, tuple(dying.get(position, ()))))
    for region in terminator.regions:  # the partitions of warps
        codes = tuple(_code(inner, regions, len(region.blocks) > 1, instead) for inner in region.blocks)
        regions[terminator.index] = (*regions.get(terminator.index, ()), *codes)
    return BoundBlock(block.arguments, tuple(steps), terminator)


def _footprint(code: BoundBlock, regions: dict[int, tuple[BoundBlock, ...]], function: Function) -> int:
    def size(value: int) -> int:
        type = function.types[value]
        return 64 if type.is_opaque else type.size * dtype_of(type).itemsize

    live = sum(size(value) for value in code.arguments)
    worst = live
    for step in code.steps:
        inner = max((_footprint(c, regions, function) for c in regions.get(step.op.index, ())), default=0)
        live += sum(size(value) for value in step.results) + _allocated(step.op, function)
        worst = max(worst, live + inner)
        live -= sum(size(value) for value in step.dead)
    partitions = max((_footprint(c, regions, function) for c in regions.get(code.terminator.index, ())), default=0)
    return max(worst, live + partitions)


def _allocated(op: Op, function: Function) -> int:
    """The bytes of a buffer that the operation makes: its result is a part of shared memory, and no operand is."""
    types = function.types
    if len(op.results) == 0 or not types[op.results[0]].is_shared or any(types[k].is_shared for k in op.operands):
        return 0
    block = types[op.results[0]].pointee
    return 0 if block is None else block.size * dtype_of(block).itemsize
