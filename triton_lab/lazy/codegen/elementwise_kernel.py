"""Kernels in which a lane computes one element: elementwise regions and updates through a view."""

from __future__ import annotations

from triton_lab.lazy.codegen.generated_kernel import GeneratedKernel, power_of_two, program_id
from triton_lab.lazy.codegen.helper_functions import with_functions
from triton_lab.lazy.codegen.kernel_body import KernelBody
from triton_lab.lazy.fusion import FusedRegion
from triton_lab.lazy.graph import Graph
from triton_lab.lazy.index_maps import Map
from triton_lab.lazy.placement import Placement

BLOCK = 1024


def write_elementwise(
    graph: Graph, placement: Placement, index: int, region: FusedRegion, name: str
) -> GeneratedKernel:
    """Write a region with one store for each root; all loads come before the first store, so that donation is safe."""
    pointers = {node: placement.slots[placement.slot_of[node]].name for node in region.uses | set(region.roots)}
    body = KernelBody(graph, region, pointers, "i", "(BLOCK,)")
    stores = []
    for root in region.roots:
        op = graph.ops[root]
        value, address = root, "i"
        if region.kind == "update":
            assert isinstance(op.attribute, Map)
            value, address = op.operands[1], op.attribute.address("i")
        stores.append(f"tl.store({pointers[root]} + {address}, {body.tensor(value)}, mask=inside)")
    nodes = [read.node for read in region.reads] + list(region.roots)
    told = _story(placement, region)
    lines = body.lines + stores
    return _kernel(name, told, placement, nodes, region.roots, index, region.numel, lines, body.checks)


def write_copy(graph: Graph, placement: Placement, index: int, region: FusedRegion) -> GeneratedKernel:
    """Write a copy of an update's base to the update's memory, if the base's old value is needed later."""
    assert region.under is not None
    root, under = region.roots[0], region.under
    source, target = (placement.slots[placement.slot_of[node]].name for node in (under, root))
    lines = [f"tl.store({target} + i, tl.load({source} + i, mask=inside), mask=inside)"]
    told = f"{target} = {source}, whose old value is still needed"
    return _kernel(f"copy_{root}", told, placement, [under, root], (root,), index, graph.ops[under].numel, lines)


def _kernel(
    name: str,
    told: str,
    placement: Placement,
    nodes: list[int],
    roots: tuple[int, ...],
    index: int,
    numel: int,
    lines: list[str],
    checks: bool = False,
) -> GeneratedKernel:
    slots = tuple(dict.fromkeys(placement.slot_of[node] for node in nodes))
    arguments = ", ".join(placement.slots[slot].name for slot in slots)
    block = power_of_two(numel, 16, BLOCK)
    text = [
        "@triton.jit",
        f"def {name}({arguments}, BLOCK: tl.constexpr):",
        f'    """{told}."""',
        f"    i = {program_id(0, numel)} * BLOCK + tl.arange(0, BLOCK)",
        f"    inside = i < {numel}",
        *(f"    {line}" for line in lines),
    ]
    grid = ((numel + block - 1) // block,)
    writes = tuple(dict.fromkeys(placement.slot_of[root] for root in roots))
    source = with_functions("\n".join(text) + "\n")
    return GeneratedKernel(name, source, slots, (("BLOCK", block),), grid, index, writes, checks)


def _story(placement: Placement, region: FusedRegion) -> str:
    """The kernel's docstring: what is written where, and in place of what."""
    parts = []
    for root in region.roots:
        slot = placement.slots[placement.slot_of[root]]
        where = f"%{root} to {slot.name}"
        if root in placement.taken:
            where += f", in place of %{placement.taken[root]}"
        parts.append(where)
    return "; ".join(parts)
