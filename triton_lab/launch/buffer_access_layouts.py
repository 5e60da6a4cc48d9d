"""Where the accesses of shared memory by a program's own warps lie: by layouts alone, before any program runs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.interpreter.ops.local_memory import block_of, placement_of, variable_of
from triton_lab.ir import Op, Plan, Type, traits
from triton_lab.ir.dataflow import Flow, Value

# The operations whose result is a part of the shared memory that they take.
_VIEWS = traits.names(lambda trait: trait.name.startswith("ttg.memdesc_"))
_TMA_AND_TENSOR_CORES = "ttng."  # the dialect of what these access


@dataclass(frozen=True, eq=False)
class BufferAccess:
    """An access of the buffer that ``site`` allocates: ``op`` moves a block between registers and shared memory.

    ``kind`` is "load", "store" or "copy" (cp.async). ``bytes`` has the byte at which each element begins, from the
    part's first one, in the block's shape; ``registers`` is TTGIR's text of the layout in registers, and ``bits`` the
    width of an element. ``axes`` are the block's axes in the order of the part that ``op`` was made from, if a view
    turned it; else they ascend.
    """

    op: Op
    site: Op
    kind: str
    bytes: NDArray[np.int64]
    registers: str
    bits: int
    axes: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class SharedBuffer:
    """A buffer in shared memory: the operation that allocates it, its variable, the type of the whole, and who
    accesses it. ``is_fixed``: TMA or a tensor core uses it too, and these need a layout of NVIDIA's matrix units."""

    site: Op
    name: str
    type: Type
    accesses: tuple[BufferAccess, ...]
    is_fixed: bool

    @property
    def block(self) -> Type:
        """The block of one of its parts: without the axis that counts buffers of a ring."""
        return block_of(self.type)


def shared_buffers(plan: Plan) -> list[SharedBuffer]:
    """The buffers of a plan in the order of their allocations, without barriers."""
    flow, sites = Flow.of(plan), dict[int, Op]()
    accesses: dict[int, list[BufferAccess]] = {}
    fixed: set[int] = set()
    for op, function in _operations(plan):
        for site in _sites(flow, op, function):
            sites[site.index] = site
            if op.name.startswith(_TMA_AND_TENSOR_CORES):
                fixed.add(site.index)
            if (made := _access(plan, flow, op, site, function)) is not None:
                accesses.setdefault(site.index, []).append(made)
    barriers = _barriers(plan, flow)
    found = []
    for index in sorted(sites):
        site = sites[index]
        if index in barriers:
            continue
        owner = plan.functions[flow.function_of[index]]
        type = owner.types[site.results[0]]
        found.append(SharedBuffer(site, variable_of(site), type, tuple(accesses.get(index, ())), index in fixed))
    return found


def allocations(flow: Flow, value: Value) -> list[Op]:
    """The allocations that a part of shared memory may belong to."""
    behind = flow.behind([value], lambda op: op.name in _VIEWS)
    made = {maker.index: maker for one in behind if (maker := flow.maker.get(one)) is not None}
    return [op for op in made.values() if op.name == "ttg.local_alloc"]


def _operations(plan: Plan) -> Iterator[tuple[Op, str]]:
    for function in plan.functions.values():
        for op in function.walk():
            yield op, function.name


def _sites(flow: Flow, op: Op, function: str) -> list[Op]:
    """The allocations that an operation uses; itself, if it is one."""
    if op.name == "ttg.local_alloc":
        return [op]
    found: dict[int, Op] = {}
    for number in op.operands:
        found |= {site.index: site for site in allocations(flow, Value(function, number))}
    return list(found.values())


def _barriers(plan: Plan, flow: Flow) -> set[int]:
    """The allocations that hold barriers."""
    return {
        site.index
        for op, function in _operations(plan)
        if op.name == "ttng.init_barrier"
        for site in allocations(flow, Value(function, op.operands[0]))
    }


def _access(plan: Plan, flow: Flow, op: Op, site: Op, function: str) -> BufferAccess | None:
    """The access by an operation; None for one that moves no block between registers and shared memory."""
    types = plan.functions[function].types
    moved = _moved(op, types)
    if moved is None:
        return None
    kind, part, held = moved
    block = types[held]
    if not block.layout or not block.shape:
        return None
    try:
        offsets, axes = _offsets(flow, types, Value(function, part))
    except ValueError:  # a layout that is not known here
        return None
    return BufferAccess(op, site, kind, offsets, block.layout, block_of(types[part]).bits, axes)


def _moved(op: Op, types: tuple[Type, ...]) -> tuple[str, int, int] | None:
    """What an operation does, and two values: the part of shared memory, and the block in registers."""
    match op.name:
        case "ttg.local_load":
            return "load", op.operands[0], op.results[0]
        case "ttg.local_store":
            return "store", op.operands[1], op.operands[0]
        case "ttg.local_alloc":
            return ("store", op.results[0], op.operands[0]) if op.operands else None
        case "ttg.async_copy_global_to_local":
            # Triton's versions order the operands differently.
            part = next(number for number in op.operands if types[number].is_shared)
            return "copy", part, next(number for number in op.operands if types[number].is_pointer)
    return None


def _offsets(flow: Flow, types: tuple[Type, ...], part: Value) -> tuple[NDArray[Any], tuple[int, ...]]:
    """The first byte of each element of a part, and the order of its axes. Raises ValueError."""
    maker = flow.maker.get(part)
    type = types[part.number]
    rank = len(block_of(type).shape)
    if maker is None or maker.name not in _VIEWS or maker.name == "ttg.memdesc_reinterpret":
        return placement_of(type).offsets, tuple(range(rank))
    offsets, axes = _offsets(flow, types, Value(part.function, maker.operands[0]))
    if maker.name == "ttg.memdesc_index":
        return offsets[0], tuple(axis - 1 for axis in axes if axis)
    if maker.name == "ttg.memdesc_subslice":
        starts = tuple(maker.attributes["offsets"])
        cut = tuple(slice(start, start + size) for start, size in zip(starts, block_of(type).shape, strict=True))
        found = offsets[cut]
        return found - found.min(), axes
    if maker.name == "ttg.memdesc_trans":
        order = tuple(maker.attributes["order"])
        return offsets.transpose(order), tuple(axes[axis] for axis in order)
    return offsets.reshape(block_of(type).shape), tuple(range(rank))
