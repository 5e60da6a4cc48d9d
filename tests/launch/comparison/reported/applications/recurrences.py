"""Recurrences, scans and attention with a bias, with one slip at a time."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

from __future__ import annotations

import torch
import triton
import triton.language as tl

from tests.launch.comparison.reported.applications.layers import rand
from tests.launch.comparison.reported.slip import Slip, Subject
from tests.launch.comparison.slips import randn


@triton.jit
def delta_rule(
    q_ptr, k_ptr, v_ptr, beta_ptr, gate_ptr, o_ptr, state_ptr, steps, heads, scale, K: tl.constexpr, V: tl.constexpr
):
    i_bh = tl.program_id(0)
    i_b, i_h = i_bh // heads, i_bh % heads
    o_k = tl.arange(0, K)
    o_v = tl.arange(0, V)
    b_s = tl.zeros((V, K), dtype=tl.float32)
    for i_t in range(steps):
        row = (i_b * steps + i_t) * heads + i_h
        b_q = tl.load(q_ptr + row * K + o_k) * scale
        b_k = tl.load(k_ptr + row * K + o_k)
        b_v = tl.load(v_ptr + row * V + o_v)
        b_s *= tl.exp(tl.load(gate_ptr + row))
        b_v -= tl.sum(b_s * b_k[None, :], axis=1)
        b_v *= tl.load(beta_ptr + row)
        b_s += b_v[:, None] * b_k[None, :]
        tl.store(o_ptr + row * V + o_v, tl.sum(b_s * b_q[None, :], axis=1))
    tl.store(state_ptr + (i_bh * V + o_v)[:, None] * K + o_k[None, :], b_s)


def run_delta_rule(kernel):
    q, k, v = (randn(2, 5, 3, 8, seed=seed) for seed in range(3))
    k = torch.nn.functional.normalize(k, dim=3)
    beta, gate = rand(2, 5, 3, seed=3), -rand(2, 5, 3, seed=4)
    kernel[(6,)](q, k, v, beta, gate, torch.zeros(2, 5, 3, 8), torch.zeros(6, 8, 8), 5, 3, 0.35, K=8, V=8)


def right_delta_rule(q_ptr, k_ptr, v_ptr, beta_ptr, gate_ptr, scale, **_):
    state, out = torch.zeros(2, 3, 8, 8), []
    for t in range(5):
        q, k, v, beta, gate = (x[:, t] for x in (q_ptr, k_ptr, v_ptr, beta_ptr, gate_ptr))
        state = state * gate.exp()[..., None, None]
        fresh = beta[..., None] * (v - torch.einsum("bhvk,bhk->bhv", state, k))
        state = state + fresh[..., None] * k[..., None, :]
        out.append(torch.einsum("bhvk,bhk->bhv", state, q * scale))
    return {"o_ptr": torch.stack(out, 1), "state_ptr": state.reshape(6, 8, 8)}


@triton.jit
def conv_update(x_ptr, state_ptr, w_ptr, b_ptr, index_ptr, out_ptr, dim, WIDTH: tl.constexpr, BLOCK: tl.constexpr):
    batch = tl.program_id(0)
    feats = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    live = feats < dim
    slot = tl.load(index_ptr + batch)
    state_ptrs = state_ptr + (slot * dim + feats) * (WIDTH - 1)
    w_ptrs = w_ptr + feats * WIDTH
    acc = tl.load(b_ptr + feats, live, 0.0)
    for j in tl.static_range(WIDTH - 1):
        old = tl.load(state_ptrs + j, live, 0.0)
        acc += old * tl.load(w_ptrs + j, live, 0.0)
        if j > 0:
            tl.store(state_ptrs + j - 1, old, live)
    x = tl.load(x_ptr + batch * dim + feats, live, 0.0)
    acc += x * tl.load(w_ptrs + WIDTH - 1, live, 0.0)
    tl.store(state_ptrs + WIDTH - 2, x, live)
    tl.store(out_ptr + batch * dim + feats, acc * tl.sigmoid(acc), live)


def run_conv_update(kernel):
    index = torch.tensor([4, 0, 2], dtype=torch.int32)
    args = randn(3, 12), randn(5, 12, 3, seed=1), randn(12, 4, seed=2), randn(12, seed=3), index, torch.zeros(3, 12)
    kernel[(3, 2)](*args, 12, WIDTH=4, BLOCK=8)


def right_conv_update(x_ptr, state_ptr, w_ptr, b_ptr, index_ptr, **_):
    seen = torch.cat((state_ptr[index_ptr.long()], x_ptr[..., None]), 2)
    state = state_ptr.clone()
    state[index_ptr.long()] = seen[..., 1:]
    return {"state_ptr": state, "out_ptr": torch.nn.functional.silu((seen * w_ptr).sum(2) + b_ptr)}


@triton.jit
def alibi_attention(
    Q, K, V, Slope, Out, stride_h, length, ratio, scale, window, D: tl.constexpr, M: tl.constexpr, N: tl.constexpr
):
    block, head = tl.program_id(0), tl.program_id(1)
    shared = head // ratio
    offs_m = block * M + tl.arange(0, M)
    offs_d = tl.arange(0, D)
    at_q = head * stride_h + offs_m[:, None] * D + offs_d[None, :]
    q = tl.load(Q + at_q, mask=offs_m[:, None] < length, other=0.0)
    slope = tl.load(Slope + head)
    m_i = tl.full((M,), -1e30, tl.float32)
    l_i = tl.zeros((M,), tl.float32)
    acc = tl.zeros((M, D), tl.float32)
    first = tl.maximum(block * M - window + 1, 0) // N * N
    last = tl.minimum((block + 1) * M, length)
    for start in range(first, last, N):
        offs_n = start + tl.arange(0, N)
        at_k = shared * stride_h + offs_n[:, None] * D + offs_d[None, :]
        k = tl.load(K + at_k, mask=offs_n[:, None] < length, other=0.0)
        v = tl.load(V + at_k, mask=offs_n[:, None] < length, other=0.0)
        back = offs_m[:, None] - offs_n[None, :]
        s = tl.dot(q, tl.trans(k), input_precision="ieee")
        s = s * scale - slope * back
        s = tl.where((back >= 0) & (back < window), s, -1e30)
        m_new = tl.maximum(m_i, tl.max(s, axis=1))
        p = tl.exp(s - m_new[:, None])
        alpha = tl.exp(m_i - m_new)
        l_i = l_i * alpha + tl.sum(p, axis=1)
        acc = acc * alpha[:, None] + tl.dot(p, v, input_precision="ieee")
        m_i = m_new
    tl.store(Out + at_q, acc / l_i[:, None], mask=offs_m[:, None] < length)


def run_alibi_attention(kernel):
    q, k, v = randn(4, 50, 16), randn(2, 50, 16, seed=1), randn(2, 50, 16, seed=2)
    slope = torch.tensor([0.25, 0.0625, 0.5, 0.125])
    kernel[(2, 4)](q, k, v, slope, torch.zeros(4, 50, 16), 800, 50, 2, 0.25, 20, D=16, M=32, N=16)


def right_alibi_attention(Q, K, V, Slope, scale, window, **_):
    back = torch.arange(50)[:, None] - torch.arange(50)
    s = Q @ K.repeat_interleave(2, 0).transpose(1, 2) * scale - Slope[:, None, None] * back
    s = s.masked_fill((back < 0) | (back >= window), float("-inf"))
    return {"Out": torch.softmax(s, 2) @ V.repeat_interleave(2, 0)}


@triton.jit
def joined(a, a_head, b, b_head):
    return tl.where(b_head != 0, b, a + b), a_head | b_head


@triton.jit
def segmented_scan(x_ptr, head_ptr, out_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    lane = tl.arange(0, BLOCK)
    carry = 0.0
    for start in range(0, n, BLOCK):
        at = start + lane
        x = tl.load(x_ptr + row * n + at, mask=at < n, other=0.0)
        head = tl.load(head_ptr + row * n + at, mask=at < n, other=0)
        value, seen = tl.associative_scan((x, head), 0, joined)
        value = tl.where(seen != 0, value, value + carry)
        tl.store(out_ptr + row * n + at, value, mask=at < n)
        carry = tl.sum(tl.where(lane == BLOCK - 1, value, 0.0), axis=0)


def run_segmented_scan(kernel):
    head = (rand(4, 37, seed=1) < 0.15).int()
    kernel[(4,)](randn(4, 37), head, torch.zeros(4, 37), 37, BLOCK=8)


def right_segmented_scan(x_ptr, head_ptr, **_):
    sums = [x_ptr[:, 0]]
    for at in range(1, 37):
        sums.append(torch.where(head_ptr[:, at] != 0, 0.0, sums[-1]) + x_ptr[:, at])
    return {"out_ptr": torch.stack(sums, 1)}


@triton.jit
def tridiagonal(lower_ptr, diag_ptr, upper_ptr, rhs_ptr, work_ptr, x_ptr, n, systems, BLOCK: tl.constexpr):
    s = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    ok = s < systems
    c = tl.zeros((BLOCK,), tl.float32)
    d = tl.zeros((BLOCK,), tl.float32)
    for i in range(n):
        at = i * systems + s
        lower = tl.load(lower_ptr + at, mask=ok, other=0.0)
        pivot = tl.load(diag_ptr + at, mask=ok, other=1.0) - lower * c
        c = tl.load(upper_ptr + at, mask=ok, other=0.0) / pivot
        d = (tl.load(rhs_ptr + at, mask=ok, other=0.0) - lower * d) / pivot
        tl.store(work_ptr + at, c, mask=ok)
        tl.store(x_ptr + at, d, mask=ok)
    for i in range(1, n):
        at = (n - 1 - i) * systems + s
        d = tl.load(x_ptr + at, mask=ok, other=0.0) - tl.load(work_ptr + at, mask=ok, other=0.0) * d
        tl.store(x_ptr + at, d, mask=ok)


def run_tridiagonal(kernel):
    args = randn(6, 11), 4 + rand(6, 11, seed=1), randn(6, 11, seed=2), randn(6, 11, seed=3)
    kernel[(2,)](*args, torch.zeros(6, 11), torch.zeros(6, 11), 6, 11, BLOCK=8)


def right_tridiagonal(lower_ptr, diag_ptr, upper_ptr, rhs_ptr, **_):
    matrix = torch.diag_embed(diag_ptr.T)
    matrix += torch.diag_embed(lower_ptr.T[:, 1:], -1) + torch.diag_embed(upper_ptr.T[:, :-1], 1)
    above, below = torch.zeros(6, 11), torch.zeros(11)
    for i in range(6):
        above[i] = upper_ptr[i] / (diag_ptr[i] - lower_ptr[i] * below)
        below = above[i]
    return {"x_ptr": torch.linalg.solve(matrix, rhs_ptr.T).T, "work_ptr": above}


RECURRENCES = (
    Subject(
        delta_rule,
        run_delta_rule,
        (
            Slip("missing function", "tl.exp(tl.load(gate_ptr + row))", "tl.load(gate_ptr + row)", "a logarithm"),
            Slip("accumulator", "b_s += b_v[:, None]", "b_s = b_v[:, None]", "the state is replaced"),
            Slip("axis", "b_q[None, :], axis=1)", "b_q[:, None], axis=0)", "the state from its other side"),
        ),
        right_delta_rule,
    ),
    Subject(
        conv_update,
        run_conv_update,
        (
            Slip("off by one", "state_ptrs + j - 1, old", "state_ptrs + j, old", "the window does not move"),
            Slip("wrong operand", "(slot * dim + feats)", "(batch * dim + feats)", "the request's place in the batch"),
            Slip("loop", "tl.static_range(WIDTH - 1)", "tl.static_range(1, WIDTH - 1)", "without the oldest"),
        ),
        right_conv_update,
    ),
    Subject(
        alibi_attention,
        run_alibi_attention,
        (
            Slip("integer division", "head // ratio", "head % ratio", "heads are dealt in turn"),
            Slip("comparison", "(back < window)", "(back <= window)", "one key too many"),
            Slip("loop", "tl.minimum((block + 1) * M, length)", "tl.minimum(block * M + N, length)", "N for M"),
            Slip("order of steps", "s * scale - slope * back", "(s - slope * back) * scale", "the bias is scaled"),
        ),
        right_alibi_attention,
    ),
    Subject(
        segmented_scan,
        run_segmented_scan,
        (
            Slip("exchanged operands", "value, value + carry)", "value + carry, value)", "carried over the heads"),
            Slip("off by one", "lane == BLOCK - 1", "lane == BLOCK - 2", "the last but one is carried"),
            Slip("accumulator", "carry = tl.sum(", "carry += tl.sum(", "carried twice"),
        ),
        right_segmented_scan,
    ),
    Subject(
        tridiagonal,
        run_tridiagonal,
        (
            Slip("sign", "- lower * c", "+ lower * c", "the pivot grows"),
            Slip("loop", "for i in range(1, n):", "for i in range(1, n - 1):", "the first unknown is left"),
            Slip("wrong operand", "at, c, mask=ok)", "at, pivot, mask=ok)", "the pivot is kept"),
        ),
        right_tridiagonal,
    ),
)
