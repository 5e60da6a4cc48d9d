"""Matrix products, quantized and grouped ones, and the slips that were reported of such kernels."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

from __future__ import annotations

import torch
import triton
import triton.language as tl

from tests.launch.comparison.reported.slip import Slip, Subject
from tests.launch.comparison.slips import randn


@triton.jit
def linear(
    a_ptr, b_ptr, bias_ptr, c_ptr, M, N, K, am, ak, bk, bn,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr,
):  # fmt: skip
    pid = tl.program_id(0)
    tiles_m = tl.cdiv(M, BM)
    in_group = GROUP * tl.cdiv(N, BN)
    first = pid // in_group * GROUP
    size = min(tiles_m - first, GROUP)
    pid_m = first + pid % in_group % size
    pid_n = pid % in_group // size
    rm = pid_m * BM + tl.arange(0, BM)
    rn = pid_n * BN + tl.arange(0, BN)
    rk = tl.arange(0, BK)
    a_ptrs = a_ptr + rm[:, None] * am + rk[None, :] * ak
    b_ptrs = b_ptr + rk[:, None] * bk + rn[None, :] * bn
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, tl.cdiv(K, BK)):
        left = K - k * BK
        a = tl.load(a_ptrs, mask=(rm[:, None] < M) & (rk[None, :] < left), other=0.0)
        b = tl.load(b_ptrs, mask=(rk[:, None] < left) & (rn[None, :] < N), other=0.0)
        acc += tl.dot(a, b)
        a_ptrs += BK * ak
        b_ptrs += BK * bk
    bias = tl.load(bias_ptr + rn, mask=rn < N, other=0.0)
    c = acc + bias[None, :]
    c = tl.where(c > 0, c, 0.01 * c)
    tl.store(c_ptr + rm[:, None] * N + rn[None, :], c, mask=(rm[:, None] < M) & (rn[None, :] < N))


def run_linear(kernel) -> None:
    a, b = randn(80, 64)[:, :40], randn(64, 48, seed=1)[:40]
    kernel[(15,)](
        a, b, randn(64, seed=2), torch.zeros(80, 48), 80, 48, 40, a.stride(0), a.stride(1), b.stride(0), b.stride(1),
        BM=16, BN=16, BK=16, GROUP=3,
    )  # fmt: skip


@triton.jit
def int4_linear(
    a_ptr, q_ptr, scale_ptr, zero_ptr, c_ptr, M, N, K,
    SIZE: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
):  # fmt: skip
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), tl.float32)
    for start in range(0, K, BK):
        k = start + tl.arange(0, BK)
        a = tl.load(a_ptr + rm[:, None] * K + k[None, :], mask=rm[:, None] < M, other=0.0)
        packed = tl.load(q_ptr + (k // 8)[:, None] * N + rn[None, :])
        nibble = (packed >> (k % 8 * 4)[:, None]) & 0xF
        group = k // SIZE
        scale = tl.load(scale_ptr + group[:, None] * N + rn[None, :])
        zero = tl.load(zero_ptr + group[:, None] * N + rn[None, :])
        w = (nibble - zero) * scale
        acc += tl.dot(a, w)
    tl.store(c_ptr + rm[:, None] * N + rn[None, :], acc, mask=rm[:, None] < M)


def run_int4_linear(kernel) -> None:
    random = torch.Generator().manual_seed(3)
    packed = torch.randint(-(2**31), 2**31 - 1, (8, 32), generator=random, dtype=torch.int64).to(torch.int32)
    zero = torch.randint(0, 16, (4, 32), generator=random, dtype=torch.int32)
    kernel[(2, 2)](
        randn(20, 64), packed, randn(4, 32, seed=1), zero, torch.zeros(20, 32), 20, 32, 64,
        SIZE=16, BM=16, BN=16, BK=32,
    )  # fmt: skip


def right_int4_linear(a_ptr, q_ptr, scale_ptr, zero_ptr, **_):
    nibbles = torch.stack([(q_ptr >> (4 * k)) & 15 for k in range(8)], 1).reshape(64, 32)
    return a_ptr @ ((nibbles - zero_ptr.repeat_interleave(16, 0)) * scale_ptr.repeat_interleave(16, 0))


@triton.jit
def expert_linear(
    x_ptr, w_ptr, slot_ptr, expert_ptr, weight_ptr, out_ptr, slots, top_k, N, K,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
):  # fmt: skip
    pid_m = tl.program_id(0)
    pid_n = tl.program_id(1)
    slot = tl.load(slot_ptr + pid_m * BM + tl.arange(0, BM))
    live = slot < slots
    expert = tl.load(expert_ptr + pid_m)
    token = slot // top_k
    rn = pid_n * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), tl.float32)
    for start in range(0, K, BK):
        k = start + tl.arange(0, BK)
        x = tl.load(x_ptr + token[:, None] * K + k[None, :], mask=live[:, None], other=0.0)
        w = tl.load(w_ptr + expert * K * N + k[:, None] * N + rn[None, :])
        acc += tl.dot(x, w)
    weight = tl.load(weight_ptr + slot, mask=live, other=0.0)
    tl.store(out_ptr + slot[:, None] * N + rn[None, :], acc * weight[:, None], mask=live[:, None])


def run_expert_linear(kernel) -> None:
    # 14 tokens, 2 experts each of 3: the slots of an expert are padded to a multiple of 16 with 28.
    random = torch.Generator().manual_seed(5)
    chosen = torch.stack([torch.randperm(3, generator=random)[:2] for _ in range(14)]).reshape(-1)
    slots, experts = [], []
    for expert in range(3):
        mine = [k for k in range(28) if chosen[k] == expert]
        padded = -(-len(mine) // 16) * 16
        slots += mine + [28] * (padded - len(mine))
        experts += [expert] * (padded // 16)
    kernel[(len(experts), 2)](
        randn(14, 32), randn(3, 32, 32, seed=1), torch.tensor(slots, dtype=torch.int32),
        torch.tensor(experts, dtype=torch.int32), randn(28, seed=2), torch.zeros(28, 32), 28, 2, 32, 32,
        BM=16, BN=16, BK=16,
    )  # fmt: skip


PRODUCTS = (
    Subject(
        linear, run_linear,
        (
            Slip("mask", "left = K - k * BK", "left = K",
                 "Triton issue 630 and a GPU MODE lecture: the mask of the last step of K does not shrink",
                 also=("a = tl.load(a_ptrs", "b = tl.load(b_ptrs")),
            Slip("stride or address", "b_ptrs += BK * bk", "b_ptrs += BK * bn",
                 "learners' matrix products: the other stride advances the pointer"),
            Slip("axis", "bias[None, :]", "bias[:, None]",
                 "learners' bias: it is added along the rows"),
            Slip("program or head", "size = min(tiles_m - first, GROUP)", "size = GROUP",
                 "FlagGems pull request 989: the last group of tiles is smaller"),
            Slip("loop", "for k in range(0, tl.cdiv(K, BK)):", "for k in range(0, K // BK):",
                 "learners' matrix products: a tail of K is left out"),
            Slip("index", "bias_ptr + rn, mask=rn < N", "bias_ptr + rm, mask=rm < N",
                 "learners' bias: the row's offsets index it"),
        ),
    ),
    Subject(
        int4_linear, run_int4_linear,
        (
            Slip("index", "group = k // SIZE", "group = k * 0 + start // SIZE",
                 "vLLM pull request 39705: one group of scales for a tile that spans several"),
            Slip("constant", "(nibble - zero) * scale", "(nibble - zero - 1) * scale",
                 "AutoGPTQ pull request 640: zero points are stored less 1"),
            Slip("bits", "(k % 8 * 4)", "((7 - k % 8) * 4)",
                 "GPTQModel issue 2251: another order of the packed numbers"),
            Slip("wrong operand", "zero = tl.load(zero_ptr", "zero = tl.load(scale_ptr",
                 "reports of quantized products: the scales are read as the zero points"),
        ),
        right_int4_linear,
    ),
    Subject(
        expert_linear, run_expert_linear,
        (
            Slip("index", "weight_ptr + slot, ", "weight_ptr + token, ",
                 "Triton-distributed pull request 133: the weight's offset lacks the number of choices"),
            Slip("program or head", "expert_ptr + pid_m)", "expert_ptr + pid_n)",
                 "applied-ai issue 25: the tiles of rows and columns are exchanged"),
            Slip("missing term", "acc * weight[:, None]", "acc",
                 "vLLM pull request 16071: the routing weight is applied elsewhere, or not"),
        ),
    ),
)  # fmt: skip
