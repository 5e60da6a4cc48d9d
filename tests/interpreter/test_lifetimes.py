"""When values die and how much lives at once, by definition: a value lives from its operation to its last use."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import triton_lab as lab
from triton_lab.examples import all_examples, example
from triton_lab.interpreter.affine_block import AffineBlock, are_lanes_apart
from triton_lab.interpreter.bound_code import BoundBlock, Routine, compile_plan
from triton_lab.interpreter.dtypes import dtype_of
from triton_lab.ir.value_flow import taken


def size(routine: Routine, value: int) -> int:
    type = routine.types[value]
    return 64 if type.is_descriptor else type.size * dtype_of(type).itemsize


def uses(code: BoundBlock, position: int) -> set[int]:
    """What the step at ``position`` takes, for its regions as well."""
    ops = [*(step.op for step in code.steps), code.terminator]
    return {value for op in ops[position].walk() for value in taken(op)}


def dies_at(code: BoundBlock, value: int, born: int) -> int | None:
    """The last step that takes the value, or its own; None where the block's end takes it or it is never taken."""
    last = max((k for k in range(len(code.steps) + 1) if value in uses(code, k)), default=born)
    return last if 0 <= last < len(code.steps) else None


def bytes_at_worst(routine: Routine, code: BoundBlock, keep: bool) -> int:
    born = dict.fromkeys(code.arguments, -1)
    born |= {result: k for k, step in enumerate(code.steps) for result in step.results}
    death = {value: None if keep else dies_at(code, value, at) for value, at in born.items()}
    worst = sum(size(routine, value) for value in code.arguments)
    for k, step in enumerate(code.steps):
        assert set(step.dead) == {value for value, at in death.items() if at == k} and len({*step.dead}) == len(
            step.dead
        )
        alive = [value for value, at in born.items() if at <= k and (death[value] is None or death[value] >= k)]
        blocks = routine.regions.get(step.op.index, ())
        assert len(blocks) == sum(len(region.blocks) for region in step.op.regions)
        counts = [len(region.blocks) for region in step.op.regions for _ in region.blocks]
        inside = [bytes_at_worst(routine, block, many > 1) for block, many in zip(blocks, counts, strict=True)]
        worst = max(worst, sum(size(routine, value) for value in alive) + max(inside, default=0))
    return worst


@pytest.mark.parametrize("name", [each.name for each in all_examples()])
def test_values_die_with_their_last_use_and_count_as_long_as_they_live(name: str) -> None:
    found = example(name)
    with lab.target("cpu"), lab.record() as launches:
        found.run(**found.inputs("small", 0, "cpu"))
    for plan in {id(launch.lines._plan): launch.lines._plan for launch in launches}.values():
        for routine in compile_plan(plan).values():
            expected = [bytes_at_worst(routine, code, len(routine.blocks) > 1) for code in routine.blocks]
            assert routine.footprint == max(expected)


def apart(block: AffineBlock) -> bool:
    return are_lanes_apart(block.strides, block.shape, 1)


@given(st.lists(st.tuples(st.integers(-9, 9), st.integers(1, 4)), min_size=1, max_size=3))
def test_lanes_that_may_share_an_address_are_seen(axes: list[tuple[int, int]]) -> None:
    strides, shape = zip(*axes, strict=True)
    block = AffineBlock(np.array([64]), strides, shape)
    addresses = np.broadcast_to(block.elements(np.dtype(np.int64)), (1, *shape))
    shared = len(np.unique(addresses)) < addresses.size
    assert apart(block) <= (not shared)
    if len([extent for extent in shape if extent > 1]) <= 1:
        assert apart(block) != shared, "of one axis it is told exactly"


@pytest.mark.parametrize("rows", [1, 2, 4])
@pytest.mark.parametrize("columns", [1, 2, 8])
@pytest.mark.parametrize("order", [1, -1])
def test_a_tile_of_a_matrix_repeats_where_its_rows_overlap(rows: int, columns: int, order: int) -> None:
    for stride in range(4 * columns + 9):
        block = AffineBlock(np.array([640]), (stride, 4)[::order], (rows, columns)[::order])
        if stride % 4 == 0 and 4 <= stride <= 4 * columns:
            addresses = np.broadcast_to(block.elements(np.dtype(np.int64)), (1, *block.shape))
            assert apart(block) == (len(np.unique(addresses)) == addresses.size)
        elif stride > 4 * columns:
            assert apart(block)
