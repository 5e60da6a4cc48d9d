"""Atomics: lanes and programs take turns, and each is told what it found."""

from __future__ import annotations

import numpy as np
import pytest
import torch
import triton
import triton.language as tl
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.interpreter.support import array, bf16, kernel_from, same, tensor
from triton_lab.backend.plugin import launcher

F16, F32, F64 = (np.dtype(t) for t in (np.float16, np.float32, np.float64))
I32, U32, I64, U64 = (np.dtype(t) for t in (np.int32, np.uint32, np.int64, np.uint64))


def atomically(name, target, index, values, mask=None, block=None, sem=None):
    """``target[index[k]]`` is updated by ``values[k]``; what is there at the end, and what each found."""
    options = "" if sem is None else f', sem="{sem}"'
    kernel = kernel_from(
        "@triton.jit\ndef kernel(T, I, V, M, OLD, BLOCK: tl.constexpr):\n"
        "    k = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)\n"
        f"    old = tl.atomic_{name}(T + tl.load(I + k), tl.load(V + k), mask=tl.load(M + k){options})\n"
        "    tl.store(OLD + k, old, mask=tl.load(M + k))\n"
    )
    mask = np.ones(len(index), np.bool_) if mask is None else mask
    block = block or len(index)
    result, old = tensor(target), tensor(np.zeros(len(values), values.dtype))
    kernel[(len(index) // block,)](result, tensor(index), tensor(values), tensor(mask), old, block)
    return array(result, target.dtype), array(old, values.dtype)


def one_by_one(function, target, index, values, mask=None):
    """The loop that the atomics stand for."""
    target, old = target.copy(), np.zeros(len(values), values.dtype)
    for k, place in enumerate(index):
        if mask is None or mask[k]:
            old[k] = target[place]
            target[place] = function(target[place], values[k])
    return target, old


FUNCTIONS = {
    "add": np.add,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "max": np.maximum,
    "min": np.minimum,
    "xchg": lambda old, new: new,
}
SUPPORTED = [(name, dtype) for name in FUNCTIONS for dtype in (I32, U32, I64, U64)]
SUPPORTED += [(name, dtype) for name in ("add", "max", "min", "xchg") for dtype in (F32, F64)]
SUPPORTED += [("add", F16), ("add", bf16)]


@pytest.mark.parametrize(("name", "dtype"), SUPPORTED)
@pytest.mark.parametrize("places", [1, 3, 100])
def test_lanes_take_turns_in_ascending_order(name, dtype, places):
    rng = np.random.default_rng(0)
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        target, values = (rng.integers(info.min, info.max, n, dtype=dtype) for n in (places, 64))
    else:
        target, values = (rng.standard_normal(n).astype(dtype) for n in (places, 64))
    index = rng.integers(0, places, 64).astype(np.int32)
    mask = rng.integers(0, 4, 64) > 0
    expected = one_by_one(FUNCTIONS[name], target, index, values, mask)
    for block in (64, 16):
        actual = atomically(name, target, index, values, mask, block)
        same(actual[0], expected[0])
        # The front end makes two atomics of a float's extreme: first come all that are not negative.
        if dtype.kind in "iu" or name not in ("max", "min"):
            same(actual[1], expected[1])


@settings(max_examples=20, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 9), st.floats(width=32, allow_nan=False)), min_size=32, max_size=32))
def test_sums_of_floats_are_those_of_a_loop(pairs):
    index = np.array([p for p, _ in pairs], np.int32)
    values = np.array([v for _, v in pairs], np.float32)
    target = np.zeros(10, np.float32)
    expected = one_by_one(np.add, target, index, values)
    actual = atomically("add", target, index, values, block=8)
    same(actual[0], expected[0])
    same(actual[1], expected[1])


@pytest.mark.parametrize("name", ["max", "min"])
@pytest.mark.parametrize("dtype", [F32, F64])
def test_float_extremes_with_either_sign(name, dtype):
    for values in ([-1.5, -2.5, -0.5, -7], [1.5, -2.5, 0.0, 7], [-0.0, 3, -3, np.inf]):
        values = np.array(values, dtype)
        start = np.array([-np.inf if name == "max" else np.inf], dtype)
        result, _ = atomically(name, start, np.zeros(4, np.int32), values, block=1)
        assert result[0] == getattr(values, name)()


@pytest.mark.parametrize("sem", ["acquire", "release", "acq_rel", "relaxed"])
def test_memory_orders_change_nothing_here(sem):
    result, _ = atomically("add", np.zeros(1, np.int32), np.zeros(8, np.int32), np.ones(8, np.int32), sem=sem)
    assert result[0] == 8


@triton.jit
def swap(target, index, expected, new, old, BLOCK: tl.constexpr):
    k = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    found = tl.atomic_cas(target + tl.load(index + k), tl.load(expected + k), tl.load(new + k))
    tl.store(old + k, found)


@pytest.mark.parametrize("dtype", [np.dtype(np.int16), I32, I64, F32, F16, bf16])
@pytest.mark.parametrize("block", [32, 4])
def test_compare_and_swap(dtype, block):
    rng = np.random.default_rng(0)
    target, expected, new = (rng.integers(0, 3, n).astype(dtype) for n in (4, 32, 32))
    index = rng.integers(0, 4, 32).astype(np.int32)
    left, found = target.copy(), []
    for place, wanted, value in zip(index, expected, new, strict=True):
        found.append(left[place])
        if left[place] == wanted:
            left[place] = value
    result, old = tensor(target), tensor(np.zeros(32, dtype))
    swap[(32 // block,)](result, tensor(index), tensor(expected), tensor(new), old, block)
    same(array(result, dtype), left)
    same(array(old, dtype), np.array(found, dtype))


def test_swapping_compares_bits():
    nan = np.array([np.nan, 0.0], np.float32)
    result, old = tensor(nan), tensor(np.zeros(2, np.float32))
    expected = tensor(np.array([np.nan, -0.0], np.float32))
    swap[(1,)](result, tensor(np.arange(2, dtype=np.int32)), expected, tensor(np.ones(2, np.float32)), old, 2)
    assert result.tolist() == [1.0, 0.0]


@triton.jit
def ticket(counter, out):
    tl.store(out + tl.program_id(0), tl.atomic_add(counter, 1))


@triton.jit
def critical(lock, data, N: tl.constexpr):
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    where = data + tl.arange(0, N)
    tl.store(where, tl.load(where) + 1)
    tl.debug_barrier()
    tl.atomic_xchg(lock, 0)


def test_a_counter_gives_every_program_its_number():
    counter, out = torch.zeros(1, dtype=torch.int32), torch.zeros(1000, dtype=torch.int32)
    ticket[(1000,)](counter, out)
    assert counter.item() == 1000 and out.sort().values.tolist() == list(range(1000))


def test_a_lock_lets_one_program_in_at_a_time():
    lock, data = torch.zeros(1, dtype=torch.int32), torch.zeros(64)
    critical[(200,)](lock, data, 64)
    assert (data == 200).all() and lock.item() == 0


def test_an_atomic_may_stand_in_a_branch():
    @triton.jit
    def kernel(x):
        pid = tl.program_id(0)
        if pid < 64:
            tl.atomic_max(x, pid)

    x = torch.zeros(1, dtype=torch.int32)
    kernel[(512,)](x)
    assert x.item() == 63


def test_many_lanes_on_one_place_and_many_places():
    """Neither a turn for each lane nor a loop over each place would end in time."""
    size = 1 << 17
    index = torch.zeros(size, dtype=torch.int32)
    index[size // 2 :] = torch.arange(size // 2, dtype=torch.int32)
    target = torch.zeros(size // 2, dtype=torch.float32)

    @triton.jit
    def kernel(target, index, BLOCK: tl.constexpr):
        k = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.atomic_add(target + tl.load(index + k), 1.0)

    kernel[(size // 1024,)](target, index, 1024)
    assert target[0].item() == size // 2 + 1 and (target[1:] == 1).all()


@pytest.mark.skipif(not hasattr(tl, "atomic_poll"), reason="this Triton has no atomic_poll")
class TestPlainAtomics:
    def test_loads_and_stores(self):
        @triton.jit
        def kernel(x, out):
            k = tl.arange(0, 8)
            tl.atomic_store(out + k, tl.atomic_load(x + k, mask=k < 6), mask=k < 4)

        x, out = torch.arange(8, dtype=torch.int32) + 1, torch.zeros(8, dtype=torch.int32)
        kernel[(1,)](x, out)
        assert out.tolist() == [1, 2, 3, 4, 0, 0, 0, 0]

    def test_a_poll_waits_for_a_later_program(self):
        @triton.jit
        def kernel(flag, out):
            pid = tl.program_id(0)
            if pid == 0:
                seen = tl.atomic_poll(flag, 3)
                tl.store(out, seen.to(tl.int32) + tl.load(flag))
            else:
                tl.atomic_add(flag, 1)

        flag, out = torch.zeros(1, dtype=torch.int32), torch.zeros(1, dtype=torch.int32)
        kernel[(4,)](flag, out)
        assert out.item() == 4

    def test_a_poll_may_run_out_of_time(self):
        @triton.jit
        def kernel(flag, out):
            tl.store(out, tl.atomic_poll(flag, 3, timeout_ns=1000).to(tl.int32))

        flag, out = torch.zeros(1, dtype=torch.int32), torch.ones(1, dtype=torch.int32)
        kernel[(1,)](flag, out)
        assert out.item() == 0

    def test_a_poll_that_nobody_answers_is_a_deadlock(self):
        @triton.jit
        def kernel(flag):
            tl.atomic_poll(flag, 1)

        with pytest.raises(Exception, match="waits"):
            kernel[(2,)](torch.zeros(1, dtype=torch.int32))


@pytest.mark.parametrize("batch", [1, None])
def test_lanes_that_are_masked_out_find_zero(batch, monkeypatch):
    @triton.jit
    def kernel(x, out, B: tl.constexpr):
        k = tl.arange(0, B)
        found = tl.atomic_add(x + k, 1, mask=k % 2 == 0)
        tl.store(out + tl.program_id(0) * B + k, found)

    monkeypatch.setattr(launcher.limits, "batch", batch)
    x, out = torch.full((4,), 7, dtype=torch.int32), torch.full((2, 4), -1, dtype=torch.int32)
    kernel[(2,)](x, out, B=4)
    assert x.tolist() == [9, 7, 9, 7] and out.tolist() == [[7, 0, 7, 0], [8, 0, 8, 0]]
