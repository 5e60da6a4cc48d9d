"""What a value is computed from: through operations, loops and calls, and no further than is asked for."""

from __future__ import annotations

import gc
import weakref

import pytest
import triton
import triton.language as tl

from tests.ir.test_parse import plan_of
from triton_lab.ir import Plan
from triton_lab.ir.dataflow import Flow, Value


@triton.jit
def counting(x, y, n, m):
    total = tl.load(x) * 2
    for i in range(n):
        total += i * m
    tl.store(y, total)


@pytest.fixture(scope="module")
def plan() -> Plan:
    return plan_of(counting, {"x": "*i32", "y": "*i32", "n": "i32", "m": "i32"}, {})


def one(plan: Plan, name: str):
    (found,) = [op for op in plan.kernel.walk() if op.name == name]
    return found


def test_a_counter_is_computed_from_its_bounds_and_belongs_to_its_loop(plan):
    flow, loop = Flow.of(plan), one(plan, "scf.for")
    counter, carried = (Value(plan.kernel.name, number) for number in loop.regions[0].blocks[0].arguments)
    assert flow.counters == {counter: loop}
    assert {Value(plan.kernel.name, number) for number in loop.operands[:3]} <= flow.feeds[counter]
    assert counter not in flow.maker and carried not in flow.maker


def test_what_is_behind_a_value_ends_where_it_shall(plan):
    flow, kernel = Flow.of(plan), plan.kernel
    x, y, n, m = (Value(kernel.name, number) for number in kernel.arguments)
    stored = Value(kernel.name, one(plan, "tt.store").operands[1])
    everything = flow.behind([stored])
    assert {x, n, m} <= everything and y not in everything and stored in everything
    made = {flow.maker[value].name for value in flow.behind([stored], lambda op: False) if value in flow.maker}
    # Through control it goes all the same: what goes round the loop is what was there before, or what is added.
    assert made == {"arith.addi", "arith.muli"}
    assert x not in flow.behind([stored], lambda op: op.name != "tt.load")
    assert {n, m} <= flow.behind([stored], lambda op: op.name != "tt.load")


def test_what_is_ahead_of_a_value_is_what_it_is_behind(plan):
    flow = Flow.of(plan)
    values = flow.behind(flow.feeds)
    ahead = {start: flow.ahead([start]) for start in values}
    assert all((other in ahead[start]) == (start in flow.behind([other])) for start in values for other in values)
    (loaded,) = one(plan, "tt.load").results
    stops = flow.ahead([Value(plan.kernel.name, loaded)], lambda op: not op.name.startswith("arith."))
    assert {flow.maker[value].name for value in stops if value in flow.maker} == {"tt.load", "arith.muli"}


def test_the_flow_of_a_plan_is_shared_and_goes_with_it():
    plan = plan_of(counting, {"x": "*i32", "y": "*i32", "n": "i32", "m": "i32"}, {})
    alive, again = weakref.ref(plan), plan_of(counting, {"x": "*i32", "y": "*i32", "n": "i32", "m": "i32"}, {})
    assert Flow.of(plan) is Flow.of(plan) and Flow.of(again) is not Flow.of(plan)
    del plan
    gc.collect()
    assert alive() is None
