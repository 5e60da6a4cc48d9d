"""Layers of models and their attention, and slips of the classes that were reported of such kernels."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

from __future__ import annotations

import torch
import triton
import triton.language as tl

from tests.launch.comparison.reported.slip import Slip, Subject
from tests.launch.comparison.slips import randn


@triton.jit
def low_rank_linear(
    x_ptr, w_ptr, down_ptr, up_ptr, bias_ptr, y_ptr, N, K, scale,
    RANK: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
):  # fmt: skip
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    r = tl.arange(0, RANK)
    acc = tl.zeros((BM, BN), tl.float32)
    low = tl.zeros((BM, RANK), tl.float32)
    for start in range(0, K, BK):
        k = start + tl.arange(0, BK)
        x = tl.load(x_ptr + m[:, None] * K + k[None, :], mask=k[None, :] < K, other=0.0)
        w = tl.load(w_ptr + n[None, :] * K + k[:, None], mask=k[:, None] < K, other=0.0)
        down = tl.load(down_ptr + r[None, :] * K + k[:, None], mask=k[:, None] < K, other=0.0)
        acc += tl.dot(x, w)
        low += tl.dot(x, down)
    up = tl.load(up_ptr + n[None, :] * RANK + r[:, None])
    acc += tl.dot(low, up) * scale
    bias = tl.load(bias_ptr + n)
    tl.store(y_ptr + m[:, None] * N + n[None, :], acc + bias[None, :])


def run_low_rank_linear(kernel) -> None:
    kernel[(2, 2)](
        randn(32, 40), randn(32, 40, seed=1), randn(16, 40, seed=2), randn(32, 16, seed=3), randn(32, seed=4),
        torch.zeros(32, 32), 32, 40, 0.5, RANK=16, BM=16, BN=16, BK=16,
    )  # fmt: skip


@triton.jit
def modulate(x_ptr, shift_ptr, scale_ptr, y_ptr, length, n, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    batch = row // length
    cols = tl.arange(0, BLOCK)
    inside = cols < n
    x = tl.load(x_ptr + row * n + cols, mask=inside, other=0.0)
    mean = tl.sum(x, axis=0) / n
    centred = tl.where(inside, x - mean, 0.0)
    var = tl.sum(centred * centred, axis=0) / n
    hat = centred * tl.rsqrt(var + eps)
    shift = tl.load(shift_ptr + batch * n + cols, mask=inside, other=0.0)
    scale = tl.load(scale_ptr + batch * n + cols, mask=inside, other=0.0)
    tl.store(y_ptr + row * n + cols, hat * (1 + scale) + shift, mask=inside)


def run_modulate(kernel) -> None:
    kernel[(12,)](randn(3, 4, 20) + 1, randn(4, 20, seed=1), randn(4, 20, seed=2), torch.zeros(3, 4, 20), 4, 20, 0.5,
                  BLOCK=32)  # fmt: skip


def right_modulate(x_ptr, shift_ptr, scale_ptr, eps, **_):
    hat = torch.nn.functional.layer_norm(x_ptr, x_ptr.shape[-1:], eps=eps)
    return hat * (1 + scale_ptr[:3, None]) + shift_ptr[:3, None]


@triton.jit
def weight_norm(v_ptr, g_ptr, w_ptr, rows, n, ROWS: tl.constexpr, COLS: tl.constexpr):
    r = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    c = tl.arange(0, COLS)
    inside = (r[:, None] < rows) & (c[None, :] < n)
    v = tl.load(v_ptr + r[:, None] * n + c[None, :], mask=inside, other=0.0)
    g = tl.load(g_ptr + r, mask=r < rows, other=0.0)
    norm = tl.sqrt(tl.sum(v * v, axis=1))
    w = v * (g / tl.where(r < rows, norm, 1.0))[:, None]
    tl.store(w_ptr + r[:, None] * n + c[None, :], w, mask=inside)


def run_weight_norm(kernel) -> None:
    kernel[(2,)](randn(14, 8), randn(14, seed=1), torch.zeros(14, 8), 14, 8, ROWS=8, COLS=8)


@triton.jit
def excite(x_ptr, gate_ptr, y_ptr, channels, pixels, BLOCK: tl.constexpr):
    channel = tl.program_id(0) % channels
    image = tl.program_id(0) // channels
    at = tl.arange(0, BLOCK)
    gate = tl.sigmoid(tl.load(gate_ptr + image * channels + channel))
    base = (image * channels + channel) * pixels
    x = tl.load(x_ptr + base + at, mask=at < pixels, other=0.0)
    tl.store(y_ptr + base + at, x * gate, mask=at < pixels)


def run_excite(kernel) -> None:
    kernel[(12,)](randn(3, 4, 25), randn(3, 4, seed=1), torch.zeros(3, 4, 25), 4, 25, BLOCK=32)


@triton.jit
def gated_halves(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    left = tl.load(x_ptr + row * 2 * n + cols, mask=cols < n, other=0.0)
    right = tl.load(x_ptr + row * 2 * n + n + cols, mask=cols < n, other=0.0)
    tl.store(y_ptr + row * n + cols, left * tl.sigmoid(right), mask=cols < n)


def run_gated_halves(kernel) -> None:
    kernel[(6,)](randn(6, 40), torch.zeros(6, 20), 20, BLOCK=32)


@triton.jit
def residual_dropout(x_ptr, residual_ptr, y_ptr, n, p, seed, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    at = row * n + cols
    x = tl.load(x_ptr + at, mask=cols < n, other=0.0)
    keep = tl.rand(seed, at) > p
    y = tl.where(keep, x / (1 - p), 0.0)
    y += tl.load(residual_ptr + at, mask=cols < n, other=0.0)
    tl.store(y_ptr + at, y, mask=cols < n)


def run_residual_dropout(kernel) -> None:
    kernel[(5,)](randn(5, 28), randn(5, 28, seed=1), torch.zeros(5, 28), 28, 0.3, 11, BLOCK=32)


@triton.jit
def distance_scores(q_ptr, k_ptr, slope_ptr, s_ptr, heads, length, scale, D: tl.constexpr, BLOCK: tl.constexpr):
    head = tl.program_id(1) % heads
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    j = tl.arange(0, BLOCK)
    d = tl.arange(0, D)
    base = tl.program_id(1) * length
    slope = tl.load(slope_ptr + head)
    q = tl.load(q_ptr + (base + i[:, None]) * D + d[None, :])
    for start in range(0, length, BLOCK):
        at = start + j
        k = tl.load(k_ptr + (base + at[None, :]) * D + d[:, None])
        s = tl.dot(q, k) * scale - slope * (i[:, None] - at[None, :])
        s = tl.where(i[:, None] >= at[None, :], s, -1.0e9)
        tl.store(s_ptr + (base + i[:, None]) * length + at[None, :], s)


def run_distance_scores(kernel) -> None:
    kernel[(2, 6)](randn(3, 2, 32, 16), randn(3, 2, 32, 16, seed=1), torch.tensor([0.5, 0.125]),
                   torch.zeros(3, 2, 32, 32), 2, 32, 0.25, D=16, BLOCK=16)  # fmt: skip


def right_distance_scores(q_ptr, k_ptr, slope_ptr, length, scale, **_):
    apart = torch.arange(length)[:, None] - torch.arange(length)[None, :]
    s = q_ptr @ k_ptr.mT * scale - slope_ptr[:, None, None] * apart
    return s.masked_fill(apart < 0, -1.0e9)


@triton.jit
def sink_attention(q_ptr, k_ptr, v_ptr, sink_ptr, o_ptr, length, scale, D: tl.constexpr, BLOCK: tl.constexpr):
    head = tl.program_id(0)
    d = tl.arange(0, D)
    q = tl.load(q_ptr + head * D + d)
    top = tl.load(sink_ptr + head)
    total = 1.0
    acc = tl.zeros((D,), tl.float32)
    for start in range(0, length, BLOCK):
        t = start + tl.arange(0, BLOCK)
        at = (head * length + t[:, None]) * D + d[None, :]
        k = tl.load(k_ptr + at, mask=t[:, None] < length, other=0.0)
        v = tl.load(v_ptr + at, mask=t[:, None] < length, other=0.0)
        s = tl.sum(k * q[None, :], axis=1) * scale
        s = tl.where(t < length, s, float("-inf"))
        new = tl.maximum(top, tl.max(s, axis=0))
        w = tl.exp(s - new)
        fade = tl.exp(top - new)
        total = total * fade + tl.sum(w, axis=0)
        acc = acc * fade + tl.sum(w[:, None] * v, axis=0)
        top = new
    tl.store(o_ptr + head * D + d, acc / total)


def run_sink_attention(kernel) -> None:
    kernel[(4,)](randn(4, 16), randn(4, 30, 16, seed=1), randn(4, 30, 16, seed=2), randn(4, seed=3),
                 torch.zeros(4, 16), 30, 0.25, D=16, BLOCK=8)  # fmt: skip


def right_sink_attention(q_ptr, k_ptr, v_ptr, sink_ptr, scale, **_):
    s = torch.einsum("hd,htd->ht", q_ptr, k_ptr) * scale
    w = torch.softmax(torch.cat([s, sink_ptr[:, None]], dim=1), dim=1)[:, :-1]
    return torch.einsum("ht,htd->hd", w, v_ptr)


LAYERS = (
    Subject(
        low_rank_linear, run_low_rank_linear,
        (
            Slip("scale", "tl.dot(low, up) * scale", "tl.dot(low, up)",
                 "reports of low-rank adapters: the scale of the adapter"),
            Slip("missing term", "acc + bias[None, :])", "acc)",
                 "learners' linear layers: the bias"),
            Slip("stride or address", "n[None, :] * RANK + r[:, None]", "r[:, None] * N + n[None, :]",
                 "tritonBLAS pull request 57: the strides of a factor are exchanged"),
        ),
        lambda x_ptr, w_ptr, down_ptr, up_ptr, bias_ptr, scale, **_: (
            x_ptr @ w_ptr.T + x_ptr @ down_ptr.T @ up_ptr.T * scale + bias_ptr
        ),
    ),
    Subject(
        modulate, run_modulate,
        (
            Slip("missing term", "hat * (1 + scale)", "hat * scale",
                 "learners' adaptive norms: the scale is about one"),
            Slip("program or head", "batch = row // length", "batch = row % length",
                 "reports of adaptive norms: the place for the batch"),
            Slip("epsilon", "tl.rsqrt(var + eps)", "(tl.rsqrt(var) + eps)",
                 "learners' norms: the epsilon stands outside of the root"),
            Slip("masked-off lanes", "tl.where(inside, x - mean, 0.0)", "x - mean",
                 "learners' norms: lanes that are masked off enter the variance"),
        ),
        right_modulate,
    ),
    Subject(
        weight_norm, run_weight_norm,
        (
            Slip("axis", "tl.sum(v * v, axis=1)", "tl.sum(v * v, axis=0)",
                 "learners' reductions: summed along the other axis"),
            Slip("last step", "tl.sqrt(tl.sum(v * v, axis=1))", "tl.sum(v * v, axis=1)",
                 "learners' norms: the root is left out"),
        ),
        lambda v_ptr, g_ptr, **_: v_ptr * (g_ptr / v_ptr.norm(dim=1))[:, None],
    ),
    Subject(
        excite, run_excite,
        (
            Slip("program or head", "channel = tl.program_id(0) % channels", "channel = tl.program_id(0) // channels",
                 "learners' grids: quotient for remainder"),
            Slip("index", "gate_ptr + image * channels + channel", "gate_ptr + channel",
                 "learners' gates: every image reads the first one's"),
            Slip("missing function", "tl.sigmoid(tl.load(gate_ptr + image * channels + channel))",
                 "tl.load(gate_ptr + image * channels + channel)", "learners' gates: the sigmoid"),
        ),
        lambda x_ptr, gate_ptr, **_: x_ptr * torch.sigmoid(gate_ptr)[..., None],
    ),
    Subject(
        gated_halves, run_gated_halves,
        (
            Slip("exchanged operands", "left * tl.sigmoid(right)", "right * tl.sigmoid(left)",
                 "reports of gated units: the gate is the other half"),
            Slip("stride or address", "y_ptr + row * n + cols, left", "y_ptr + cols, left",
                 "Triton-distributed pull request 185: every row is written to row 0"),
        ),
        lambda x_ptr, **_: torch.nn.functional.glu(x_ptr),
    ),
    Subject(
        residual_dropout, run_residual_dropout,
        (
            Slip("scale", "x / (1 - p)", "x", "learners' dropouts: what is kept is not scaled"),
            Slip("random numbers", "tl.rand(seed, at)", "tl.rand(seed, cols)",
                 "learners' dropouts: each row draws the same numbers"),
        ),
    ),
    Subject(
        distance_scores, run_distance_scores,
        (
            Slip("causal mask", "i[:, None] >= at[None, :], s", "i[:, None] > at[None, :], s",
                 "learners' attention: a token does not see itself"),
            Slip("order of steps",
                 "tl.dot(q, k) * scale - slope * (i[:, None] - at[None, :])",
                 "(tl.dot(q, k) - slope * (i[:, None] - at[None, :])) * scale",
                 "reports of biased attention: the bias is scaled, too"),
            Slip("program or head", "tl.program_id(1) % heads", "tl.program_id(1) // heads % heads",
                 "reports of attention: the head's slope"),
        ),
        right_distance_scores,
    ),
    Subject(
        sink_attention, run_sink_attention,
        (
            Slip("accumulator", "total = 1.0", "total = 0.0", "reports of attention sinks: the sink is not counted"),
            Slip("last step", "acc / total", "acc", "Triton Puzzles: the sum of weights is not divided by"),
            Slip("exchanged operands", "fade = tl.exp(top - new)", "fade = tl.exp(new - top)",
                 "learners' flash attention: the rescaling is the other way round"),
        ),
        right_sink_attention,
    ),
)  # fmt: skip
