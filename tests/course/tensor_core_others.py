"""Other right answers to the exercises of chapters 25 and 26, written differently from the teacher's."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

from __future__ import annotations

import math

import torch
import triton
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.hopper import (
    fence_async_shared,
    mbarrier,
    tma,
    warpgroup_mma,
    warpgroup_mma_wait,
)
from triton.experimental.gluon.nvidia.hopper import TensorDescriptor

from tests.gluon.partitioned import barriers
from tests.gluon.pipelines import load, loaded, store, stored


def _described(tensor, *block):
    layout = gl.NVMMASharedLayout.get_default_for(list(block), gl.float16)
    return TensorDescriptor.from_tensor(tensor, list(block), layout)


def _product(kernel, a, b, m, n, step, buffers):
    c = a.new_empty((len(a), b.shape[1]))
    tensors = _described(a, m, step), _described(b, step, n), _described(c, m, n)
    kernel[(triton.cdiv(len(a), m), triton.cdiv(b.shape[1], n))](*tensors, a.shape[1], buffers)
    return c


@gluon.jit
def _ahead(a_desc, b_desc, c_desc, K, SLOTS: gl.constexpr):
    """The slot and its phase are counted, and the next load starts after the product."""
    M: gl.constexpr = c_desc.block_type.shape[0]
    N: gl.constexpr = c_desc.block_type.shape[1]
    STEP: gl.constexpr = a_desc.block_type.shape[1]
    a = gl.allocate_shared_memory(gl.float16, [SLOTS, M, STEP], a_desc.layout)
    b = gl.allocate_shared_memory(gl.float16, [SLOTS, STEP, N], b_desc.layout)
    bars = barriers(SLOTS, 1)
    m, n = gl.program_id(0) * M, gl.program_id(1) * N
    for slot in gl.static_range(SLOTS - 1):
        loaded(a_desc, b_desc, a.index(slot), b.index(slot), bars.index(slot), m, n, slot * STEP, slot * STEP < K)
    acc = gl.zeros((M, N), gl.float32, gl.NVMMADistributedLayout([3, 0], [4, 1], [16, N, 16]))
    slot, phase = 0, 0
    for k in range(0, K, STEP):
        mbarrier.wait(bars.index(slot), phase)
        acc = warpgroup_mma(a.index(slot), b.index(slot), acc, is_async=True)
        late = k + (SLOTS - 1) * STEP
        free = (slot + SLOTS - 1) % SLOTS
        loaded(a_desc, b_desc, a.index(free), b.index(free), bars.index(free), m, n, late, late < K)
        acc = warpgroup_mma_wait(num_outstanding=0, deps=(acc,))
        slot += 1
        phase = gl.where(slot == SLOTS, phase ^ 1, phase)
        slot = gl.where(slot == SLOTS, 0, slot)
    stored(c_desc, acc, m, n)


def ahead(a, b):
    return _product(_ahead, a, b, 64, 128, 32, 4)


@gluon.jit
def _feed(a_desc, b_desc, a, b, full, empty, m, n, K, SLOTS: gl.constexpr):
    """All of K in rounds of SLOTS steps: the phase is the round's."""
    STEP: gl.constexpr = a_desc.block_type.shape[1]
    phase = 1
    for k in range(0, K, SLOTS * STEP):
        for slot in gl.static_range(SLOTS):
            if k + slot * STEP < K:
                mbarrier.wait(empty.index(slot), phase)
                loaded(a_desc, b_desc, a.index(slot), b.index(slot), full.index(slot), m, n, k + slot * STEP)
        phase ^= 1


@gluon.jit
def _multiply(c_desc, a, b, full, empty, m, n, K, SLOTS: gl.constexpr, FLYING: gl.constexpr):
    M: gl.constexpr = c_desc.block_type.shape[0]
    N: gl.constexpr = c_desc.block_type.shape[1]
    STEP: gl.constexpr = a.shape[2]
    acc = gl.zeros((M, N), gl.float32, gl.NVMMADistributedLayout([3, 0], [4, 1], [16, N, 16]))
    steps = gl.cdiv(K, STEP)
    if FLYING:
        mbarrier.wait(full.index(0), 0)
        acc = warpgroup_mma(a.index(0), b.index(0), acc, is_async=True)
        acc = warpgroup_mma_wait(num_outstanding=1, deps=(acc,))
    for k in range(FLYING, steps):
        mbarrier.wait(full.index(k % SLOTS), k // SLOTS & 1)
        acc = warpgroup_mma(a.index(k % SLOTS), b.index(k % SLOTS), acc, is_async=True)
        acc = warpgroup_mma_wait(num_outstanding=FLYING, deps=(acc,))
        mbarrier.arrive(empty.index((k - FLYING) % SLOTS), count=1)
    acc = warpgroup_mma_wait(num_outstanding=0, deps=(acc,))
    stored(c_desc, acc, m, n)


@gluon.jit
def _specialized(a_desc, b_desc, c_desc, K, SLOTS: gl.constexpr, FLYING: gl.constexpr):
    M: gl.constexpr = c_desc.block_type.shape[0]
    N: gl.constexpr = c_desc.block_type.shape[1]
    STEP: gl.constexpr = a_desc.block_type.shape[1]
    a = gl.allocate_shared_memory(gl.float16, [SLOTS, M, STEP], a_desc.layout)
    b = gl.allocate_shared_memory(gl.float16, [SLOTS, STEP, N], b_desc.layout)
    full = barriers(SLOTS, 1)
    empty = barriers(SLOTS, 1)
    m, n = gl.program_id(0) * M, gl.program_id(1) * N
    gl.warp_specialize(
        [
            (_multiply, (c_desc, a, b, full, empty, m, n, K, SLOTS, FLYING)),
            (_feed, (a_desc, b_desc, a, b, full, empty, m, n, K, SLOTS)),
        ],
        [1],
        [40],
    )


@gluon.jit
def _parted(a_desc, b_desc, c_desc, K, SLOTS: gl.constexpr):
    _specialized(a_desc, b_desc, c_desc, K, SLOTS, 0)


def parted(a, b):
    return _product(_parted, a, b, 128, 64, 64, 3)


@gluon.jit
def _busy(a_desc, b_desc, c_desc, K, SLOTS: gl.constexpr):
    _specialized(a_desc, b_desc, c_desc, K, SLOTS, 1)


def busy(a, b):
    return _product(_busy, a, b, 64, 64, 64, 4)


@gluon.jit
def _bring(k_desc, v_desc, keys, values, bars, free, head, steps, SLOTS: gl.constexpr):
    """Keys and values have barriers of their own: those of slot s are 2 s and 2 s + 1."""
    KEYS: gl.constexpr = k_desc.block_type.shape[1]
    for k in range(steps):
        slot = k % SLOTS
        mbarrier.wait(free.index(slot), k // SLOTS & 1 ^ 1)
        mbarrier.expect(bars.index(2 * slot), k_desc.block_type.nbytes)
        load(k_desc, [head, k * KEYS, 0], bars.index(2 * slot), keys.index(slot))
        mbarrier.expect(bars.index(2 * slot + 1), v_desc.block_type.nbytes)
        load(v_desc, [head, k * KEYS, 0], bars.index(2 * slot + 1), values.index(slot))


@gluon.jit
def _weigh(
    q, o_desc, keys, values, bars, free, head, row, tokens, steps, scale, CAUSAL: gl.constexpr, SLOTS: gl.constexpr
):
    """exp2 with a scale that has log2(e); a finite lowest score; rows are masked on the diagonal alone."""
    ROWS: gl.constexpr = q.shape[1]
    DIM: gl.constexpr = q.shape[2]
    KEYS: gl.constexpr = keys.shape[2]
    score: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, KEYS, 16])
    mma: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, DIM, 16])
    acc = gl.zeros((ROWS, DIM), gl.float32, mma)
    most = gl.full((ROWS,), -1.0e30, gl.float32, gl.SliceLayout(1, score))
    total = gl.zeros((ROWS,), gl.float32, gl.SliceLayout(1, score))
    query = row + gl.arange(0, ROWS, gl.SliceLayout(1, score))
    for k in range(steps):
        slot, phase = k % SLOTS, k // SLOTS & 1
        mbarrier.wait(bars.index(2 * slot), phase)
        turned = keys.index(slot).reshape([KEYS, DIM]).permute((1, 0))
        s = warpgroup_mma(q.reshape([ROWS, DIM]), turned, gl.zeros((ROWS, KEYS), gl.float32, score), is_async=True)
        s = warpgroup_mma_wait(num_outstanding=0, deps=(s,)) * scale
        last = query if CAUSAL else gl.zeros_like(query) + tokens - 1
        s = gl.where(last[:, None] < (k * KEYS + gl.arange(0, KEYS, gl.SliceLayout(0, score)))[None, :], -1.0e30, s)
        higher = gl.maximum(most, gl.max(s, 1))
        p = gl.exp2(s - higher[:, None])
        shrink = gl.exp2(most - higher)
        most = higher
        total = gl.fma(total, shrink, gl.sum(p, 1))
        acc *= gl.convert_layout(shrink, gl.SliceLayout(1, mma))[:, None]
        mbarrier.wait(bars.index(2 * slot + 1), phase)
        left = gl.convert_layout(p.to(gl.float16), gl.DotOperandLayout(0, mma, 2))
        acc = warpgroup_mma(left, values.index(slot).reshape([KEYS, DIM]), acc, is_async=True)
        acc = warpgroup_mma_wait(num_outstanding=0, deps=(acc,))
        mbarrier.arrive(free.index(slot), count=1)
    acc = acc / gl.convert_layout(total, gl.SliceLayout(1, mma))[:, None]
    q.reshape([ROWS, DIM]).store(acc.to(gl.float16))
    fence_async_shared()
    store(o_desc, [head, row, 0], q)
    tma.store_wait(0)


@gluon.jit
def _attention(q_desc, k_desc, v_desc, o_desc, tokens, scale, CAUSAL: gl.constexpr, SLOTS: gl.constexpr):
    ROWS: gl.constexpr = q_desc.block_type.shape[1]
    KEYS: gl.constexpr = k_desc.block_type.shape[1]
    DIM: gl.constexpr = k_desc.block_type.shape[2]
    q = gl.allocate_shared_memory(gl.float16, [1, ROWS, DIM], q_desc.layout)
    keys = gl.allocate_shared_memory(gl.float16, [SLOTS, 1, KEYS, DIM], k_desc.layout)
    values = gl.allocate_shared_memory(gl.float16, [SLOTS, 1, KEYS, DIM], v_desc.layout)
    first = barriers(1, 1)
    bars = barriers(2 * SLOTS, 1)
    free = barriers(SLOTS, 1)
    head = gl.program_id(1)
    row = (gl.num_programs(0) - 1 - gl.program_id(0)) * ROWS  # long ones first
    mbarrier.expect(first.index(0), q_desc.block_type.nbytes)
    load(q_desc, [head, row, 0], first.index(0), q)
    mbarrier.wait(first.index(0), 0)
    steps = gl.cdiv(gl.minimum(tokens, row + ROWS) if CAUSAL else tokens, KEYS)
    gl.warp_specialize(
        [
            (_weigh, (q, o_desc, keys, values, bars, free, head, row, tokens, steps, scale, CAUSAL, SLOTS)),
            (_bring, (k_desc, v_desc, keys, values, bars, free, head, steps, SLOTS)),
        ],
        [1],
        [24],
    )


def _attended(q, k, v, causal):
    heads, tokens, dim = q.shape
    out = torch.empty_like(q)
    tensors = (_described(one, 1, rows, dim) for one, rows in ((q, 64), (k, 32), (v, 32), (out, 64)))
    _attention[(triton.cdiv(tokens, 64), heads)](*tensors, tokens, math.log2(math.e) / math.sqrt(dim), causal, 3)
    return out


def gluon_attention(q, k, v):
    return _attended(q, k, v, causal=False)


def gluon_causal(q, k, v):
    return _attended(q, k, v, causal=True)
