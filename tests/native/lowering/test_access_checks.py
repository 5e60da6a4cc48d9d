"""What an access may touch, on both engines: by descriptors, by pointers that are chosen or loaded; and asserts."""

from __future__ import annotations

import pytest
import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

from tests.native.launches import on_both
from tests.wordings import Wording
from triton_lab.native import engine


def natively(launch, *tensors, handed: int = 0) -> None:
    """Both engines do the same, and there is no error."""
    error, ran = on_both(launch, *tensors)
    assert not error and (ran.engine, ran.why, ran.handed) == ("native", "", handed)


# Descriptors.


@triton.jit
def moved(x_ptr, out_ptr, M, N, stride, row, column, KIND: tl.constexpr, PAD: tl.constexpr):
    x = tl.make_tensor_descriptor(x_ptr, [M, N], [stride, 1], [8, 16], padding_option=PAD)
    out = tl.make_tensor_descriptor(out_ptr, [M, N], [stride, 1], [8, 16])
    for step in range(2):
        value = x.load([row + 8 * step, column])
        if KIND == "store":
            out.store([row, column + 16 * step], value)
        elif KIND == "add":
            out.atomic_add([row, column + 16 * step], value)
        else:
            out.atomic_max([row, column + 16 * step], value)


@pytest.mark.parametrize(
    ("kind", "dtype"), [("store", torch.float16), ("add", torch.float16), ("store", torch.int32), ("max", torch.int32)]
)
@pytest.mark.parametrize("corner", [(0, 0), (5, 7), (-3, 2), (2, -9), (-30, 50)])
def test_blocks_of_a_descriptor_begin_anywhere(kind, dtype, corner):
    x, out = (torch.rand(24, 40).mul(100).to(dtype) for _ in range(2))
    pad = "nan" if dtype == torch.float16 and kind == "store" else "zero"
    natively(lambda: moved[(1,)](x, out, 21, 37, 40, *corner, KIND=kind, PAD=pad), out)


@pytest.mark.parametrize(("rows", "stride"), [(25, 40), (21, 60)])
def test_a_descriptor_of_more_than_there_is_is_told_in_the_same_words(rows, stride):
    x, out = torch.rand(24, 40), torch.rand(24, 40)
    error, ran = on_both(lambda: moved[(1,)](x, out, rows, 37, stride, 9, 5, KIND="store", PAD="zero"), out)
    assert "out of bounds" in error and ran.handed == 1


@pytest.mark.parametrize("rows", [100, 0])
def test_strides_out_of_all_proportion_are_numpys(rows):
    x, out = torch.rand(24, 40), torch.rand(24, 40)
    error, ran = on_both(lambda: moved[(1,)](x, out, rows, 37, 1 << 45, 0, 0, KIND="store", PAD="zero"), out)
    assert ("out of bounds" in error) == bool(rows) and ran.handed == 1


@triton.jit
def given(x, out, BM: tl.constexpr, BN: tl.constexpr):
    row, column = tl.program_id(0) * BM, tl.program_id(1) * BN
    out.store([row, column], x.load([row, column]) * 2 + (x.shape[0] - 1).to(tl.float32))


@pytest.mark.parametrize("padding", ["zero", "nan"])
@pytest.mark.parametrize("shape", [(16, 32), (5, 20)])
def test_a_descriptor_may_be_handed_over(shape, padding):
    x, out = torch.rand(64, 64)[: shape[0], : shape[1]], torch.zeros(64, 64)
    described = [
        TensorDescriptor(t, list(t.shape), list(t.stride()), [8, 16], padding=padding) for t in (x, out[:40, :40])
    ]
    natively(lambda: given[(5, 4)](*described, 8, 16), out)


@triton.jit
def rows_of(x, at, out, column, WIDTH: tl.constexpr):
    numbers = tl.load(at + tl.arange(0, 8))
    value = x.gather(numbers, column)
    out.scatter(value + 1, numbers, column)


@pytest.mark.parametrize("column", [0, 5, 30, -3])
def test_rows_are_gathered_and_scattered_by_their_numbers(column):
    x, out = torch.rand(32, 32), torch.zeros(32, 32)
    at = torch.tensor([3, 31, 0, 40, -1, 7, 12, 9], dtype=torch.int32)
    described = [TensorDescriptor.from_tensor(t, [1, 16]) for t in (x, out)]
    natively(lambda: rows_of[(1,)](*described[:1], at, described[1], column, WIDTH=16), out)


@triton.jit
def one_of_two(a, b, out, which, BLOCK: tl.constexpr):
    d = tl.make_tensor_descriptor(a, [20, 16], [16, 1], [4, BLOCK])
    e = tl.make_tensor_descriptor(b, [10, 16], [16, 1], [4, BLOCK], padding_option="nan")
    if which > 0:
        chosen = d
        tl.store(out, 7.0)
    else:
        chosen = e
    tl.store(out + tl.arange(0, 4)[:, None] * BLOCK + tl.arange(0, BLOCK)[None, :], chosen.load([8, 4]))


@pytest.mark.parametrize("which", [0, 3])
def test_a_descriptor_may_be_chosen_while_the_kernel_runs(which):
    a, b, out = torch.rand(20, 16), torch.rand(10, 16), torch.zeros(64)
    natively(lambda: one_of_two[(1,)](a, b, out, which, BLOCK=16), out)


@triton.jit
def another_each_round(a, b, out, rounds, BLOCK: tl.constexpr):
    """The descriptor of one round is made in the one before it."""
    d = tl.make_tensor_descriptor(a, [20, 16], [16, 1], [4, BLOCK])
    total = tl.zeros((4, BLOCK), tl.float32)
    for k in range(rounds):
        total += d.load([k, 2])
        if k % 2 == 0:
            d = tl.make_tensor_descriptor(b, [6 + k, 16 - k], [16, 1], [4, BLOCK])
    tl.store(out + tl.arange(0, 4)[:, None] * BLOCK + tl.arange(0, BLOCK)[None, :], total)


@pytest.mark.parametrize("rounds", [0, 1, 5])
def test_a_loop_may_carry_a_descriptor(rounds):
    a, b, out = torch.rand(20, 16), torch.rand(10, 16), torch.zeros(64)
    natively(lambda: another_each_round[(1,)](a, b, out, rounds, BLOCK=16), out)


# Several regions, and any.


@triton.jit
def picked(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    lanes = tl.where(i % 3 == 0, x + i, y + i // 2)
    block = tl.where(tl.program_id(0) % 2 == 0, x, y)
    tl.store(out + i, tl.load(lanes, i < n, -1.0) + tl.load(block + i, i < n), i < n)


def test_a_pointer_may_be_chosen_among_arguments():
    x, y, out = torch.rand(1000), torch.rand(1000), torch.zeros(1000)
    natively(lambda: picked[(4,)](x, y, out, 1000, BLOCK=256), out)


@pytest.mark.parametrize("short", ["x", "y"])
def test_a_chosen_pointer_that_goes_astray_is_told_in_the_same_words(short):
    x, y, out = torch.rand(990 if short == "x" else 1000), torch.rand(490 if short == "y" else 1000), torch.zeros(1000)
    error, ran = on_both(lambda: picked[(4,)](x, y, out, 1000, BLOCK=256))
    assert "out of bounds" in error and ran.handed


@triton.jit
def swapped(x, y, turn, BLOCK: tl.constexpr):
    """Both are read and written through pointers that may be either."""
    i = tl.arange(0, BLOCK)
    p, q = tl.where(turn > 0, x, y), tl.where(turn > 0, y, x)
    a, b = tl.load(p + i), tl.load(q + i)
    tl.store(p + i, b + 1)
    tl.store(q + i, a + 1)


@pytest.mark.parametrize("turn", [0, 5])
def test_what_may_be_the_same_memory_is_read_before_it_is_written(turn):
    x, y = torch.rand(256), torch.rand(256)
    natively(lambda: swapped[(1,)](x, y, turn, BLOCK=256), x, y)


@triton.jit
def through_a_table(table, out, sizes, BLOCK: tl.constexpr):
    """Sums of tensors that no argument reaches, and each of them doubled in its place."""
    p = tl.program_id(0)
    x, n = tl.load(table + p).to(tl.pointer_type(tl.float32)), tl.load(sizes + p)
    i = tl.arange(0, BLOCK)
    value = tl.load(x + i, i < n, 0.0)
    tl.store(out + p, tl.sum(value))
    tl.store(x + i, value * 2, i < n)


def table_of(tensors) -> tuple[torch.Tensor, torch.Tensor]:
    addresses = torch.tensor([each.data_ptr() for each in tensors], dtype=torch.int64)
    return addresses, torch.tensor([len(each) for each in tensors], dtype=torch.int32)


def test_tensors_that_no_argument_reaches_are_found_where_the_kernel_goes():
    parts = [torch.rand(n) for n in (100, 7, 256, 1)]
    table, sizes = table_of(parts)
    out = torch.zeros(4)
    error, ran = on_both(lambda: through_a_table[(4,)](table, out, sizes, BLOCK=256), *parts)
    assert not error and (ran.engine, ran.handed) == ("native", 0)
    torch.testing.assert_close(out, torch.stack([part.sum() for part in parts]))


def test_one_that_an_argument_reaches_too_is_numpys():
    parts = [torch.rand(4), torch.rand(256)]
    table, sizes = table_of(parts)
    error, ran = on_both(lambda: through_a_table[(2,)](table, parts[0], sizes, BLOCK=256), *parts)
    assert not error and ran.handed


def test_a_loaded_pointer_that_runs_over_a_tensors_end_is_told_in_the_same_words():
    whole = torch.rand(100)
    table, sizes = table_of([whole])
    out = torch.zeros(1)
    error, ran = on_both(lambda: through_a_table[(1,)](table, out, sizes * 0 + 105, BLOCK=256), whole)
    assert error and ran.handed == 1
    error, ran = on_both(lambda: through_a_table[(1,)](table * 0, out, sizes, BLOCK=256), whole)
    assert "null" in error and ran.handed == 1


# Booleans, atomics that only load or store, null.


@triton.jit
def flags(x, mask, out, first, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    chosen = tl.load(mask + i, i < n, 0)
    tl.store(out + i, (tl.load(x + i, chosen, 9) > 3) & chosen, i < n)
    tl.store(first + tl.program_id(0), tl.load(mask + tl.program_id(0) * BLOCK) ^ True, n > 0)


def test_booleans_are_loaded_and_stored():
    x, out = torch.randint(0, 9, (300,)), torch.zeros(300, dtype=torch.bool)
    mask, first = torch.rand(300) > 0.4, torch.zeros(3, dtype=torch.bool)
    natively(lambda: flags[(3,)](x, mask, out, first, 300, BLOCK=128), out, first)


@triton.jit
def cached(x, out, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    a = tl.load(x + i, i < n, 2.0, cache_modifier=".cg", eviction_policy="evict_last")
    b = tl.load(x + (i * 7) % n, i < n, a, volatile=True)
    c = tl.load(x + n // 2 + i * 0)
    tl.store(out + i, a + b + c, i < n, cache_modifier=".wt")


def test_how_an_access_is_cached_changes_nothing():
    x, out = torch.rand(200), torch.zeros(200)
    natively(lambda: cached[(1,)](x, out, 200, BLOCK=256), out)


@pytest.mark.skipif(not hasattr(tl, "atomic_load"), reason="this Triton has no atomic_load")
def test_atomics_that_only_load_or_store_are_native():
    @triton.jit
    def relayed(x, out, n, BLOCK: tl.constexpr):
        i = tl.arange(0, BLOCK)
        value = tl.atomic_load(x + i, mask=i < n)
        tl.atomic_store(x + i, value + 1, mask=i < n)
        tl.atomic_store(out + i, tl.atomic_load(x + (BLOCK - 1 - i) % n) + value, mask=i < n)

    x, out = torch.arange(100), torch.zeros(100, dtype=torch.int64)
    error, _ = on_both(lambda: relayed[(1,)](x, out, 100, BLOCK=128), x, out)
    assert not error and engine.lately[-1].engine == "native"
    error, ran = on_both(lambda: relayed[(1,)](x[:90].clone(), out, 100, BLOCK=128), x, out)
    assert "out of bounds" in error and ran.handed == 1


# Assertions.


@triton.jit(debug=True)
def asserting(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + i, i < n, 1)
    tl.store(out + i, value, i < n)
    tl.device_assert(value > 0, "a positive count", mask=i < n)
    tl.device_assert(tl.max(value, 0) < 100000, "too many")


def test_what_holds_is_asserted_at_the_cost_of_a_guard():
    x, out = torch.ones(1000, dtype=torch.int32), torch.zeros(1000, dtype=torch.int32)
    natively(lambda: asserting[(4,)](x, out, 1000, BLOCK=256), out)


@pytest.mark.parametrize(("value", "words"), [(-1, "a positive count"), (100001, "too many")])
def test_what_does_not_hold_is_told_in_the_same_words_before_anything_is_stored(value, words):
    x, out = torch.ones(1000, dtype=torch.int32), torch.zeros(1000, dtype=torch.int32)
    x[700] = value
    error, ran = on_both(lambda: asserting[(4,)](x, out, 1000, BLOCK=256))
    assert words in error and "(2, 0, 0)" in error and ran.handed


@triton.jit(debug=True)
def asserting_late(x, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(x + i, tl.load(x + i) + 1)
    tl.device_assert(tl.load(x + BLOCK - 1 - i) > 0, "positive now")


def test_an_assertion_about_what_was_written_is_seen_to_and_all_is_put_back_where_it_fails(wording: Wording):
    x = torch.arange(64)
    natively(lambda: asserting_late[(1,)](x, BLOCK=64), x)
    x[5] = -2
    error, ran = on_both(lambda: asserting_late[(1,)](x, BLOCK=64), x)
    assert "positive now" in error
    wording(ran.why)
