"""Which arguments a pointer can come from."""

from __future__ import annotations

import triton
import triton.language as tl

from tests.ir.test_parse import plan_of
from triton_lab.ir.provenance import pointer_roots


def roots(function, signature):
    plan = plan_of(function, signature, {})
    found = pointer_roots(plan)
    return [found[op.index] for op in plan.walk() if op.index in found]


def test_arithmetic_keeps_the_argument_and_a_choice_joins_two():
    @triton.jit
    def kernel(x, y, n):
        k = tl.arange(0, 8)
        tl.store(x + k * n, tl.load(y + k))
        p = x if n > 3 else y
        tl.store(p + n, tl.load(tl.where(n > 5, x, y)))

    signature = {"x": "*i32", "y": "*i32", "n": "i32"}
    assert sorted(map(sorted, roots(kernel, signature))) == [[0], [0, 1], [0, 1], [1]]


def test_a_pointer_from_memory_can_be_anywhere():
    @triton.jit
    def kernel(table, out):
        p = tl.load(table).to(tl.pointer_type(tl.int32))
        tl.store(out, tl.load(p))

    assert roots(kernel, {"table": "*i64", "out": "*i32"}) == [frozenset([0]), None, frozenset([1])]


def test_loops_and_descriptors_pass_it_on():
    @triton.jit
    def kernel(x, y, n):
        p, q = x, y
        for _ in range(n):
            p, q = q + 4, p
        d = tl.make_tensor_descriptor(x, [8, 16], [16, 1], [1, 16])
        tl.store(p + tl.arange(0, 16), tl.reshape(d.load([0, 0]), (16,)))

    found = roots(kernel, {"x": "*i32", "y": "*i32", "n": "i32"})
    assert found == [frozenset([0]), frozenset([0, 1])]


def test_a_split_gives_the_arguments_of_both_and_a_choice_not_those_of_its_condition():
    @triton.jit
    def kernel(x, y, z):
        k = tl.arange(0, 8)
        a, b = tl.split(tl.reshape(tl.trans(tl.join(x + k, y + k)), (8, 2)))
        tl.store(tl.where(tl.load(z + k) > 0, a, b), 1)
        tl.store(a, 2)

    signature = {"x": "*i32", "y": "*i32", "z": "*i32"}
    assert sorted(map(sorted, roots(kernel, signature))) == [[0, 1], [0, 1], [2]]
