"""Attention, forwards and backwards, and the slips that were reported of such kernels."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

from __future__ import annotations

import torch
import triton
import triton.language as tl

from tests.launch.comparison.reported.slip import Slip, Subject
from tests.launch.comparison.slips import randn


@triton.jit
def attention(
    q_ptr, k_ptr, v_ptr, o_ptr, lse_ptr, heads, kv_heads, q_len, k_len, scale,
    CAUSAL: tl.constexpr, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr,
):  # fmt: skip
    start = tl.program_id(0) * BM
    batch = tl.program_id(1) // heads
    head = tl.program_id(1) % heads
    kv_head = head // (heads // kv_heads)
    rows = start + tl.arange(0, BM)
    d = tl.arange(0, D)
    q_at = ((batch * heads + head) * q_len + rows[:, None]) * D + d[None, :]
    q = tl.load(q_ptr + q_at, mask=rows[:, None] < q_len, other=0.0)
    base = (batch * kv_heads + kv_head) * k_len
    top = tl.full((BM,), float("-inf"), tl.float32)
    total = tl.zeros((BM,), tl.float32)
    acc = tl.zeros((BM, D), tl.float32)
    for begin in range(0, k_len, BN):
        n = begin + tl.arange(0, BN)
        kv_at = (base + n[:, None]) * D + d[None, :]
        k = tl.load(k_ptr + kv_at, mask=n[:, None] < k_len, other=0.0)
        v = tl.load(v_ptr + kv_at, mask=n[:, None] < k_len, other=0.0)
        s = tl.dot(q, tl.trans(k)) * (scale * 1.44269504)
        seen = n[None, :] < k_len
        if CAUSAL:
            seen = seen & (rows[:, None] + k_len - q_len >= n[None, :])
        s = tl.where(seen, s, -1.0e30)
        new = tl.maximum(top, tl.max(s, axis=1))
        p = tl.exp2(s - new[:, None])
        alpha = tl.exp2(top - new)
        total = total * alpha + tl.sum(p, axis=1)
        acc = acc * alpha[:, None] + tl.dot(p, v)
        top = new
    o = acc / total[:, None]
    tl.store(o_ptr + q_at, o, mask=rows[:, None] < q_len)
    lse = (top + tl.log2(total)) * 0.69314718
    tl.store(lse_ptr + (batch * heads + head) * q_len + rows, lse, mask=rows < q_len)


def run_attention(kernel, causal: bool) -> None:
    q, k, v = randn(1, 4, 36, 16), randn(1, 2, 40, 16, seed=1), randn(1, 2, 40, 16, seed=2)
    kernel[(3, 4)](
        q, k, v, torch.zeros_like(q), torch.zeros(4, 36), 4, 2, 36, 40, 0.25, CAUSAL=causal, D=16, BM=16, BN=16
    )


def right_attention(causal: bool, q_ptr, k_ptr, v_ptr, scale, **_):
    k, v = k_ptr.repeat_interleave(2, 1), v_ptr.repeat_interleave(2, 1)
    scores = q_ptr @ k.transpose(2, 3) * scale
    if causal:
        scores = scores.masked_fill(torch.ones(36, 40).tril(4) == 0, float("-inf"))
    return {"o_ptr": torch.softmax(scores, -1) @ v, "lse_ptr": torch.logsumexp(scores, -1)[0]}


@triton.jit
def attention_backward_keys(
    q_ptr, k_ptr, v_ptr, do_ptr, lse_ptr, delta_ptr, dk_ptr, dv_ptr, q_len, k_len, scale,
    D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr,
):  # fmt: skip
    head = tl.program_id(1)
    n = tl.program_id(0) * BN + tl.arange(0, BN)
    d = tl.arange(0, D)
    k_at = (head * k_len + n[:, None]) * D + d[None, :]
    k = tl.load(k_ptr + k_at, mask=n[:, None] < k_len, other=0.0)
    v = tl.load(v_ptr + k_at, mask=n[:, None] < k_len, other=0.0)
    dk = tl.zeros((BN, D), tl.float32)
    dv = tl.zeros((BN, D), tl.float32)
    for begin in range(0, q_len, BM):
        m = begin + tl.arange(0, BM)
        q_at = (head * q_len + m[:, None]) * D + d[None, :]
        q = tl.load(q_ptr + q_at, mask=m[:, None] < q_len, other=0.0)
        do = tl.load(do_ptr + q_at, mask=m[:, None] < q_len, other=0.0)
        lse = tl.load(lse_ptr + head * q_len + m, mask=m < q_len, other=0.0)
        delta = tl.load(delta_ptr + head * q_len + m, mask=m < q_len, other=0.0)
        s = tl.dot(q, tl.trans(k)) * scale
        p = tl.exp(s - lse[:, None])
        dv += tl.dot(tl.trans(p), do)
        dp = tl.dot(do, tl.trans(v))
        ds = p * (dp - delta[:, None])
        dk += tl.dot(tl.trans(ds), q)
    tl.store(dv_ptr + k_at, dv, mask=n[:, None] < k_len)
    tl.store(dk_ptr + k_at, dk * scale, mask=n[:, None] < k_len)


def run_attention_backward_keys(kernel) -> None:
    q, do = randn(2, 36, 16), randn(2, 36, 16, seed=3)
    k, v = randn(2, 32, 16, seed=1), randn(2, 32, 16, seed=2)
    scores = q @ k.transpose(1, 2) * 0.25
    o = torch.softmax(scores, -1) @ v
    kernel[(2, 2)](
        q, k, v, do, torch.logsumexp(scores, -1), (o * do).sum(-1), torch.zeros_like(k), torch.zeros_like(v),
        36, 32, 0.25, D=16, BM=16, BN=16,
    )  # fmt: skip


@triton.jit
def merge_splits(acc_ptr, lse_ptr, o_ptr, splits, D: tl.constexpr, SPLITS: tl.constexpr):
    head = tl.program_id(0)
    s = tl.arange(0, SPLITS)
    d = tl.arange(0, D)
    lse = tl.load(lse_ptr + head * splits + s, mask=s < splits, other=float("-inf"))
    w = tl.exp(lse - tl.max(lse, axis=0))
    acc_at = (head * splits + s[:, None]) * D + d[None, :]
    acc = tl.load(acc_ptr + acc_at, mask=s[:, None] < splits, other=0.0)
    o = tl.sum(acc * w[:, None], axis=0) / tl.sum(w, axis=0)
    tl.store(o_ptr + head * D + d, o)


def run_merge_splits(kernel) -> None:
    kernel[(6,)](randn(6, 5, 16), randn(6, 5, seed=1) - 2, torch.zeros(6, 16), 5, D=16, SPLITS=8)


ATTENTION = (
    Subject(
        attention, lambda kernel: run_attention(kernel, True),
        (
            Slip("program or head", "head // (heads // kv_heads)", "head % kv_heads",
                 "LMCache pull request 3092: query heads are mapped to the wrong heads of keys"),
            Slip("causal mask", "(rows[:, None] + k_len - q_len >= n[None, :])", "(rows[:, None] >= n[None, :])",
                 "ffpa-attn pull request 300: the causal mask of unequal lengths lacks its offset"),
            Slip("causal mask", "k_len - q_len >= n[None, :])", "k_len - q_len > n[None, :])",
                 "learners' attention: a query does not see its own key"),
            Slip("accumulator", "acc = acc * alpha[:, None] + tl.dot(p, v)", "acc = acc + tl.dot(p, v)",
                 "learners' attention: the accumulator is not rescaled"),
            Slip("function", "alpha = tl.exp2(top - new)", "alpha = tl.exp(top - new)",
                 "the fused attention tutorial's base 2: one of the exponentials keeps base e"),
        ),
        lambda **given: right_attention(True, **given),
    ),
    Subject(
        attention, lambda kernel: run_attention(kernel, False),
        (
            Slip("mask", "seen = n[None, :] < k_len", "seen = n[None, :] >= 0",
                 "aiter issue 3551: keys beyond the end take part in the softmax"),
            Slip("scale", "* (scale * 1.44269504)", "* scale",
                 "segment-anything-fast pull request 71: scores lack the factor log2(e)"),
            Slip("loop", "for begin in range(0, k_len, BN):", "for begin in range(start, k_len, BN):",
                 "gpt-oss pull request 196: the loop over keys starts at the query"),
            Slip("last step", "o = acc / total[:, None]", "o = acc",
                 "learners' attention: the sum is not divided by", also=("tl.store(o_ptr",)),
            Slip("scale", "(top + tl.log2(total)) * 0.69314718", "top + tl.log2(total)",
                 "NVIDIA Model-Optimizer pull request 1034: a log-sum-exp in base 2"),
        ),
        lambda **given: right_attention(False, **given),
    ),
    Subject(
        attention_backward_keys, run_attention_backward_keys,
        (
            Slip("scale", "dk * scale", "dk",
                 "flash-linear-attention issue 47: the gradient lacks the scale"),
            Slip("missing term", "p * (dp - delta[:, None])", "p * dp",
                 "learners' attention backwards: the row's sum is not subtracted"),
            Slip("wrong operand", "dv += tl.dot(tl.trans(p), do)", "dv += tl.dot(tl.trans(p), q)",
                 "reports of fused attention backwards: another block of the same shape"),
            Slip("axis", "(dp - delta[:, None])", "(dp - delta[None, :])",
                 "Triton issue 11406: a row's value is broadcast along the other axis"),
        ),
    ),
    Subject(
        merge_splits, run_merge_splits,
        (
            Slip("masked-off lanes", 'other=float("-inf"))', "other=0.0)",
                 "pegainfer pull request 21: empty splits take part in the merge"),
            Slip("divisor", "/ tl.sum(w, axis=0)", "/ splits",
                 "learners' flash decoding: partial results are averaged"),
        ),
        lambda acc_ptr, lse_ptr, **_: (torch.softmax(lse_ptr, 1)[:, :, None] * acc_ptr).sum(1),
    ),
)  # fmt: skip
