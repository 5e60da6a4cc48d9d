"""What a kernel reads, writes and counts comes out as if its operations ran one by one, and nothing were put off."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

import triton_lab as lab
from tests.native.launches import on_both
from tests.wordings import Wording


def natively(launch, *tensors: torch.Tensor) -> None:
    error, ran = on_both(launch, *tensors)
    assert not error and ran.engine == "native", (error, ran)


@triton.jit
def turned(x, N: tl.constexpr, HOW: tl.constexpr):
    at = x + tl.arange(0, N)[:, None] * N + tl.arange(0, N)[None, :]
    v = tl.load(at)
    if HOW == 0:
        v = tl.trans(v)
    elif HOW == 1:
        v = v + tl.trans(v)
    else:
        v = tl.where(v > 40, v, tl.trans(v + 1) * 2)
    tl.store(at, v)


def test_a_block_may_be_turned_round_in_place() -> None:
    for size in (2, 4, 8, 16, 32):
        for how in range(3):
            x = torch.arange(size * size, dtype=torch.int32)
            natively(lambda: turned[(1,)](x, N=size, HOW=how), x)  # noqa: B023


@triton.jit
def two_large(x, few, out, FACTOR: tl.constexpr, START: tl.constexpr, B: tl.constexpr):
    """Where few[0] is large, the sum with one of them fits, and with both leaves 32 bits within the block."""
    i = tl.arange(0, B)
    s = tl.load(few).to(tl.int32) * FACTOR
    off = (tl.arange(START, START + B) + s) + s
    tl.store(out + i, tl.load(x + i, mask=off < 0, other=-1))


def test_sums_of_large_blocks_wrap_as_they_should() -> None:
    x, out = torch.arange(1024, dtype=torch.int32), torch.zeros(1024, dtype=torch.int32)

    def launch(few: int) -> None:
        two_large[(1,)](x, torch.tensor([few], dtype=torch.int16), out, FACTOR=32767, START=130560, B=1024)

    for few in (32767, -32767, -32768, 16384, 5):
        error, _ = on_both(lambda: launch(few), out)  # noqa: B023
        assert not error
    launch(32767)
    assert out[0] == -1 and out[-1] == 1023  # it does come round


@triton.jit
def counted_once(total, x, out, B: tl.constexpr):
    """An atomic of one element before what a guard is asked for."""
    p = tl.program_id(0)
    tl.atomic_add(total, 1)
    i = tl.arange(0, B)
    for j in range(0, 3):
        tl.store(out + (p * 3 + j) * B + i, tl.load(x + j + i))


@triton.jit
def counted_by_some(total, x, out, B: tl.constexpr):
    p = tl.program_id(0)
    tl.atomic_add(total + p % 2, p + 1, mask=p % 3 != 1)
    i = tl.arange(0, B)
    for j in range(0, 3):
        tl.store(out + (p * 3 + j) * B + i, tl.load(x + j + i))


def test_an_atomic_of_one_element_counts_once_where_a_program_is_rehearsed() -> None:
    x = torch.arange(20, dtype=torch.int32)
    for kernel in (counted_once, counted_by_some):
        total, out = torch.zeros(2, dtype=torch.int32), torch.zeros(5 * 3 * 16, dtype=torch.int32)
        natively(lambda: kernel[(5,)](total, x, out, B=16), total, out)  # noqa: B023


@triton.jit
def far_apart(x, out, step, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(out + i, tl.load(x + i * step))


def test_lanes_astray_between_two_that_are_not_are_told_in_the_same_words() -> None:
    """Three steps of this size come round to the next element; one of them leads nowhere."""
    x, out = torch.arange(16, dtype=torch.int32), torch.zeros(4, dtype=torch.int32)
    for step in (pow(3, -1, 2**62), 5 * pow(3, -1, 2**62) % 2**62):
        error, _ = on_both(lambda: far_apart[(1,)](x, out, step, B=4), out)  # noqa: B023
        assert "out of bounds" in error or "OutOfBounds" in error or "outside" in error, error


@triton.jit
def larger_than_itself(x, out, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i)
    tl.store(out + i, (v + 1 > v).to(tl.int32) + 2 * (v - 1 < v).to(tl.int32) + 4 * (v * 2 // 2 == v).to(tl.int32))


def test_integers_wrap_where_they_are_compared_with_themselves() -> None:
    for dtype in (torch.int8, torch.int16, torch.int32, torch.int64):
        info = torch.iinfo(dtype)
        x = torch.tensor(
            [info.min, info.max, 0, 1, -1, info.max // 2 + 1, info.min // 2, info.min // 2 - 1], dtype=dtype
        )
        out = torch.zeros(8, dtype=torch.int32)
        natively(lambda: larger_than_itself[(1,)](x, out, B=8), out)  # noqa: B023


@triton.jit
def overlapping(x, PITCH: tl.constexpr, B: tl.constexpr):
    at = x + tl.arange(0, B)[:, None] * PITCH + tl.arange(0, B)[None, :]
    tl.store(at, tl.load(at) + 1)


def test_elements_of_a_block_that_share_a_place_are_all_read_before_one_is_written() -> None:
    for pitch in range(6):
        x = torch.arange(32, dtype=torch.int8)
        natively(lambda: overlapping[(1,)](x, PITCH=pitch, B=4), x)  # noqa: B023


@triton.jit
def decided_by_itself(flag, x, out, far, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(flag, 1)
    if tl.load(flag) > 0:
        tl.store(out + i, tl.load(x + far + i))


def test_a_branch_that_the_kernels_own_writes_decide_is_put_back_where_its_access_fails() -> None:
    x, out = torch.arange(16, dtype=torch.int32), torch.zeros(8, dtype=torch.int32)
    for far in (3, 100):
        flag = torch.zeros(1, dtype=torch.int32)
        error, ran = on_both(lambda: decided_by_itself[(1,)](flag, x, out, far, B=8), flag, out)  # noqa: B023
        assert bool(error) == (far > 8) and ran.engine == ("numpy" if error else "native")


@triton.jit
def counted_before(total, n, step, at, out, HOW: tl.constexpr):
    """Behind the count there is a loop, or a lookup, and nothing else that could fail."""
    i = tl.arange(0, 8)
    tl.atomic_add(total, 1)
    if HOW == "for":
        for _ in range(0, n, step):
            tl.debug_barrier()
    elif HOW == "while":
        k = step
        while k > 20:
            k = tl.max((i + k) % n)
    else:
        if HOW == "written":
            tl.store(at + 3, n)
        tl.store(out + i, tl.gather(i * 3, tl.load(at + i), 0))


def test_what_was_counted_before_a_loop_or_a_lookup_is_counted_once() -> None:
    """The program does not begin again behind its count, and nobody is told that somebody else changed memory."""
    total, at, out = torch.zeros(1, dtype=torch.int32), torch.arange(8, dtype=torch.int32), torch.zeros(8)
    launches = [("for", 5, 1), ("for", 0, 0), ("while", 16, 21), ("while", 16, 2**31 - 3)]
    for how, n, step in [*launches, ("looked up", 0, 0), ("written", 7, 0)]:
        error, _ = on_both(lambda: counted_before[(1,)](total, n, step, at, out, HOW=how), total, at, out)  # noqa: B023
        with lab.limits(engine="native"):
            counted_before[(1,)](total.zero_(), n, step, at.clone(), out, HOW=how)
        assert not error and total.item() == 1


def test_a_lookup_of_what_is_not_there_is_told_in_the_same_words_behind_a_write(wording: Wording) -> None:
    total, out = torch.zeros(1, dtype=torch.int32), torch.zeros(8)
    for how, position in (("looked up", 0), ("written", 9)):
        at = torch.arange(8, dtype=torch.int32)
        at[5] = 8 if how == "looked up" else 5
        error, _ = on_both(lambda: counted_before[(1,)](total, position, 0, at, out, HOW=how), total, at, out)  # noqa: B023
        wording(error.splitlines()[0], index=8 if how == "looked up" else 9)


@triton.jit
def moved_on(at, B: tl.constexpr):
    """Both pointers come from memory, and lead to one tensor."""
    i = tl.arange(0, B)
    q = tl.load(at).to(tl.pointer_type(tl.int32))
    r = tl.load(at + 1).to(tl.pointer_type(tl.int32))
    v = tl.load(q + i)
    tl.store(r + i + 1, v)


def test_what_loaded_pointers_lead_to_is_read_before_it_is_written() -> None:
    x = torch.arange(129, dtype=torch.int32)
    at = torch.tensor([x.data_ptr(), x.data_ptr()])
    natively(lambda: moved_on[(1,)](at, B=128), x)


@triton.jit
def chosen_and_led(x, y, at, out, far, B: tl.constexpr):
    """It writes to one of two tensors, and reads where it has written that it should."""
    i, q = tl.arange(0, B), x
    if tl.program_id(0) > 0:
        q = y
    tl.store(q + i, i + 7)
    tl.store(at, far)
    tl.store(out + i, tl.load(x + tl.load(at) + i))


def test_what_was_written_to_one_of_two_tensors_is_as_if_it_ran_on_numpy() -> None:
    x, y, out = (torch.arange(20, dtype=torch.int32) for _ in range(3))
    at = torch.zeros(1, dtype=torch.int32)
    for far in (3, 100):
        error, _ = on_both(lambda: chosen_and_led[(2,)](x, y, at, out, far, B=8), x, y, at, out)  # noqa: B023
        assert bool(error) == (far == 100)
