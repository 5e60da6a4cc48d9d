"""Which arguments a pointer can come from."""

from __future__ import annotations

import numpy as np
import pytest
import torch
import triton
import triton.language as tl

import triton_lab as lab
from tests.interpreter.support import kernel_from
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


HEAD = """
@triton.jit(noinline=True)
def other(p, q, s):
    if s > 1:
        return q
    return p + 1

@triton.jit
def kernel(X, Y, Z, OUT, s):
    i = tl.arange(0, 16)
    p = X + i; q = Y + i; r = Z
"""
MOVES = [
    "p = tl.where(i > 5, p, q)",
    "p, q = q, p",
    "q = r + i % 3",
    "p = p + (i & 1)",
    "r = X if s > 0 else r",
    "p = tl.reshape(tl.trans(tl.reshape(p, (4, 4))), (16,))",
    "a, b = tl.split(tl.join(p, q)); p = b; q = a",
    "p = tl.reshape(tl.broadcast_to(tl.reshape(q, (8, 2)), (8, 2)), (16,))",
    "if s > 0:\n        p = q",
    "for c in range(s):\n        p, q = q, p + 1",
    "r = other(r, Y, s)",
    "q = Z + i; r = other(other(r, X, s), Y, s - 1)",
]


@pytest.mark.parametrize("number", range(16))
def test_what_is_touched_belongs_to_the_arguments_that_are_named(number: int) -> None:
    """Random moves of pointers, run with each way through the branches and loops."""
    random = np.random.default_rng((37, number))
    lines = [f"    {MOVES[int(k)]}\n" for k in random.integers(len(MOVES), size=5)]
    kernel = kernel_from(HEAD + "".join(lines) + "    tl.store(OUT + i, tl.load(p) + tl.load(q) + tl.load(r))\n")
    arrays = [torch.zeros(128) for _ in range(4)]
    for s in (0, 1, 2, 3):
        with lab.record() as launches:
            kernel[(1,)](*arrays, s)
        (launch,) = launches
        for index, events in launch.tape.events.items():
            (event,) = events
            touched = {
                position
                for position, array in enumerate(arrays)
                for offset in [(event.addresses() - array.data_ptr()) // 4]
                if bool(((offset >= 0) & (offset < 128)).any())
            }
            roots_of = launch.executable.roots[index]
            assert roots_of is not None and touched <= roots_of, (s, lines)
