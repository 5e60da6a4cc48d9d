"""Attention, convolutions, recurrent cells, routing and sampling, with one slip at a time."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

from __future__ import annotations

import torch
import triton
import triton.language as tl

from tests.launch.comparison.reported.slip import Slip, Subject
from tests.launch.comparison.slips import randn


def ints(low, high, *shape, seed=0, dtype=torch.int32):
    return torch.randint(low, high, shape, generator=torch.Generator().manual_seed(seed), dtype=dtype)


def rand(*shape, seed=0):
    return torch.rand(*shape, generator=torch.Generator().manual_seed(seed))


@triton.jit
def flash_decode(
    q_ptr,
    k_ptr,
    v_ptr,
    length_ptr,
    out_ptr,
    heads,
    kv_heads,
    cache,
    scale,
    DIM: tl.constexpr,
    BLOCK: tl.constexpr,
):
    sample = tl.program_id(0)
    head = tl.program_id(1)
    kv_head = head // (heads // kv_heads)
    length = tl.load(length_ptr + sample)
    d = tl.arange(0, DIM)
    q = tl.load(q_ptr + (sample * heads + head) * DIM + d)
    base = (sample * kv_heads + kv_head) * cache * DIM
    top = float("-inf")
    total = 0.0
    acc = tl.zeros((DIM,), tl.float32)
    for start in range(0, length, BLOCK):
        t = start + tl.arange(0, BLOCK)
        inside = t < length
        at = base + t[:, None] * DIM + d[None, :]
        k = tl.load(k_ptr + at, mask=inside[:, None], other=0.0)
        scores = tl.sum(q[None, :] * k, axis=1) * scale
        scores = tl.where(inside, scores, float("-inf"))
        new = tl.maximum(top, tl.max(scores, axis=0))
        shrink = tl.exp(top - new)
        p = tl.exp(scores - new)
        v = tl.load(v_ptr + at, mask=inside[:, None], other=0.0)
        total = total * shrink + tl.sum(p, axis=0)
        acc = acc * shrink + tl.sum(p[:, None] * v, axis=0)
        top = new
    tl.store(out_ptr + (sample * heads + head) * DIM + d, acc / total)


def run_flash_decode(kernel):
    length = torch.tensor([13, 20], dtype=torch.int32)
    k, v = randn(2, 2, 24, 16, seed=1), randn(2, 2, 24, 16, seed=2)
    kernel[(2, 4)](randn(2, 4, 16) * 2, k, v, length, torch.zeros(2, 4, 16), 4, 2, 24, 0.25, DIM=16, BLOCK=8)


def right_flash_decode(q_ptr, k_ptr, v_ptr, length_ptr, scale, **_):
    out = torch.zeros(2, 4, 16)
    for b in range(2):
        for h in range(4):
            n = int(length_ptr[b])
            p = torch.softmax(k_ptr[b, h // 2, :n] @ q_ptr[b, h] * scale, 0)
            out[b, h] = p @ v_ptr[b, h // 2, :n]
    return {"out_ptr": out}


@triton.jit
def linear_attention(q_ptr, k_ptr, v_ptr, out_ptr, steps, D: tl.constexpr, E: tl.constexpr):
    head = tl.program_id(0)
    d = tl.arange(0, D)
    e = tl.arange(0, E)
    state = tl.zeros((D, E), tl.float32)
    norm = tl.zeros((D,), tl.float32)
    for t in range(steps):
        q = tl.load(q_ptr + (head * steps + t) * D + d)
        k = tl.load(k_ptr + (head * steps + t) * D + d)
        v = tl.load(v_ptr + (head * steps + t) * E + e)
        q = tl.where(q > 0, q + 1, tl.exp(q))
        k = tl.where(k > 0, k + 1, tl.exp(k))
        state += k[:, None] * v[None, :]
        norm += k
        top = tl.sum(q[:, None] * state, axis=0)
        bottom = tl.sum(q * norm, axis=0)
        tl.store(out_ptr + (head * steps + t) * E + e, top / bottom)


def run_linear_attention(kernel):
    kernel[(2,)](randn(2, 7, 8), randn(2, 7, 8, seed=1), randn(2, 7, 4, seed=2), torch.zeros(2, 7, 4), 7, D=8, E=4)


def right_linear_attention(q_ptr, k_ptr, v_ptr, **_):
    q, k = torch.nn.functional.elu(q_ptr) + 1, torch.nn.functional.elu(k_ptr) + 1
    a = torch.tril(q @ k.mT)
    return {"out_ptr": a @ v_ptr / a.sum(2, keepdim=True)}


@triton.jit
def residual_rms_norm(x_ptr, r_ptr, w_ptr, y_ptr, n, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    inside = cols < n
    x = tl.load(x_ptr + row * n + cols, mask=inside, other=0.0)
    r = tl.load(r_ptr + row * n + cols, mask=inside, other=0.0)
    total = x + r
    tl.store(r_ptr + row * n + cols, total, mask=inside)
    square = tl.sum(total * total, axis=0) / n
    w = tl.load(w_ptr + cols, mask=inside, other=0.0)
    y = total * tl.rsqrt(square + eps) * (1.0 + w)
    tl.store(y_ptr + row * n + cols, y, mask=inside)


def run_residual_rms_norm(kernel):
    kernel[(6,)](randn(6, 24), randn(6, 24, seed=1), 0.3 * randn(24, seed=2), torch.zeros(6, 24), 24, 0.1, BLOCK=32)


def right_residual_rms_norm(x_ptr, r_ptr, w_ptr, eps, **_):
    h = x_ptr + r_ptr
    return {"r_ptr": h, "y_ptr": h * torch.rsqrt((h * h).mean(1, keepdim=True) + eps) * (1 + w_ptr)}


@triton.jit
def log_sum_exp(x_ptr, out_ptr, rows, n, ROWS: tl.constexpr, COLS: tl.constexpr):
    r = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    top = tl.full((ROWS,), float("-inf"), tl.float32)
    total = tl.zeros((ROWS,), tl.float32)
    for start in range(0, n, COLS):
        c = start + tl.arange(0, COLS)
        inside = (r < rows)[:, None] & (c < n)[None, :]
        x = tl.load(x_ptr + r[:, None] * n + c[None, :], mask=inside, other=-1e30) * 1.44269504
        new = tl.maximum(top, tl.max(x, axis=1))
        total = total * tl.exp2(top - new) + tl.sum(tl.exp2(x - new[:, None]), axis=1)
        top = new
    tl.store(out_ptr + r, (top + tl.log2(total)) * 0.69314718, mask=r < rows)


def run_log_sum_exp(kernel):
    kernel[(3,)](randn(10, 27) * 2 - 3, torch.zeros(10), 10, 27, ROWS=4, COLS=8)


@triton.jit
def sparsemax(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n + cols, mask=cols < n, other=-1e9)
    ordered = tl.sort(x, descending=True)
    sums = tl.cumsum(ordered, axis=0)
    rank = cols + 1
    inside = (1 + rank * ordered > sums) & (cols < n)
    count = tl.sum(inside.to(tl.int32), axis=0)
    kept = tl.sum(tl.where(inside, ordered, 0.0), axis=0)
    tau = (kept - 1) / count
    tl.store(y_ptr + row * n + cols, tl.maximum(x - tau, 0.0), mask=cols < n)


def run_sparsemax(kernel):
    kernel[(6,)](randn(6, 12), torch.zeros(6, 12), 12, BLOCK=16)


def right_sparsemax(x_ptr, **_):
    s = x_ptr.sort(1, descending=True).values
    k = torch.arange(1, 13)
    size = (1 + k * s > s.cumsum(1)).sum(1, keepdim=True)
    tau = (s.cumsum(1).gather(1, size - 1) - 1) / size
    return {"y_ptr": (x_ptr - tau).clamp(min=0)}


@triton.jit
def dilated_conv1d(
    x_ptr,
    w_ptr,
    b_ptr,
    y_ptr,
    c_in,
    c_out,
    length,
    out_length,
    stride,
    padding,
    dilation,
    TAPS: tl.constexpr,
    BLOCK: tl.constexpr,
):
    sample = tl.program_id(0)
    o = tl.program_id(1)
    t = tl.arange(0, BLOCK)
    acc = tl.zeros((BLOCK,), tl.float32) + tl.load(b_ptr + o)
    for c in range(c_in):
        for j in range(TAPS):
            s = t * stride + j * dilation - padding
            inside = (s >= 0) & (s < length)
            x = tl.load(x_ptr + (sample * c_in + c) * length + s, mask=inside, other=0.0)
            w = tl.load(w_ptr + (o * c_in + c) * TAPS + j)
            acc += x * w
    tl.store(y_ptr + (sample * c_out + o) * out_length + t, acc, mask=t < out_length)


def run_dilated_conv1d(kernel):
    x, w, b = randn(2, 3, 19), randn(4, 3, 3, seed=1), randn(4, seed=2)
    kernel[(2, 4)](x, w, b, torch.zeros(2, 4, 10), 3, 4, 19, 10, 2, 2, 2, TAPS=3, BLOCK=16)


@triton.jit
def conv2d_weight_gradient(
    x_ptr, dy_ptr, dw_ptr, samples, c_in, c_out, size, out_size, SIDE: tl.constexpr, BLOCK: tl.constexpr
):
    o = tl.program_id(0)
    c = tl.program_id(1)
    tap = tl.program_id(2)
    i = tap // SIDE
    j = tap % SIDE
    p = tl.arange(0, BLOCK)
    y = p // out_size
    x = p % out_size
    inside = p < out_size * out_size
    acc = 0.0
    for s in range(samples):
        dy = tl.load(dy_ptr + (s * c_out + o) * out_size * out_size + p, mask=inside, other=0.0)
        at = ((s * c_in + c) * size + y + i) * size + x + j
        acc += tl.sum(dy * tl.load(x_ptr + at, mask=inside, other=0.0), axis=0)
    tl.store(dw_ptr + (o * c_in + c) * SIDE * SIDE + tap, acc)


def run_conv2d_weight_gradient(kernel):
    kernel[(2, 4, 9)](
        randn(3, 4, 6, 6), randn(3, 2, 4, 4, seed=1), torch.zeros(2, 4, 3, 3), 3, 4, 2, 6, 4, SIDE=3, BLOCK=16
    )


def right_conv2d_weight_gradient(x_ptr, dy_ptr, **_):
    return {"dw_ptr": torch.nn.grad.conv2d_weight(x_ptr, (2, 4, 3, 3), dy_ptr)}


@triton.jit
def max_pool_backward(dy_ptr, place_ptr, dx_ptr, pixels, out_pixels, BLOCK: tl.constexpr):
    plane = tl.program_id(0)
    p = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    inside = p < out_pixels
    dy = tl.load(dy_ptr + plane * out_pixels + p, mask=inside, other=0.0)
    place = tl.load(place_ptr + plane * out_pixels + p, mask=inside, other=0)
    tl.atomic_add(dx_ptr + plane * pixels + place, dy, mask=inside)


def run_max_pool_backward(kernel):
    _, place = torch.nn.functional.max_pool2d(randn(3, 6, 6), 3, 1, return_indices=True)
    kernel[(3, 2)](randn(3, 16, seed=1), place.reshape(3, 16).int(), torch.zeros(3, 36), 36, 16, BLOCK=8)


def right_max_pool_backward(dy_ptr, place_ptr, **_):
    return {"dx_ptr": torch.zeros(3, 36).scatter_add_(1, place_ptr.long(), dy_ptr)}


@triton.jit
def grid_sample(x_ptr, grid_ptr, y_ptr, channels, height, width, points, BLOCK: tl.constexpr):
    sample = tl.program_id(0)
    c = tl.program_id(1)
    p = tl.arange(0, BLOCK)
    live = p < points
    gx = tl.load(grid_ptr + (sample * points + p) * 2, mask=live, other=0.0)
    gy = tl.load(grid_ptr + (sample * points + p) * 2 + 1, mask=live, other=0.0)
    x = ((gx + 1) * width - 1) / 2
    y = ((gy + 1) * height - 1) / 2
    x0 = tl.floor(x)
    y0 = tl.floor(y)
    acc = tl.zeros((BLOCK,), tl.float32)
    for dy in tl.static_range(2):
        for dx in tl.static_range(2):
            cx = x0.to(tl.int32) + dx
            cy = y0.to(tl.int32) + dy
            weight = (1 - tl.abs(x - x0 - dx)) * (1 - tl.abs(y - y0 - dy))
            inside = live & (cx >= 0) & (cx < width) & (cy >= 0) & (cy < height)
            at = ((sample * channels + c) * height + cy) * width + cx
            acc += weight * tl.load(x_ptr + at, mask=inside, other=0.0)
    tl.store(y_ptr + (sample * channels + c) * points + p, acc, mask=live)


def run_grid_sample(kernel):
    grid = rand(2, 14, 2, seed=1) * 2.4 - 1.2
    kernel[(2, 3)](randn(2, 3, 6, 5), grid, torch.zeros(2, 3, 14), 3, 6, 5, 14, BLOCK=16)


def right_grid_sample(x_ptr, grid_ptr, **_):
    out = torch.nn.functional.grid_sample(x_ptr, grid_ptr[:, None], align_corners=False)
    return {"y_ptr": out[:, :, 0]}


@triton.jit
def gru_cell(x_gates_ptr, h_gates_ptr, h_ptr, out_ptr, hidden, BLOCK: tl.constexpr):
    sample = tl.program_id(0)
    j = tl.arange(0, BLOCK)
    inside = j < hidden
    of_x = x_gates_ptr + sample * 3 * hidden + j
    of_h = h_gates_ptr + sample * 3 * hidden + j
    r = tl.sigmoid(tl.load(of_x, mask=inside, other=0.0) + tl.load(of_h, mask=inside, other=0.0))
    xz = tl.load(of_x + hidden, mask=inside, other=0.0)
    hz = tl.load(of_h + hidden, mask=inside, other=0.0)
    z = tl.sigmoid(xz + hz)
    xn = tl.load(of_x + 2 * hidden, mask=inside, other=0.0)
    hn = tl.load(of_h + 2 * hidden, mask=inside, other=0.0)
    n = 2 * tl.sigmoid(2 * (xn + r * hn)) - 1
    h = tl.load(h_ptr + sample * hidden + j, mask=inside, other=0.0)
    tl.store(out_ptr + sample * hidden + j, (1 - z) * n + z * h, mask=inside)


def run_gru_cell(kernel):
    kernel[(4,)](randn(4, 36), randn(4, 36, seed=1), randn(4, 12, seed=2), torch.zeros(4, 12), 12, BLOCK=16)


def right_gru_cell(x_gates_ptr, h_gates_ptr, h_ptr, **_):
    (a, b, c), (d, e, f) = x_gates_ptr.chunk(3, 1), h_gates_ptr.chunk(3, 1)
    z = torch.sigmoid(b + e)
    return {"out_ptr": (1 - z) * torch.tanh(c + torch.sigmoid(a + d) * f) + z * h_ptr}


@triton.jit
def selective_scan(
    u_ptr, delta_ptr, a_ptr, b_ptr, c_ptr, skip_ptr, y_ptr, steps, channels, N: tl.constexpr, BLOCK: tl.constexpr
):
    sample = tl.program_id(0)
    d = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    n = tl.arange(0, N)
    inside = d < channels
    a = -tl.exp(tl.load(a_ptr + d[:, None] * N + n[None, :], mask=inside[:, None], other=0.0))
    skip = tl.load(skip_ptr + d, mask=inside, other=0.0)
    state = tl.zeros((BLOCK, N), tl.float32)
    for t in range(steps):
        at = (sample * steps + t) * channels + d
        u = tl.load(u_ptr + at, mask=inside, other=0.0)
        delta = tl.load(delta_ptr + at, mask=inside, other=0.0)
        delta = tl.log(1 + tl.exp(delta))
        b = tl.load(b_ptr + (sample * steps + t) * N + n)
        c = tl.load(c_ptr + (sample * steps + t) * N + n)
        state = state * tl.exp(delta[:, None] * a) + (delta * u)[:, None] * b[None, :]
        y = tl.sum(state * c[None, :], axis=1) + skip * u
        tl.store(y_ptr + at, y, mask=inside)


def run_selective_scan(kernel):
    u, delta = randn(2, 6, 10), randn(2, 6, 10, seed=1)
    b, c = randn(2, 6, 4, seed=2), randn(2, 6, 4, seed=3)
    a = randn(16, 4, seed=4)[:10]
    kernel[(2, 2)](u, delta, a, b, c, randn(10, seed=5), torch.zeros(2, 6, 10), 6, 10, N=4, BLOCK=8)


def right_selective_scan(u_ptr, delta_ptr, a_ptr, b_ptr, c_ptr, skip_ptr, **_):
    state, out = torch.zeros(2, 10, 4), torch.zeros(2, 6, 10)
    delta = torch.nn.functional.softplus(delta_ptr)
    for t in range(6):
        dt = delta[:, t, :, None]
        state = state * torch.exp(-dt * a_ptr.exp()) + dt * u_ptr[:, t, :, None] * b_ptr[:, t, None]
        out[:, t] = (state * c_ptr[:, t, None]).sum(2) + skip_ptr * u_ptr[:, t]
    return {"y_ptr": out}


@triton.jit
def route_tokens(expert_ptr, count_ptr, start_ptr, slot_ptr, n, EXPERTS: tl.constexpr, BLOCK: tl.constexpr):
    t = tl.arange(0, BLOCK)
    e = tl.arange(0, EXPERTS)
    expert = tl.load(expert_ptr + t, mask=t < n, other=-1)
    hit = (expert[:, None] == e[None, :]).to(tl.int32)
    count = tl.sum(hit, axis=0)
    start = tl.cumsum(count, axis=0) - count
    before = tl.cumsum(hit, axis=0) - hit
    slot = tl.sum(hit * (before + start[None, :]), axis=1)
    tl.store(count_ptr + e, count)
    tl.store(start_ptr + e, start)
    tl.store(slot_ptr + t, slot, mask=t < n)


def run_route_tokens(kernel):
    out = [torch.zeros(k, dtype=torch.int32) for k in (8, 8, 27)]
    kernel[(1,)](ints(0, 8, 27), *out, 27, EXPERTS=8, BLOCK=32)


def right_route_tokens(expert_ptr, **_):
    count = torch.bincount(expert_ptr, minlength=8)
    slot = torch.empty(27, dtype=torch.int32)
    slot[torch.sort(expert_ptr, stable=True).indices] = torch.arange(27, dtype=torch.int32)
    return {"count_ptr": count.int(), "start_ptr": (count.cumsum(0) - count).int(), "slot_ptr": slot}


@triton.jit
def grouped_persistent(
    a_ptr,
    b_ptr,
    c_ptr,
    start_ptr,
    groups,
    N,
    K,
    PROGRAMS: tl.constexpr,
    BM: tl.constexpr,
    BN: tl.constexpr,
    BK: tl.constexpr,
):
    tile = tl.program_id(0)
    done = 0
    for g in range(groups):
        first = tl.load(start_ptr + g)
        last = tl.load(start_ptr + g + 1)
        wide = tl.cdiv(N, BN)
        tiles = tl.cdiv(last - first, BM) * wide
        while tile < done + tiles:
            here = tile - done
            m = first + here // wide * BM + tl.arange(0, BM)
            n = here % wide * BN + tl.arange(0, BN)
            acc = tl.zeros((BM, BN), tl.float32)
            for start in range(0, K, BK):
                k = start + tl.arange(0, BK)
                a = tl.load(a_ptr + m[:, None] * K + k[None, :], mask=(m < last)[:, None] & (k < K)[None, :], other=0.0)
                b_at = g * K * N + k[:, None] * N + n[None, :]
                b = tl.load(b_ptr + b_at, mask=(k < K)[:, None] & (n < N)[None, :], other=0.0)
                acc += tl.dot(a, b)
            tl.store(c_ptr + m[:, None] * N + n[None, :], acc, mask=(m < last)[:, None] & (n < N)[None, :])
            tile += PROGRAMS
        done += tiles


def run_grouped_persistent(kernel):
    start = torch.tensor([0, 20, 24, 40], dtype=torch.int32)
    kernel[(3,)](
        randn(40, 24),
        randn(4, 24, 28, seed=1)[:3],
        torch.zeros(40, 28),
        start,
        3,
        28,
        24,
        PROGRAMS=3,
        BM=16,
        BN=16,
        BK=16,
    )


def right_grouped_persistent(a_ptr, b_ptr, start_ptr, **_):
    s = start_ptr.tolist()
    return {"c_ptr": torch.cat([a_ptr[s[g] : s[g + 1]] @ b_ptr[g] for g in range(3)])}


@triton.jit
def beam_step(
    score_ptr, logit_ptr, parent_ptr, token_ptr, best_ptr, vocabulary, BEAMS: tl.constexpr, BLOCK: tl.constexpr
):
    sample = tl.program_id(0)
    beam = tl.arange(0, BEAMS)
    v = tl.arange(0, BLOCK)
    at = (sample * BEAMS + beam)[:, None] * vocabulary + v[None, :]
    logits = tl.load(logit_ptr + at, mask=(v < vocabulary)[None, :], other=float("-inf"))
    top = tl.max(logits, axis=1)
    norm = top + tl.log(tl.sum(tl.exp(logits - top[:, None]), axis=1))
    old = tl.load(score_ptr + sample * BEAMS + beam)
    scores = logits - norm[:, None] + old[:, None]
    flat = tl.reshape(scores, (BEAMS * BLOCK,))
    place = tl.arange(0, BEAMS * BLOCK)
    for k in range(BEAMS):
        best = tl.max(flat, axis=0)
        at_best = tl.argmax(flat, axis=0)
        tl.store(parent_ptr + sample * BEAMS + k, at_best // BLOCK)
        tl.store(token_ptr + sample * BEAMS + k, at_best % BLOCK)
        tl.store(best_ptr + sample * BEAMS + k, best)
        flat = tl.where(place == at_best, float("-inf"), flat)


def run_beam_step(kernel):
    parent, token = torch.zeros(3, 4, dtype=torch.int32), torch.zeros(3, 4, dtype=torch.int32)
    kernel[(3,)](randn(3, 4, seed=1), randn(3, 4, 13) * 2, parent, token, torch.zeros(3, 4), 13, BEAMS=4, BLOCK=16)


def right_beam_step(score_ptr, logit_ptr, **_):
    total = (torch.log_softmax(logit_ptr, 2) + score_ptr[..., None]).flatten(1)
    best, at = total.topk(4, 1)
    return {"parent_ptr": (at // 13).int(), "token_ptr": (at % 13).int(), "best_ptr": best}


@triton.jit
def nucleus_filter(p_ptr, out_ptr, n, mass, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    p = tl.load(p_ptr + row * n + cols, mask=cols < n, other=0.0)
    ordered = tl.sort(p, descending=True)
    climbed = tl.cumsum(ordered, axis=0)
    needed = climbed - ordered < mass
    least = tl.min(tl.where(needed & (cols < n), ordered, 2.0), axis=0)
    kept = tl.where(p >= least, p, 0.0)
    tl.store(out_ptr + row * n + cols, kept / tl.sum(kept, axis=0), mask=cols < n)


def run_nucleus_filter(kernel):
    kernel[(6,)](torch.softmax(randn(6, 20), 1), torch.zeros(6, 20), 20, 0.7, BLOCK=32)


def right_nucleus_filter(p_ptr, mass, **_):
    s = p_ptr.sort(1, descending=True).values
    least = torch.where(s.cumsum(1) - s < mass, s, 2.0).min(1, keepdim=True).values
    kept = torch.where(p_ptr >= least, p_ptr, 0.0)
    return {"out_ptr": kept / kept.sum(1, keepdim=True)}


@triton.jit
def gumbel_argmax(logit_ptr, out_ptr, n, temperature, seed, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    logits = tl.load(logit_ptr + row * n + cols, mask=cols < n, other=float("-inf"))
    u = tl.rand(seed, row * n + cols)
    noise = -tl.log(-tl.log(u + 1e-10) + 1e-10)
    choice = tl.argmax(logits / temperature + noise, axis=0)
    tl.store(out_ptr + row, choice)


def run_gumbel_argmax(kernel):
    kernel[(24,)](randn(24, 30), torch.zeros(24, dtype=torch.int32), 30, 0.5, 7, BLOCK=32)


LAYER_KERNELS = (
    Subject(
        flash_decode,
        run_flash_decode,
        (
            Slip(
                "program or head",
                "kv_head = head // (heads // kv_heads)",
                "kv_head = head % kv_heads",
                "grouped queries are dealt out in turn",
            ),
            Slip("accumulator", "acc = acc * shrink + ", "acc = acc + ", "the output is not rescaled"),
            Slip("scale", "tl.sum(q[None, :] * k, axis=1) * scale", "tl.sum(q[None, :] * k, axis=1)", "no 1/sqrt(d)"),
        ),
        right_flash_decode,
    ),
    Subject(
        linear_attention,
        run_linear_attention,
        (
            Slip(
                "missing term",
                "tl.where(k > 0, k + 1, tl.exp(k))",
                "tl.where(k > 0, k, tl.exp(k))",
                "elu without its 1 above 0",
            ),
            Slip(
                "divisor",
                "bottom = tl.sum(q * norm, axis=0)",
                "bottom = tl.sum(norm, axis=0)",
                "the normaliser without the query",
            ),
            Slip("accumulator", "norm += k", "norm = k", "the last key alone"),
        ),
        right_linear_attention,
    ),
    Subject(
        residual_rms_norm,
        run_residual_rms_norm,
        (
            Slip("epsilon", "tl.rsqrt(square + eps)", "1 / (tl.sqrt(square) + eps)", "eps outside the root"),
            Slip("missing term", "(1.0 + w)", "w", "Gemma's weights are about zero"),
            Slip(
                "atomic for store",
                "tl.store(r_ptr + row * n + cols, total",
                "tl.atomic_add(r_ptr + row * n + cols, total",
                "the residual is added twice",
            ),
            Slip(
                "wrong operand",
                "cols, total, mask=inside)",
                "cols, x, mask=inside)",
                "the residual stream is not updated",
            ),
        ),
        right_residual_rms_norm,
    ),
    Subject(
        log_sum_exp,
        run_log_sum_exp,
        (
            Slip("function", "tl.exp2(x - new[:, None])", "tl.exp(x - new[:, None])", "the base of the exponent"),
            Slip("last step", "(top + tl.log2(total)) * 0.69314718", "(top + tl.log2(total))", "log2 is returned"),
            Slip("masked-off lanes", "other=-1e30", "other=0.0", "the padding weighs exp(0)"),
        ),
        lambda x_ptr, **_: {"out_ptr": torch.logsumexp(x_ptr, 1)},
    ),
    Subject(
        sparsemax,
        run_sparsemax,
        (
            Slip("constant", "tau = (kept - 1) / count", "tau = kept / count", "the simplex sums to one"),
            Slip("direction", "descending=True", "descending=False", "sorted upwards"),
            Slip("off by one", "rank = cols + 1", "rank = cols", "ranks from 0"),
        ),
        right_sparsemax,
    ),
    Subject(
        dilated_conv1d,
        run_dilated_conv1d,
        (
            Slip(
                "index", "t * stride + j * dilation - padding", "t * stride + j - padding", "the dilation is forgotten"
            ),
            Slip(
                "stride or address",
                "(o * c_in + c) * TAPS + j",
                "(c * c_out + o) * TAPS + j",
                "weights as [in, out, taps]",
            ),
            Slip("missing bias", " + tl.load(b_ptr + o)", "", "forgotten bias"),
        ),
        lambda x_ptr, w_ptr, b_ptr, **_: {"y_ptr": torch.nn.functional.conv1d(x_ptr, w_ptr, b_ptr, 2, 2, 2)},
    ),
    Subject(
        conv2d_weight_gradient,
        run_conv2d_weight_gradient,
        (
            Slip(
                "exchanged operands",
                "* size + y + i) * size + x + j",
                "* size + y + j) * size + x + i",
                "the kernel transposed",
            ),
            Slip("accumulator", "acc += tl.sum(", "acc = tl.sum(", "the last sample alone"),
            Slip("wrong operand", "y = p // out_size", "y = p // size", "the input's width for the output's"),
        ),
        right_conv2d_weight_gradient,
    ),
    Subject(
        max_pool_backward,
        run_max_pool_backward,
        (
            Slip("race", "tl.atomic_add(dx_ptr", "tl.store(dx_ptr", "windows overlap"),
            Slip(
                "stride or address", "dx_ptr + plane * pixels", "dx_ptr + plane * out_pixels", "the output's plane size"
            ),
        ),
        right_max_pool_backward,
    ),
    Subject(
        grid_sample,
        run_grid_sample,
        (
            Slip("constant", "((gx + 1) * width - 1) / 2", "(gx + 1) * (width - 1) / 2", "align_corners the other way"),
            Slip("function", "y0 = tl.floor(y)", "y0 = y.to(tl.int32).to(tl.float32)", "truncated towards 0"),
            Slip(
                "index",
                "(sample * points + p) * 2 + 1, mask",
                "(sample * points + p) + 1, mask",
                "y coordinates are read without the stride of 2",
            ),
        ),
        right_grid_sample,
    ),
    Subject(
        gru_cell,
        run_gru_cell,
        (
            Slip("exchanged operands", "(1 - z) * n + z * h", "z * n + (1 - z) * h", "the other convention of z"),
            Slip("order of steps", "(xn + r * hn)", "(r * (xn + hn))", "the reset gate on both"),
            Slip("index", "of_h + hidden, mask", "of_h, mask", "the reset gate's part twice"),
        ),
        right_gru_cell,
    ),
    Subject(
        selective_scan,
        run_selective_scan,
        (
            Slip("sign", "a = -tl.exp(", "a = tl.exp(", "the state grows"),
            Slip(
                "missing function",
                "delta = tl.log(1 + tl.exp(delta))",
                "delta = tl.maximum(delta, 0.0)",
                "relu in place of softplus",
            ),
            Slip("missing term", " + skip * u", "", "no skip connection"),
            Slip("missing factor", "(delta * u)[:, None]", "u[:, None]", "the input is not discretised"),
        ),
        right_selective_scan,
    ),
    Subject(
        route_tokens,
        run_route_tokens,
        (
            Slip(
                "scan",
                "start = tl.cumsum(count, axis=0) - count",
                "start = tl.cumsum(count, axis=0)",
                "inclusive sums as starts",
            ),
            Slip(
                "axis",
                "before = tl.cumsum(hit, axis=0) - hit",
                "before = tl.cumsum(hit, axis=1) - hit",
                "counted along the experts",
            ),
        ),
        right_route_tokens,
    ),
    Subject(
        grouped_persistent,
        run_grouped_persistent,
        (
            Slip(
                "index",
                "b_at = g * K * N + k[:, None] * N",
                "b_at = k[:, None] * N",
                "the first group's matrix for all",
            ),
            Slip("accumulator", "done += tiles", "done = tiles", "the tiles before are forgotten"),
            Slip(
                "program or head",
                "m = first + here // wide * BM",
                "m = first + tile // wide * BM",
                "the tile among those of all groups",
            ),
        ),
        right_grouped_persistent,
    ),
    Subject(
        beam_step,
        run_beam_step,
        (
            Slip("integer division", "at_best // BLOCK)", "at_best // vocabulary)", "the padded row length matters"),
            Slip(
                "missing term",
                "logits - norm[:, None] + old[:, None]",
                "logits - norm[:, None]",
                "the beam's own score is left out",
            ),
            Slip(
                "missing max-subtraction",
                "tl.exp(logits - top[:, None])",
                "tl.exp(logits)",
                "the maximum is added back all the same",
            ),
            Slip(
                "function",
                "logits - norm[:, None] + old[:, None]",
                "tl.exp(logits - norm[:, None]) + old[:, None]",
                "probabilities and log probabilities mixed",
            ),
        ),
        right_beam_step,
    ),
    Subject(
        nucleus_filter,
        run_nucleus_filter,
        (
            Slip(
                "off by one",
                "needed = climbed - ordered < mass",
                "needed = climbed < mass",
                "the token that crosses the mass is dropped",
            ),
            Slip("last step", "kept / tl.sum(kept, axis=0)", "kept", "not normalised again"),
            Slip(
                "comparison", "tl.where(p >= least, p, 0.0)", "tl.where(p > least, p, 0.0)", "the least one is dropped"
            ),
        ),
        right_nucleus_filter,
    ),
    Subject(
        gumbel_argmax,
        run_gumbel_argmax,
        (
            Slip(
                "random numbers", "tl.rand(seed, row * n + cols)", "tl.rand(seed, cols)", "each row has the same noise"
            ),
            Slip("operator", "logits / temperature", "logits * temperature", "the temperature multiplies"),
            Slip("sign", "noise = -tl.log(", "noise = tl.log(", "noise of the other sign"),
        ),
    ),
)
