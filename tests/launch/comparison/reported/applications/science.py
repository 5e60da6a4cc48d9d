"""Physics, finance, images, signals and linear algebra, with one slip at a time."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

from __future__ import annotations

import math

import torch
import triton
import triton.language as tl

from tests.launch.comparison.reported.applications.layers import ints, rand
from tests.launch.comparison.reported.slip import Slip, Subject
from tests.launch.comparison.slips import randn


@triton.jit
def wave_step(now_ptr, before_ptr, next_ptr, n, courant, damping, BLOCK: tl.constexpr):
    x = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inner = (x > 0) & (x < n - 1)
    now = tl.load(now_ptr + x, mask=x < n, other=0.0)
    before = tl.load(before_ptr + x, mask=x < n, other=0.0)
    left = tl.load(now_ptr + x - 1, mask=inner, other=0.0)
    right = tl.load(now_ptr + x + 1, mask=inner, other=0.0)
    bend = left - 2 * now + right
    made = 2 * now - before + courant * courant * bend - damping * (now - before)
    tl.store(next_ptr + x, tl.where(inner, made, 0.0), mask=x < n)


def run_wave_step(kernel):
    kernel[(3,)](randn(40), randn(40, seed=1), torch.zeros(40), 40, 0.4, 0.05, BLOCK=16)


def right_wave_step(now_ptr, before_ptr, courant, damping, **_):
    now, before, out = now_ptr[1:-1], before_ptr[1:-1], torch.zeros(40)
    bend = now_ptr[:-2] - 2 * now + now_ptr[2:]
    out[1:-1] = 2 * now - before + courant**2 * bend - damping * (now - before)
    return {"next_ptr": out}


@triton.jit
def lennard_jones(x_ptr, energy_ptr, n, epsilon, sigma, cutoff, BLOCK: tl.constexpr):
    i = tl.program_id(0)
    j = tl.arange(0, BLOCK)
    live = (j < n) & (j != i)
    square = tl.zeros((BLOCK,), tl.float32)
    for axis in tl.static_range(3):
        apart = tl.load(x_ptr + j * 3 + axis, mask=j < n, other=0.0) - tl.load(x_ptr + i * 3 + axis)
        square += apart * apart
    near = live & (square < cutoff * cutoff)
    ratio = sigma * sigma / tl.where(near, square, 1.0)
    six = ratio * ratio * ratio
    pair = 4 * epsilon * (six * six - six)
    tl.store(energy_ptr + i, 0.5 * tl.sum(tl.where(near, pair, 0.0), axis=0))


def run_lennard_jones(kernel):
    grid = torch.cartesian_prod(*(torch.arange(3.0),) * 3)[:25]
    kernel[(25,)](grid * 1.2 + 0.1 * randn(25, 3), torch.zeros(25), 25, 0.8, 1.1, 2.0, BLOCK=32)


def right_lennard_jones(x_ptr, epsilon, sigma, cutoff, **_):
    d = (x_ptr[:, None] - x_ptr[None]).square().sum(2)
    near = (d < cutoff**2) & ~torch.eye(25, dtype=torch.bool)
    six = (sigma**2 / torch.where(near, d, 1.0)) ** 3
    return {"energy_ptr": 0.5 * torch.where(near, 4 * epsilon * (six**2 - six), 0.0).sum(1)}


@triton.jit
def ising_sweep(spin_ptr, out_ptr, size, beta, colour, seed, BLOCK: tl.constexpr):
    y = tl.program_id(0)
    x = tl.arange(0, BLOCK)
    inside = x < size
    at = y * size + x
    spin = tl.load(spin_ptr + at, mask=inside, other=0)
    left = tl.load(spin_ptr + y * size + (x + size - 1) % size, mask=inside, other=0)
    right = tl.load(spin_ptr + y * size + (x + 1) % size, mask=inside, other=0)
    up = tl.load(spin_ptr + (y + size - 1) % size * size + x, mask=inside, other=0)
    down = tl.load(spin_ptr + (y + 1) % size * size + x, mask=inside, other=0)
    cost = 2 * spin * (left + right + up + down)
    chance = tl.exp(-beta * cost.to(tl.float32))
    flip = (tl.rand(seed, at) < chance) & ((x + y) % 2 == colour)
    tl.store(out_ptr + at, tl.where(flip, -spin, spin), mask=inside)


def run_ising_sweep(kernel):
    spin = ints(0, 2, 12, 12) * 2 - 1
    kernel[(12,)](spin, torch.zeros(12, 12, dtype=torch.int32), 12, 0.4, 1, 11, BLOCK=16)


@triton.jit
def binomial_option(spot_ptr, work_ptr, price_ptr, strike, up, discount, chance, steps, BLOCK: tl.constexpr):
    option = tl.program_id(0)
    j = tl.arange(0, BLOCK)
    spot = tl.load(spot_ptr + option)
    work = work_ptr + option * BLOCK
    value = spot * tl.exp(tl.log(up) * (2 * j - steps))
    tl.store(work + j, tl.maximum(strike - value, 0.0), mask=j <= steps)
    for back in range(steps):
        step = steps - 1 - back
        tl.debug_barrier()
        low = tl.load(work + j, mask=j <= step, other=0.0)
        high = tl.load(work + j + 1, mask=j <= step, other=0.0)
        held = discount * (chance * high + (1 - chance) * low)
        paid = strike - spot * tl.exp(tl.log(up) * (2 * j - step))
        tl.debug_barrier()
        tl.store(work + j, tl.maximum(held, paid), mask=j <= step)
    tl.debug_barrier()
    tl.store(price_ptr + option, tl.load(work))


def run_binomial_option(kernel):
    spot = torch.tensor([80.0, 92.0, 100.0, 111.0, 130.0])
    kernel[(5,)](spot, torch.zeros(5, 16), torch.zeros(5), 100.0, 1.06, 0.995, 0.52, 12, BLOCK=16)


def right_binomial_option(spot_ptr, strike, up, discount, chance, steps, **_):
    prices = []
    for s in spot_ptr.tolist():
        v = [max(strike - s * up ** (2 * j - steps), 0) for j in range(steps + 1)]
        for t in reversed(range(steps)):
            v = [
                max(discount * (chance * v[j + 1] + (1 - chance) * v[j]), strike - s * up ** (2 * j - t))
                for j in range(t + 1)
            ]
        prices.append(v[0])
    return {"price_ptr": torch.tensor(prices)}


@triton.jit
def larger(a, b):
    return tl.maximum(a, b)


@triton.jit
def drawdown(price_ptr, out_ptr, worst_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    t = tl.arange(0, BLOCK)
    price = tl.load(price_ptr + row * n + t, mask=t < n, other=0.0)
    peak = tl.associative_scan(price, 0, larger)
    lost = (peak - price) / peak
    lost = tl.where(t < n, lost, 0.0)
    tl.store(out_ptr + row * n + t, lost, mask=t < n)
    tl.store(worst_ptr + row, tl.max(lost, axis=0))


def run_drawdown(kernel):
    kernel[(4,)](torch.exp(0.1 * randn(4, 25).cumsum(1)), torch.zeros(4, 25), torch.zeros(4), 25, BLOCK=32)


def right_drawdown(price_ptr, **_):
    peak = price_ptr.cummax(1).values
    lost = (peak - price_ptr) / peak
    return {"out_ptr": lost, "worst_ptr": lost.max(1).values}


@triton.jit
def asian_option(path_ptr, payoff_ptr, start, rate, vol, strike, years, steps, seed, BLOCK: tl.constexpr):
    p = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    dt = years / steps
    price = tl.full((BLOCK,), 0.0, tl.float32) + start
    total = tl.zeros((BLOCK,), tl.float32)
    for t in range(steps):
        noise = tl.randn(seed, p * steps + t)
        growth = (rate - 0.5 * vol * vol) * dt + vol * tl.sqrt(dt) * noise
        price = price * tl.exp(growth)
        total += price
    mean = total / steps
    tl.store(path_ptr + p, price)
    tl.store(payoff_ptr + p, tl.exp(-rate * years) * tl.maximum(mean - strike, 0.0))


def run_asian_option(kernel):
    kernel[(2,)](torch.zeros(32), torch.zeros(32), 100.0, 0.06, 0.35, 95.0, 1.5, 6, 3, BLOCK=16)


@triton.jit
def biquad(x_ptr, y_ptr, coefficient_ptr, channels, n, BLOCK: tl.constexpr):
    c = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    live = c < channels
    b0 = tl.load(coefficient_ptr)
    b1 = tl.load(coefficient_ptr + 1)
    b2 = tl.load(coefficient_ptr + 2)
    a1 = tl.load(coefficient_ptr + 3)
    a2 = tl.load(coefficient_ptr + 4)
    s1 = tl.zeros((BLOCK,), tl.float32)
    s2 = tl.zeros((BLOCK,), tl.float32)
    for t in range(n):
        x = tl.load(x_ptr + c * n + t, mask=live, other=0.0)
        y = b0 * x + s1
        s1 = b1 * x - a1 * y + s2
        s2 = b2 * x - a2 * y
        tl.store(y_ptr + c * n + t, y, mask=live)


def run_biquad(kernel):
    kernel[(2,)](randn(6, 15), torch.zeros(6, 15), torch.tensor([0.3, 0.5, 0.2, -0.6, 0.25]), 6, 15, BLOCK=4)


def right_biquad(x_ptr, coefficient_ptr, **_):
    b0, b1, b2, a1, a2 = coefficient_ptr.tolist()
    x, y = torch.nn.functional.pad(x_ptr, (2, 0)), torch.zeros(6, 17)
    for t in range(2, 17):
        y[:, t] = b0 * x[:, t] + b1 * x[:, t - 1] + b2 * x[:, t - 2] - a1 * y[:, t - 1] - a2 * y[:, t - 2]
    return {"y_ptr": y[:, 2:]}


@triton.jit
def windowed_spectrum(x_ptr, power_ptr, hop, frames, bins, SIZE: tl.constexpr, BINS: tl.constexpr):
    frame = tl.program_id(0)
    t = tl.arange(0, SIZE)
    f = tl.arange(0, BINS)
    x = tl.load(x_ptr + frame * hop + t)
    window = 0.5 - 0.5 * tl.cos(6.283185307 * t / SIZE)
    x = x * window
    angle = 6.283185307 * ((f[:, None] * t[None, :]) % SIZE) / SIZE
    real = tl.sum(x[None, :] * tl.cos(angle), axis=1)
    imaginary = -tl.sum(x[None, :] * tl.sin(angle), axis=1)
    tl.store(power_ptr + f * frames + frame, real * real + imaginary * imaginary, mask=f < bins)


def run_windowed_spectrum(kernel):
    kernel[(5,)](randn(64), torch.zeros(17, 5), 8, 5, 17, SIZE=32, BINS=32)


def right_windowed_spectrum(x_ptr, **_):
    made = torch.stft(x_ptr, 32, 8, window=torch.hann_window(32), center=False, return_complex=True)
    return {"power_ptr": made.abs().square()}


@triton.jit
def cosine_transform(x_ptr, y_ptr, N: tl.constexpr):
    block = tl.program_id(0)
    k = tl.arange(0, N)
    t = tl.arange(0, N)
    basis = tl.cos(3.14159265 * (2 * t[None, :] + 1) * k[:, None] / (2 * N))
    x = tl.load(x_ptr + block * N + t)
    y = tl.sum(basis * x[None, :], axis=1)
    scale = tl.where(k == 0, tl.sqrt(1.0 / N), tl.sqrt(2.0 / N))
    tl.store(y_ptr + block * N + k, y * scale)


def run_cosine_transform(kernel):
    kernel[(6,)](randn(6, 8), torch.zeros(6, 8), N=8)


def right_cosine_transform(x_ptr, **_):
    k = torch.arange(8.0)
    basis = torch.cos(math.pi * (2 * k[None] + 1) * k[:, None] / 16) * 0.5
    basis[0] = 8**-0.5
    return {"y_ptr": x_ptr @ basis.T}


@triton.jit
def bilateral(x_ptr, y_ptr, height, width, space, tone, RADIUS: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    col = tl.arange(0, BLOCK)
    centre = tl.load(x_ptr + row * width + col, mask=col < width, other=0.0)
    total = tl.zeros((BLOCK,), tl.float32)
    weights = tl.zeros((BLOCK,), tl.float32)
    for dy in range(-RADIUS, RADIUS + 1):
        for dx in range(-RADIUS, RADIUS + 1):
            y = row + dy
            x = col + dx
            inside = (y >= 0) & (y < height) & (x >= 0) & (x < width)
            value = tl.load(x_ptr + y * width + x, mask=inside, other=0.0)
            apart = value - centre
            near = (dx * dx + dy * dy) / (2.0 * space * space)
            alike = apart * apart / (2.0 * tone * tone)
            weight = tl.where(inside, tl.exp(-near - alike), 0.0)
            total += weight * value
            weights += weight
    tl.store(y_ptr + row * width + col, total / weights, mask=col < width)


def run_bilateral(kernel):
    kernel[(7,)](rand(7, 11) + 0.5, torch.zeros(7, 11), 7, 11, 1.2, 0.4, RADIUS=1, BLOCK=16)


def right_bilateral(x_ptr, space, tone, **_):
    wide = torch.nn.functional.pad(x_ptr, (1, 1, 1, 1), value=math.nan)
    total = weights = 0.0
    for dy in (-1, 0, 1):
        for dx in (-1, 0, 1):
            value = wide[1 + dy : 8 + dy, 1 + dx : 12 + dx]
            weight = torch.exp(-(dy * dy + dx * dx) / (2 * space**2) - (value - x_ptr) ** 2 / (2 * tone**2)).nan_to_num(
                0
            )
            total, weights = total + weight * value.nan_to_num(0), weights + weight
    return {"y_ptr": total / weights}


@triton.jit
def median_three(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    t = tl.arange(0, BLOCK)
    left = tl.maximum(t - 1, 0)
    right = tl.minimum(t + 1, n - 1)
    a = tl.load(x_ptr + row * n + left, mask=t < n, other=0.0)
    b = tl.load(x_ptr + row * n + t, mask=t < n, other=0.0)
    c = tl.load(x_ptr + row * n + right, mask=t < n, other=0.0)
    low = tl.minimum(a, b)
    high = tl.maximum(a, b)
    tl.store(y_ptr + row * n + t, tl.maximum(low, tl.minimum(high, c)), mask=t < n)


def run_median_three(kernel):
    kernel[(5,)](randn(5, 22), torch.zeros(5, 22), 22, BLOCK=32)


def right_median_three(x_ptr, **_):
    wide = torch.cat([x_ptr[:, :1], x_ptr, x_ptr[:, -1:]], 1)
    return {"y_ptr": wide.unfold(1, 3, 1).median(2).values}


@triton.jit
def rgb_to_hsv(rgb_ptr, hsv_ptr, pixels, BLOCK: tl.constexpr):
    p = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    live = p < pixels
    r = tl.load(rgb_ptr + p * 3, mask=live, other=0.0)
    g = tl.load(rgb_ptr + p * 3 + 1, mask=live, other=0.0)
    b = tl.load(rgb_ptr + p * 3 + 2, mask=live, other=0.0)
    top = tl.maximum(r, tl.maximum(g, b))
    spread = top - tl.minimum(r, tl.minimum(g, b))
    safe = tl.where(spread > 0, spread, 1.0)
    hue = tl.where(top == r, (g - b) / safe, tl.where(top == g, 2 + (b - r) / safe, 4 + (r - g) / safe))
    hue = hue / 6
    hue = tl.where(hue < 0, hue + 1, hue)
    saturation = tl.where(top > 0, spread / tl.where(top > 0, top, 1.0), 0.0)
    tl.store(hsv_ptr + p * 3, hue, mask=live)
    tl.store(hsv_ptr + p * 3 + 1, saturation, mask=live)
    tl.store(hsv_ptr + p * 3 + 2, top, mask=live)


def run_rgb_to_hsv(kernel):
    kernel[(2,)](rand(30, 3), torch.zeros(30, 3), 30, BLOCK=16)


def right_rgb_to_hsv(rgb_ptr, **_):
    import colorsys

    return {"hsv_ptr": torch.tensor([colorsys.rgb_to_hsv(*p) for p in rgb_ptr.tolist()])}


@triton.jit
def equalize(x_ptr, count_ptr, y_ptr, pixels, LEVELS: tl.constexpr, BLOCK: tl.constexpr):
    p = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    level = tl.arange(0, LEVELS)
    count = tl.load(count_ptr + level)
    climbed = tl.cumsum(count, axis=0)
    least = tl.min(tl.where(count > 0, climbed, pixels), axis=0)
    x = tl.load(x_ptr + p, mask=p < pixels, other=0)
    own = tl.sum(tl.where(x[:, None] == level[None, :], climbed[None, :], 0), axis=1)
    grey = (own - least) * (LEVELS - 1) / (pixels - least)
    tl.store(y_ptr + p, tl.floor(grey + 0.5).to(tl.int32), mask=p < pixels)


def run_equalize(kernel):
    x = (3 + 6 * rand(45) ** 2).int()
    kernel[(3,)](x, torch.bincount(x, minlength=16).int(), torch.zeros(45, dtype=torch.int32), 45, LEVELS=16, BLOCK=16)


def right_equalize(x_ptr, **_):
    climbed = torch.bincount(x_ptr, minlength=16).cumsum(0)
    least = climbed[climbed > 0].min()
    return {"y_ptr": torch.floor((climbed[x_ptr.long()] - least) * 15 / (45 - least) + 0.5).int()}


@triton.jit
def mandelbrot(out_ptr, width, height, left, bottom, step, most, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    col = tl.arange(0, BLOCK)
    cx = left + col * step
    cy = bottom + row * step
    x = tl.zeros((BLOCK,), tl.float32)
    y = tl.zeros((BLOCK,), tl.float32)
    count = tl.zeros((BLOCK,), tl.int32)
    for _turn in range(most):
        live = x * x + y * y <= 4.0
        count += live.to(tl.int32)
        next_x = x * x - y * y + cx
        next_y = 2 * x * y + cy
        x = tl.where(live, next_x, x)
        y = tl.where(live, next_y, y)
    tl.store(out_ptr + row * width + col, count, mask=col < width)


def run_mandelbrot(kernel):
    kernel[(9,)](torch.zeros(9, 14, dtype=torch.int32), 14, 9, -2.0, -1.1, 0.21, 12, BLOCK=16)


@triton.jit
def life_step(x_ptr, y_ptr, height, width, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    col = tl.arange(0, BLOCK)
    inside = col < width
    around = tl.zeros((BLOCK,), tl.int32)
    for dy in tl.static_range(-1, 2):
        for dx in tl.static_range(-1, 2):
            y = (row + dy + height) % height
            x = (col + dx + width) % width
            around += tl.load(x_ptr + y * width + x, mask=inside, other=0)
    own = tl.load(x_ptr + row * width + col, mask=inside, other=0)
    around -= own
    lives = (around == 3) | ((own == 1) & (around == 2))
    tl.store(y_ptr + row * width + col, lives.to(tl.int32), mask=inside)


def run_life_step(kernel):
    kernel[(9,)](ints(0, 2, 9, 13), torch.zeros(9, 13, dtype=torch.int32), 9, 13, BLOCK=16)


def right_life_step(x_ptr, **_):
    around = sum(x_ptr.roll((a, b), (0, 1)) for a in (-1, 0, 1) for b in (-1, 0, 1)) - x_ptr
    return {"y_ptr": ((around == 3) | ((x_ptr == 1) & (around == 2))).int()}


@triton.jit
def upwind(q_ptr, speed_ptr, next_ptr, n, ratio, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    live = i < n
    q = tl.load(q_ptr + i, mask=live, other=0.0)
    west = tl.load(q_ptr + (i + n - 1) % n, mask=live, other=0.0)
    east = tl.load(q_ptr + (i + 1) % n, mask=live, other=0.0)
    speed = tl.load(speed_ptr + i, mask=live, other=0.0)
    slope = tl.where(speed > 0, q - west, east - q)
    tl.store(next_ptr + i, q - ratio * speed * slope, mask=live)


def run_upwind(kernel):
    kernel[(3,)](randn(37), randn(37, seed=1), torch.zeros(37), 37, 0.3, BLOCK=16)


def right_upwind(q_ptr, speed_ptr, ratio, **_):
    slope = torch.where(speed_ptr > 0, q_ptr - q_ptr.roll(1), q_ptr.roll(-1) - q_ptr)
    return {"next_ptr": q_ptr - ratio * speed_ptr * slope}


@triton.jit
def cholesky(a_ptr, l_ptr, N: tl.constexpr):
    matrix = tl.program_id(0)
    r = tl.arange(0, N)
    a = tl.load(a_ptr + matrix * N * N + r[:, None] * N + r[None, :])
    for k in range(N):
        column = tl.sum(tl.where(r[None, :] == k, a, 0.0), axis=1)
        pivot = tl.sum(tl.where(r == k, column, 0.0), axis=0)
        factor = tl.where(r >= k, column / tl.sqrt(pivot), 0.0)
        tl.store(l_ptr + matrix * N * N + r * N + k, factor)
        a = a - factor[:, None] * factor[None, :]


def run_cholesky(kernel):
    m = randn(3, 8, 8)
    kernel[(3,)](m @ m.mT + 4 * torch.eye(8), torch.zeros(3, 8, 8), N=8)


@triton.jit
def triangular_solve(l_ptr, b_ptr, x_ptr, n, BLOCK: tl.constexpr):
    column = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    b = tl.load(b_ptr + i * tl.num_programs(0) + column, mask=i < n, other=0.0)
    for k in range(n):
        row = tl.load(l_ptr + i * n + k, mask=(i < n) & (i >= k), other=0.0)
        pivot = tl.load(l_ptr + k * n + k)
        value = tl.sum(tl.where(i == k, b, 0.0), axis=0) / pivot
        tl.store(x_ptr + k * tl.num_programs(0) + column, value)
        b = b - row * value


def run_triangular_solve(kernel):
    factor = torch.tril(0.5 * randn(7, 7)) + 2 * torch.eye(7)
    kernel[(5,)](factor, randn(7, 5, seed=1), torch.zeros(7, 5), 7, BLOCK=8)


@triton.jit
def quaternion_rotate(q_ptr, v_ptr, out_ptr, n, BLOCK: tl.constexpr):
    p = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    live = p < n
    w = tl.load(q_ptr + p * 4, mask=live, other=1.0)
    a = tl.load(q_ptr + p * 4 + 1, mask=live, other=0.0)
    b = tl.load(q_ptr + p * 4 + 2, mask=live, other=0.0)
    c = tl.load(q_ptr + p * 4 + 3, mask=live, other=0.0)
    x = tl.load(v_ptr + p * 3, mask=live, other=0.0)
    y = tl.load(v_ptr + p * 3 + 1, mask=live, other=0.0)
    z = tl.load(v_ptr + p * 3 + 2, mask=live, other=0.0)
    tx = 2 * (b * z - c * y)
    ty = 2 * (c * x - a * z)
    tz = 2 * (a * y - b * x)
    tl.store(out_ptr + p * 3, x + w * tx + b * tz - c * ty, mask=live)
    tl.store(out_ptr + p * 3 + 1, y + w * ty + c * tx - a * tz, mask=live)
    tl.store(out_ptr + p * 3 + 2, z + w * tz + a * ty - b * tx, mask=live)


def run_quaternion_rotate(kernel):
    q = torch.nn.functional.normalize(randn(20, 4), dim=1)
    kernel[(2,)](q, randn(20, 3, seed=1), torch.zeros(20, 3), 20, BLOCK=16)


def right_quaternion_rotate(q_ptr, v_ptr, **_):
    w, u = q_ptr[:, :1], q_ptr[:, 1:]
    t = 2 * torch.linalg.cross(u, v_ptr)
    return {"out_ptr": v_ptr + w * t + torch.linalg.cross(u, t)}


@triton.jit
def great_circle(a_ptr, b_ptr, out_ptr, n, m, radius, BLOCK: tl.constexpr):
    i = tl.program_id(0)
    j = tl.arange(0, BLOCK)
    live = j < m
    lat1 = tl.load(a_ptr + i * 2) * 0.017453292
    lon1 = tl.load(a_ptr + i * 2 + 1) * 0.017453292
    lat2 = tl.load(b_ptr + j * 2, mask=live, other=0.0) * 0.017453292
    lon2 = tl.load(b_ptr + j * 2 + 1, mask=live, other=0.0) * 0.017453292
    up = tl.sin((lat2 - lat1) * 0.5)
    along = tl.sin((lon2 - lon1) * 0.5)
    h = up * up + tl.cos(lat1) * tl.cos(lat2) * along * along
    flat = tl.sqrt(h)
    angle = 2 * flat * (1 + h / 6 + 3 * h * h / 40)
    tl.store(out_ptr + i * m + j, radius * angle, mask=live)


def run_great_circle(kernel):
    def place(k, seed):
        return rand(k, 2, seed=seed) * 40

    kernel[(6,)](place(6, 0), place(11, 1), torch.zeros(6, 11), 6, 11, 6371.0, BLOCK=16)


@triton.jit
def stochastic_bfloat(x_ptr, out_ptr, seed, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n, other=0.0)
    bits = x.to(tl.int32, bitcast=True)
    noise = tl.randint(seed, at).to(tl.int32) & 0xFFFF
    bits = (bits + noise) & -65536
    tl.store(out_ptr + at, bits.to(tl.float32, bitcast=True), mask=at < n)


def run_stochastic_bfloat(kernel):
    kernel[(3,)](randn(40), torch.zeros(40), 5, 40, BLOCK=16)


@triton.jit
def token_quantize(x_ptr, q_ptr, scale_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n + cols, mask=cols < n, other=0.0)
    peak = tl.maximum(tl.max(tl.abs(x), axis=0), 1e-6)
    scale = peak / 7.0
    scaled = x / scale
    nearest = tl.floor(scaled + 0.5)
    clipped = tl.minimum(tl.maximum(nearest, -8.0), 7.0).to(tl.int32)
    low, high = tl.split(tl.reshape(clipped & 15, (BLOCK // 2, 2)))
    half = tl.arange(0, BLOCK // 2)
    tl.store(q_ptr + row * (n // 2) + half, (low | (high << 4)).to(tl.uint8), mask=half < n // 2)
    tl.store(scale_ptr + row, scale)


def run_token_quantize(kernel):
    kernel[(6,)](randn(6, 24) - 0.3, torch.zeros(6, 12, dtype=torch.uint8), torch.zeros(6), 24, BLOCK=32)


@triton.jit
def normal_noise(out_ptr, n, mean, spread, seed, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    u = tl.maximum(tl.rand(seed, 2 * at), 1e-7)
    v = tl.rand(seed, 2 * at + 1)
    radius = tl.sqrt(-2.0 * tl.log(u))
    angle = 6.283185307 * v
    tl.store(out_ptr + at, mean + spread * radius * tl.cos(angle), mask=at < n)


def run_normal_noise(kernel):
    kernel[(3,)](torch.zeros(44), 44, 0.5, 2.0, 9, BLOCK=16)


SCIENCE = (
    Subject(
        wave_step,
        run_wave_step,
        (
            Slip("missing factor", "courant * courant * bend", "courant * bend", "the Courant number is not squared"),
            Slip("exchanged operands", "2 * now - before", "2 * before - now", "now and before exchanged"),
        ),
        right_wave_step,
    ),
    Subject(
        lennard_jones,
        run_lennard_jones,
        (
            Slip("missing function", "cutoff * cutoff)", "cutoff)", "the squared distance against the cutoff itself"),
            Slip(
                "wrong power", "six = ratio * ratio * ratio", "six = ratio * ratio", "the fourth power of the distance"
            ),
            Slip("last step", "0.5 * tl.sum(tl.where(near", "tl.sum(tl.where(near", "each pair counts twice"),
        ),
        right_lennard_jones,
    ),
    Subject(
        ising_sweep,
        run_ising_sweep,
        (
            Slip("index", "(y + size - 1) % size * size + x", "(y + 1) % size * size + x", "the row below twice"),
            Slip("sign", "tl.exp(-beta * cost", "tl.exp(beta * cost", "the energy falls the other way"),
            Slip("missing condition", " & ((x + y) % 2 == colour)", "", "all spins at once"),
        ),
    ),
    Subject(
        binomial_option,
        run_binomial_option,
        (
            Slip(
                "exchanged operands",
                "chance * high + (1 - chance) * low",
                "chance * low + (1 - chance) * high",
                "up and down exchanged",
            ),
            Slip("missing factor", "held = discount * (", "held = (", "not discounted"),
            Slip(
                "missing function",
                "tl.store(work + j, tl.maximum(held, paid)",
                "tl.store(work + j, held",
                "the European option",
            ),
            Slip("wrong operand", "(2 * j - step))", "(2 * j - steps))", "the last step's exponent"),
        ),
        right_binomial_option,
    ),
    Subject(
        drawdown,
        run_drawdown,
        (
            Slip("divisor", "(peak - price) / peak", "(peak - price) / price", "relative to the price"),
            Slip("function", "tl.max(lost, axis=0)", "tl.min(lost, axis=0)", "the least drawdown"),
        ),
        right_drawdown,
    ),
    Subject(
        asian_option,
        run_asian_option,
        (
            Slip(
                "missing function", "vol * tl.sqrt(dt) * noise", "vol * dt * noise", "noise that scales with the time"
            ),
            Slip("random numbers", "tl.randn(seed, p * steps + t)", "tl.randn(seed, p)", "the same noise at each step"),
            Slip("sign", "(rate - 0.5 * vol * vol)", "(rate + 0.5 * vol * vol)", "Ito's correction"),
        ),
    ),
    Subject(
        biquad,
        run_biquad,
        (
            Slip("sign", "s2 = b2 * x - a2 * y", "s2 = b2 * x + a2 * y", "the other convention of a"),
            Slip("wrong operand", "- a1 * y + s2", "- a1 * x + s2", "fed by the input"),
            Slip("index", "coefficient_ptr + 4", "coefficient_ptr + 3", "a1 is read twice"),
        ),
        right_biquad,
    ),
    Subject(
        windowed_spectrum,
        run_windowed_spectrum,
        (
            Slip("divisor", "6.283185307 * t / SIZE)", "6.283185307 * t / (SIZE - 1))", "the symmetric window"),
            Slip("function", "x[None, :] * tl.sin(angle)", "x[None, :] * tl.cos(angle)", "the cosine twice"),
            Slip(
                "stride or address", "f * frames + frame", "frame * bins + f", "[frame, bin] in place of [bin, frame]"
            ),
        ),
        right_windowed_spectrum,
    ),
    Subject(
        cosine_transform,
        run_cosine_transform,
        (
            Slip("missing term", "(2 * t[None, :] + 1)", "(2 * t[None, :])", "the half sample's shift"),
            Slip("constant", "tl.sqrt(2.0 / N))", "tl.sqrt(1.0 / N))", "all rows scaled as the first"),
        ),
        right_cosine_transform,
    ),
    Subject(
        bilateral,
        run_bilateral,
        (
            Slip(
                "loop",
                "for dx in range(-RADIUS, RADIUS + 1):",
                "for dx in range(-RADIUS, RADIUS):",
                "the last column of the window",
            ),
            Slip(
                "masked-off lanes",
                "tl.where(inside, tl.exp(-near - alike), 0.0)",
                "tl.exp(-near - alike)",
                "the outside weighs as zeros",
            ),
            Slip("wrong operand", "(2.0 * tone * tone)", "(2.0 * space * space)", "the width of space for the tone"),
        ),
        right_bilateral,
    ),
    Subject(
        median_three,
        run_median_three,
        (
            Slip(
                "operator",
                "tl.maximum(low, tl.minimum(high, c))",
                "tl.minimum(low, tl.minimum(high, c))",
                "the least of three",
            ),
            Slip("clamp", "tl.minimum(t + 1, n - 1)", "tl.minimum(t + 1, n - 2)", "clamped one too early"),
        ),
        right_median_three,
    ),
    Subject(
        rgb_to_hsv,
        run_rgb_to_hsv,
        (
            Slip("exchanged operands", "2 + (b - r) / safe", "2 + (r - b) / safe", "the sector turned round"),
            Slip("last step", "tl.where(hue < 0, hue + 1, hue)", "hue", "negative hues"),
            Slip("divisor", "spread / tl.where(top > 0, top, 1.0)", "spread", "chroma as saturation"),
        ),
        right_rgb_to_hsv,
    ),
    Subject(
        equalize,
        run_equalize,
        (
            Slip("missing term", "(own - least) *", "own *", "the least level is not subtracted"),
            Slip(
                "integer division",
                "(LEVELS - 1) / (pixels - least)",
                "(LEVELS - 1) // (pixels - least)",
                "rounded before its rounding",
            ),
            Slip("rounding", "tl.floor(grey + 0.5)", "tl.floor(grey)", "rounded down"),
            Slip(
                "missing function", "climbed = tl.cumsum(count, axis=0)", "climbed = count", "the histogram as its sums"
            ),
        ),
        right_equalize,
    ),
    Subject(
        mandelbrot,
        run_mandelbrot,
        (
            Slip("sign", "x * x - y * y + cx", "x * x + y * y + cx", "i squared is minus one"),
            Slip("constant", "<= 4.0", "<= 2.0", "the squared length against the radius"),
            Slip("order of steps", "2 * x * y + cy", "2 * next_x * y + cy", "the new real part"),
        ),
    ),
    Subject(
        life_step,
        run_life_step,
        (
            Slip("missing term", "around -= own", "around -= 0", "the cell counts itself"),
            Slip("constant", "(around == 3) |", "(around == 2) |", "the rule of birth"),
            Slip(
                "integer division",
                "x = (col + dx + width) % width",
                "x = (col + dx + width) % height",
                "the other side's length",
            ),
        ),
        right_life_step,
    ),
    Subject(
        upwind,
        run_upwind,
        (
            Slip("comparison", "speed > 0", "speed < 0", "downwind"),
            Slip("missing factor", "ratio * speed * slope", "ratio * slope", "the speed is forgotten"),
        ),
        right_upwind,
    ),
    Subject(
        cholesky,
        run_cholesky,
        (
            Slip("missing function", "column / tl.sqrt(pivot)", "column / pivot", "the pivot without its root"),
            Slip("transposition", "r * N + k, factor)", "k * N + r, factor)", "the upper factor"),
        ),
        lambda a_ptr, **_: {"l_ptr": torch.linalg.cholesky(a_ptr)},
    ),
    Subject(
        triangular_solve,
        run_triangular_solve,
        (
            Slip(
                "last step",
                "tl.where(i == k, b, 0.0), axis=0) / pivot",
                "tl.where(i == k, b, 0.0), axis=0)",
                "a unit diagonal",
            ),
            Slip(
                "transposition", "l_ptr + i * n + k, mask", "l_ptr + k * n + i, mask", "the row in place of the column"
            ),
            Slip("sign", "b = b - row * value", "b = b + row * value", "added in place of eliminated"),
        ),
        lambda l_ptr, b_ptr, **_: {"x_ptr": torch.linalg.solve_triangular(l_ptr, b_ptr, upper=False)},
    ),
    Subject(
        quaternion_rotate,
        run_quaternion_rotate,
        (
            Slip("exchanged operands", "2 * (c * x - a * z)", "2 * (a * z - c * x)", "the cross product's middle"),
            Slip("missing factor", "z + w * tz + a", "z + tz + a", "the real part is forgotten"),
            Slip("index", "q_ptr + p * 4 + 2, mask", "q_ptr + p * 4 + 3, mask", "a part read twice"),
        ),
        right_quaternion_rotate,
    ),
    Subject(
        great_circle,
        run_great_circle,
        (
            Slip("function", "tl.cos(lat1) * tl.cos(lat2)", "tl.cos(lat1) * tl.sin(lat2)", "a sine"),
            Slip(
                "missing factor",
                "lon1 = tl.load(a_ptr + i * 2 + 1) * 0.017453292",
                "lon1 = tl.load(a_ptr + i * 2 + 1)",
                "degrees for radians",
            ),
            Slip("missing function", "flat = tl.sqrt(h)", "flat = h", "the root is forgotten"),
        ),
    ),
    Subject(
        stochastic_bfloat,
        run_stochastic_bfloat,
        (
            Slip(
                "random numbers",
                "tl.randint(seed, at)",
                "tl.randint(seed, at % BLOCK)",
                "each program has the same noise",
            ),
            Slip("cast", "x.to(tl.int32, bitcast=True)", "x.to(tl.int32)", "the value in place of its bits"),
            Slip("bits", "& 0xFFFF", "& 0x7FFF", "half of the noise"),
        ),
    ),
    Subject(
        token_quantize,
        run_token_quantize,
        (
            Slip(
                "missing function",
                "tl.max(tl.abs(x), axis=0)",
                "tl.max(x, axis=0)",
                "the greatest in place of the greatest length",
            ),
            Slip("rounding", "tl.floor(scaled + 0.5)", "tl.floor(scaled)", "rounded down"),
            Slip("exchanged operands", "(low | (high << 4))", "(high | (low << 4))", "nibbles exchanged"),
        ),
    ),
    Subject(
        normal_noise,
        run_normal_noise,
        (
            Slip("random numbers", "tl.rand(seed, 2 * at + 1)", "tl.rand(seed, 2 * at)", "both numbers are the same"),
            Slip("constant", "-2.0 * tl.log(u)", "-tl.log(u)", "the factor 2"),
            Slip("missing factor", "spread * radius", "radius", "unit variance"),
        ),
    ),
)
