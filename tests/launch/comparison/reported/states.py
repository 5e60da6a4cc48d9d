"""Recurrent states, decoding, and mixing over time, and the slips that were reported of such kernels."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

from __future__ import annotations

import torch
import triton
import triton.language as tl

from tests.launch.comparison.reported.slip import Slip, Subject
from tests.launch.comparison.slips import randn


@triton.jit
def state_update(
    state_ptr, x_ptr, dt_ptr, bias_ptr, a_ptr, b_ptr, c_ptr, d_ptr, z_ptr, out_ptr, dim,
    N: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    batch = tl.program_id(1)
    d = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    n = tl.arange(0, N)
    inside = d < dim
    x = tl.load(x_ptr + batch * dim + d, mask=inside, other=0.0)
    z = tl.load(z_ptr + batch * dim + d, mask=inside, other=0.0)
    dt = tl.load(dt_ptr + batch * dim + d, mask=inside, other=0.0)
    dt += tl.load(bias_ptr + d, mask=inside, other=0.0)
    dt = tl.log(1.0 + tl.exp(dt))
    a = tl.load(a_ptr + d[:, None] * N + n[None, :], mask=inside[:, None], other=0.0)
    b = tl.load(b_ptr + batch * N + n)
    c = tl.load(c_ptr + batch * N + n)
    at = (batch * dim + d[:, None]) * N + n[None, :]
    state = tl.load(state_ptr + at, mask=inside[:, None], other=0.0)
    decayed = state * tl.exp(a * dt[:, None])
    state = decayed + b[None, :] * (dt * x)[:, None]
    tl.store(state_ptr + at, state, mask=inside[:, None])
    out = tl.sum(state * c[None, :], axis=1)
    out += x * tl.load(d_ptr + d, mask=inside, other=0.0)
    out = out * z * tl.sigmoid(z)
    tl.store(out_ptr + batch * dim + d, out, mask=inside)


def run_state_update(kernel) -> None:
    kernel[(2, 3)](
        randn(3, 24, 8), randn(3, 24, seed=1), randn(3, 24, seed=2), randn(24, seed=3),
        -torch.exp(randn(24, 8, seed=4)), randn(3, 8, seed=5), randn(3, 8, seed=6), randn(24, seed=7),
        randn(3, 24, seed=8), torch.zeros(3, 24), 24,
        N=8, BLOCK=16,
    )  # fmt: skip


@triton.jit
def retention(q_ptr, k_ptr, v_ptr, decay_ptr, o_ptr, length, scale, D: tl.constexpr):
    head = tl.program_id(0)
    d = tl.arange(0, D)
    decay = tl.load(decay_ptr + head)
    state = tl.zeros((D, D), tl.float32)
    for t in range(0, length):
        at = (head * length + t) * D + d
        q = tl.load(q_ptr + at) * scale
        k = tl.load(k_ptr + at)
        v = tl.load(v_ptr + at)
        state = state * decay + k[:, None] * v[None, :]
        o = tl.sum(q[:, None] * state, axis=0)
        tl.store(o_ptr + at, o)


def run_retention(kernel) -> None:
    q, k, v = (randn(3, 7, 16, seed=seed) for seed in range(3))
    kernel[(3,)](q, k, v, torch.tensor([0.9, 0.8, 0.95]), torch.zeros_like(q), 7, 0.25, D=16)


@triton.jit
def paged_attention(
    q_ptr, k_ptr, v_ptr, table_ptr, length_ptr, slope_ptr, o_ptr, heads, kv_heads, pages, window, scale,
    D: tl.constexpr, PAGE: tl.constexpr,
):  # fmt: skip
    seq = tl.program_id(0)
    head = tl.program_id(1)
    kv_head = head // (heads // kv_heads)
    d = tl.arange(0, D)
    p = tl.arange(0, PAGE)
    q = tl.load(q_ptr + (seq * heads + head) * D + d)
    length = tl.load(length_ptr + seq)
    slope = tl.load(slope_ptr + head)
    top = -1.0e30
    total = 0.0
    acc = tl.zeros((D,), tl.float32)
    for start in range(0, length, PAGE):
        page = tl.load(table_ptr + seq * pages + start // PAGE)
        at = ((page * PAGE + p[:, None]) * kv_heads + kv_head) * D + d[None, :]
        pos = start + p
        k = tl.load(k_ptr + at)
        v = tl.load(v_ptr + at)
        s = tl.sum(q[None, :] * k, axis=1) * scale
        s += slope * (pos - length + 1)
        s = tl.where((pos < length) & (pos > length - 1 - window), s, -1.0e30)
        new = tl.maximum(top, tl.max(s, axis=0))
        w = tl.exp(s - new)
        old = tl.exp(top - new)
        acc = acc * old + tl.sum(w[:, None] * v, axis=0)
        total = total * old + tl.sum(w, axis=0)
        top = new
    tl.store(o_ptr + (seq * heads + head) * D + d, acc / total)


def run_paged_attention(kernel) -> None:
    random = torch.Generator().manual_seed(4)
    table = torch.randperm(12, generator=random).reshape(3, 4).to(torch.int32)
    kernel[(3, 4)](
        randn(3, 4, 16), randn(12, 8, 2, 16, seed=1), randn(12, 8, 2, 16, seed=2), table,
        torch.tensor([13, 30, 21], dtype=torch.int32), torch.tensor([0.5, 0.25, 0.125, 0.0625]), torch.zeros(3, 4, 16),
        4, 2, 4, 18, 0.25, D=16, PAGE=8,
    )  # fmt: skip


@triton.jit
def time_mix(x_ptr, mix_ptr, y_ptr, length, dim, BLOCK: tl.constexpr):
    t = tl.program_id(0) % length
    c = tl.arange(0, BLOCK)
    at = tl.program_id(0) * dim + c
    x = tl.load(x_ptr + at, mask=c < dim, other=0.0)
    before = tl.load(x_ptr + at - dim, mask=(c < dim) & (t > 0), other=0.0)
    mix = tl.load(mix_ptr + c, mask=c < dim, other=0.0)
    tl.store(y_ptr + at, x * mix + before * (1 - mix), mask=c < dim)


def run_time_mix(kernel) -> None:
    kernel[(15,)](randn(3, 5, 20), torch.rand(20, generator=torch.Generator().manual_seed(1)), torch.zeros(3, 5, 20),
                  5, 20, BLOCK=32)  # fmt: skip


STATES = (
    Subject(
        state_update, run_state_update,
        (
            Slip("missing function", "dt = tl.log(1.0 + tl.exp(dt))", "dt = tl.exp(dt)",
                 "mamba pull requests 574 and 1029: the softplus of the time step"),
            Slip("wrong operand", "(dt * x)[:, None]", "x[:, None]",
                 "reports of state space models: the input is not discretized"),
            Slip("order of steps", "tl.sum(state * c[None, :], axis=1)", "tl.sum(decayed * c[None, :], axis=1)",
                 "vLLM's and mamba's state update: the output reads the state before the update"),
            Slip("missing term", "out = out * z * tl.sigmoid(z)", "out = out * tl.sigmoid(z)",
                 "reports of gated states: the sigmoid for the SiLU"),
        ),
    ),
    Subject(
        retention, run_retention,
        (
            Slip("order of steps", "state * decay + k[:, None] * v[None, :]",
                 "(state + k[:, None] * v[None, :]) * decay",
                 "flash-linear-attention's reports: the decay reaches the newest token"),
            Slip("axis", "k[:, None] * v[None, :]", "v[:, None] * k[None, :]",
                 "learners' linear attention: the outer product is transposed"),
            Slip("scale", "tl.load(q_ptr + at) * scale", "tl.load(q_ptr + at)",
                 "flash-linear-attention issue 47: the scale"),
        ),
    ),
    Subject(
        paged_attention, run_paged_attention,
        (
            Slip("index", "table_ptr + seq * pages + start // PAGE", "table_ptr + start // PAGE",
                 "reports of paged attention: each sequence reads the first one's pages"),
            Slip("index", "(page * PAGE + p[:, None])", "(page + p[:, None])",
                 "vLLM issue 15908: the block's number lacks its size"),
            Slip("sign", "slope * (pos - length + 1)", "slope * (length - 1 - pos)",
                 "attention-gym pull request 86: the bias of distance has the other sign"),
            Slip("comparison", "(pos > length - 1 - window)", "(pos >= length - 1 - window)",
                 "vLLM pull request 30887: the sliding window is one too wide"),
            Slip("accumulator", "total = total * old + tl.sum(w, axis=0)", "total = total + tl.sum(w, axis=0)",
                 "learners' flash decoding: the sum is not rescaled"),
            Slip("program or head", "head // (heads // kv_heads)", "head % kv_heads",
                 "lightllm pull request 316: grouped heads"),
        ),
    ),
    Subject(
        time_mix, run_time_mix,
        (
            Slip("exchanged operands", "x * mix + before * (1 - mix)", "x * (1 - mix) + before * mix",
                 "reports of RWKV: the mix weighs the other token"),
            Slip("program or head", "tl.program_id(0) % length", "tl.program_id(0) // length",
                 "reports of token shifts: the place in the sequence"),
        ),
        lambda x_ptr, mix_ptr, **_: (
            x_ptr * mix_ptr + torch.nn.functional.pad(x_ptr, (0, 0, 1, 0))[:, :-1] * (1 - mix_ptr)
        ),
    ),
)  # fmt: skip
