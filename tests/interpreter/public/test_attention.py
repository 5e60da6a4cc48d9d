"""Attention kernels as public libraries write them: rotary embedding, the backward pass, paged keys, against torch."""

import math

import pytest
import torch
import triton
import triton.language as tl


@triton.jit
def rotary(q, cos, sin, stride_row, stride_head, length, HEADS: tl.constexpr, HALF: tl.constexpr, BACK: tl.constexpr):
    """Rotates all heads of one token in place; backwards by the opposite angle."""
    token = tl.program_id(0).to(tl.int64)
    place = token % length
    half = tl.arange(0, HALF)
    c, s = tl.load(cos + place * HALF + half), tl.load(sin + place * HALF + half)
    head = tl.arange(0, triton.next_power_of_2(HEADS))
    first = token * stride_row + head[:, None] * stride_head + half[None, :]
    mask = (head < HEADS)[:, None] & (half < HALF)[None, :]
    a = tl.load(q + first, mask=mask, other=0)
    b = tl.load(q + first + HALF, mask=mask, other=0)
    if BACK:
        s = -s
    tl.store(q + first, a * c - b * s, mask=mask)
    tl.store(q + first + HALF, b * c + a * s, mask=mask)


def test_rotary_embedding_and_back_on_heads_that_are_no_power_of_two():
    torch.manual_seed(0)
    batch, length, heads, half = 2, 9, 3, 16
    q = torch.randn(batch, length, heads, 2 * half)
    angle = torch.outer(torch.arange(length).float(), 10000.0 ** (-torch.arange(half) / half))
    rotated = q.clone()
    arguments = (angle.cos(), angle.sin(), q.stride(1), q.stride(2), length)
    rotary[(batch * length,)](rotated, *arguments, HEADS=heads, HALF=half, BACK=False)
    turn = torch.polar(torch.ones_like(angle), angle)[None, :, None]
    expected = torch.complex(q[..., :half], q[..., half:]) * turn
    torch.testing.assert_close(rotated, torch.cat([expected.real, expected.imag], -1))
    rotary[(batch * length,)](rotated, *arguments, HEADS=heads, HALF=half, BACK=True)
    torch.testing.assert_close(rotated, q)


@triton.jit
def attention_delta(o, do, delta, n, D: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    place = tl.program_id(1) * n * D + row[:, None] * D + tl.arange(0, D)[None, :]
    mask = (row < n)[:, None]
    product = tl.load(o + place, mask=mask, other=0.0) * tl.load(do + place, mask=mask, other=0.0)
    tl.store(delta + tl.program_id(1) * n + row, tl.sum(product, 1), mask=row < n)


@triton.jit
def attention_backward(
    q, k, v, do, dq, dk, dv, lse, delta, scale, n,
    D: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, CAUSAL: tl.constexpr,
):  # fmt: skip
    """One block of keys: their gradients, and what they add to the queries' by atomics."""
    head = tl.program_id(1) * n
    keys = tl.program_id(0) * BLOCK_N + tl.arange(0, BLOCK_N)
    d = tl.arange(0, D)
    key_place = (head + keys)[:, None] * D + d[None, :]
    key_mask = (keys < n)[:, None]
    block_k = tl.load(k + key_place, mask=key_mask, other=0.0)
    block_v = tl.load(v + key_place, mask=key_mask, other=0.0)
    grad_k = tl.zeros((BLOCK_N, D), tl.float32)
    grad_v = tl.zeros((BLOCK_N, D), tl.float32)
    begin = (tl.program_id(0) * BLOCK_N // BLOCK_M) * BLOCK_M if CAUSAL else 0
    for start in range(begin, n, BLOCK_M):
        rows = start + tl.arange(0, BLOCK_M)
        place = (head + rows)[:, None] * D + d[None, :]
        mask = (rows < n)[:, None]
        block_q = tl.load(q + place, mask=mask, other=0.0)
        block_do = tl.load(do + place, mask=mask, other=0.0)
        total = tl.load(lse + head + rows, mask=rows < n, other=0.0)
        di = tl.load(delta + head + rows, mask=rows < n, other=0.0)
        p = tl.exp(tl.dot(block_q, tl.trans(block_k), input_precision="ieee") * scale - total[:, None])
        seen = (rows < n)[:, None] & (keys < n)[None, :]
        if CAUSAL:
            seen &= rows[:, None] >= keys[None, :]
        p = tl.where(seen, p, 0.0)
        grad_v = tl.dot(tl.trans(p), block_do, grad_v, input_precision="ieee")
        dp = tl.dot(block_do, tl.trans(block_v), input_precision="ieee")
        ds = p * (dp - di[:, None]) * scale
        grad_k += tl.dot(tl.trans(ds), block_q, input_precision="ieee")
        tl.atomic_add(dq + place, tl.dot(ds, block_k, input_precision="ieee"), mask=mask)
    tl.store(dk + key_place, grad_k, mask=key_mask)
    tl.store(dv + key_place, grad_v, mask=key_mask)


@pytest.mark.parametrize("causal", [False, True])
def test_flash_attention_backward(causal):
    torch.manual_seed(0)
    heads, n, d = 3, 70, 32
    q, k, v, do = (torch.randn(heads, n, d) for _ in range(4))
    wide = [x.double().requires_grad_() for x in (q, k, v)]
    scores = wide[0] @ wide[1].mT / math.sqrt(d)
    if causal:
        scores = scores.masked_fill(torch.ones(n, n).triu(1).bool(), float("-inf"))
    out = scores.softmax(-1) @ wide[2]
    out.backward(do.double())
    lse, delta = scores.logsumexp(-1).float().detach(), torch.empty(heads, n)
    attention_delta[(triton.cdiv(n, 32), heads)](out.float().detach(), do, delta, n, D=d, BLOCK=32)
    dq, dk, dv = (torch.zeros_like(q) for _ in range(3))
    attention_backward[(triton.cdiv(n, 32), heads)](
        q, k, v, do, dq, dk, dv, lse, delta, 1 / math.sqrt(d), n, D=d, BLOCK_M=16, BLOCK_N=32, CAUSAL=causal
    )
    for found, expected in zip((dq, dk, dv), wide, strict=True):
        torch.testing.assert_close(found.double(), expected.grad, rtol=1e-4, atol=1e-4)


@triton.jit
def paged_attention(
    q, keys, values, tables, lengths, out, scale, table_stride,
    GROUP: tl.constexpr, GROUP_PADDED: tl.constexpr, D: tl.constexpr, PAGE: tl.constexpr, HEADS: tl.constexpr,
):  # fmt: skip
    """One sequence and one head of keys, with the group of query heads that share it; keys lie in pages."""
    sequence, head = tl.program_id(0), tl.program_id(1)
    group = tl.arange(0, GROUP_PADDED)
    d, slot = tl.arange(0, D), tl.arange(0, PAGE)
    place = ((sequence * HEADS + head) * GROUP + group)[:, None] * D + d[None, :]
    mask = (group < GROUP)[:, None]
    query = tl.load(q + place, mask=mask, other=0.0)
    length = tl.load(lengths + sequence)
    greatest = tl.full((GROUP_PADDED,), float("-inf"), tl.float32)
    total = tl.zeros((GROUP_PADDED,), tl.float32)
    sums = tl.zeros((GROUP_PADDED, D), tl.float32)
    for number in range(tl.cdiv(length, PAGE)):
        page = tl.load(tables + sequence * table_stride + number).to(tl.int64)
        cell = ((page * HEADS + head) * PAGE + slot)[:, None] * D + d[None, :]
        there = number * PAGE + slot < length
        k = tl.load(keys + cell, mask=there[:, None], other=0.0)
        v = tl.load(values + cell, mask=there[:, None], other=0.0)
        scores = tl.sum(query[:, None, :] * k[None, :, :], axis=2) * scale
        scores = tl.where(there[None, :], scores, float("-inf"))
        new = tl.maximum(greatest, tl.max(scores, 1))
        weight = tl.exp(scores - new[:, None])
        shrink = tl.exp(greatest - new)
        sums = sums * shrink[:, None] + tl.sum(weight[:, :, None] * v[None, :, :], axis=1)
        total = total * shrink + tl.sum(weight, 1)
        greatest = new
    tl.store(out + place, sums / total[:, None], mask=mask)


def test_paged_attention_with_grouped_queries():
    torch.manual_seed(0)
    heads, group, d, page, pages = 2, 3, 32, 16, 12
    lengths = torch.tensor([1, 16, 37, 50], dtype=torch.int32)
    tables = torch.randperm(pages)[:12].reshape(4, 3).to(torch.int32)
    tables = torch.cat([tables, torch.full((4, 1), -7, dtype=torch.int32)], 1)
    tables[3] = torch.tensor([5, 1, 9, 4])
    keys, values = torch.randn(2, pages, heads, page, d).unbind(0)
    q = torch.randn(4, heads * group, d)
    out = torch.empty_like(q)
    paged_attention[(4, heads)](
        q, keys, values, tables, lengths, out, d**-0.5, tables.stride(0),
        GROUP=group, GROUP_PADDED=4, D=d, PAGE=page, HEADS=heads,
    )  # fmt: skip
    for number, length in enumerate(lengths.tolist()):
        used = tables[number, : triton.cdiv(length, page)].long()
        k, v = (x[used].transpose(0, 1).reshape(heads, -1, d)[:, :length] for x in (keys, values))
        expected = torch.nn.functional.scaled_dot_product_attention(q[number].reshape(heads, group, d), k, v).reshape(
            -1, d
        )
        torch.testing.assert_close(out[number], expected, rtol=1e-4, atol=1e-5)


@triton.jit
def split_decode(q, k, v, part, weight, n, scale, D: tl.constexpr, CHUNK: tl.constexpr, BLOCK: tl.constexpr):
    """One part of a long sequence of keys for one query: a flash decoding step."""
    number = tl.program_id(0)
    d = tl.arange(0, D)
    query = tl.load(q + d)
    greatest, total = float("-inf"), 0.0
    sums = tl.zeros((D,), tl.float32)
    for start in range(number * CHUNK, tl.minimum((number + 1) * CHUNK, n), BLOCK):
        row = start + tl.arange(0, BLOCK)
        mask = row < n
        keys = tl.load(k + row[:, None] * D + d[None, :], mask=mask[:, None], other=0.0)
        score = tl.where(mask, tl.sum(keys * query[None, :], 1) * scale, float("-inf"))
        new = tl.maximum(greatest, tl.max(score, 0))
        p = tl.exp(score - new)
        values = tl.load(v + row[:, None] * D + d[None, :], mask=mask[:, None], other=0.0)
        shrink = tl.exp(greatest - new)
        sums = sums * shrink + tl.sum(p[:, None] * values, 0)
        total = total * shrink + tl.sum(p, 0)
        greatest = new
    tl.store(part + number * D + d, sums / total)
    tl.store(weight + number, greatest + tl.log(total))


@triton.jit
def merge_parts(part, weight, out, parts, D: tl.constexpr, PARTS: tl.constexpr):
    number, d = tl.arange(0, PARTS), tl.arange(0, D)
    w = tl.softmax(tl.load(weight + number, mask=number < parts, other=float("-inf")))
    block = tl.load(part + number[:, None] * D + d[None, :], mask=(number < parts)[:, None], other=0.0)
    tl.store(out + d, tl.sum(block * w[:, None], 0))


def test_flash_decoding_merges_parts():
    torch.manual_seed(0)
    n, d = 150, 64
    q, k, v = torch.randn(d), torch.randn(n, d), torch.randn(n, d)
    part, weight, out = torch.empty(5, d), torch.empty(5), torch.empty(d)
    split_decode[(5,)](q, k, v, part, weight, n, d**-0.5, D=d, CHUNK=32, BLOCK=16)
    merge_parts[(1,)](part, weight, out, 5, D=d, PARTS=8)
    torch.testing.assert_close(out, (k @ q * d**-0.5).softmax(0) @ v, rtol=1e-4, atol=1e-5)
