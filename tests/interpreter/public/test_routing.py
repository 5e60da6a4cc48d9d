"""Sorting, routing and updating in the style of public libraries, against torch."""

import pytest
import torch
import triton
import triton.language as tl


@triton.jit
def route(logits, weights, experts, counts, n, K: tl.constexpr, EXPERTS: tl.constexpr):
    """The K best experts of a token by packing value and index into one number, as topk wants."""
    token = tl.program_id(0)
    expert = tl.arange(0, EXPERTS)
    value = tl.load(logits + token * n + expert, mask=expert < n, other=float("-inf"))
    bits = value.to(tl.uint32, bitcast=True)
    key = tl.where(bits >> 31 == 1, ~bits, bits | 0x80000000)
    packed = (key.to(tl.uint64) << 32) | (EXPERTS - 1 - expert).to(tl.uint64)
    best = tl.topk(packed, K)
    chosen = EXPERTS - 1 - (best & 0xFFFFFFFF).to(tl.int32)
    key = (best >> 32).to(tl.uint32)
    bits = tl.where(key >> 31 == 1, key & 0x7FFFFFFF, ~key)
    share = tl.softmax(bits.to(tl.float32, bitcast=True))
    place = token * K + tl.arange(0, K)
    tl.store(weights + place, share)
    tl.store(experts + place, chosen)
    tl.atomic_add(counts + chosen, 1, sem="relaxed")


def test_top_k_routing():
    torch.manual_seed(0)
    logits = torch.randn(40, 12)
    logits[3] = 0.5  # ties: the first experts win
    weights, experts = torch.empty(40, 4), torch.empty(40, 4, dtype=torch.int32)
    counts = torch.zeros(16, dtype=torch.int32)
    route[(40,)](logits, weights, experts, counts, 12, K=4, EXPERTS=16)
    value, index = torch.sort(logits, dim=1, descending=True, stable=True)
    assert torch.equal(experts.long(), index[:, :4])
    torch.testing.assert_close(weights, value[:, :4].softmax(1))
    assert torch.equal(counts, torch.bincount(index[:, :4].reshape(-1), minlength=16).int())


@triton.jit
def align_blocks(experts, counts, starts, order, n, EXPERTS: tl.constexpr, BLOCK: tl.constexpr, SIZE: tl.constexpr):
    """Where each expert's tokens go, in whole blocks of SIZE: one program counts, sums and places."""
    lane = tl.arange(0, BLOCK)
    expert = tl.arange(0, EXPERTS)
    chosen = tl.load(experts + lane, mask=lane < n, other=0)
    count = tl.histogram(chosen, EXPERTS, mask=lane < n)
    padded = tl.cdiv(count, SIZE) * SIZE
    start = tl.cumsum(padded, 0) - padded
    tl.store(counts + expert, count)
    tl.store(starts + expert, start)
    same = (chosen[:, None] == chosen[None, :]) & (lane[None, :] < lane[:, None]) & (lane < n)[None, :]
    rank = tl.sum(same.to(tl.int32), 1)
    tl.store(order + tl.gather(start, chosen, 0) + rank, lane, mask=lane < n)


def test_tokens_are_placed_by_expert_in_whole_blocks():
    torch.manual_seed(0)
    experts = torch.randint(0, 8, (50,), dtype=torch.int32)
    counts, starts = torch.empty(8, dtype=torch.int32), torch.empty(8, dtype=torch.int32)
    order = torch.full((128,), -1, dtype=torch.int32)
    align_blocks[(1,)](experts, counts, starts, order, 50, EXPERTS=8, BLOCK=64, SIZE=4)
    at = 0
    for expert in range(8):
        tokens = torch.nonzero(experts == expert)[:, 0].int()
        assert starts[expert] == at
        assert torch.equal(order[at : at + len(tokens)], tokens)
        at += triton.cdiv(len(tokens), 4) * 4


@triton.jit
def radix_pass(keys, out, n, SHIFT: tl.constexpr, BITS: tl.constexpr, BLOCK: tl.constexpr):
    """A stable counting sort of one block by BITS of the key."""
    lane = tl.arange(0, BLOCK)
    mask = lane < n
    key = tl.load(keys + lane, mask=mask, other=0)
    digit = ((key >> SHIFT) & ((1 << BITS) - 1)).to(tl.int32)
    digit = tl.where(mask, digit, 1 << BITS)
    digits: tl.constexpr = 2 << BITS
    is_digit = (digit[:, None] == tl.arange(0, digits)[None, :]).to(tl.int32)
    rank = tl.sum((tl.cumsum(is_digit, 0) - 1) * is_digit, 1)
    count = tl.sum(is_digit, 0)
    first = tl.cumsum(count, 0) - count
    place = rank + tl.sum(is_digit * first[None, :], 1)
    tl.store(out + place, key, mask=mask)


def test_radix_sort_of_unsigned_keys():
    torch.manual_seed(0)
    keys = torch.randint(0, 1 << 16, (100,), dtype=torch.int32).to(torch.uint16)
    source, target = keys.clone(), torch.empty_like(keys)
    for shift in range(0, 16, 4):
        radix_pass[(1,)](source, target, 100, SHIFT=shift, BITS=4, BLOCK=128)
        source, target = target, source
    assert torch.equal(source.int(), keys.int().sort().values)


@triton.jit
def sort_rows(x, out, N: tl.constexpr, DESCENDING: tl.constexpr):
    place = tl.program_id(0) * N + tl.arange(0, N)
    tl.store(out + place, tl.sort(tl.load(x + place), descending=DESCENDING))


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("dtype", [torch.float16, torch.int8, torch.float32])
def test_sorted_rows(dtype, descending):
    torch.manual_seed(0)
    x = (20 * torch.randn(6, 64)).to(dtype)
    out = torch.empty_like(x)
    sort_rows[(6,)](x, out, N=64, DESCENDING=descending)
    assert torch.equal(out, x.sort(1, descending=descending).values)


@triton.jit
def adamw(parameters, gradients, first, second, sizes, rate, beta1, beta2, eps, decay, step, BLOCK: tl.constexpr):
    """All tensors of a model in one launch: their addresses are in tables."""
    which = tl.program_id(0)
    size = tl.load(sizes + which)
    p = tl.load(parameters + which).to(tl.pointer_type(tl.float32))
    g = tl.load(gradients + which).to(tl.pointer_type(tl.bfloat16))
    m = tl.load(first + which).to(tl.pointer_type(tl.float32))
    v = tl.load(second + which).to(tl.pointer_type(tl.float32))
    one = 1 - tl.exp(step * tl.log(beta1))
    two = 1 - tl.exp(step * tl.log(beta2))
    for start in range(tl.program_id(1) * BLOCK, size, tl.num_programs(1) * BLOCK):
        place = start + tl.arange(0, BLOCK)
        mask = place < size
        gradient = tl.load(g + place, mask=mask, other=0.0).to(tl.float32)
        value = tl.load(p + place, mask=mask) * (1 - rate * decay)
        mean = beta1 * tl.load(m + place, mask=mask) + (1 - beta1) * gradient
        square = tl.fma(beta2, tl.load(v + place, mask=mask), (1 - beta2) * gradient * gradient)
        tl.store(m + place, mean, mask=mask)
        tl.store(v + place, square, mask=mask)
        tl.store(p + place, value - rate * (mean / one) / (tl.sqrt(square / two) + eps), mask=mask)


def test_fused_adamw_over_tables_of_tensors():
    torch.manual_seed(0)
    shapes = [(3,), (20, 10), (7, 11, 2), (1,)]
    weights = [torch.randn(s) for s in shapes]
    model = [torch.nn.Parameter(w.clone()) for w in weights]
    moments = [[torch.zeros(s) for s in shapes] for _ in range(2)]
    optimiser = torch.optim.AdamW(model, lr=0.01, weight_decay=0.1)
    sizes = torch.tensor([w.numel() for w in weights], dtype=torch.int32)
    for step in range(1, 4):
        gradients = [torch.randn(s).bfloat16() for s in shapes]
        tables = [torch.tensor([x.data_ptr() for x in some]) for some in (weights, gradients, *moments)]
        adamw[(len(shapes), 2)](*tables, sizes, 0.01, 0.9, 0.999, 1e-8, 0.1, float(step), BLOCK=32)
        for parameter, gradient in zip(model, gradients, strict=True):
            parameter.grad = gradient.float()
        optimiser.step()
    for found, expected in zip(weights, model, strict=True):
        torch.testing.assert_close(found, expected.detach(), rtol=1e-4, atol=1e-5)


@triton.jit
def embed(tokens, table, out, width, BLOCK: tl.constexpr):
    place = tl.program_id(0)
    token = tl.load(tokens + place)
    column = tl.arange(0, BLOCK)
    tl.store(
        out + place * width + column, tl.load(table + token * width + column, mask=column < width), mask=column < width
    )


@triton.jit
def embed_backward(tokens, dy, dtable, width, BLOCK: tl.constexpr):
    place = tl.program_id(0)
    column = tl.arange(0, BLOCK)
    gradient = tl.load(dy + place * width + column, mask=column < width)
    tl.atomic_add(dtable + tl.load(tokens + place) * width + column, gradient, mask=column < width)


def test_embedding_and_its_gradient_by_atomics():
    torch.manual_seed(0)
    tokens, table = torch.randint(0, 9, (30,)), torch.randn(9, 20, requires_grad=True)
    out, dtable, dy = torch.empty(30, 20), torch.zeros(9, 20), torch.randn(30, 20)
    embed[(30,)](tokens, table.detach(), out, 20, BLOCK=32)
    expected = torch.nn.functional.embedding(tokens, table)
    assert torch.equal(out, expected)
    expected.backward(dy)
    embed_backward[(30,)](tokens, dy, dtable, 20, BLOCK=32)
    torch.testing.assert_close(dtable, table.grad, rtol=1e-5, atol=1e-5)
