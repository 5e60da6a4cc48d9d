"""The registers that partitions of warps ask for, get and need."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from triton_lab.ir import Function, Op, Plan, Region, traits
from triton_lab.ir.traits.trait import Kind
from triton_lab.ir.value_flow import LOOPS
from triton_lab.providers import provided

REGISTERS = 64 * 1024  # of a multiprocessor, and at most of a program
LEAST, MOST = 24, 256  # registers of a thread of the warps that run the rest
_WARP, _GROUP = 32, 4  # threads of a warp; warps of a group, which have one number of registers
# What computes a block that a tensor core yields: it is in registers as a whole.
_PRODUCTS = traits.names(lambda trait: trait.kind is Kind.CONTRACTS) | {"ttng.tmem_load"}


@dataclass(frozen=True)
class PartitionRegisters:
    """A ``ttg.warp_specialize``: how many registers each thread may have.

    ``needs`` has what the blocks of each partition take that are in registers at one time, at least, the default one
    first; ``asked`` what each of the others asks for, rounded up to 8. ``budget`` is what all threads have together,
    and ``left`` what remains for each thread of the default partition: the compiler gives it that.
    """

    op: Op
    asked: tuple[int, ...]
    warps: tuple[int, ...]
    needs: tuple[int, ...]
    budget: int
    left: int

    @property
    def total(self) -> int:
        """The registers that the partitions ask for, without those of the default one."""
        groups = _groups(self.asked, self.warps)
        return sum(registers * _GROUP * _WARP for registers in groups)


def partition_registers(plan: Plan) -> Iterator[PartitionRegisters]:
    """Each ``ttg.warp_specialize`` that asks for registers, as the compiler hands them out for NVIDIA's GPUs."""
    most = max((-(-sum(_warps(op)) // _GROUP) for op in plan.walk() if op.name == _NAME), default=0)
    for function in plan.functions.values():
        for op in function.walk():
            if op.name == _NAME and op.attributes.get("requestedRegisters"):
                yield _registers(plan, function, op, most)


_NAME = "ttg.warp_specialize"


def _registers(plan: Plan, function: Function, op: Op, most: int) -> PartitionRegisters:
    asked = tuple(-(-registers // 8) * 8 for registers in op.attributes["requestedRegisters"])
    warps = _warps(op)
    every = plan.warps + most * _GROUP
    each = plan.registers or REGISTERS // every // _WARP // 8 * 8
    budget = each * every * _WARP
    groups = _groups(asked, warps)
    groups += [16] * (most - len(groups))  # groups that the compiler adds, so that each takes part
    spare = (budget - sum(registers * _GROUP * _WARP for registers in groups)) // (plan.warps * _WARP) // 8 * 8
    left = min(spare, MOST)
    inner = op.regions[1].blocks[0].ops[-1].regions
    needs = tuple(_need(function, region) for region in (op.regions[0], *inner))
    return PartitionRegisters(op, asked, warps, needs, budget, left)


def _warps(op: Op) -> tuple[int, ...]:
    return tuple(op.attributes.get("partitionNumWarps", ()))


def _groups(asked: tuple[int, ...], warps: tuple[int, ...]) -> list[int]:
    """What each group of four warps asks for: the most of its partitions, of which the largest come first."""
    found: list[int] = []
    first = 0
    for count, registers in sorted(zip(warps, asked, strict=True), key=lambda one: -one[0]):
        for group in range(first // _GROUP, (first + count - 1) // _GROUP + 1):
            found += [0] * (group + 1 - len(found))
            found[group] = max(found[group], registers)
        first += count
    return found


def _need(function: Function, region: Region) -> int:
    """The most registers of a thread that blocks take at one time for sure: a product's sum, or what a loop carries."""
    need = 0
    for block in region.blocks:
        for op in block.ops:
            for inner in op.walk():
                if inner.name in _PRODUCTS:
                    need = max(need, _size(function, inner.results[0]))
                elif inner.name in LOOPS:
                    carried = inner.regions[0].blocks[0].arguments
                    need = max(need, sum(_size(function, value) for value in carried))
    return need


def _size(function: Function, value: int) -> int:
    type = function.types[value]
    if not type.layout or not type.shape:
        return 0
    return int(provided("Type.registers")(type.layout, type.shape, type.bits))
