"""Programs of one launch that wait for each other, as public libraries have them: right, and without a race."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
import triton
import triton.language as tl

import triton_lab


@contextmanager
def no_error() -> Iterator[None]:
    with triton_lab.record() as launches:
        yield
    assert [str(found) for launch in launches for found in launch.findings if found.severity == "error"] == []


@triton.jit
def word(flag: tl.constexpr, value):
    """A flag and a number that are seen together or not at all."""
    return (tl.full((), flag, tl.int64) << 32) | value.to(tl.int64)


@triton.jit
def look_back_scan(x, out, words, n, BLOCK: tl.constexpr):
    """A scan in one pass: a program adds up what those before it have made known, sums (1) or prefixes (2)."""
    program = tl.program_id(0)
    place = program * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + place, mask=place < n, other=0)
    total = tl.sum(value, 0)
    prefix = 0
    if program == 0:
        tl.atomic_xchg(words, word(2, total), sem="release")
    else:
        tl.atomic_xchg(words + program, word(1, total), sem="release")
        before = program - 1
        looking = True
        while looking:
            found = tl.atomic_add(words + before, 0, sem="acquire")
            flag = found >> 32
            if flag > 0:
                prefix += (found & 0xFFFFFFFF).to(tl.int32)
                before -= 1
                looking = flag == 1
        tl.atomic_xchg(words + program, word(2, prefix + total), sem="release")
    tl.store(out + place, tl.cumsum(value, 0) + prefix, mask=place < n)


def test_a_scan_by_looking_back() -> None:
    x = torch.randint(0, 9, (2000,), generator=torch.Generator().manual_seed(0), dtype=torch.int32)
    out = torch.zeros_like(x)
    with no_error():
        look_back_scan[(32,)](x, out, torch.zeros(32, dtype=torch.int64), 2000, BLOCK=64)
    assert torch.equal(out, x.cumsum(0).int())


@triton.jit
def ticket_lock(next_ticket, serving, order, total):
    ticket = tl.atomic_add(next_ticket, 1, sem="relaxed")
    while tl.atomic_add(serving, 0, sem="acquire") != ticket:
        pass
    tl.store(order + ticket, tl.program_id(0))
    tl.store(total, tl.load(total) * 2 + 1)
    tl.debug_barrier()
    tl.atomic_add(serving, 1, sem="release")


def test_a_ticket_lock_lets_one_in_at_a_time() -> None:
    counters = torch.zeros(2, dtype=torch.int32)
    order, total = torch.full((20,), -1, dtype=torch.int32), torch.zeros(1, dtype=torch.int64)
    with no_error():
        ticket_lock[(20,)](counters[0:], counters[1:], order, total)
    assert sorted(order.tolist()) == list(range(20))
    assert total.item() == 2**20 - 1


@triton.jit
def neighbour_sums(x, y, count, rounds, BLOCK: tl.constexpr):
    """Rounds with a barrier of the whole grid between them."""
    program, programs = tl.program_id(0), tl.num_programs(0)
    lane = tl.arange(0, BLOCK)
    for turn in range(rounds):
        source = x if turn % 2 == 0 else y
        target = y if turn % 2 == 0 else x
        left = tl.load(source + (program + programs - 1) % programs * BLOCK + lane)
        tl.store(target + program * BLOCK + lane, left + tl.load(source + program * BLOCK + lane))
        tl.debug_barrier()
        tl.atomic_add(count, 1, sem="acq_rel")
        while tl.atomic_add(count, 0, sem="acquire") < programs * (turn + 1):
            pass
        tl.debug_barrier()


def test_rounds_with_a_barrier_of_the_whole_grid() -> None:
    x = torch.randint(-9, 9, (8, 16), generator=torch.Generator().manual_seed(0)).float()
    expected = x.clone()
    with no_error():
        neighbour_sums[(8,)](x, torch.zeros(8, 16), torch.zeros(1, dtype=torch.int32), 4, BLOCK=16)
    for _ in range(4):
        expected = expected + expected.roll(1, 0)
    assert torch.equal(x, expected)
