"""Placement: the memory of each value in a step, and which kernels write where they read.

A kernel may overwrite an operand with a result if the operand is not needed afterwards and the kernel reads it only
at the position that it writes: each lane loads its element before it stores it, and no other lane reads it. An input
is needed afterwards unless it was donated. A read through another index map, or a later kernel that reads the old
value, forbids it; the order of kernels puts such readers first where possible.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import torch

from triton_lab.lazy.fusion import FusedRegion
from triton_lab.lazy.graph import Graph
from triton_lab.lazy.index_maps import Map
from triton_lab.localization import _


@dataclass(frozen=True)
class MemorySlot:
    """A piece of memory during the step: an input's (`name` in0, in1, ...), an output's (out0), or a temporary."""

    name: str
    numel: int
    dtype: torch.dtype
    input: int | None = None


@dataclass(frozen=True)
class Placement:
    """Kernels in order, the slot of every value in memory, and the result for each donor."""

    regions: tuple[FusedRegion, ...]
    slots: tuple[MemorySlot, ...]
    slot_of: dict[int, int]
    copied: frozenset[int]  # updates whose base is copied first, since it is needed later
    taken: dict[int, int]  # value -> the operand whose memory it takes in the same kernel
    refused: dict[int, str]  # donated input index -> why it was not overwritten

    def aliases(self, graph: Graph) -> dict[int, int]:
        """Output index -> index of the input whose memory it uses."""
        inputs = graph.inputs
        found = {}
        for index, output in enumerate(graph.outputs):
            donor = self.slots[self.slot_of[output]].input
            if donor is not None and output != inputs[donor]:
                found[index] = donor
        return found


def place(graph: Graph, regions: Iterable[FusedRegion], donors: Iterable[int]) -> Placement:
    """Order the kernels and give every value in memory a slot. `donors` are input indices."""
    return _Placer(graph, frozenset(donors)).run(list(regions))


class _Placer:
    def __init__(self, graph: Graph, donors: frozenset[int]):
        self.graph = graph
        self.donors = donors
        self.inputs = graph.inputs
        self.lasting = set(graph.outputs) | {n for i, n in enumerate(self.inputs) if i not in donors}
        self.slots: list[MemorySlot] = []
        self.slot_of: dict[int, int] = {}
        self.taken: dict[int, int] = {}
        self.copied: set[int] = set()

    def run(self, regions: list[FusedRegion]) -> Placement:
        for index, number in enumerate(self.inputs):
            op = self.graph.ops[number]
            self.slot_of[number] = self._slot(f"in{index}", op.numel, op.dtype, index)
        order = self._ordered(regions)
        free: list[int] = []
        for position, region in enumerate(order):
            later: set[int] = set().union(*(other.uses for other in order[position + 1 :]))
            dying = {node for node in region.uses if node not in later and node not in self.lasting}
            claimed: set[int] = set()
            for root in region.roots:
                self._house(region, root, dying - claimed, free)
                if root in self.taken:
                    claimed.add(self.taken[root])
            free += [self.slot_of[node] for node in sorted(dying - claimed)]
        for index, output in enumerate(self.graph.outputs):
            slot = self.slots[self.slot_of[output]]
            if slot.name.startswith("tmp"):
                self.slots[self.slot_of[output]] = replace(slot, name=f"out{index}")
        return Placement(
            tuple(order), tuple(self.slots), self.slot_of, frozenset(self.copied), self.taken, self._refused(order)
        )

    def _slot(self, name: str, numel: int, dtype: torch.dtype, index: int | None = None) -> int:
        self.slots.append(MemorySlot(name, numel, dtype, index))
        return len(self.slots) - 1

    def _house(self, region: FusedRegion, root: int, dying: set[int], free: list[int]) -> None:
        """Assign a slot to a result: an operand's, a free one, or a new one."""
        op = self.graph.ops[root]
        for operand in self._takeable(region, root):
            if operand in dying:
                self.taken[root] = operand
                self.slot_of[root] = self.slot_of[operand]
                return
        if region.under is not None:
            self.copied.add(root)
        for slot in free:
            if (self.slots[slot].numel, self.slots[slot].dtype) == (op.numel, op.dtype):
                free.remove(slot)
                self.slot_of[root] = slot
                return
        self.slot_of[root] = self._slot(f"tmp{root}", op.numel, op.dtype)

    def _takeable(self, region: FusedRegion, root: int) -> list[int]:
        """The operands that the kernel reads only where it writes `root`, in the order of its reads."""
        op = self.graph.ops[root]
        if region.kind == "update":
            assert isinstance(op.attribute, Map) and region.under is not None
            views = [read.view for read in region.reads if read.node == region.under]
            same = all(view is not None and view.same_elements(op.attribute) for view in views)
            same = same and not any(read.elsewhere for read in region.reads if read.node == region.under)
            return [region.under] if same else []
        if region.kind != "elementwise":
            return []
        found = []
        for node in dict.fromkeys(read.node for read in region.reads):
            own_order = all(read.view is None for read in region.reads if read.node == node)
            if own_order and self.graph.ops[node].dtype == op.dtype:
                found.append(node)
        return found

    def _ordered(self, regions: list[FusedRegion]) -> list[FusedRegion]:
        """An order in which a kernel that should overwrite a value runs after the other readers, where possible."""
        heirs = self._heirs(regions)
        order: list[FusedRegion] = []
        done = set(self.inputs)
        while regions:
            ready = [region for region in regions if region.uses <= done]
            patient = [
                region
                for region in ready
                if not any(heirs[node] is region and _others_read(node, region, regions) for node in heirs)
            ]
            chosen = (patient or ready)[0]
            regions.remove(chosen)
            order.append(chosen)
            done.update(chosen.roots)
        return order

    def _heirs(self, regions: list[FusedRegion]) -> dict[int, FusedRegion]:
        """The region that should overwrite each value: an update of it, else one with an output, else the first."""
        heirs: dict[int, FusedRegion] = {}
        rank: dict[int, int] = {}
        for region in regions:
            for root in region.roots:
                worth = 2 if region.under is not None else 1 if root in self.graph.outputs else 0
                for node in self._takeable(region, root):
                    if node not in self.lasting and worth > rank.get(node, -1):
                        heirs[node], rank[node] = region, worth
        return heirs

    def _refused(self, order: list[FusedRegion]) -> dict[int, str]:
        written = {self.slot_of[root] for region in order for root in region.roots}
        refused = {}
        for index in sorted(self.donors):
            number = self.inputs[index]
            if self.slot_of[number] in written:
                continue
            readers = [region for region in order if number in region.uses]
            if any(region.kind in ("reduction", "scan", "matmul") for region in readers):
                refused[index] = _("a reduction or a matrix product reads its elements after the first write")
            elif any(read.view is not None for region in readers for read in region.reads if read.node == number):
                refused[index] = _("a kernel reads it in another order than it writes")
            else:
                refused[index] = _("no output was left for it")
        return refused


def _others_read(node: int, region: FusedRegion, waiting: list[FusedRegion]) -> bool:
    return any(node in other.uses for other in waiting if other is not region)
