"""The threads of lanes and scalars, as far as the plan determines them.

A lane of a block belongs to the same thread in all blocks of its shape, since the compiler gives accesses of one shape
the same layout wherever it can. A scalar is stored or updated by one thread and loaded by all threads; a value that
only goes into scalar stores matters only to the thread that stores.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from triton_lab.ir import Op, Plan, Type, traits
from triton_lab.ir.dataflow import Flow, Value
from triton_lab.ir.traits import Kind
from triton_lab.ir.value_flow import BRANCHES, decisive
from triton_lab.launch.byte_ranges import Ints
from triton_lab.launch.checks.analysis.evidence import SeenAccess

# Operations that combine lanes of a block through shared memory, and so have a barrier.
_CROSSING = traits.names(lambda trait: trait.kind in (Kind.REDUCES, Kind.SCANS, Kind.CONTRACTS)) | {"tt.gather"}
_ONE, _ALL = 0, 1
_SHAPES = 40  # bits of a lane's number


class Threads:
    """The threads of a launch's accesses."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._shapes: dict[tuple[int, ...], int] = {}
        self._between: dict[tuple[int, int], bool] = {}

    @cached_property
    def _flow(self) -> Flow:
        return Flow.of(self._plan)

    def of(self, sight: SeenAccess, lane: Ints) -> Ints:
        """A number for the thread of each lane; lanes with different numbers may be in different threads."""
        shape = tuple(extent for extent in sight.event.shape if extent > 1)
        if not shape:
            return np.full(len(lane), _ALL if self.all_load(sight) else _ONE)
        return lane + ((self._shapes.setdefault(shape, len(self._shapes)) + 1) << _SHAPES)

    def all_load(self, sight: SeenAccess) -> bool:
        """Whether it is a scalar load that every thread does, and whose value matters to several threads."""
        if sight.kind != "load" or any(extent > 1 for extent in sight.event.shape):
            return False
        return Value(self._flow.function_of[sight.op.index], sight.op.results[0]) in self._spread

    def barrier_between(self, first: Op, second: Op) -> bool:
        """Whether an operand of the second access passed through an operation with a barrier after the first access."""
        key = first.index, second.index
        if key not in self._between:
            values = [Value(self._flow.function_of[second.index], operand) for operand in second.operands]
            makers = (self._flow.maker.get(value) for value in self._flow.behind(values))
            self._between[key] = any(
                op is not None and op.name in _CROSSING and first.index < op.index < second.index for op in makers
            )
        return self._between[key]

    @cached_property
    def _spread(self) -> set[Value]:
        """All values that go into a block, or decide whether or how often operations on blocks run."""
        start: list[Value] = []
        for function in self._plan.functions.values():
            for op in function.walk():
                inner = [each for region in op.regions for block in region.blocks for each in block.ops]
                blocks = any(function.types[value].shape for value in (*op.operands, *op.results))
                if blocks and not op.name.startswith("scf."):
                    start += [Value(function.name, value) for value in op.operands]
                elif op.name in BRANCHES:
                    start += [Value(function.name, value) for value in decisive(op)]
                elif inner and any(_has_block(function.types, each) for each in inner):
                    deciding = (op, *(each for each in inner if each.name == "scf.condition"))
                    start += [Value(function.name, value) for each in deciding for value in decisive(each)]
        return self._flow.behind(start)


def _has_block(types: Sequence[Type], op: Op) -> bool:
    """Whether ``op``, or an operation in its regions, works on a block."""
    if any(types[value].shape for value in (*op.operands, *op.results)):
        return True
    return any(_has_block(types, each) for region in op.regions for block in region.blocks for each in block.ops)
