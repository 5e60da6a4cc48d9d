"""Scans and convolutions over a sequence, as state-space models have them, against torch."""

import pytest
import torch
import triton
import triton.language as tl


@triton.jit
def add_within(flag_a, value_a, flag_b, value_b):
    return flag_a | flag_b, tl.where(flag_b, value_b, value_a + value_b)


@triton.jit
def segmented_sum(x, flags, out, n, BLOCK: tl.constexpr, REVERSE: tl.constexpr):
    """Running sums that begin anew where a flag is set; blocks are joined by what the last one left."""
    row = tl.program_id(0) * n
    carry = 0.0
    for start in range(0, n, BLOCK):
        lane = start + tl.arange(0, BLOCK)
        place = row + (n - 1 - lane if REVERSE else lane)
        mask = lane < n
        value = tl.load(x + place, mask=mask, other=0.0)
        flag = tl.load(flags + place, mask=mask, other=0).to(tl.int1)
        seen, sums = tl.associative_scan((flag, value), 0, add_within)
        sums = tl.where(seen, sums, sums + carry)
        tl.store(out + place, sums, mask=mask)
        carry = tl.sum(tl.where(tl.arange(0, BLOCK) == BLOCK - 1, sums, 0.0))


@pytest.mark.parametrize("reverse", [False, True])
def test_segmented_sums_across_blocks(reverse):
    torch.manual_seed(0)
    x, flags = torch.randn(5, 100), torch.rand(5, 100) < 0.1
    out = torch.empty_like(x)
    segmented_sum[(5,)](x, flags, out, 100, BLOCK=32, REVERSE=reverse)
    direction = range(99, -1, -1) if reverse else range(100)
    expected, total = torch.empty_like(x), torch.zeros(5)
    for k in direction:
        total = torch.where(flags[:, k], x[:, k], total + x[:, k])
        expected[:, k] = total
    torch.testing.assert_close(out, expected, rtol=1e-5, atol=1e-5)


@triton.jit
def recur(decay_a, state_a, decay_b, state_b):
    return decay_a * decay_b, decay_b * state_a + state_b


@triton.jit
def selective_scan(x, delta, a, b, c, out, length, channels, STATE: tl.constexpr, CHUNK: tl.constexpr):
    """h' = exp(delta a) h + delta b x, y = c h: a chunk at a time by a scan over (decay, state)."""
    batch, channel = tl.program_id(0), tl.program_id(1)
    states = tl.arange(0, STATE)
    rate = tl.load(a + channel * STATE + states)
    carry = tl.zeros((STATE,), tl.float32)
    for start in range(0, length, CHUNK):
        time = start + tl.arange(0, CHUNK)
        mask = time < length
        place = (batch * length + time) * channels + channel
        value = tl.load(x + place, mask=mask, other=0.0)
        step = tl.load(delta + place, mask=mask, other=0.0)
        row = (batch * length + time)[:, None] * STATE + states[None, :]
        enter = tl.load(b + row, mask=mask[:, None], other=0.0)
        leave = tl.load(c + row, mask=mask[:, None], other=0.0)
        decay = tl.exp(step[:, None] * rate[None, :])
        decays, within = tl.associative_scan((decay, (step * value)[:, None] * enter), 0, recur)
        h = within + decays * carry[None, :]
        tl.store(out + place, tl.sum(h * leave, 1), mask=mask)
        carry = tl.sum(tl.where((tl.arange(0, CHUNK) == CHUNK - 1)[:, None], h, 0.0), 0)


def test_selective_scan():
    torch.manual_seed(0)
    batch, length, channels, states = 2, 50, 6, 8
    x, delta = torch.randn(batch, length, channels), torch.rand(batch, length, channels)
    a, b, c = -torch.rand(channels, states), torch.randn(batch, length, states), torch.randn(batch, length, states)
    out = torch.empty_like(x)
    selective_scan[(batch, channels)](x, delta, a, b, c, out, length, channels, STATE=states, CHUNK=16)
    h, rows = torch.zeros(batch, channels, states), []
    for t in range(length):
        h = torch.exp(delta[:, t, :, None] * a) * h + (delta[:, t] * x[:, t])[..., None] * b[:, t, None]
        rows.append((h * c[:, t, None]).sum(-1))
    torch.testing.assert_close(out, torch.stack(rows, 1), rtol=1e-4, atol=1e-4)


@triton.jit
def gated_linear_attention(q, k, v, gate, out, length, D: tl.constexpr, CHUNK: tl.constexpr):
    """Chunked: what came before by the carried state, what is within by a masked product."""
    head = tl.program_id(0)
    d, t = tl.arange(0, D), tl.arange(0, CHUNK)
    state = tl.zeros((D, D), tl.float32)
    for start in range(0, length, CHUNK):
        time = start + t
        mask = time < length
        place = (head * length + time)[:, None] * D + d[None, :]
        bq = tl.load(q + place, mask=mask[:, None], other=0.0)
        bk = tl.load(k + place, mask=mask[:, None], other=0.0)
        bv = tl.load(v + place, mask=mask[:, None], other=0.0)
        log_decay = tl.cumsum(tl.load(gate + head * length + time, mask=mask, other=0.0))
        last = tl.min(log_decay)
        before = tl.dot(bq * tl.exp(log_decay)[:, None], state, input_precision="ieee")
        weight = tl.dot(bq, tl.trans(bk), input_precision="ieee") * tl.exp(log_decay[:, None] - log_decay[None, :])
        weight = tl.where(t[:, None] >= t[None, :], weight, 0.0)
        tl.store(out + place, before + tl.dot(weight, bv, input_precision="ieee"), mask=mask[:, None])
        state = state * tl.exp(last) + tl.dot(
            tl.trans(bk * tl.exp(last - log_decay)[:, None]), bv, input_precision="ieee"
        )


def test_gated_linear_attention_by_chunks():
    torch.manual_seed(0)
    heads, length, d = 2, 40, 16
    q, k, v = (torch.randn(heads, length, d) for _ in range(3))
    gate = -torch.rand(heads, length) * 0.3
    out = torch.empty_like(q)
    gated_linear_attention[(heads,)](q, k, v, gate, out, length, D=d, CHUNK=16)
    state, rows = torch.zeros(heads, d, d), []
    for t in range(length):
        state = state * gate[:, t].exp()[:, None, None] + k[:, t, :, None] * v[:, t, None, :]
        rows.append((q[:, t, None] @ state)[:, 0])
    torch.testing.assert_close(out, torch.stack(rows, 1), rtol=1e-4, atol=1e-4)


@triton.jit
def causal_convolution(x, w, bias, out, length, channels, WIDTH: tl.constexpr, T: tl.constexpr, C: tl.constexpr):
    time = tl.program_id(1) * T + tl.arange(0, T)
    channel = tl.program_id(2) * C + tl.arange(0, C)
    row = tl.program_id(0) * length
    on = (channel < channels)[None, :]
    total = tl.zeros((T, C), tl.float32) + tl.load(bias + channel, mask=channel < channels, other=0.0)[None, :]
    for tap in tl.static_range(WIDTH):
        earlier = time - (WIDTH - 1) + tap
        mask = (earlier >= 0)[:, None] & (earlier < length)[:, None] & on
        value = tl.load(x + (row + earlier)[:, None] * channels + channel[None, :], mask=mask, other=0.0)
        total += value * tl.load(w + channel * WIDTH + tap, mask=channel < channels, other=0.0)[None, :]
    result = total * tl.sigmoid(total)
    tl.store(out + (row + time)[:, None] * channels + channel[None, :], result, mask=(time < length)[:, None] & on)


def test_causal_depthwise_convolution():
    torch.manual_seed(0)
    x, w, bias = torch.randn(2, 37, 10), torch.randn(10, 4), torch.randn(10)
    out = torch.empty_like(x)
    causal_convolution[(2, 3, 2)](x, w, bias, out, 37, 10, WIDTH=4, T=16, C=8)
    padded = torch.nn.functional.pad(x.mT, (3, 0))
    expected = torch.nn.functional.silu(torch.nn.functional.conv1d(padded, w[:, None], bias, groups=10)).mT
    torch.testing.assert_close(out, expected, rtol=1e-4, atol=1e-5)
