"""Fusion: which operations become one kernel.

A value is written to memory only where it must be: an output of the step, a result of a reduction, a matrix product
or an update, or an operand that is read in another order than it was made in. All other values are computed in the
registers of the kernels that need them. A kernel that visits the same positions as an earlier one and shares its data
joins it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from triton_lab.lazy.graph import Graph, GraphOp
from triton_lab.lazy.index_maps import Map
from triton_lab.lazy.simplification import below_reshapes, is_reshape

REDUCTIONS = ("sum", "mean", "amax", "amin", "any", "all", "argmax", "argmin")
KINDS = {**dict.fromkeys(REDUCTIONS, "reduction"), "cumsum": "scan", "matmul": "matmul", "update": "update"}
LARGEST = 256  # operations in a chain before a value goes to memory, or in joined kernels: keeps compilation short


@dataclass(frozen=True)
class Read:
    """A load: the value `node`, in its own order (`view` is None) or through an index map.

    `elsewhere`: at positions of that map other than the kernel's own (a part of a "cat", a "gather").
    """

    node: int
    view: Map | None
    elsewhere: bool = False


@dataclass(frozen=True)
class FusedRegion:
    """One future kernel: the values that it writes to memory, computes in registers, and loads.

    `kind` is "elementwise", "update", "reduction", "scan" or "matmul"; `numel` is the number of positions that it
    visits; `under` is the base of an update, whose unwritten elements stay.
    """

    kind: str
    roots: tuple[int, ...]
    members: tuple[int, ...]
    reads: tuple[Read, ...]
    numel: int
    under: int | None = None

    @property
    def uses(self) -> set[int]:
        """The numbers of all values that the region needs in memory."""
        return {read.node for read in self.reads} | ({self.under} if self.under is not None else set())

    def computes(self, graph: Graph) -> tuple[int, ...]:
        """The numbers of the operations that the kernel computes: its members without constants and loads."""
        return tuple(n for n in self.members if graph.ops[n].name not in ("constant", "view", "input")) or self.roots


def partition(graph: Graph, offered: Iterable[int]) -> tuple[FusedRegion, ...]:
    """The regions of a graph, in an order in which they can run. `offered` are the numbers of donated inputs.

    Donation matters in one way: a read of a donated value in another order is not fused with a kernel that might
    overwrite it.
    """
    memory = in_memory(graph)
    donated = set(offered)
    regions: list[FusedRegion] = []
    home: dict[int, int] = {}
    for number in sorted(memory):
        op = graph.ops[number]
        if op.name == "input":
            continue
        if kind_of(op) != "elementwise":
            home[number] = len(regions)
            regions.append(_alone(graph, memory, number))
            continue
        for position, region in enumerate(regions):
            joined = _join(graph, memory, region, number, donated)
            ready = joined and all(home.get(node, -1) < position for node in joined.uses)
            if joined and ready:
                regions[position], home[number] = joined, position
                break
        else:
            home[number] = len(regions)
            regions.append(_fused(graph, memory, (number,)))
    return tuple(regions)


def kind_of(op: GraphOp) -> str:
    """The kind of region that computes this operation."""
    return KINDS.get(op.name, "elementwise")


def looked_up(graph: Graph, op: GraphOp) -> tuple[int, ...]:
    """The operands that an elementwise kernel reads at positions other than its own, so that they must be in memory."""
    if op.name == "gather":
        return op.operands[:1]
    if op.name == "cat":
        return tuple(operand for operand in op.operands if graph.ops[operand].name != "constant")
    return ()


def in_memory(graph: Graph) -> set[int]:
    """The numbers of the values that must be in memory."""
    memory = set(graph.outputs)
    depth: list[int] = []
    for number, op in enumerate(graph.ops):
        kind = kind_of(op)
        if kind != "elementwise" or op.name == "input":
            memory.add(number)
        if op.name == "view" and not is_reshape(graph.ops, op):
            memory.add(op.operands[0])
        if kind == "update":
            memory.add(op.operands[0])
        whole = op.operands if kind == "matmul" else looked_up(graph, op)
        memory.update(read_through(graph, operand)[0] for operand in whole)
        above = max((depth[operand] for operand in op.operands), default=0)
        if above >= LARGEST:
            memory.update(operand for operand in op.operands if depth[operand] >= LARGEST)
            above = 0
        depth.append(0 if number in memory else above + 1)
    return memory


def read_through(graph: Graph, number: int) -> tuple[int, Map]:
    """The value and the index map by which an operand in memory (of a matrix product, of a "cat") is read."""
    shape = graph.ops[number].shape
    source = below_reshapes(graph.ops, number)
    op = graph.ops[source]
    if op.name == "view" and isinstance(op.attribute, Map) and op.shape == shape:
        return op.operands[0], op.attribute
    return source, Map.whole(shape)


def _walk(graph: Graph, stops: set[int], start: int, members: dict[int, None], reads: dict[Read, None]) -> None:
    """Collect what `start` needs: operations to compute, and loads where `stops` are reached."""
    members[start] = None
    op = graph.ops[start]
    if op.name == "view" and not is_reshape(graph.ops, op):
        assert isinstance(op.attribute, Map)
        reads[Read(op.operands[0], op.attribute)] = None
        return
    elsewhere = looked_up(graph, op)
    for operand in op.operands:
        below = graph.ops[operand]
        if operand in elsewhere:
            node, view = read_through(graph, operand)
            reads[Read(node, view, elsewhere=True)] = None
            if node != operand and operand not in stops:
                members[operand] = None
        elif operand in stops and below.name != "constant":
            reads[Read(operand, None)] = None
        elif operand not in members:
            _walk(graph, stops, operand, members, reads)


def _fused(graph: Graph, memory: set[int], roots: tuple[int, ...]) -> FusedRegion:
    members: dict[int, None] = {}
    reads: dict[Read, None] = {}
    for root in roots:
        _walk(graph, memory - set(roots), root, members, reads)
    return FusedRegion("elementwise", roots, tuple(sorted(members)), tuple(reads), graph.ops[roots[0]].numel)


def _alone(graph: Graph, memory: set[int], number: int) -> FusedRegion:
    op = graph.ops[number]
    kind = kind_of(op)
    members: dict[int, None] = {}
    reads: dict[Read, None] = {}
    entries = op.operands[1:] if kind == "update" else op.operands
    for operand in entries:
        if kind == "matmul":
            read = Read(*read_through(graph, operand))
            reads[read] = None
            if read.node != operand and operand not in memory:
                members[operand] = None
        elif operand in memory and graph.ops[operand].name != "constant":
            reads[Read(operand, None)] = None
        else:
            _walk(graph, memory, operand, members, reads)
    numel = op.numel if kind == "matmul" else graph.ops[entries[0]].numel
    under = op.operands[0] if kind == "update" else None
    return FusedRegion(kind, (number,), (*sorted(members), number), tuple(reads), numel, under)


def _join(graph: Graph, memory: set[int], region: FusedRegion, number: int, donated: set[int]) -> FusedRegion | None:
    """The region with one more root; None if that is not possible or not useful."""
    if region.kind != "elementwise" or region.numel != graph.ops[number].numel:
        return None
    alone = _fused(graph, memory, (number,))
    joined = _fused(graph, memory, (*region.roots, number))
    if len(joined.members) > LARGEST:
        return None
    if joined.uses & set(joined.roots):  # a value just made, read in another order: not complete yet
        return None
    if not alone.uses & (region.uses | set(region.roots)):  # no common data: two kernels are easier to read
        return None
    for node in donated & joined.uses:
        if _overwritable(joined, node) < max(_overwritable(region, node), _overwritable(alone, node)):
            return None
    return joined


def _overwritable(region: FusedRegion, node: int) -> bool:
    """Whether the region reads the node only in its own order, so that it could write where it reads."""
    views = [read.view for read in region.reads if read.node == node]
    return bool(views) and all(view is None for view in views)
