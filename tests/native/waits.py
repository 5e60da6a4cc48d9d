"""Kernels whose programs wait for one another, or that are checked by what they have written."""

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def locked(lock, total, x, n, ROW: tl.constexpr):
    """Sums of rows under one lock; the number of those that came before each one's."""
    i = tl.arange(0, ROW)
    row = tl.load(x + tl.program_id(0) * ROW + i)
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    tl.store(total + i, tl.load(total + i, i < n) + row, i < n)
    tl.debug_barrier()
    tl.atomic_xchg(lock, 0)


@triton.jit
def exchanged(lock, total):
    while tl.atomic_xchg(lock, 1) == 1:
        pass
    tl.store(total, tl.load(total) * 3 + tl.program_id(0))
    tl.debug_barrier()
    tl.atomic_xchg(lock, 0)


@triton.jit
def two_locks(locks, total):
    """Two of three, in ascending order."""
    p = tl.program_id(0)
    left, right = p % 3, (p + 1) % 3
    first, second = tl.minimum(left, right), tl.maximum(left, right)
    while tl.atomic_cas(locks + first, 0, 1) == 1:
        pass
    while tl.atomic_cas(locks + second, 0, 1) == 1:
        pass
    tl.store(total + first, tl.load(total + first) + p)
    tl.store(total + second, tl.load(total + second) + p * 7)
    tl.debug_barrier()
    tl.atomic_xchg(locks + second, 0)
    tl.atomic_xchg(locks + first, 0)


@triton.jit
def ticketed(tickets, serving, order):
    mine = tl.atomic_add(tickets, 1)
    while tl.atomic_add(serving, 0) != mine:
        pass
    tl.store(order + mine, tl.program_id(0))
    tl.debug_barrier()
    tl.atomic_add(serving, 1)


@triton.jit
def flagged(flags, out, HOW: tl.constexpr, BACKWARDS: tl.constexpr):
    """Each program waits for the one before it, or, backwards, for the one behind it."""
    p, last = tl.program_id(0), tl.num_programs(0) - 1
    place = last - p if BACKWARDS else p
    before = 0
    if place > 0:
        flag = flags + place - 1
        if HOW == "volatile":
            while tl.load(flag, volatile=True) == 0:
                pass
        elif HOW == "break":
            waits, looked = True, 0
            while waits:
                looked += 1
                for _ in range(2):
                    if tl.load(flag, volatile=True) == 1:
                        waits = False
        else:
            looked = 0
            while (tl.load(flag, volatile=True) == 0) & (looked < 100):
                looked += 1
        before = tl.load(out + place - 1)
    tl.store(out + place, before * 3 + place)
    tl.debug_barrier()
    tl.atomic_xchg(flags + place, 1)


@triton.jit
def polled(flags, out, HOW: tl.constexpr, BACKWARDS: tl.constexpr):
    """The same, for what Triton has since 3.7."""
    p, last = tl.program_id(0), tl.num_programs(0) - 1
    place = last - p if BACKWARDS else p
    before = 0
    if place > 0:
        if HOW == "atomic_load":
            while tl.atomic_load(flags + place - 1) == 0:
                pass
        else:
            tl.atomic_poll(flags + place - 1, 1)
        before = tl.load(out + place - 1)
    tl.store(out + place, before * 3 + place)
    tl.debug_barrier()
    tl.atomic_xchg(flags + place, 1)


FLAGGED = dict.fromkeys(("volatile", "break", "times out"), flagged)
FLAGGED |= {name: polled for name in ("atomic_load", "atomic_poll") if hasattr(tl, name)}
"""The ways to wait for a flag that there are, and the kernel that knows each."""


@triton.jit
def met(flags, out):
    """The third program waits for the last one, at its own end."""
    p = tl.program_id(0)
    tl.store(out + p, p + 1)
    tl.debug_barrier()
    tl.atomic_xchg(flags + p, 1)
    if p == 2:
        while tl.atomic_add(flags + tl.num_programs(0) - 1, 0) == 0:
            pass


@triton.jit
def never(flag, out):
    """The last ones wait for what nobody does."""
    p = tl.program_id(0)
    tl.store(out + p, p + 1)
    if p >= 3:
        while tl.atomic_add(flag, 0) == 0:
            pass
        tl.store(out + p, 100)


@triton.jit
def never_written(flag, out):
    """The same for a flag that is in memory which nobody writes to."""
    p = tl.program_id(0)
    if p >= 3:
        while tl.load(flag + p % 2, volatile=True) == 0:
            pass
    tl.store(out + p, p + 1)


@triton.jit
def searched(x, wanted, out, n):
    """The first place of ``n`` in ascending order that holds no less."""
    value = tl.load(wanted + tl.program_id(0))
    low, high = 0, n
    while low < high:
        middle = (low + high) // 2
        if tl.load(x + middle) < value:
            low = middle + 1
        else:
            high = middle
    tl.store(out + tl.program_id(0), low)


@triton.jit
def followed(following, out, steps):
    """Down a list in memory, until it ends."""
    at, count = tl.program_id(0), 0
    while at >= 0:
        at = tl.load(following + at)
        count += 1
    tl.store(out + tl.program_id(0), count)
    tl.store(steps + tl.program_id(0), count * 2)


@triton.jit
def persistent(counter, x, out, n):
    """Who comes takes the next tile."""
    tile = tl.atomic_add(counter, 1)
    while tile < n:
        tl.store(out + tile, tl.load(x + tile) * 2)
        tile = tl.atomic_add(counter, 1)


@triton.jit
def hashed(keys, counts, x, SIZE: tl.constexpr):
    """A table with open addressing: each number in its own place, and how often it came."""
    key = tl.load(x + tl.program_id(0))
    slot = key * 7 % SIZE
    found = tl.atomic_cas(keys + slot, -1, key)
    while (found != -1) & (found != key):
        slot = (slot + 1) % SIZE
        found = tl.atomic_cas(keys + slot, -1, key)
    tl.atomic_add(counts + slot, 1)


@triton.jit
def compacted(x, out, count, n, BLOCK: tl.constexpr):
    """What is above zero, block after block, where there is room."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + i, i < n, 0)
    good = (value > 0).to(tl.int32)
    first = tl.atomic_add(count, tl.sum(good))
    tl.store(out + first + tl.cumsum(good, 0) - 1, value, good > 0)


@triton.jit
def counting(flag, spins):
    while tl.atomic_add(flag, 0) == 0:
        tl.atomic_add(spins, 1)


@triton.jit
def long_under_a_lock(lock, out, n):
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    i = tl.full((), 0, tl.int64)
    while i < n:
        i += 1
    tl.store(out, i)
    tl.debug_barrier()
    tl.atomic_xchg(lock, 0)


@triton.jit
def described(lock, x, out, rows):
    """Under a lock, blocks that are named by their corners: stored, added to, and scattered."""
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    given = tl.make_tensor_descriptor(x, [8, 32], [32, 1], [4, 16])
    taken = tl.make_tensor_descriptor(out, [8, 20], [32, 1], [4, 16])
    single = tl.make_tensor_descriptor(out, [8, 20], [32, 1], [1, 16])
    p = tl.program_id(0)
    taken.store([p * 2, p], given.load([p, 1]) + taken.load([p, 0]))
    taken.atomic_add([1, p * 3], given.load([0, p]))
    single.scatter(tl.load(x + tl.arange(0, 8)[:, None] * 16 + tl.arange(0, 16)), tl.load(rows + tl.arange(0, 8)), 2)
    tl.debug_barrier()
    tl.atomic_xchg(lock, 0)
    tl.store(out + tl.load(out + 6 * 32) * 0 + (256 + p), p)


@triton.jit
def overlapping(small, large, at, out):
    """Bytes and what they are part of, written in turns; then where what was written says."""
    i = tl.arange(0, 8)
    tl.store(small + i * 3, (i + 1).to(tl.int8))
    tl.store(large + i, tl.load(large + i) * 5 + 1, i % 3 != 1)
    tl.store(small + 2, 77)
    tl.store(large + 1, 12345, tl.program_id(0) > 5)
    tl.atomic_add(large + i // 2, i, i != 3)
    tl.atomic_max(large + 20, 5)
    tl.store(at, tl.load(at) + 1)
    tl.store(out + tl.load(at), 1.5)


@triton.jit
def doubled_until(x, limit, out, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    v = tl.load(x + i)
    while tl.max(v) < tl.load(limit):
        v = v * 2
    tl.store(out + i, v)
