"""Norms, activations, gates and steps of simulations, with one slip at a time."""

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
def l2_normalize(x_ptr, y_ptr, rows, n, eps, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    r = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    c = tl.arange(0, BLOCK)
    inside = (r < rows)[:, None] & (c < n)[None, :]
    at = r[:, None] * n + c[None, :]
    x = tl.load(x_ptr + at, mask=inside, other=0.0)
    length = tl.sqrt(tl.sum(x * x, axis=1))
    y = x / tl.maximum(length, eps)[:, None]
    tl.store(y_ptr + at, y, mask=inside)


def run_l2_normalize(kernel):
    kernel[(3,)](randn(10, 20), torch.zeros(10, 20), 10, 20, 1e-6, ROWS=4, BLOCK=32)


@triton.jit
def batch_norm(x_ptr, w_ptr, b_ptr, y_ptr, samples, channels, pixels, eps, BLOCK: tl.constexpr):
    c = tl.program_id(0)
    p = tl.arange(0, BLOCK)
    total = 0.0
    squares = 0.0
    for s in range(samples):
        x = tl.load(x_ptr + (s * channels + c) * pixels + p, mask=p < pixels, other=0.0)
        total += tl.sum(x, axis=0)
        squares += tl.sum(x * x, axis=0)
    count = samples * pixels
    mean = total / count
    rstd = tl.rsqrt(squares / count - mean * mean + eps)
    scale = tl.load(w_ptr + c) * rstd
    shift = tl.load(b_ptr + c) - mean * scale
    for s in range(samples):
        at = (s * channels + c) * pixels + p
        tl.store(y_ptr + at, tl.load(x_ptr + at, mask=p < pixels) * scale + shift, mask=p < pixels)


def run_batch_norm(kernel):
    x, w, b = randn(4, 3, 5, 5) + 1.0, randn(3, seed=1), randn(3, seed=2)
    kernel[(3,)](x, w, b, torch.zeros(4, 3, 5, 5), 4, 3, 25, 1e-5, BLOCK=32)


@triton.jit
def softmax_gradient(dy_ptr, y_ptr, dx_ptr, n, scale, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    inside = cols < n
    y = tl.load(y_ptr + row * n + cols, mask=inside, other=0.0)
    dy = tl.load(dy_ptr + row * n + cols, mask=inside, other=0.0)
    dot = tl.sum(dy * y, axis=0)
    dx = (dy - dot) * y * scale
    tl.store(dx_ptr + row * n + cols, dx, mask=inside)


def run_softmax_gradient(kernel):
    kernel[(5,)](randn(5, 25, seed=1), torch.softmax(randn(5, 25), 1), torch.zeros(5, 25), 25, 0.125, BLOCK=32)


@triton.jit
def gelu_tanh(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n)
    inner = 0.7978845608 * (x + 0.044715 * x * x * x)
    tanh = 2 * tl.sigmoid(2 * inner) - 1
    y = 0.5 * x * (1 + tanh)
    tl.store(y_ptr + at, y, mask=at < n)


def run_gelu_tanh(kernel):
    kernel[(4,)](randn(100) * 2, torch.zeros(100), 100, BLOCK=32)


@triton.jit
def black_scholes(spot_ptr, strike_ptr, time_ptr, call_ptr, put_ptr, rate, vol, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    spot = tl.load(spot_ptr + at, mask=inside, other=1.0)
    strike = tl.load(strike_ptr + at, mask=inside, other=1.0)
    years = tl.load(time_ptr + at, mask=inside, other=1.0)
    spread = vol * tl.sqrt(years)
    d1 = (tl.log(spot / strike) + (rate + 0.5 * vol * vol) * years) / spread
    d2 = d1 - spread
    below1 = 0.5 * (1 + tl.erf(d1 * 0.70710678))
    below2 = 0.5 * (1 + tl.erf(d2 * 0.70710678))
    present = strike * tl.exp(-rate * years)
    call = spot * below1 - present * below2
    put = call - spot + present
    tl.store(call_ptr + at, call, mask=inside)
    tl.store(put_ptr + at, put, mask=inside)


def run_black_scholes(kernel):
    spot, strike, years = rand(50) * 40 + 80, rand(50, seed=1) * 40 + 80, rand(50, seed=2) * 2 + 0.3
    kernel[(2,)](spot, strike, years, torch.zeros(50), torch.zeros(50), 0.05, 0.3, 50, BLOCK=32)


def right_black_scholes(spot_ptr, strike_ptr, time_ptr, rate, vol, **_):
    s, k, t = spot_ptr.double(), strike_ptr.double(), time_ptr.double()
    d1 = (torch.log(s / k) + (rate + vol * vol / 2) * t) / (vol * t.sqrt())

    def cdf(z):
        return torch.special.ndtr(z)

    call = s * cdf(d1) - k * torch.exp(-rate * t) * cdf(d1 - vol * t.sqrt())
    return {"call_ptr": call.float(), "put_ptr": (call - s + k * torch.exp(-rate * t)).float()}


@triton.jit
def heat_step(u_ptr, next_ptr, height, width, rate, BLOCK: tl.constexpr):
    y = tl.program_id(0)
    x = tl.arange(0, BLOCK)
    at = y * width + x
    whole = x < width
    inner = (x > 0) & (x < width - 1) & (y > 0) & (y < height - 1)
    u = tl.load(u_ptr + at, mask=whole, other=0.0)
    left = tl.load(u_ptr + at - 1, mask=inner, other=0.0)
    right = tl.load(u_ptr + at + 1, mask=inner, other=0.0)
    up = tl.load(u_ptr + at - width, mask=inner, other=0.0)
    down = tl.load(u_ptr + at + width, mask=inner, other=0.0)
    laplace = left + right + up + down - 4 * u
    tl.store(next_ptr + at, tl.where(inner, u + rate * laplace, u), mask=whole)


def run_heat_step(kernel):
    kernel[(9,)](randn(9, 12), torch.zeros(9, 12), 9, 12, 0.2, BLOCK=16)


def right_heat_step(u_ptr, rate, **_):
    u = u_ptr.clone()
    c = u_ptr[1:-1, 1:-1]
    u[1:-1, 1:-1] = c + rate * (u_ptr[1:-1, :-2] + u_ptr[1:-1, 2:] + u_ptr[:-2, 1:-1] + u_ptr[2:, 1:-1] - 4 * c)
    return {"next_ptr": u}


@triton.jit
def lstm_cell(gates_ptr, c_ptr, c_out_ptr, h_out_ptr, hidden, BLOCK: tl.constexpr):
    sample = tl.program_id(0)
    j = tl.arange(0, BLOCK)
    inside = j < hidden
    gates = gates_ptr + sample * 4 * hidden + j
    i = tl.sigmoid(tl.load(gates, mask=inside, other=0.0))
    f = tl.sigmoid(tl.load(gates + hidden, mask=inside, other=0.0))
    g = 2 * tl.sigmoid(2 * tl.load(gates + 2 * hidden, mask=inside, other=0.0)) - 1
    o = tl.sigmoid(tl.load(gates + 3 * hidden, mask=inside, other=0.0))
    old = tl.load(c_ptr + sample * hidden + j, mask=inside, other=0.0)
    c = f * old + i * g
    h = o * (2 * tl.sigmoid(2 * c) - 1)
    tl.store(c_out_ptr + sample * hidden + j, c, mask=inside)
    tl.store(h_out_ptr + sample * hidden + j, h, mask=inside)


def run_lstm_cell(kernel):
    kernel[(3,)](randn(3, 80), randn(3, 20, seed=1), torch.zeros(3, 20), torch.zeros(3, 20), 20, BLOCK=32)


def right_lstm_cell(gates_ptr, c_ptr, **_):
    i, f, g, o = gates_ptr.chunk(4, 1)
    c = torch.sigmoid(f) * c_ptr + torch.sigmoid(i) * torch.tanh(g)
    return {"c_out_ptr": c, "h_out_ptr": torch.sigmoid(o) * torch.tanh(c)}


@triton.jit
def edit_distance(a_ptr, b_ptr, table_ptr, m, n):
    pair = tl.program_id(0)
    width = n + 1
    table = table_ptr + pair * (m + 1) * width
    for j in range(n + 1):
        tl.store(table + j, j)
    for i in range(1, m + 1):
        tl.store(table + i * width, i)
        letter = tl.load(a_ptr + pair * m + i - 1)
        for j in range(1, n + 1):
            other = tl.load(b_ptr + pair * n + j - 1)
            cost = tl.where(letter == other, 0, 1)
            above = tl.load(table + (i - 1) * width + j) + 1
            left = tl.load(table + i * width + j - 1) + 1
            corner = tl.load(table + (i - 1) * width + j - 1) + cost
            tl.store(table + i * width + j, tl.minimum(tl.minimum(above, left), corner))


def run_edit_distance(kernel):
    kernel[(3,)](ints(0, 3, 3, 6), ints(0, 3, 3, 7, seed=1), torch.zeros(3, 7, 8, dtype=torch.int32), 6, 7)


def right_edit_distance(a_ptr, b_ptr, m, n, **_):
    out = torch.zeros(3, m + 1, n + 1, dtype=torch.int32)
    for p in range(3):
        for i in range(m + 1):
            for j in range(n + 1):
                if i == 0 or j == 0:
                    out[p, i, j] = i + j
                else:
                    out[p, i, j] = min(
                        out[p, i - 1, j] + 1,
                        out[p, i, j - 1] + 1,
                        out[p, i - 1, j - 1] + int(a_ptr[p, i - 1] != b_ptr[p, j - 1]),
                    )
    return {"table_ptr": out}


@triton.jit
def path_step(d_ptr, out_ptr, n, k, BLOCK: tl.constexpr):
    i = tl.program_id(0)
    j = tl.arange(0, BLOCK)
    inside = j < n
    direct = tl.load(d_ptr + i * n + j, mask=inside, other=float("inf"))
    first = tl.load(d_ptr + i * n + k)
    second = tl.load(d_ptr + k * n + j, mask=inside, other=float("inf"))
    tl.store(out_ptr + i * n + j, tl.minimum(direct, first + second), mask=inside)


def run_path_step(kernel):
    kernel[(12,)](rand(12, 12) * 9, torch.zeros(12, 12), 12, 5, BLOCK=16)


@triton.jit
def segment_sums(x_ptr, segment_ptr, out_ptr, n, width, ROWS: tl.constexpr, COLS: tl.constexpr):
    r = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    c = tl.arange(0, COLS)
    segment = tl.load(segment_ptr + r, mask=r < n, other=0)
    inside = (r < n)[:, None] & (c < width)[None, :]
    x = tl.load(x_ptr + r[:, None] * width + c[None, :], mask=inside, other=0.0)
    tl.atomic_add(out_ptr + segment[:, None] * width + c[None, :], x, mask=inside)


def run_segment_sums(kernel):
    kernel[(4,)](randn(14, 6), ints(0, 5, 14), torch.zeros(20, 6), 14, 6, ROWS=4, COLS=8)


GATES_AND_NORMS = (
    Subject(
        l2_normalize,
        run_l2_normalize,
        (
            Slip(
                "missing function",
                "tl.sqrt(tl.sum(x * x, axis=1))",
                "tl.sum(x * x, axis=1)",
                "learners: the squared norm as the norm",
            ),
            Slip(
                "operator", "tl.maximum(length, eps)", "tl.minimum(length, eps)", "learners: clamp the wrong way round"
            ),
            Slip(
                "program or head",
                "tl.program_id(0) * ROWS + tl.arange(0, ROWS)",
                "tl.program_id(0) + tl.arange(0, ROWS)",
                "learners: programs overlap",
            ),
        ),
        lambda x_ptr, **_: {"y_ptr": torch.nn.functional.normalize(x_ptr, dim=1)},
    ),
    Subject(
        batch_norm,
        run_batch_norm,
        (
            Slip(
                "accumulator",
                "squares += tl.sum(x * x, axis=0)",
                "squares = tl.sum(x * x, axis=0)",
                "the last sample alone",
            ),
            Slip(
                "missing term", "squares / count - mean * mean + eps", "squares / count + eps", "E[x^2] as the variance"
            ),
            Slip("divisor", "count = samples * pixels", "count = samples * BLOCK", "the padded count"),
            Slip("sign", "- mean * scale", "+ mean * scale", "the folded shift has the wrong sign"),
            Slip(
                "missing factor",
                "shift = tl.load(b_ptr + c) - mean * scale",
                "shift = tl.load(b_ptr + c) - mean",
                "the mean is not scaled",
            ),
        ),
        lambda x_ptr, w_ptr, b_ptr, **_: {
            "y_ptr": torch.nn.functional.batch_norm(x_ptr, None, None, w_ptr, b_ptr, True, 0.0, 1e-5)
        },
    ),
    Subject(
        softmax_gradient,
        run_softmax_gradient,
        (
            Slip("wrong operand", "tl.sum(dy * y, axis=0)", "tl.sum(dy, axis=0)", "the plain sum of the gradient"),
            Slip("order of steps", "(dy - dot) * y * scale", "dy - dot * y * scale", "parentheses lost"),
        ),
        lambda dy_ptr, y_ptr, scale, **_: {"dx_ptr": (dy_ptr - (dy_ptr * y_ptr).sum(1, keepdim=True)) * y_ptr * scale},
    ),
    Subject(
        gelu_tanh,
        run_gelu_tanh,
        (
            Slip("constant", "0.044715", "0.44715", "a digit lost"),
            Slip("function", "2 * tl.sigmoid(2 * inner) - 1", "tl.sigmoid(2 * inner)", "a sigmoid as tanh"),
            Slip("wrong power", "x * x * x)", "x * x)", "the square in place of the cube"),
        ),
        lambda x_ptr, **_: {"y_ptr": torch.nn.functional.gelu(x_ptr, approximate="tanh")},
    ),
    Subject(
        black_scholes,
        run_black_scholes,
        (
            Slip("sign", "d2 = d1 - spread", "d2 = d1 + spread", "d2 above d1"),
            Slip("missing function", "vol * tl.sqrt(years)", "vol * years", "the spread grows with the time itself"),
            Slip("exchanged operands", "tl.log(spot / strike)", "tl.log(strike / spot)", "moneyness turned round"),
            Slip("wrong operand", "present * below2", "present * below1", "N(d1) twice"),
            Slip("missing term", "(rate + 0.5 * vol * vol)", "rate", "drift without the variance"),
        ),
        right_black_scholes,
    ),
    Subject(
        heat_step,
        run_heat_step,
        (
            Slip("index", "u_ptr + at - width, mask", "u_ptr + at - 1 - width, mask", "the diagonal neighbour"),
            Slip("constant", "- 4 * u", "- 2 * u", "the one-dimensional Laplacian"),
            Slip("mask", "(x < width - 1)", "(x < width)", "the right border is inside"),
        ),
        right_heat_step,
    ),
    Subject(
        lstm_cell,
        run_lstm_cell,
        (
            Slip("index", "gates + 2 * hidden, mask", "gates + 3 * hidden, mask", "gates in another order"),
            Slip(
                "wrong operand",
                "h = o * (2 * tl.sigmoid(2 * c) - 1)",
                "h = o * (2 * tl.sigmoid(2 * old) - 1)",
                "the old state",
            ),
            Slip(
                "missing function",
                "f = tl.sigmoid(tl.load(gates + hidden, mask=inside, other=0.0))",
                "f = tl.load(gates + hidden, mask=inside, other=0.0)",
                "the raw gate",
            ),
        ),
        right_lstm_cell,
    ),
    Subject(
        edit_distance,
        run_edit_distance,
        (
            Slip("comparison", "letter == other", "letter != other", "cost turned round"),
            Slip(
                "operator",
                "tl.minimum(tl.minimum(above, left), corner)",
                "tl.minimum(tl.maximum(above, left), corner)",
                "min and max exchanged",
            ),
            Slip("loop", "for j in range(1, n + 1):", "for j in range(1, n):", "the last column is left"),
            Slip(
                "missing term",
                "tl.load(table + i * width + j - 1) + 1",
                "tl.load(table + i * width + j - 1)",
                "an insertion is free",
            ),
        ),
        right_edit_distance,
    ),
    Subject(
        path_step,
        run_path_step,
        (
            Slip(
                "index",
                "first = tl.load(d_ptr + i * n + k)",
                "first = tl.load(d_ptr + k * n + i)",
                "the transposed distance",
            ),
            Slip(
                "operator",
                "tl.minimum(direct, first + second)",
                "tl.minimum(direct, first * second)",
                "lengths multiplied",
            ),
        ),
        lambda d_ptr, k, **_: {"out_ptr": torch.minimum(d_ptr, d_ptr[:, k : k + 1] + d_ptr[k : k + 1])},
    ),
    Subject(
        segment_sums,
        run_segment_sums,
        (
            Slip("race", "tl.atomic_add(out_ptr", "tl.store(out_ptr", "a plain store of sums"),
            Slip(
                "stride or address",
                "segment[:, None] * width + c",
                "segment[:, None] * COLS + c",
                "the padded width as the stride",
            ),
        ),
        lambda x_ptr, segment_ptr, **_: {"out_ptr": torch.zeros(20, 6).index_add_(0, segment_ptr.long(), x_ptr)},
    ),
)
