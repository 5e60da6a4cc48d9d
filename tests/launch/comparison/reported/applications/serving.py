"""What servers of language models run between the large products, with one slip at a time."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

from __future__ import annotations

import torch
import triton
import triton.language as tl

from tests.launch.comparison.reported.applications.layers import ints, rand
from tests.launch.comparison.reported.slip import Slip, Subject
from tests.launch.comparison.slips import randn


@triton.jit
def append_rotated(
    k_ptr, v_ptr, cos_ptr, sin_ptr, position_ptr, slot_ptr, k_pages, v_pages, stride_token, dim, rotary, page_size,
    HALF: tl.constexpr, DIM: tl.constexpr,
):  # fmt: skip
    token = tl.program_id(0)
    head = tl.program_id(1)
    slot = tl.load(slot_ptr + token)
    position = tl.load(position_ptr + token)
    page = slot // page_size
    line = slot % page_size
    source = token * stride_token + head * dim
    target = ((page * tl.num_programs(1) + head) * page_size + line) * dim
    d = tl.arange(0, DIM)
    kept = (slot >= 0) & (d < dim)
    k = tl.load(k_ptr + source + d, mask=d < dim)
    tl.store(k_pages + target + d, k, mask=kept & (d >= rotary))
    tl.store(v_pages + target + d, tl.load(v_ptr + source + d, mask=d < dim), mask=kept)
    half = rotary // 2
    h = tl.arange(0, HALF)
    turned = (slot >= 0) & (h < half)
    cos = tl.load(cos_ptr + position * half + h, mask=turned)
    sin = tl.load(sin_ptr + position * half + h, mask=turned)
    first = tl.load(k_ptr + source + h, mask=turned)
    second = tl.load(k_ptr + source + half + h, mask=turned)
    tl.store(k_pages + target + h, first * cos - second * sin, mask=turned)
    tl.store(k_pages + target + half + h, second * cos + first * sin, mask=turned)


def run_append_rotated(kernel):
    slots = torch.tensor([3, 9, -1, 14, 6], dtype=torch.int32)
    places = torch.tensor([7, 2, 0, 5, 11], dtype=torch.int32)
    angles = rand(12, 4, seed=2) * 6
    pages = torch.zeros(4, 2, 4, 12), torch.zeros(4, 2, 4, 12)
    k, v = randn(5, 30), randn(5, 30, seed=1)
    kernel[(5, 2)](k, v, angles.cos(), angles.sin(), places, slots, *pages, 30, 12, 8, 4, HALF=4, DIM=16)


def right_append_rotated(k_ptr, v_ptr, cos_ptr, sin_ptr, position_ptr, slot_ptr, k_pages, v_pages, **_):
    k, v = k_ptr[:, :24].reshape(5, 2, 12), v_ptr[:, :24].reshape(5, 2, 12)
    cos, sin = cos_ptr[position_ptr.long()][:, None], sin_ptr[position_ptr.long()][:, None]
    a, b, rest = k.split((4, 4, 4), dim=2)
    k = torch.cat((a * cos - b * sin, b * cos + a * sin, rest), dim=2)
    k_pages, v_pages = k_pages.clone(), v_pages.clone()
    for token, slot in enumerate(slot_ptr.tolist()):
        if slot >= 0:
            k_pages[slot // 4, :, slot % 4], v_pages[slot // 4, :, slot % 4] = k[token], v[token]
    return {"k_pages": k_pages, "v_pages": v_pages}


@triton.jit
def gather_pages(
    pages_ptr, scale_ptr, table_ptr, starts_ptr, out_ptr, most_pages, heads, DIM: tl.constexpr, PAGE: tl.constexpr
):
    sequence, number, head = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    begin = tl.load(starts_ptr + sequence)
    length = tl.load(starts_ptr + sequence + 1) - begin
    if number * PAGE < length:
        page = tl.load(table_ptr + sequence * most_pages + number)
        rows = tl.arange(0, PAGE)[:, None]
        columns = tl.arange(0, DIM)[None, :]
        stored = tl.load(pages_ptr + ((page * PAGE + rows) * heads + head) * DIM + columns)
        scale = tl.load(scale_ptr + page * heads + head)
        place = number * PAGE + rows
        out = out_ptr + ((begin + place) * heads + head) * DIM + columns
        tl.store(out, stored.to(tl.float32) * scale, mask=place < length)


def run_gather_pages(kernel):
    table = torch.tensor([[4, 1, 6], [2, 0, 0], [5, 3, 0]], dtype=torch.int32)
    starts = torch.tensor([0, 10, 13, 19], dtype=torch.int32)
    pages = ints(-128, 128, 7, 4, 2, 8, dtype=torch.int8)
    kernel[(3, 3, 2)](pages, rand(7, 2, seed=1), table, starts, torch.zeros(23, 2, 8), 3, 2, DIM=8, PAGE=4)


def right_gather_pages(pages_ptr, scale_ptr, table_ptr, starts_ptr, out_ptr, **_):
    out = out_ptr.clone()
    pages = pages_ptr.float() * scale_ptr[:, None, :, None]
    for row, (begin, end) in zip(table_ptr.long(), starts_ptr.unfold(0, 2, 1).tolist(), strict=True):
        out[begin:end] = pages[row].reshape(12, 2, 8)[: end - begin]
    return {"out_ptr": out}


@triton.jit
def biased_router(
    logit_ptr, bias_ptr, weight_ptr, expert_ptr, load_ptr, experts, k, scaling, K: tl.constexpr, E: tl.constexpr
):
    token = tl.program_id(0)
    e = tl.arange(0, E)
    j = tl.arange(0, K)
    score = tl.sigmoid(tl.load(logit_ptr + token * experts + e, mask=e < experts, other=0.0))
    bias = tl.load(bias_ptr + e, mask=e < experts, other=float("-inf"))
    choice = score + bias
    picked = tl.zeros((K,), tl.float32)
    chosen = tl.zeros((K,), tl.int32)
    for step in range(k):
        best = tl.argmax(choice, axis=0)
        value = tl.sum(tl.where(e == best, score, 0.0), axis=0)
        picked = tl.where(j == step, value, picked)
        chosen = tl.where(j == step, best, chosen)
        tl.atomic_add(load_ptr + best, 1)
        choice = tl.where(e == best, float("-inf"), choice)
    total = tl.sum(picked, axis=0)
    tl.store(weight_ptr + token * k + j, picked / total * scaling, mask=j < k)
    tl.store(expert_ptr + token * k + j, chosen, mask=j < k)


def run_biased_router(kernel):
    out = torch.zeros(9, 3), torch.zeros(9, 3, dtype=torch.int32), torch.zeros(16, dtype=torch.int32)
    kernel[(9,)](randn(9, 13), randn(13, seed=1) - 1, *out, 13, 3, 2.5, K=4, E=16)


def right_biased_router(logit_ptr, bias_ptr, scaling, **_):
    score = logit_ptr.sigmoid()
    chosen = (score + bias_ptr).topk(3).indices
    weight = score.gather(1, chosen)
    weight = weight / weight.sum(1, keepdim=True) * scaling
    return {
        "weight_ptr": weight,
        "expert_ptr": chosen.int(),
        "load_ptr": torch.bincount(chosen.flatten(), minlength=16).int(),
    }


@triton.jit
def pack_nibbles(w_ptr, packed_ptr, scale_ptr, zero_ptr, columns, GROUP: tl.constexpr):
    row = tl.program_id(0)
    group = tl.program_id(1)
    pair = tl.arange(0, GROUP // 2)
    base = row * columns + group * GROUP
    even = tl.load(w_ptr + base + 2 * pair)
    odd = tl.load(w_ptr + base + 2 * pair + 1)
    least = tl.minimum(tl.min(even, axis=0), tl.min(odd, axis=0))
    most = tl.maximum(tl.max(even, axis=0), tl.max(odd, axis=0))
    scale = tl.maximum(most - least, 1e-5) / 15
    zero = tl.floor(-least / scale + 0.5)
    low = tl.clamp(tl.floor(even / scale + 0.5) + zero, 0.0, 15.0).to(tl.int32)
    high = tl.clamp(tl.floor(odd / scale + 0.5) + zero, 0.0, 15.0).to(tl.int32)
    tl.store(packed_ptr + base // 2 + pair, (low | (high << 4)).to(tl.uint8))
    tl.store(scale_ptr + row * tl.num_programs(1) + group, scale)
    tl.store(zero_ptr + row * tl.num_programs(1) + group, zero)


def run_pack_nibbles(kernel):
    out = torch.zeros(5, 24, dtype=torch.uint8), torch.zeros(5, 3), torch.zeros(5, 3)
    kernel[(5, 3)](randn(5, 48), *out, 48, GROUP=16)


def right_pack_nibbles(w_ptr, **_):
    w = w_ptr.reshape(5, 3, 16)
    least = w.amin(2, keepdim=True)
    scale = (w.amax(2, keepdim=True) - least) / 15
    zero = (-least / scale + 0.5).floor()
    code = ((w / scale + 0.5).floor() + zero).clamp(0, 15).reshape(5, 24, 2).to(torch.uint8)
    packed = code[..., 0] + 16 * code[..., 1]
    return {"packed_ptr": packed, "scale_ptr": scale.squeeze(2), "zero_ptr": zero.squeeze(2)}


@triton.jit
def lora_delta(
    X, A, B, ADAPTER, SCALING, Y, n_in, n_out, R: tl.constexpr, BLOCK_IN: tl.constexpr, BLOCK_OUT: tl.constexpr
):
    token = tl.program_id(0)
    adapter = tl.load(ADAPTER + token)
    if adapter >= 0:
        r = tl.arange(0, R)
        hidden = tl.zeros((R,), tl.float32)
        for start in range(0, n_in, BLOCK_IN):
            i = start + tl.arange(0, BLOCK_IN)
            x = tl.load(X + token * n_in + i, mask=i < n_in, other=0.0)
            a = tl.load(A + (adapter * R + r)[:, None] * n_in + i[None, :], mask=(i < n_in)[None, :], other=0.0)
            hidden += tl.sum(a * x[None, :], axis=1)
        o = tl.program_id(1) * BLOCK_OUT + tl.arange(0, BLOCK_OUT)
        b = tl.load(B + (adapter * n_out + o)[:, None] * R + r[None, :], mask=(o < n_out)[:, None], other=0.0)
        y = tl.load(Y + token * n_out + o, mask=o < n_out)
        delta = tl.sum(b * hidden[None, :], axis=1)
        tl.store(Y + token * n_out + o, y + delta * tl.load(SCALING + adapter), mask=o < n_out)


def run_lora_delta(kernel):
    adapter = torch.tensor([2, 0, -1, 1, 2], dtype=torch.int32)
    a, b = randn(3, 8, 20, seed=1), randn(3, 14, 8, seed=2)
    y, scaling = randn(5, 14, seed=3), torch.tensor([0.5, 2.0, 1.25])
    kernel[(5, 2)](randn(5, 20), a, b, adapter, scaling, y, 20, 14, R=8, BLOCK_IN=8, BLOCK_OUT=8)


def right_lora_delta(X, A, B, ADAPTER, SCALING, Y, **_):
    y = Y.clone()
    for token, adapter in enumerate(ADAPTER.tolist()):
        if adapter >= 0:
            y[token] += SCALING[adapter] * (B[adapter] @ (A[adapter] @ X[token]))
    return {"Y": y}


SERVING = (
    Subject(
        append_rotated,
        run_append_rotated,
        (
            Slip("index", "sin_ptr + position * half", "sin_ptr + token * half", "the place in the batch"),
            Slip(
                "stride or address",
                "((page * tl.num_programs(1) + head) * page_size + line) * dim",
                "((page * page_size + line) * tl.num_programs(1) + head) * dim",
                "pages as [line, head]",
            ),
            Slip("comparison", "kept & (d >= rotary)", "kept & (d > rotary)", "the first plain feature stays empty"),
        ),
        right_append_rotated,
    ),
    Subject(
        gather_pages,
        run_gather_pages,
        (
            Slip("program or head", "scale_ptr + page * heads", "scale_ptr + number * heads", "the page's number"),
            Slip("missing term", "place = number * PAGE + rows", "place = rows", "each page to the start"),
            Slip("mask", "mask=place < length", "mask=rows < length", "the last page is written whole"),
        ),
        right_gather_pages,
    ),
    Subject(
        biased_router,
        run_biased_router,
        (
            Slip("wrong operand", "tl.where(e == best, score, 0.0)", "tl.where(e == best, choice, 0.0)", "with bias"),
            Slip("race", "tl.atomic_add(load_ptr + best, 1)", "tl.store(load_ptr + best, 1)", "tokens are not counted"),
            Slip(
                "masked-off lanes",
                'other=float("-inf"))',
                "other=0.0)",
                "experts that are none compete",
                also=("choice = score + bias",),
            ),
        ),
        right_biased_router,
    ),
    Subject(
        pack_nibbles,
        run_pack_nibbles,
        (
            Slip("constant", "(most - least, 1e-5) / 15", "(most - least, 1e-5) / 16", "levels for steps"),
            Slip("exchanged operands", "low | (high << 4)", "high | (low << 4)", "the other nibble first"),
            Slip("missing term", "tl.floor(odd / scale + 0.5) + zero", "tl.floor(odd / scale + 0.5)", "no zero point"),
        ),
        right_pack_nibbles,
    ),
    Subject(
        lora_delta,
        run_lora_delta,
        (
            Slip("accumulator", "hidden += tl.sum", "hidden = tl.sum", "the last block alone"),
            Slip("axis", "tl.sum(a * x[None, :], axis=1)", "tl.sum(a * x[None, :], axis=0)", "over the rank"),
            Slip("loop", "range(0, n_in, BLOCK_IN)", "range(0, n_in - BLOCK_IN, BLOCK_IN)", "the tail is left out"),
        ),
        right_lora_delta,
    ),
)
