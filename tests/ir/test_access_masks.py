"""Whose masks turn lanes off: those that somebody wrote, and not those that the front end gives."""

from __future__ import annotations

import pytest
import triton
import triton.language as tl

from tests.ir.test_parse import plan_of
from tests.ir.test_verify import with_op
from triton_lab.ir import Op, Plan
from triton_lab.ir.access_masks import constant_masks, guard, is_masked, mask_operand
from triton_lab.ir.effects import is_access


@triton.jit
def masked_or_not(x, y, n):
    k = tl.arange(0, 16)
    tl.store(y + k, tl.load(x + k))
    tl.store(y + k + 1, tl.load(x + k, mask=k < n, other=0), mask=k < n)
    tl.atomic_add(y + k + 2, 1)
    tl.atomic_add(y + k + 3, 1, mask=k < n)
    tl.atomic_cas(y, 1, n)
    d = tl.make_tensor_descriptor(x, [64, 16], [16, 1], [16, 16])
    d.store([n, 0], d.load([0, n]))


@pytest.fixture(scope="module")
def plan() -> Plan:
    return plan_of(masked_or_not, {"x": "*i32", "y": "*i32", "n": "i32"}, {})


def test_what_keeps_the_lanes_of_each_access_within(plan):
    found = [(op.name.removeprefix("tt."), guard(op, plan)) for op in plan.walk() if is_access(op)]
    assert found == [
        ("load", ""),
        ("store", ""),
        ("load", "mask"),
        ("store", "mask"),
        ("atomic_rmw", ""),
        ("atomic_rmw", "mask"),
        ("atomic_cas", ""),
        ("descriptor_load", "descriptor"),
        ("descriptor_store", "descriptor"),
    ]


def test_only_the_masks_that_the_front_end_gives_are_constants(plan):
    constant = constant_masks(plan)
    given = [op for op in plan.walk() if is_access(op) and mask_operand(op) is not None]
    assert [(op.name, (op.index, mask_operand(op)) in constant) for op in given] == [
        ("tt.load", False),
        ("tt.store", False),
        ("tt.atomic_rmw", True),
        ("tt.atomic_rmw", False),
    ]
    assert len(constant) == 1
    assert [is_masked(op, plan) for op in given] == [True, True, False, True]


def test_what_is_no_access_has_no_mask(plan):
    others = [op for op in plan.walk() if not is_access(op)]
    assert others and all(mask_operand(op) is None and not guard(op, plan) for op in others)


def test_a_mask_that_spreads_one_constant_is_a_constant_too(plan):
    """As some versions of the front end write it."""
    (index, mask), *_ = constant_masks(plan)
    made = next(op for op in plan.walk() if mask in op.results)
    one = Op("arith.constant", (), (900,), {"value": True}, (), (), None, -1)
    for operand, constant in ((900, True), (plan.kernel.arguments[0], False)):
        spread = Op("tt.splat", (operand,), made.results, {}, (), (), None, -2)
        assert ((index, mask) in constant_masks(with_op(plan, made.index, one, spread))) == constant
