"""Running sums: a program has some rows and loops along the dimension, tile after tile, with the sum so far."""

from __future__ import annotations

from triton_lab.lazy.codegen.generated_kernel import TRITON_DTYPES, GeneratedKernel
from triton_lab.lazy.codegen.reduction_kernel import accumulator
from triton_lab.lazy.codegen.row_kernel import RowKernel
from triton_lab.lazy.fusion import FusedRegion
from triton_lab.lazy.graph import Graph, JoinedAxis
from triton_lab.lazy.placement import Placement


def write_scan(graph: Graph, placement: Placement, index: int, region: FusedRegion, name: str) -> GeneratedKernel:
    """Write cumsum along one dimension; its operand is computed inside the kernel."""
    axis = graph.ops[region.roots[0]].attribute
    assert isinstance(axis, JoinedAxis)
    rows = RowKernel(graph, placement, region, (axis.dim,))
    dtype = TRITON_DTYPES[accumulator(rows.op.dtype)]
    step = (
        f"seen = tl.where(inside, {rows.value}.to({dtype}), 0)",
        "sums = before[:, None] + tl.cumsum(seen, 1)",
        f"tl.store({rows.result} + i, sums.to({TRITON_DTYPES[rows.op.dtype]}), mask=inside)",
        "before += tl.sum(seen, 1)",
    )
    return rows.kernel(name, index, f"along dim {axis.dim}", [f"before = tl.zeros((ROWS,), {dtype})"], step)
