"""Running sums: a program owns some rows and walks along the dimension, tile after tile, with what it has so far."""

from __future__ import annotations

from triton_lab.lazy.codegen.body import Body
from triton_lab.lazy.codegen.functions import with_functions
from triton_lab.lazy.codegen.kernel import TRITON_DTYPES, Kernel, power_of_two, program_id, spread
from triton_lab.lazy.codegen.reduction import TILE, accumulator, split
from triton_lab.lazy.graph import Axis, Graph
from triton_lab.lazy.placement import Placement
from triton_lab.lazy.regions import Region


def write_scan(graph: Graph, placement: Placement, index: int, region: Region, name: str) -> Kernel:
    """cumsum along one dimension; what is added up is computed on the way."""
    (root,) = region.roots
    op = graph.ops[root]
    operand = graph.ops[op.operands[0]]
    assert isinstance(op.attribute, Axis)
    kept, along = split(operand.shape, (op.attribute.dim,))
    columns = power_of_two(along.numel, 1, TILE)
    rows = power_of_two(kept.numel, 1, max(1, TILE // columns))

    pointers = {node: placement.slots[placement.slot_of[node]].name for node in region.uses | {root}}
    body = Body(graph, region, pointers, "i", "(ROWS, COLUMNS)")
    value = body.tensor(op.operands[0])
    dtype = accumulator(op.dtype)
    slots = tuple(dict.fromkeys(placement.slot_of[node] for node in [*(read.node for read in region.reads), root]))
    arguments = ", ".join(placement.slots[slot].name for slot in slots)
    text = [
        "@triton.jit",
        f"def {name}({arguments}, ROWS: tl.constexpr, COLUMNS: tl.constexpr):",
        f'    """{op.name} of %{op.operands[0]} along dim {op.attribute.dim} to {pointers[root]}."""',
        f"    row = {program_id(0, operand.numel)} * ROWS + tl.arange(0, ROWS)",
        f"    before = tl.zeros((ROWS,), {TRITON_DTYPES[dtype]})",
        f"    for first in range(0, {along.numel}, COLUMNS):",
        "        column = first + tl.arange(0, COLUMNS)",
        f"        i = {spread(kept.address('row'), ':, None')} + {spread(along.address('column'), 'None, :')}",
        f"        inside = (row < {kept.numel})[:, None] & (column < {along.numel})[None, :]",
        *(f"        {line}" for line in body.lines),
        f"        seen = tl.where(inside, {value}.to({TRITON_DTYPES[dtype]}), 0)",
        "        sums = before[:, None] + tl.cumsum(seen, 1)",
        f"        tl.store({pointers[root]} + i, sums.to({TRITON_DTYPES[op.dtype]}), mask=inside)",
        "        before += tl.sum(seen, 1)",
    ]
    tiles = (("ROWS", rows), ("COLUMNS", columns))
    grid = ((kept.numel + rows - 1) // rows,)
    source = with_functions("\n".join(text) + "\n")
    return Kernel(name, source, slots, tiles, grid, index, (placement.slot_of[root],), body.checks)
