"""Loads and stores: any stride, offset, mask and type, against NumPy's strided views."""

from __future__ import annotations

import numpy as np
import pytest
import torch
import triton
import triton.language as tl
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.interpreter.support import all_bits, array, bf16, e4m3, e5m2, same, tensor

DTYPES = [np.dtype(f"{kind}{bits}") for kind in ("int", "uint") for bits in (8, 16, 32, 64)]
DTYPES += [np.dtype(t) for t in (np.bool_, np.float16, np.float32, np.float64)] + [bf16, e4m3, e5m2]
SIZE = 2000


@triton.jit
def move(src, dst, base, step, sm, sn, rows, columns, M: tl.constexpr, N: tl.constexpr, STORE: tl.constexpr,
         MASK: tl.constexpr, INDIRECT: tl.constexpr):  # fmt: skip
    pid = tl.program_id(0)
    i, j = tl.arange(0, M)[:, None], tl.arange(0, N)[None, :]
    strided = base + pid * step + i * sm + j * sn
    if INDIRECT:
        # The same offsets, but no longer known to be affine.
        strided = strided ^ (strided & 0)
    packed = (pid * M + i) * N + j
    if MASK == "box":
        mask = (i < rows) & (j < columns + pid)
    elif MASK == "lanes":
        mask = (i * j + pid) % 3 != 0
    else:
        mask = (i >= 0) & (j >= 0)
    if STORE:
        tl.store(dst + strided, tl.load(src + packed), mask=mask)
    else:
        tl.store(dst + packed, tl.load(src + strided, mask=mask, other=7))


@settings(max_examples=120, deadline=None)
@given(
    base=st.integers(0, 20),
    step=st.integers(0, 20),
    sm=st.integers(-9, 30),
    sn=st.integers(-3, 5),
    rows=st.integers(-1, 9),
    columns=st.integers(-1, 9),
    mask=st.sampled_from(["none", "box", "lanes"]),
    store=st.booleans(),
    indirect=st.booleans(),
    dtype=st.sampled_from([np.dtype(np.int8), np.dtype(np.float32), np.dtype(np.int64)]),
)
def test_any_strided_block(base, step, sm, sn, rows, columns, mask, store, indirect, dtype):
    programs, m, n = 3, 8, 4
    base += max(0, -7 * sm) + max(0, -3 * sn)
    if store:  # no two programs on one element: which of them comes last is undefined
        step += 7 * abs(sm) + 3 * abs(sn) + 1
    pid, i, j = np.meshgrid(np.arange(programs), np.arange(m), np.arange(n), indexing="ij")
    places = base + pid * step + i * sm + j * sn
    chosen = {
        "none": np.ones_like(places, bool),
        "box": (i < rows) & (j < columns + pid),
        "lanes": (i * j + pid) % 3 != 0,
    }[mask]
    memory = (np.arange(SIZE) % 120).astype(dtype)
    block = (np.arange(places.size) % 100 + 20).reshape(places.shape).astype(dtype)
    if store:
        expected = memory.copy()
        for place, value in zip(places[chosen], block[chosen], strict=True):
            expected[place] = value
        src, dst = tensor(block), tensor(memory)
    else:
        expected = np.where(chosen, memory[places], dtype.type(7))
        src, dst = tensor(memory), tensor(np.zeros_like(block))
    move[(programs,)](src, dst, base, step, sm, sn, rows, columns, m, n, store, mask, indirect)
    same(array(dst, dtype), expected)


@triton.jit
def copy(src, dst, n, BLOCK: tl.constexpr):
    k = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(dst + k, tl.load(src + k, mask=k < n), mask=k < n)


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_type_passes_through_unchanged(dtype):
    x = all_bits(dtype) if dtype.itemsize <= 2 and dtype != np.bool_ else (np.arange(1000) % 2).astype(dtype)
    out = tensor(np.zeros_like(x))
    copy[(triton.cdiv(len(x), 256),)](tensor(x), out, len(x), 256)
    assert array(out, dtype).tobytes() == x.tobytes()


@pytest.mark.parametrize("other", [None, 0, 1, -3])
def test_masked_lanes_read_as_other(other):
    @triton.jit
    def kernel(x, out, n, OTHER: tl.constexpr):
        k = tl.arange(0, 16)
        tl.store(out + k, tl.load(x + k, mask=k < n, other=OTHER))

    x, out = torch.arange(10, dtype=torch.float32) + 5, torch.full((16,), 99.0)
    kernel[(1,)](x, out, 10, other)
    assert out.tolist() == [*range(5, 15), *[float(other or 0)] * 6]


def test_a_scalar_mask_guards_a_scalar_access():
    @triton.jit
    def kernel(x, out, n):
        pid = tl.program_id(0)
        tl.store(out + pid, tl.load(x + pid, mask=pid < n, other=-1), mask=pid != 2)

    x, out = torch.arange(3, dtype=torch.int32), torch.full((6,), 9, dtype=torch.int32)
    kernel[(6,)](x, out, 3)
    assert out.tolist() == [0, 1, 9, -1, -1, -1]


def test_programs_that_load_the_same_lanes_each_fill_in_their_own():
    @triton.jit
    def kernel(x, out, B: tl.constexpr):
        pid, k = tl.program_id(0), tl.arange(0, B)
        tl.store(out + pid * B + k, tl.load(x + k, mask=k % 2 == 0, other=pid))

    x, out = torch.arange(4, dtype=torch.int32) + 5, torch.zeros(3, 4, dtype=torch.int32)
    kernel[(3,)](x, out, B=4)
    assert out.tolist() == [[5, program, 7, program] for program in range(3)]


def test_programs_store_to_the_same_lanes_under_masks_that_turn_out_alike():
    @triton.jit
    def kernel(counts, out, B: tl.constexpr):
        k = tl.arange(0, B)
        tl.store(out + k, 3, mask=k < tl.load(counts + tl.program_id(0)))

    out = torch.zeros(4, dtype=torch.int32)
    kernel[(3,)](torch.full((3,), 2, dtype=torch.int32), out, B=4)
    assert out.tolist() == [3, 3, 0, 0]


def test_of_lanes_on_one_element_the_last_one_stays():
    @triton.jit
    def kernel(out):
        k = tl.arange(0, 8)
        tl.store(out + k // 4, k)
        tl.store(out + 2 + k * 0, k)

    out = torch.zeros(3, dtype=torch.int32)
    kernel[(1,)](out)
    assert out.tolist() == [3, 7, 7]


def test_wide_offsets_reach_beyond_32_bits():
    @triton.jit
    def kernel(x, out, offset):
        tl.store(out, tl.load(x + offset.to(tl.int64) * 2 - offset.to(tl.int64) * 2 + 3))

    x, out = torch.arange(8, dtype=torch.int32), torch.zeros(1, dtype=torch.int32)
    kernel[(1,)](x, out, 2**31 - 1)
    assert out.item() == 3


def test_pointers_change_their_type():
    @triton.jit
    def kernel(x, out):
        k = tl.arange(0, 4)
        octets = tl.load(x.to(tl.pointer_type(tl.uint8)) + k)
        tl.store(out + k, octets.to(tl.int32))
        tl.store(out + 4, (x + 3).to(tl.int64) - x.to(tl.int64))

    x, out = torch.tensor([0x04030201], dtype=torch.int32), torch.zeros(5, dtype=torch.int64)
    kernel[(1,)](x, out)
    assert out.tolist() == [1, 2, 3, 4, 12]


def test_pointers_may_be_kept_in_memory():
    @triton.jit
    def kernel(table, out, N: tl.constexpr):
        k = tl.arange(0, N)
        p = tl.load(table + tl.program_id(0)).to(tl.pointer_type(tl.float32))
        tl.store(out + tl.program_id(0) * N + k, tl.load(p + k))

    parts = [torch.rand(8) for _ in range(3)]
    table = torch.tensor([part.data_ptr() for part in parts])
    out = torch.zeros(3, 8)
    kernel[(3,)](table, out, 8)
    assert torch.equal(out, torch.stack(parts))
