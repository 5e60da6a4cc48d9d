"""Turns placed regions into kernels: names, arguments, and one writer for each kind of region."""

from __future__ import annotations

from triton_lab.lazy.codegen.elementwise_kernel import write_copy, write_elementwise
from triton_lab.lazy.codegen.generated_kernel import TRITON_DTYPES, GeneratedKernel
from triton_lab.lazy.codegen.matmul_kernel import write_matmul
from triton_lab.lazy.codegen.reduction_kernel import accumulator, write_reduction
from triton_lab.lazy.codegen.row_kernel import RowKernel
from triton_lab.lazy.fusion import FusedRegion
from triton_lab.lazy.graph import Graph, JoinedAxis
from triton_lab.lazy.placement import Placement


def write_scan(graph: Graph, placement: Placement, index: int, region: FusedRegion, name: str) -> GeneratedKernel:
    """cumsum along one dimension; what is added up is computed on the way.

    A program owns some rows and walks along the dimension, tile after tile, with what it has so far.
    """
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


WRITERS = {
    "elementwise": write_elementwise,
    "update": write_elementwise,
    "reduction": write_reduction,
    "scan": write_scan,
    "matmul": write_matmul,
}


def write_kernels(graph: Graph, placement: Placement) -> tuple[GeneratedKernel, ...]:
    """One kernel for each region, and a copy kernel before an update whose base is needed later."""
    kernels: list[GeneratedKernel] = []
    for index, region in enumerate(placement.regions):
        if region.numel == 0 and region.kind != "reduction":
            continue  # nothing to write
        if region.under is not None and region.roots[0] in placement.copied:
            kernels.append(write_copy(graph, placement, index, region))
        kernels.append(WRITERS[region.kind](graph, placement, index, region, _name(graph, region, len(kernels))))
    return tuple(kernels)


def _name(graph: Graph, region: FusedRegion, position: int) -> str:
    """The kernel's name: its first operations in order, at most three, and its position: 'add_mul_0'."""
    names = [graph.ops[number].name for number in region.members]
    told = [name for name in names if name not in ("constant", "view", "cast", "input")] or ["copy"]
    more = [f"{len(told) - 3}_more"] if len(told) > 3 else []
    return "_".join([*told[:3], *more, str(position)])
