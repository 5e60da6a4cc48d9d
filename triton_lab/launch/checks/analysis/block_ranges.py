"""Along which axis of a block which `tl.arange` runs, and which ones a reduction has used up."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple
from weakref import WeakKeyDictionary

from triton_lab.ir import Op, Plan, traits
from triton_lab.ir.dataflow import Value
from triton_lab.ir.sparse_analysis import SparseAnalysis
from triton_lab.ir.traits import Kind
from triton_lab.ir.traits.lane_map import All, At, LaneMap, Only, UpTo
from triton_lab.ir.value_flow import ELEMENT_FUNCTIONS

Ranges = frozenset[Value]
_NONE: Ranges = frozenset()


class BlockRanges(NamedTuple):
    """The ranges (results of ``tt.make_range``) that a block depends on.

    ``axes`` has those that run along each axis: none where the block is the same all along, None where it is not known.
    ``every`` has these and those of unknown axes; ``folded`` those along which a reduction or a product has run since
    the block's values were loaded.
    """

    axes: tuple[Ranges | None, ...]
    every: Ranges = _NONE
    folded: Ranges = _NONE

    @property
    def gone(self) -> Ranges:
        """The ranges that a reduction has used up: they run along no axis that is left."""
        return self.folded.difference(*(ranges or _NONE for ranges in self.axes))


def block_ranges(plan: Plan) -> Mapping[Value, BlockRanges]:
    """The `BlockRanges` of each value of a plan, once for all callers; nothing of those that no range has reached."""
    known = _KNOWN.get(plan)
    if known is None:
        known = _KNOWN[plan] = _Analysis(plan).found()
    return known


class _Analysis(SparseAnalysis[BlockRanges | None]):
    """Follows ranges through a plan; None for what no operation has reached, such as an argument."""

    bottom = None

    def __init__(self, plan: Plan) -> None:
        super().__init__(plan)
        self._inner = frozenset(_elements(plan))

    def found(self) -> Mapping[Value, BlockRanges]:
        """What is known of each value."""
        self.settle()
        return {value: fact for value, fact in self._facts.items() if fact is not None}

    def follows(self, value: Value) -> bool:
        return value not in self._inner

    def joined(self, one: BlockRanges | None, other: BlockRanges | None) -> BlockRanges | None:
        if one is None or other is None:
            return other if one is None else one
        axes = tuple(_union(first, second) for first, second in zip(one.axes, other.axes, strict=True))
        return BlockRanges(axes, one.every | other.every, one.folded | other.folded)

    def transferred(
        self, function: str, op: Op, operands: Sequence[BlockRanges | None]
    ) -> Sequence[BlockRanges | None]:
        if op.name == "tt.make_range":
            own = frozenset([Value(function, op.results[0])])
            return [BlockRanges((own,), own)]
        types = self.plan.functions[function].types
        return [
            _carried(op, len(types[number].shape), operands, maps)
            for number, maps in zip(op.results, traits.lanes(op, types), strict=True)
        ]


def _elements(plan: Plan) -> Iterator[Value]:
    """The values of functions of elements, which are no blocks."""
    for name, function in plan.functions.items():
        for op in function.walk():
            for block in (one for region in op.regions for one in region.blocks if op.name in ELEMENT_FUNCTIONS):
                yield from (Value(name, number) for number in block.arguments)
                yield from (Value(name, number) for inner in block.ops for number in inner.results)


def _carried(op: Op, rank: int, operands: Sequence[BlockRanges | None], maps: Sequence[LaneMap]) -> BlockRanges:
    """What a result of ``rank`` axes has of its operands."""
    kind = traits.of(op.name).kind
    axes: list[Ranges | None] = [_NONE] * rank
    every = folded = _NONE
    for operand, lanes in zip(operands, maps, strict=True):
        if operand is None:
            continue
        every |= operand.every
        folded |= operand.folded
        if lanes.group is not None:
            axes = [None] * rank
            continue
        for rule, ranges in zip(lanes.axes, operand.axes, strict=True):
            if isinstance(rule, At | UpTo):
                axes[rule.axis] = _union(axes[rule.axis], ranges)
            elif isinstance(rule, All) and kind in (Kind.REDUCES, Kind.CONTRACTS):
                # Of several axes in one, all are gone only if there is no other.
                folded |= ranges if ranges is not None else operand.every if len(operand.axes) == 1 else _NONE
            elif not isinstance(rule, Only):
                axes = [None] * rank
    return BlockRanges(tuple(axes), every, _NONE if kind is Kind.ACCESSES else folded)


def _union(one: Ranges | None, other: Ranges | None) -> Ranges | None:
    return None if one is None or other is None else one | other


# By plan, as long as it lives.
_KNOWN: WeakKeyDictionary[Plan, Mapping[Value, BlockRanges]] = WeakKeyDictionary()
