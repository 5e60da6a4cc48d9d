"""Values flow through control: every argument of a block is handed something, of its own type."""

from __future__ import annotations

import pytest
import triton
import triton.language as tl

from tests.ir.test_parse import plan_of
from triton_lab.ir import Plan
from triton_lab.ir.dataflow import Flow
from triton_lab.ir.value_flow import HANDS_ON, Value, edges


@triton.jit
def early(x, y):
    if x > 3:
        return x * 2, y
    return y, x


@triton.jit
def stepwise(x):
    if x < 0:
        return x - 1
    total = 0
    while total < x:
        if total > 7:
            total += 3
        total += 1
    return total


@triton.jit
def crosswise(a, b, c, d):
    if a > c:
        return a, d
    return c, b


@triton.jit
def both(a, b, c, d):
    return a + c, tl.maximum(b, d)


@triton.jit(noinline=True)
def helper(x, n):
    if n > 2:
        return x + n
    return x


@triton.jit
def mapped(x, y):
    k = tl.arange(0, 16)
    a, b = tl.map_elementwise(early, tl.load(x + k), k)
    tl.store(y + k, a + b)


@triton.jit
def looping(x, y):
    k = tl.arange(0, 16)
    tl.store(y + k, tl.map_elementwise(stepwise, tl.load(x + k)))


@triton.jit
def packed(x, y):
    k = tl.arange(0, 16)
    tl.store(y + k, tl.map_elementwise(crosswise, tl.load(x + k), k, pack=2)[0])


@triton.jit
def combined(x, y):
    k = tl.arange(0, 16)
    a, b = tl.reduce((tl.load(x + k), k.to(tl.float32)), 0, both)
    c, _ = tl.associative_scan((k, k + 1), 0, both)
    tl.store(y + k, a.to(tl.int32) + b.to(tl.int32) + c)


@triton.jit
def called(x, y):
    n = tl.load(y)
    if n > 100:
        return
    p = helper(x, n)
    for _ in range(n):
        p = helper(p, n + 1)
    while tl.load(p) > 0:
        p += 1
    tl.store(y, n if n > 3 else n + 1)


CASES = {
    mapped: {"x": "*i32", "y": "*i32"},
    looping: {"x": "*i32", "y": "*i32"},
    packed: {"x": "*i32", "y": "*i32"},
    combined: {"x": "*fp32", "y": "*i32"},
    called: {"x": "*i32", "y": "*i32"},
}


@pytest.fixture(params=CASES, ids=lambda function: function.__name__)
def plan(request: pytest.FixtureRequest) -> Plan:
    return plan_of(request.param, CASES[request.param], {})


def arguments(plan: Plan):
    """The arguments of all blocks but the kernel's own."""
    for function in plan.functions.values():
        regions = [function.body, *(region for op in function.walk() for region in op.regions)]
        for region in regions:
            for number, block in enumerate(region.blocks):
                if not (function.public and region is function.body and number == 0):
                    yield from (Value(function.name, argument) for argument in block.arguments)


def test_every_argument_of_a_block_and_every_result_of_control_is_handed_something(plan):
    handed = {target for _, target in edges(plan)}
    assert set(arguments(plan)) <= handed
    results = {
        Value(function.name, result)
        for function in plan.functions.values()
        for op in function.walk()
        if op.name in HANDS_ON
        for result in op.results
    }
    assert results <= handed


def test_what_is_handed_on_keeps_its_type_but_for_blocks_that_become_elements(plan):
    def type_of(value: Value):
        return plan.functions[value.function].types[value.number]

    regions = {
        number
        for function in plan.functions.values()
        for op in function.walk()
        if op.name in ("tt.reduce", "tt.scan", "tt.map_elementwise")
        for number in (*op.results, *(argument for argument in op.regions[0].blocks[0].arguments))
    }
    for source, target in edges(plan):
        one, other = type_of(source), type_of(target)
        assert (one.element, one.pointee) == (other.element, other.pointee)
        assert one.shape == other.shape or target.number in regions


def test_what_stands_behind_a_value_reaches_through_regions(plan):
    """Of each kernel's last store, the value comes from its first load."""
    flow = Flow.of(plan)
    *_, store = (op for op in plan.kernel.walk() if op.name == "tt.store")
    load = next(op for op in plan.kernel.walk() if op.name == "tt.load")
    behind = flow.behind([Value(plan.kernel.name, store.operands[1])])
    assert Value(plan.kernel.name, load.results[0]) in behind
