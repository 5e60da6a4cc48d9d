"""Kernels in which a program has some rows and loops along the other dimensions, tile after tile."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

from triton_lab.lazy.codegen.generated_kernel import GeneratedKernel, power_of_two, program_id, spread
from triton_lab.lazy.codegen.helper_functions import with_functions
from triton_lab.lazy.codegen.kernel_body import KernelBody
from triton_lab.lazy.fusion import FusedRegion
from triton_lab.lazy.graph import Graph
from triton_lab.lazy.index_maps import Map, row_major
from triton_lab.lazy.placement import Placement

TILE = 4096  # elements per tile


class RowKernel:
    """The only root of ``region``, computed along ``dims`` of its operand, which is computed inside the kernel."""

    def __init__(self, graph: Graph, placement: Placement, region: FusedRegion, dims: tuple[int, ...]) -> None:
        (self.root,) = region.roots
        self.op = graph.ops[self.root]
        self.operand = graph.ops[self.op.operands[0]]
        self.kept, self.along = split(self.operand.shape, dims)
        self._placement, self._region = placement, region
        self._pointers = {node: placement.slots[placement.slot_of[node]].name for node in region.uses | {self.root}}
        self.body = KernelBody(graph, region, self._pointers, "i", "(ROWS, COLUMNS)")
        self.value = self.body.tensor(self.op.operands[0])

    @property
    def result(self) -> str:
        """The pointer to the root's result."""
        return self._pointers[self.root]

    @cached_property
    def slots(self) -> tuple[int, ...]:
        """The slots of the kernel's arguments."""
        nodes = [*(read.node for read in self._region.reads), self.root]
        return tuple(dict.fromkeys(self._placement.slot_of[node] for node in nodes))

    def kernel(
        self, name: str, index: int, where: str, before: Iterable[str], step: Iterable[str], after: Iterable[str] = ()
    ) -> GeneratedKernel:
        """The kernel with these lines ``before`` the loop, in each ``step``, and ``after`` it.

        ``where`` describes the loop for the kernel's docstring. The lines may use ``row``; a step may use ``column``
        and, for a tile of both, the places ``i`` and the mask ``inside``.
        """
        kept, along = self.kept, self.along
        columns = power_of_two(along.numel, 1, TILE)
        rows = power_of_two(kept.numel, 1, max(1, TILE // columns))
        arguments = ", ".join(self._placement.slots[slot].name for slot in self.slots)
        text = [
            "@triton.jit",
            f"def {name}({arguments}, ROWS: tl.constexpr, COLUMNS: tl.constexpr):",
            f'    """{self.op.name} of %{self.op.operands[0]} {where} to {self.result}."""',
            f"    row = {program_id(0, self.operand.numel)} * ROWS + tl.arange(0, ROWS)",
            *(f"    {line}" for line in before),
            f"    for first in range(0, {along.numel}, COLUMNS):",
            "        column = first + tl.arange(0, COLUMNS)",
            f"        i = {spread(kept.address('row'), ':, None')} + {spread(along.address('column'), 'None, :')}",
            f"        inside = (row < {kept.numel})[:, None] & (column < {along.numel})[None, :]",
            *(f"        {line}" for line in (*self.body.lines, *step)),
            *(f"    {line}" for line in after),
        ]
        source = with_functions("\n".join(text) + "\n")
        tiles, grid = (("ROWS", rows), ("COLUMNS", columns)), ((kept.numel + rows - 1) // rows,)
        written = (self._placement.slot_of[self.root],)
        return GeneratedKernel(name, source, self.slots, tiles, grid, index, written, self.body.checks)


def split(shape: tuple[int, ...], dims: tuple[int, ...]) -> tuple[Map, Map]:
    """The map of the kept dimensions (where each row of the operand begins), and the map along ``dims``."""
    strides = row_major(shape)
    stays = [dim for dim in range(len(shape)) if dim not in dims]
    kept = Map(tuple(shape[dim] for dim in stays), tuple(strides[dim] for dim in stays))
    return kept, Map(tuple(shape[dim] for dim in dims), tuple(strides[dim] for dim in dims))
