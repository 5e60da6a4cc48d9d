"""Right answers about rows and products in other styles: several passes, many rows in a program, descriptors."""

from __future__ import annotations

import math

import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

from tests.course.learners.register import right


@triton.jit
def _rows_at_once_kernel(x_ptr, out_ptr, rows, columns, s0, s1, WHAT: tl.constexpr, R: tl.constexpr, C: tl.constexpr):
    i = tl.program_id(0) * R + tl.arange(0, R)
    j = tl.arange(0, C)
    mask = (i < rows)[:, None] & (j < columns)[None, :]
    x = tl.load(x_ptr + i[:, None] * s0 + j[None, :] * s1, mask=mask, other=0.0)
    if WHAT == "sum":
        out = tl.sum(x, axis=1)
    else:
        high = tl.max(tl.where(mask, x, float("-inf")), axis=1)
        out = high - tl.min(tl.where(mask, x, float("inf")), axis=1)
    tl.store(out_ptr + i, out, mask=i < rows)


def _rows_at_once(x, what):
    rows, columns = x.shape
    out = torch.empty(rows)
    C = triton.next_power_of_2(columns)
    _rows_at_once_kernel[(triton.cdiv(rows, 4),)](x, out, rows, columns, *x.stride(), WHAT=what, R=4, C=C)
    return out


@right("row_sum", "four rows in a program")
def _(x):
    return _rows_at_once(x, "sum")


@right("row_range", "four rows in a program")
def _(x):
    return _rows_at_once(x, "range")


@triton.jit
def _persistent_softmax_kernel(out_ptr, x_ptr, s0, s1, out_stride, n_rows, n_cols, BLOCK_SIZE: tl.constexpr):
    row_start = tl.program_id(0)
    row_step = tl.num_programs(0)
    for row_idx in tl.range(row_start, n_rows, row_step):
        col_offsets = tl.arange(0, BLOCK_SIZE)
        mask = col_offsets < n_cols
        row = tl.load(x_ptr + row_idx * s0 + col_offsets * s1, mask=mask, other=-float("inf"))
        row_minus_max = row.to(tl.float32) - tl.max(row.to(tl.float32), axis=0)
        numerator = tl.exp(row_minus_max)
        denominator = tl.sum(numerator, axis=0)
        tl.store(out_ptr + row_idx * out_stride + col_offsets, numerator / denominator, mask=mask)


@right("softmax", "Triton's tutorial: persistent programs")
def _(x):
    n_rows, n_cols = x.shape
    y = torch.empty(x.shape, dtype=x.dtype)
    if n_rows:
        size = triton.next_power_of_2(n_cols)
        _persistent_softmax_kernel[(min(n_rows, 8),)](y, x, *x.stride(), y.stride(0), n_rows, n_cols, BLOCK_SIZE=size)
    return y


@triton.jit
def _three_passes_kernel(x_ptr, out_ptr, columns, s0, s1, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    high = tl.full((BLOCK,), float("-inf"), tl.float32)
    for start in range(0, columns, BLOCK):
        j = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * s0 + j * s1, mask=j < columns, other=float("-inf"))
        high = tl.maximum(high, x.to(tl.float32))
    most = tl.max(high, axis=0)
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, columns, BLOCK):
        j = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * s0 + j * s1, mask=j < columns, other=float("-inf"))
        total += tl.exp(x.to(tl.float32) - most)
    whole = tl.sum(total, axis=0)
    for start in range(0, columns, BLOCK):
        j = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * s0 + j * s1, mask=j < columns, other=float("-inf"))
        tl.store(out_ptr + row * columns + j, tl.exp(x.to(tl.float32) - most) / whole, mask=j < columns)


def three_pass_softmax(x):
    """Right numbers in three passes: the text asks for one, so a check has to say just that."""
    out = torch.empty(x.shape, dtype=x.dtype)
    _three_passes_kernel[(x.shape[0],)](x, out, x.shape[1], *x.stride(), BLOCK=64)
    return out


@triton.jit
def _welford(mean_1, m2_1, count_1, mean_2, m2_2, count_2):
    count = count_1 + count_2
    apart = mean_2 - mean_1
    share = tl.where(count > 0, count_2 / tl.maximum(count, 1.0), 0.0)
    return mean_1 + apart * share, m2_1 + m2_2 + apart * apart * count_1 * share, count


@triton.jit
def _welford_kernel(x_ptr, mean_ptr, variance_ptr, columns, s0, s1, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    mean, m2, count = tl.zeros((BLOCK,), tl.float32), tl.zeros((BLOCK,), tl.float32), tl.zeros((BLOCK,), tl.float32)
    for start in range(0, columns, BLOCK):
        j = start + tl.arange(0, BLOCK)
        there = j < columns
        x = tl.load(x_ptr + row * s0 + j * s1, mask=there, other=0.0)
        count += there.to(tl.float32)
        apart = tl.where(there, x - mean, 0.0)
        mean += apart / tl.maximum(count, 1.0)
        m2 += tl.where(there, apart * (x - mean), 0.0)
    mean, m2, count = tl.reduce((mean, m2, count), 0, _welford)
    tl.store(mean_ptr + row, mean)
    tl.store(variance_ptr + row, m2 / count)


@right("moments", "Welford in each lane")
def _(x):
    rows, columns = x.shape
    mean, variance = torch.empty(rows), torch.empty(rows)
    _welford_kernel[(rows,)](x, mean, variance, columns, *x.stride(), BLOCK=64)
    return mean, variance


@triton.jit
def _grouped_kernel(a_ptr, b_ptr, c_ptr, M, N, K, am, ak, bk, bn, TM: tl.constexpr, TN: tl.constexpr, TK: tl.constexpr):
    pid = tl.program_id(axis=0)
    num_pid_m = tl.cdiv(M, TM)
    num_pid_n = tl.cdiv(N, TN)
    num_pid_in_group = 8 * num_pid_n
    group_id = pid // num_pid_in_group
    first_pid_m = group_id * 8
    group_size_m = min(num_pid_m - first_pid_m, 8)
    pid_m = first_pid_m + ((pid % num_pid_in_group) % group_size_m)
    pid_n = (pid % num_pid_in_group) // group_size_m
    offs_am = (pid_m * TM + tl.arange(0, TM)) % M
    offs_bn = (pid_n * TN + tl.arange(0, TN)) % N
    offs_k = tl.arange(0, TK)
    a_ptrs = a_ptr + (offs_am[:, None] * am + offs_k[None, :] * ak)
    b_ptrs = b_ptr + (offs_k[:, None] * bk + offs_bn[None, :] * bn)
    accumulator = tl.zeros((TM, TN), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, TK)):
        a = tl.load(a_ptrs, mask=offs_k[None, :] < K - k * TK, other=0.0)
        b = tl.load(b_ptrs, mask=offs_k[:, None] < K - k * TK, other=0.0)
        accumulator = tl.dot(a, b, accumulator, input_precision="ieee")
        a_ptrs += TK * ak
        b_ptrs += TK * bk
    offs_cm = pid_m * TM + tl.arange(0, TM)
    offs_cn = pid_n * TN + tl.arange(0, TN)
    c_mask = (offs_cm[:, None] < M) & (offs_cn[None, :] < N)
    tl.store(c_ptr + N * offs_cm[:, None] + offs_cn[None, :], accumulator, mask=c_mask)


@right("matmul", "Triton's tutorial: groups and wrapped indices")
def _(a, b):
    (M, K), N = a.shape, b.shape[1]
    c = torch.empty((M, N), dtype=a.dtype)
    grid = (triton.cdiv(M, 32) * triton.cdiv(N, 32),)
    _grouped_kernel[grid](a, b, c, M, N, K, *a.stride(), *b.stride(), TM=32, TN=32, TK=32)
    return c


@triton.jit
def _described_product_kernel(a, b, c, K, T: tl.constexpr):
    i, j = tl.program_id(0) * T, tl.program_id(1) * T
    accumulator = tl.zeros((T, T), tl.float32)
    for k in range(0, K, T):
        accumulator = tl.dot(a.load([i, k]), b.load([k, j]), accumulator, input_precision="ieee")
    c.store([i, j], accumulator.to(c.dtype))


def _describable(*tensors):
    return all(
        x.numel() and x.stride(-1) == 1 and x.stride(0) * x.element_size() % 16 == 0 and x.data_ptr() % 16 == 0
        for x in tensors
    )


@right("matmul", "descriptors where they are allowed")
def _(a, b):
    (M, K), N = a.shape, b.shape[1]
    c = torch.empty((M, N), dtype=a.dtype)
    if _describable(a, b, c):
        described = [TensorDescriptor.from_tensor(x, [32, 32]) for x in (a, b, c)]
        _described_product_kernel[(triton.cdiv(M, 32), triton.cdiv(N, 32))](*described, K, T=32)
        return c
    grid = (triton.cdiv(M, 16) * triton.cdiv(N, 16),)
    _grouped_kernel[grid](a, b, c, M, N, K, *a.stride(), *b.stride(), TM=16, TN=16, TK=32)
    return c


@triton.jit
def _sum_in_turns_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    mine = tl.zeros((BLOCK,), tl.float32)
    for start in range(tl.program_id(0) * BLOCK, n, tl.num_programs(0) * BLOCK):
        at = start + tl.arange(0, BLOCK)
        mine += tl.load(x_ptr + at, mask=at < n, other=0.0)
    tl.atomic_add(out_ptr, tl.sum(mine, axis=0))


@right("total", "grid-stride loop")
def _(x):
    out = torch.zeros(1)
    _sum_in_turns_kernel[(max(1, min(16, triton.cdiv(x.numel(), 64))),)](x, out, x.numel(), BLOCK=64)
    return out


@triton.jit
def _own_histogram_kernel(x_ptr, out_ptr, n, bins, BINS: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n, other=0)
    counts = tl.histogram(x.to(tl.int32), BINS, mask=at < n)
    bin_ = tl.arange(0, BINS)
    tl.atomic_add(out_ptr + bin_, counts, mask=bin_ < bins)


@right("histogram", "a histogram for each program")
def _(x, bins):
    out = torch.zeros(bins, dtype=torch.int32)
    size = max(2, triton.next_power_of_2(bins))
    _own_histogram_kernel[(triton.cdiv(x.numel(), 128),)](x, out, x.numel(), bins, BINS=size, BLOCK=128)
    return out


@triton.jit
def _flash_kernel(q_ptr, k_ptr, v_ptr, o_ptr, N_CTX, qk_scale, qh, qt, kh, kt, vh, vt, D: tl.constexpr,
                  CAUSAL: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):  # fmt: skip
    start_m = tl.program_id(0)
    off_hz = tl.program_id(1)
    offs_m = start_m * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = tl.arange(0, BLOCK_N)
    offs_d = tl.arange(0, D)
    q = tl.load(q_ptr + off_hz * qh + offs_m[:, None] * qt + offs_d, mask=offs_m[:, None] < N_CTX, other=0.0)
    m_i = tl.zeros([BLOCK_M], dtype=tl.float32) - float("inf")
    l_i = tl.zeros([BLOCK_M], dtype=tl.float32) + 1.0
    acc = tl.zeros([BLOCK_M, D], dtype=tl.float32)
    hi = N_CTX
    if CAUSAL:
        hi = min(N_CTX, (start_m + 1) * BLOCK_M)
    for start_n in range(0, hi, BLOCK_N):
        n = start_n + offs_n
        k = tl.load(k_ptr + off_hz * kh + n[None, :] * kt + offs_d[:, None], mask=n[None, :] < N_CTX, other=0.0)
        qk = tl.dot(q, k, input_precision="ieee") * qk_scale
        seen = n[None, :] < N_CTX
        if CAUSAL:
            seen = seen & (offs_m[:, None] >= n[None, :])
        qk = tl.where(seen, qk, -1.0e30)
        m_ij = tl.maximum(m_i, tl.max(qk, 1))
        p = tl.math.exp2(qk - m_ij[:, None])
        alpha = tl.math.exp2(m_i - m_ij)
        l_i = l_i * alpha + tl.sum(p, 1)
        v = tl.load(v_ptr + off_hz * vh + n[:, None] * vt + offs_d, mask=n[:, None] < N_CTX, other=0.0)
        acc = acc * alpha[:, None]
        acc = tl.dot(p.to(v.dtype), v, acc, input_precision="ieee")
        m_i = m_ij
    acc = acc / l_i[:, None]
    tl.store(o_ptr + off_hz * N_CTX * D + offs_m[:, None] * D + offs_d, acc, mask=offs_m[:, None] < N_CTX)


def _flash(q, k, v, causal, M, N):
    heads, tokens, dim = q.shape
    o = torch.empty(q.shape, dtype=q.dtype)
    strides = (*q.stride()[:2], *k.stride()[:2], *v.stride()[:2])
    grid = (triton.cdiv(tokens, M), heads)
    scale = 1.44269504 / math.sqrt(dim)
    _flash_kernel[grid](q, k, v, o, tokens, scale, *strides, D=dim, CAUSAL=causal, BLOCK_M=M, BLOCK_N=N)
    return o


@right("attention", "FlashAttention with exp2")
def _(q, k, v):
    return _flash(q, k, v, False, 32, 32)


@right("attention", "FlashAttention with oblong blocks")
def _(q, k, v):
    return _flash(q, k, v, False, 64, 32)


@right("causal_attention", "FlashAttention with exp2")
def _(q, k, v):
    return _flash(q, k, v, True, 32, 32)
