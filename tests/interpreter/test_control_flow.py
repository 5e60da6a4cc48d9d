"""Branches, loops, early returns and calls, the same in all programs or different in each."""

from __future__ import annotations

import numpy as np
import pytest
import torch
import triton
import triton.language as tl

from tests.interpreter.support import kernel_from


def run(body, programs=8, prelude="", dtype=torch.int32, **arguments):
    """``body`` with ``pid`` and ``OUT``: one number per program."""
    names = "".join(f", {name}" for name in arguments)
    text = "".join(f"    {line}\n" for line in body.strip("\n").split("\n"))
    kernel = kernel_from(f"{prelude}\n@triton.jit\ndef kernel(OUT{names}):\n    pid = tl.program_id(0)\n{text}")
    out = torch.full((programs,), -1, dtype=dtype)
    kernel[(programs,)](out, **arguments)
    return out.tolist()


def test_each_program_takes_its_own_branch():
    body = """
if pid < 2:
    v = pid * 10
elif pid % 2 == 0:
    v = pid + 100
else:
    v = -pid
tl.store(OUT + pid, v)
"""
    assert run(body) == [0, 10, 102, -3, 104, -5, 106, -7]


def test_a_branch_without_an_else_and_a_nested_one():
    body = """
v = 1
if pid > 3:
    if pid > 5:
        v = 2
    tl.store(OUT + pid, v)
"""
    assert run(body) == [-1, -1, -1, -1, 1, 1, 2, 2]


def test_returning_early():
    body = """
if pid % 3 == 0:
    tl.store(OUT + pid, 7)
    return
if pid == 4:
    return
tl.store(OUT + pid, pid)
"""
    assert run(body) == [7, 1, 2, 7, -1, 5, 7, -1 + 8]


def test_returning_early_from_a_function_that_is_called_in_a_loop():
    prelude = """
@triton.jit
def half(n):
    if n % 2 == 0:
        return n // 2
    return 3 * n + 1
"""
    body = """
n = pid + 1
steps = 0
while n != 1:
    n = half(n)
    steps += 1
tl.store(OUT + pid, steps)
"""
    assert run(body, prelude=prelude) == [0, 1, 7, 2, 5, 8, 16, 3]


def test_bounds_that_differ_between_programs():
    body = """
s = 0
for i in range(pid, 2 * pid + 1, 2):
    s += i
tl.store(OUT + pid, s)
"""
    assert run(body) == [sum(range(p, 2 * p + 1, 2)) for p in range(8)]


@pytest.mark.parametrize(("low", "high", "step"), [(2**35, 2**35 + 20, 3), (15, -16, -3), (22, 18, 1), (-5, 5, 1)])
def test_ranges_of_every_direction_and_size(low, high, step):
    body = f"""
s = pid.to(tl.int64) * 0
for i in range(low, high, {step}):
    s += i
tl.store(OUT + pid, s)
"""
    assert run(body, programs=1, dtype=torch.int64, low=low, high=high) == [sum(range(low, high, step))]


OPTIONS = [
    "",
    ", num_stages=3",
    ", loop_unroll_factor=4",
    ", flatten=True",
    ", disallow_acc_multi_buffer=True",
    ", num_stages=None",
]


@pytest.mark.parametrize("options", [*OPTIONS, ", warp_specialize=True", ", disable_licm=True"])
def test_options_of_a_loop_change_nothing(options):
    body = f"""
s = 0
for i in tl.range(0, 10{options}):
    for j in tl.range(0, pid):
        s += i * j
tl.store(OUT + pid, s)
"""
    assert run(body) == [sum(i * j for i in range(10) for j in range(p)) for p in range(8)]


def test_static_loops_unroll():
    body = """
s = 0
for i in tl.static_range(0, 4):
    s += pid * i if i % 2 == 0 else i
tl.store(OUT + pid, s)
"""
    assert run(body) == [2 * p + 4 for p in range(8)]


def test_a_loop_may_stop_at_a_value_from_memory():
    body = """
i = 0
while tl.load(LIMIT + pid) > i * i:
    i += 1
tl.store(OUT + pid, i)
"""
    limit = torch.tensor([0, 1, 2, 9, 10, 100, 50, 3], dtype=torch.int32)
    assert run(body, LIMIT=limit) == [0, 1, 2, 3, 4, 10, 8, 2]


def test_blocks_are_carried_and_merged():
    body = """
x = tl.arange(0, 16)
for i in range(pid):
    if i % 2 == 0:
        x = x + i
    else:
        x = tl.flip(x, 0)
tl.store(OUT + pid, tl.sum(x * tl.arange(0, 16)))
"""
    expected = []
    for p in range(8):
        x = np.arange(16)
        for i in range(p):
            x = x + i if i % 2 == 0 else x[::-1]
        expected.append(int((x * np.arange(16)).sum()))
    assert run(body) == expected


def test_functions_that_are_not_inlined():
    prelude = """
@triton.jit(noinline=True)
def both(a, b):
    return a + b, a - b

@triton.jit(noinline=True)
def outer(a, P):
    if a > 4:
        p, q = both(a, 1)
        return p * q
    tl.store(P + a, 50)
    return a
"""
    body = """
v = outer(pid, OUT)
tl.store(OUT + pid, v + tl.load(OUT + pid))
"""
    assert run(body, prelude=prelude) == [50, 51, 52, 53, 54, 23, 34, 47]


def test_the_grid_has_three_axes():
    @triton.jit
    def kernel(out):
        x, y, z = tl.program_id(0), tl.program_id(1), tl.program_id(2)
        place = x + tl.num_programs(0) * (y + tl.num_programs(1) * z)
        tl.store(out + place, x + 10 * y + 100 * z)

    out = torch.zeros(4, 3, 2, dtype=torch.int32)
    kernel[(2, 3, 4)](out)
    z, y, x = torch.meshgrid(torch.arange(4), torch.arange(3), torch.arange(2), indexing="ij")
    assert torch.equal(out, (x + 10 * y + 100 * z).int())


def test_a_pointer_may_come_from_either_side():
    @triton.jit
    def kernel(a, b, out):
        pid = tl.program_id(0)
        p = a if pid % 2 == 0 else b
        q = tl.where(pid < 2, a, b)
        tl.store(out + pid, tl.load(p + pid) * 100 + tl.load(q + pid))

    a, b = torch.arange(4, dtype=torch.int32), torch.arange(4, dtype=torch.int32) + 10
    out = torch.zeros(4, dtype=torch.int32)
    kernel[(4,)](a, b, out)
    assert out.tolist() == [0, 1101, 212, 1313]


def test_tuples_and_constexprs_as_arguments():
    @triton.jit
    def kernel(pair, out, N: tl.constexpr, flags: tl.constexpr):
        x, y = pair
        k = tl.arange(0, N)
        v = tl.load(x + k) * y[0] + y[1]
        if flags[1]:
            v = -v
        tl.store(out + k, v)

    x, out = torch.arange(8, dtype=torch.int32), torch.zeros(8, dtype=torch.int32)
    kernel[(1,)]((x, (3, 5)), out, 8, (False, True))
    assert torch.equal(out, -(x * 3 + 5))
