"""Kernels that fold dimensions: a program owns some rows of the result and walks along what is folded."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from triton_lab.lazy.codegen.body import Body
from triton_lab.lazy.codegen.functions import with_functions
from triton_lab.lazy.codegen.kernel import TRITON_DTYPES, Kernel, power_of_two, program_id, spread
from triton_lab.lazy.elementwise import HALVES
from triton_lab.lazy.graph import Dims, Graph
from triton_lab.lazy.maps import Map, row_major
from triton_lab.lazy.placement import Placement
from triton_lab.lazy.regions import Region

TILE = 4096  # elements at a time
FAR = 2**63 - 1  # a place behind all others


@dataclass(frozen=True)
class Pieces:
    """How a reduction is written: the number to start with, the lines of one step, and what a row's result is."""

    start: str
    steps: tuple[str, ...]
    fold: str
    places: bool = False  # remembers where the best was found


def write_reduction(graph: Graph, placement: Placement, index: int, region: Region, name: str) -> Kernel:
    """A reduction over any dimensions; what is folded is computed on the way."""
    (root,) = region.roots
    op = graph.ops[root]
    operand = graph.ops[op.operands[0]]
    assert isinstance(op.attribute, Dims)
    kept, folded = split(operand.shape, op.attribute.dims)
    columns = power_of_two(folded.numel, 1, TILE)
    rows = power_of_two(kept.numel, 1, max(1, TILE // columns))

    pointers = {node: placement.slots[placement.slot_of[node]].name for node in region.uses | {root}}
    body = Body(graph, region, pointers, "i", "(ROWS, COLUMNS)")
    value = body.tensor(op.operands[0])
    dtype = accumulator(operand.dtype if op.name in ("argmax", "argmin", "any", "all") else op.dtype)
    pieces = _pieces(op.name, dtype)
    fold = pieces.fold
    if op.name == "mean":
        fold += f" / {folded.numel}" if folded.numel else ' * float("nan")'
    if op.dtype == torch.bool:
        fold = f"({fold}) != 0"
    elif op.dtype != dtype and not pieces.places:
        fold = f"({fold}).to({TRITON_DTYPES[op.dtype]})"
    slots = tuple(dict.fromkeys(placement.slot_of[node] for node in [*(read.node for read in region.reads), root]))
    arguments = ", ".join(placement.slots[slot].name for slot in slots)
    text = [
        "@triton.jit",
        f"def {name}({arguments}, ROWS: tl.constexpr, COLUMNS: tl.constexpr):",
        f'    """{op.name} of %{op.operands[0]} over dims {op.attribute.dims} to {pointers[root]}."""',
        f"    row = {program_id(0, operand.numel)} * ROWS + tl.arange(0, ROWS)",
        f"    nothing = tl.full((ROWS, COLUMNS), {pieces.start}, {TRITON_DTYPES[dtype]})",
        "    total = nothing",
        *([f"    at = tl.full((ROWS, COLUMNS), {FAR}, tl.int64)"] if pieces.places else []),
        f"    for first in range(0, {folded.numel}, COLUMNS):",
        "        column = first + tl.arange(0, COLUMNS)",
        f"        i = {spread(kept.address('row'), ':, None')} + {spread(folded.address('column'), 'None, :')}",
        f"        inside = (row < {kept.numel})[:, None] & (column < {folded.numel})[None, :]",
        *(f"        {line}" for line in body.lines),
        f"        seen = tl.where(inside, {value}, nothing)"
        if operand.dtype == dtype
        else f"        seen = tl.where(inside, {value}.to({TRITON_DTYPES[dtype]}), nothing)",
        *(f"        {line}" for line in pieces.steps),
        f"    tl.store({pointers[root]} + row, {fold}, mask=row < {kept.numel})",
    ]
    tiles = (("ROWS", rows), ("COLUMNS", columns))
    grid = ((kept.numel + rows - 1) // rows,)
    source = with_functions("\n".join(text) + "\n")
    return Kernel(name, source, slots, tiles, grid, index, (placement.slot_of[root],), body.checks)


def split(shape: tuple[int, ...], dims: tuple[int, ...]) -> tuple[Map, Map]:
    """Where a row of the result begins in the operand, and the steps along what is folded."""
    strides = row_major(shape)
    stays = [dim for dim in range(len(shape)) if dim not in dims]
    kept = Map(tuple(shape[dim] for dim in stays), tuple(strides[dim] for dim in stays))
    folded = Map(tuple(shape[dim] for dim in dims), tuple(strides[dim] for dim in dims))
    return kept, folded


def accumulator(dtype: torch.dtype) -> torch.dtype:
    """What elements of this dtype are collected in."""
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
