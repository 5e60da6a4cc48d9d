"""Running sums: a program owns some rows and walks along the dimension, tile after tile, with what it has so far."""

from __future__ import annotations

from triton_lab.lazy.codegen.kernel import TRITON_DTYPES, Kernel
from triton_lab.lazy.codegen.reduction import accumulator
from triton_lab.lazy.codegen.rows import Rows
from triton_lab.lazy.graph import Axis, Graph
from triton_lab.lazy.placement import Placement
from triton_lab.lazy.regions import Region


def write_scan(graph: Graph, placement: Placement, index: int, region: Region, name: str) -> Kernel:
    """cumsum along one dimension; what is added up is computed on the way."""
    axis = graph.ops[region.roots[0]].attribute
    assert isinstance(axis, Axis)
    rows = Rows(graph, placement, region, (axis.dim,))
    dtype = TRITON_DTYPES[accumulator(rows.op.dtype)]
    step = (
        f"seen = tl.where(inside, {rows.value}.to({dtype}), 0)",
        "sums = before[:, None] + tl.cumsum(seen, 1)",
        f"tl.store({rows.result} + i, sums.to({TRITON_DTYPES[rows.op.dtype]}), mask=inside)",
        "before += tl.sum(seen, 1)",
    )
    return rows.kernel(name, index, f"along dim {axis.dim}", [f"before = tl.zeros((ROWS,), {dtype})"], step)
