"""Reduction kernels: a program has some rows of the result and loops along the reduced dimensions."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from triton_lab.lazy.codegen.generated_kernel import TRITON_DTYPES, GeneratedKernel
from triton_lab.lazy.codegen.row_kernel import RowKernel
from triton_lab.lazy.elementwise_table import HALVES
from triton_lab.lazy.fusion import FusedRegion
from triton_lab.lazy.graph import Dims, Graph
from triton_lab.lazy.placement import Placement

FAR = 2**63 - 1  # an index larger than all others


@dataclass(frozen=True)
class Pieces:
    """The parts of a reduction's text: the initial value, the lines of one step, and a row's result."""

    start: str
    steps: tuple[str, ...]
    fold: str
    places: bool = False  # tracks the place of the best element


def write_reduction(graph: Graph, placement: Placement, index: int, region: FusedRegion, name: str) -> GeneratedKernel:
    """Write a reduction over any dimensions; its operand is computed inside the kernel."""
    over = graph.ops[region.roots[0]].attribute
    assert isinstance(over, Dims)
    rows = RowKernel(graph, placement, region, over.dims)
    op, operand, value = rows.op, rows.operand, rows.value
    dtype = accumulator(operand.dtype if op.name in ("argmax", "argmin", "any", "all") else op.dtype)
    pieces = _pieces(op.name, dtype)
    fold = pieces.fold
    if op.name == "mean":
        fold += f" / {rows.along.numel}" if rows.along.numel else ' * float("nan")'
    if op.dtype == torch.bool:
        fold = f"({fold}) != 0"
    elif op.dtype != dtype and not pieces.places:
        fold = f"({fold}).to({TRITON_DTYPES[op.dtype]})"
    before = [f"nothing = tl.full((ROWS, COLUMNS), {pieces.start}, {TRITON_DTYPES[dtype]})", "total = nothing"]
    if pieces.places:
        before.append(f"at = tl.full((ROWS, COLUMNS), {FAR}, tl.int64)")
    if operand.dtype != dtype:
        value = f"{value}.to({TRITON_DTYPES[dtype]})"
    step = (f"seen = tl.where(inside, {value}, nothing)", *pieces.steps)
    after = [f"tl.store({rows.result} + row, {fold}, mask=row < {rows.kept.numel})"]
    return rows.kernel(name, index, f"over dims {over.dims}", before, step, after)


def accumulator(dtype: torch.dtype) -> torch.dtype:
    """The dtype in which elements of this dtype are accumulated."""
    if dtype in HALVES:
        return torch.float32
    return torch.int32 if dtype == torch.bool else dtype


def _pieces(name: str, dtype: torch.dtype) -> Pieces:
    if name in ("sum", "mean"):
        return Pieces("0", ("total = total + seen",), "tl.sum(total, 1)")
    larger = name in ("amax", "argmax", "any")
    if dtype.is_floating_point:
        start = 'float("-inf")' if larger else 'float("inf")'
    else:
        start = str(torch.iinfo(dtype).min if larger else torch.iinfo(dtype).max)
    if name in ("any", "all"):  # of bools
        start = "0" if larger else "1"
    if name in ("argmax", "argmin"):
        function = "largest_at" if larger else "smallest_at"
        here = f"place = tl.where(inside, column[None, :].to(tl.int64), {FAR})"
        step = f"total, at = {function}(total, at, seen, place)"
        return Pieces(start, (here, step), f"tl.reduce((total, at), 1, {function})[1]", places=True)
    function = "larger" if larger else "smaller"
    return Pieces(start, (f"total = {function}(total, seen)",), f"tl.reduce(total, 1, {function})")
