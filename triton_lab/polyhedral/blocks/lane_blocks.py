"""The layout of a kernel's lanes: its grid, and the dimensions of its blocks."""

from __future__ import annotations

from dataclasses import dataclass

from triton_lab.localization import _
from triton_lab.messages import count as counted
from triton_lab.polyhedral.blocks.fresh_names import FreshNames
from triton_lab.polyhedral.blocks.launch_nodes import KernelNodes, Lane, depth_of
from triton_lab.polyhedral.blocks.triton_kernel import NotABlockProgram
from triton_lab.polyhedral.core.loop_nest import For, If, Node

# How many lanes a block has along its only dimension, and along each of two.
_ALONE, _OF_TWO = 256, 16
# Triton's limit for one tensor.
_MOST_LANES = 1 << 20


@dataclass(frozen=True)
class LaneBlock:
    """The layout of one lane loop.

    It has ``size`` lanes (``constant`` names their number, "" where each program has its own number) in the block's
    dimension ``axis``; ``grid`` is the axis of the grid, or None where one block holds the whole loop.
    """

    lane: Lane
    constant: str
    size: int
    axis: int
    grid: int | None


def blocks_of(found: KernelNodes, names: FreshNames, constants: dict[str, int]) -> tuple[LaneBlock, ...]:
    """The blocks: the schedule's tiles, if any; else the innermost one or two loops are cut into blocks.

    ``constants`` has the sizes in earlier kernels by the names of constants; new ones are added.
    """
    there = _lanes_in(found.nodes) if is_one_nest(found) else set(range(len(found.lanes)))
    lanes = [lane for k, lane in enumerate(found.lanes) if k in there]
    tiled = any(lane.whole for lane in lanes)
    cut = set() if tiled else {lane.name for lane in lanes[-2:]}
    blocks: list[LaneBlock] = []
    for lane in lanes:
        size = _power_of_two(lane.extent) if lane.whole else (_ALONE if len(lanes) == 1 else _OF_TWO)
        is_block = lane.whole or lane.name in cut
        axis = sum(bool(b.constant) for b in blocks)
        grid = None if lane.whole else sum(b.grid is not None for b in blocks)
        constant = f"BLOCK_{lane.name.upper()}" if is_block else ""
        if is_block and constants.get(constant) != size:
            constant = names(constant)
            constants[constant] = size
        blocks.append(LaneBlock(lane, constant, size if is_block else 1, axis, grid))
    total = 1
    for block in blocks:
        total *= block.size
    if total > _MOST_LANES:
        raise NotABlockProgram(
            _("a tile of {lanes}: Triton's blocks hold up to {most_lanes}").format(
                lanes=counted(total, "lane"), most_lanes=_MOST_LANES
            )
        )
    return tuple(blocks)


def is_one_nest(found: KernelNodes) -> bool:
    """Whether each lane has at most one loop, the loops are directly nested, and all else is inside them."""
    try:
        _lanes_in(found.nodes)
    except _SeveralNests:
        return False
    return True


class _SeveralNests(Exception):
    pass


def _lanes_in(nodes: tuple[Node, ...]) -> set[int]:
    """The lanes that have a loop. (A lane with a single iteration has none.)"""
    match nodes:
        case (If(body=body, orelse=()),):
            return _lanes_in(body)
        case (For() as node,) if depth_of(node) is not None:
            return {depth_of(node) or 0} | _lanes_in(node.body)
    if any(_has_lane(node) for node in nodes):
        raise _SeveralNests
    return set()


def _has_lane(node: Node) -> bool:
    match node:
        case For():
            return depth_of(node) is not None or any(map(_has_lane, node.body))
        case If():
            return any(map(_has_lane, (*node.body, *node.orelse)))
    return False


def _power_of_two(size: int) -> int:
    return 1 << max(0, size - 1).bit_length()
