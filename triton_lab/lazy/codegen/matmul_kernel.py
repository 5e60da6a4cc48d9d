"""Matrix products: a program computes one tile of the result and loops along K.

Operands are read through their index maps, so a transposed matrix needs no copy. float16, bfloat16 and float32 use
tl.dot (float32 in full precision, not tf32); integers and float64, for which not all GPUs have such an instruction,
multiply and sum.
"""

from __future__ import annotations

import torch

from triton_lab.lazy.codegen.generated_kernel import TRITON_DTYPES, GeneratedKernel, power_of_two, program_id, spread
from triton_lab.lazy.fusion import FusedRegion, read_through
from triton_lab.lazy.graph import Graph
from triton_lab.lazy.index_maps import Map
from triton_lab.lazy.placement import Placement

DOT = (torch.float16, torch.bfloat16, torch.float32)
SMALLEST = 16  # tl.dot takes no smaller tile


def write_matmul(graph: Graph, placement: Placement, index: int, region: FusedRegion, name: str) -> GeneratedKernel:
    """Write (*batch, M, K) @ (*batch, K, N); tiles beyond an edge are masked."""
    (root,) = region.roots
    op = graph.ops[root]
    (left, left_at), (right, right_at) = (read_through(graph, number) for number in op.operands)
    *batch, rows, columns = op.shape
    inner = left_at.shape[-1]
    dot = op.dtype in DOT
    most = 64 if dot else SMALLEST
    tiles = (
        ("M", power_of_two(rows, SMALLEST, most)),
        ("N", power_of_two(columns, SMALLEST, most)),
        ("K", power_of_two(inner, SMALLEST, most // 2 if dot else SMALLEST)),
    )
    names = {node: placement.slots[placement.slot_of[node]].name for node in (left, right, root)}
    out_at = Map.whole(op.shape)
    positions = max(map(_reach, (left_at, right_at, out_at)))
    accumulator = "tl.float32" if dot else TRITON_DTYPES[op.dtype]
    product = (
        'tl.dot(left, right, total, input_precision="ieee")'
        if dot
        else f"total + tl.sum(left[:, :, None] * right[None, :, :], 1).to({accumulator})"
    )
    slots = tuple(dict.fromkeys(placement.slot_of[node] for node in (left, right, root)))
    arguments = ", ".join(placement.slots[slot].name for slot in slots)
    text = [
        "@triton.jit",
        f"def {name}({arguments}, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):",
        f'    """%{op.operands[0]} @ %{op.operands[1]} to {names[root]}: '
        f'({rows}, {inner}) @ ({inner}, {columns}), {_times(batch)}."""',
        f"    m = {program_id(0, positions)} * M + tl.arange(0, M)",
        f"    n = {program_id(1, positions)} * N + tl.arange(0, N)",
        *([f"    batch = {program_id(2, positions)}"] if batch else []),
        f"    total = tl.zeros((M, N), {accumulator})",
        f"    for first in range(0, {inner}, K):",
        "        k = first + tl.arange(0, K)",
        *_load("left", names[left], left_at, ("m", rows), ("k", inner)),
        *_load("right", names[right], right_at, ("k", inner), ("n", columns)),
        f"        total = {product}",
        f"    inside = (m < {rows})[:, None] & (n < {columns})[None, :]",
        f"    result = total.to({TRITON_DTYPES[op.dtype]})",
        f"    tl.store({names[root]} + {_address(out_at, 'm', 'n')}, result, mask=inside)",
    ]
    sizes = dict(tiles)
    grid = (-(-rows // sizes["M"]), -(-columns // sizes["N"]), Map.whole(tuple(batch)).numel)
    return GeneratedKernel(name, "\n".join(text) + "\n", slots, tiles, grid, index, (placement.slot_of[root],))


def _load(name: str, pointer: str, at: Map, down: tuple[str, int], across: tuple[str, int]) -> list[str]:
    address = _address(at, down[0], across[0])
    inside = f"({down[0]} < {down[1]})[:, None] & ({across[0]} < {across[1]})[None, :]"
    return [f"        {name} = tl.load({pointer} + {address}, mask={inside}, other=0)"]


def _address(at: Map, down: str, across: str) -> str:
    """The text of the address of [batch, down, across]."""
    *_, first, second = at.strides
    terms = [spread(_scaled(down, first), ":, None"), spread(_scaled(across, second), "None, :")]
    outer = Map(at.shape[:-2], at.strides[:-2], at.offset)
    if outer.shape and outer.dims:
        terms.insert(0, outer.address("batch"))
    elif at.offset:
        terms.insert(0, str(at.offset))
    return " + ".join(terms)


def _scaled(name: str, stride: int) -> str:
    return name if stride == 1 else f"{name} * {stride}"


def _reach(at: Map) -> int:
    return at.last + 1


def _times(batch: list[int]) -> str:
    return f"for each of {Map.whole(tuple(batch)).numel}" if batch else "once"
