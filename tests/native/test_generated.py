"""What the generator makes of kernels: bit for bit what NumPy's engine computes, or a reason why it will not."""

from __future__ import annotations

import pytest
import torch
import triton
import triton.language as tl

import triton_lab as lab
from tests.native.harness import both, same_bits


def agree(launch, *, handed: int = 0) -> None:
    expected, found, over = both(launch)
    assert same_bits(expected, found)
    assert over == handed


@triton.jit
def masked_sum(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, i < n, 1.5) + tl.load(y + i, i < n), i < n)


@pytest.mark.parametrize("n", [1, 255, 256, 257, 700, 1024])
def test_a_mask_may_end_anywhere(n):
    def launch():
        out = torch.full((1024,), -1.0)
        masked_sum[(4,)](torch.arange(1024.0), torch.arange(1024.0) * 0.1, out, n, BLOCK=256)
        return out

    agree(launch)


@triton.jit
def shifted(x, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    held = tl.load(x + i, i < n)
    tl.store(x + i + 1, held, i + 1 < n)


def test_what_is_stored_does_not_change_what_was_loaded():
    def launch():
        x = torch.arange(300.0)
        shifted[(1,)](x, 300, BLOCK=512)
        return x

    agree(launch)


@triton.jit
def looked_up(x, at, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + tl.load(at + i, i < n, 0), i < n), i < n)


def test_addresses_may_come_from_memory():
    def launch():
        at = torch.randperm(500, generator=torch.Generator().manual_seed(0)).int()
        out = torch.zeros(500)
        looked_up[(4,)](torch.arange(500.0), at, out, 500, BLOCK=128)
        return out

    agree(launch)


@triton.jit
def centred(x, out, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    total = tl.zeros((BLOCK,), tl.int32)
    for start in range(0, n, BLOCK):
        i = start + tl.arange(0, BLOCK)
        total += tl.load(x + row * n + i, i < n, 0)
    whole = tl.sum(total, 0)
    for start in range(0, n, BLOCK):
        i = start + tl.arange(0, BLOCK)
        tl.store(out + row * n + i, tl.load(x + row * n + i, i < n) - whole, i < n)


def test_a_program_that_stores_in_a_loop_is_rehearsed():
    def launch():
        x = torch.arange(5 * 200, dtype=torch.int32)
        out = torch.zeros_like(x)
        centred[(5,)](x, out, 200, BLOCK=64)
        return out

    agree(launch)


@triton.jit
def wrapped(x, out, n, rows, BLOCK: tl.constexpr):
    i = (tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)) % rows
    tl.store(out + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK), tl.load(x + i))


def test_offsets_that_are_wrapped_round_take_another_way():
    def launch():
        out = torch.zeros(4 * 64)
        wrapped[(4,)](torch.arange(150.0), out, 150, 150, BLOCK=64)
        return out

    agree(launch)


@triton.jit
def collatz(x, out):
    number, steps = tl.load(x + tl.program_id(0)), 0
    while number > 1:
        number = number // 2 if number % 2 == 0 else 3 * number + 1
        steps += 1
    tl.store(out + tl.program_id(0), steps)


def test_loops_end_where_the_numbers_say():
    def launch():
        out = torch.zeros(60, dtype=torch.int32)
        collatz[(60,)](torch.arange(1, 61, dtype=torch.int32), out)
        return out

    agree(launch)


@triton.jit
def early(x, out, n):
    i = tl.program_id(0)
    if i >= n:
        return
    tl.store(out + i, tl.load(x + i) * 2)


def test_a_program_may_return_before_its_end():
    def launch():
        out = torch.zeros(8)
        early[(8,)](torch.arange(8.0), out, 5)
        return out

    agree(launch)


@triton.jit
def counted(x, bins, old, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    found = tl.atomic_add(bins + tl.load(x + i, i < n, 0), 1, i < n)
    tl.store(old + i, found, i < n)


def test_lanes_of_an_atomic_take_turns():
    def launch():
        bins, old = torch.zeros(7, dtype=torch.int32), torch.zeros(100, dtype=torch.int32)
        counted[(3,)](torch.arange(100, dtype=torch.int32) % 7, bins, old, 100, BLOCK=128)
        return torch.cat([bins, old])

    agree(launch)


@triton.jit
def turned(x, out, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    i, j = tl.arange(0, ROWS), tl.arange(0, COLUMNS)
    a = tl.load(x + i[:, None] * COLUMNS + j[None, :])
    b = tl.reshape(tl.trans(a), (ROWS, COLUMNS))
    c = tl.interleave(a, b)
    left, right = tl.split(tl.reshape(c, (ROWS, COLUMNS, 2)))
    k = i[:, None] * COLUMNS + j[None, :]
    tl.store(out + k, tl.cumsum(left, 1) + right * 1000 + tl.max(tl.join(a, b), 2) * 3)


def test_shapes_move_elements_and_nothing_else():
    def launch():
        x = torch.arange(16 * 32, dtype=torch.int32)
        out = torch.zeros_like(x)
        turned[(1,)](x, out, ROWS=16, COLUMNS=32)
        return out

    agree(launch)


@triton.jit
def picked(x, best, out, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    i, j = tl.arange(0, ROWS), tl.arange(0, COLUMNS)
    a = tl.load(x + i[:, None] * COLUMNS + j[None, :])
    tl.store(best + i, tl.argmax(a, 1))
    tl.store(out + j, tl.argmin(a, 0))


def test_of_equal_elements_both_engines_pick_the_same():
    def launch():
        x = (torch.arange(16 * 64) * 7 % 5).float().reshape(16, 64)
        best, out = torch.zeros(16, dtype=torch.int32), torch.zeros(64, dtype=torch.int32)
        picked[(1,)](x, best, out, ROWS=16, COLUMNS=64)
        return torch.cat([best, out])

    agree(launch)


@triton.jit
def multiplied(a, b, c, M, N, K, ROWS: tl.constexpr, COLUMNS: tl.constexpr, DEPTH: tl.constexpr):
    i = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    j = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
    k = tl.arange(0, DEPTH)
    total = tl.zeros((ROWS, COLUMNS), tl.float32)
    for start in range(0, K, DEPTH):
        x = tl.load(a + i[:, None] * K + start + k[None, :], (i[:, None] < M) & (start + k[None, :] < K), 0.0)
        y = tl.load(b + (start + k[:, None]) * N + j[None, :], (start + k[:, None] < K) & (j[None, :] < N), 0.0)
        total += tl.dot(x, y)
    tl.store(c + i[:, None] * N + j[None, :], total, (i[:, None] < M) & (j[None, :] < N))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_products_of_whole_numbers_are_exact(dtype):
    def launch():
        numbers = torch.Generator().manual_seed(0)
        a = torch.randint(-8, 9, (50, 70), generator=numbers).to(dtype)
        b = torch.randint(-8, 9, (70, 45), generator=numbers).to(dtype)
        c = torch.zeros(50, 45)
        multiplied[(2, 2)](a, b, c, 50, 45, 70, ROWS=32, COLUMNS=32, DEPTH=32)
        return c

    agree(launch)


def test_products_of_bfloat16_that_cancel_are_no_nan():
    def launch():
        a = torch.full((32, 32), 2.0**100, dtype=torch.bfloat16)
        b = torch.full((32, 32), 2.0**100, dtype=torch.bfloat16)
        b[1::2] = -(2.0**100)
        c = torch.zeros(32, 32)
        multiplied[(1, 1)](a, b, c, 32, 32, 32, ROWS=32, COLUMNS=32, DEPTH=32)
        return c

    agree(launch)


@triton.jit
def follows(x, out):
    at = tl.load(x)
    tl.store(x, at + 1)
    tl.store(out + tl.load(x), 5)


def test_where_it_writes_may_depend_on_what_it_wrote():
    def launch():
        x, out = torch.zeros(1, dtype=torch.int32), torch.zeros(4, dtype=torch.int32)
        follows[(1,)](x, out)
        return out

    agree(launch)


@triton.jit
def far(x, out, step, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i * step, i < 1, 0.0))


@pytest.mark.parametrize("step", [1, 2**31 - 1, 2**40, 2**62 + 1])
def test_strides_may_be_anything_where_the_mask_lets_no_lane_through(step):
    def launch():
        out = torch.zeros(64)
        far[(1,)](torch.ones(64), out, step, BLOCK=64)
        return out

    expected, found, _ = both(launch)
    assert same_bits(expected, found)


@triton.jit
def round_the_end(x, out, back, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x - back + i))


def test_addresses_that_come_round_the_end_of_memory_are_errors():
    x = torch.ones(64)
    with lab.limits(engine="native"), pytest.raises(lab.KernelError, match="out of bounds"):
        round_the_end[(1,)](x, torch.zeros(64), x.data_ptr() // 4 + 16, BLOCK=64)


@triton.jit
def compared_after_a_write(x, far, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK).to(tl.int64)
    now = tl.load(x + i) + tl.load(x + i * far, i < 1, 0.0)
    tl.store(x + i, now + 1)
    tl.debug_barrier()
    tl.store(x + i, tl.where(far < i, now, now + 2))


@pytest.mark.parametrize("far", [3, 2**63 - 1, -(2**63)])
def test_a_comparison_that_decides_no_address_stops_no_program_that_has_written(far):
    def launch():
        x = torch.zeros(64)
        compared_after_a_write[(1,)](x, far, BLOCK=64)
        return x

    agree(launch)
