"""Images, grids, bodies and grouped statistics, with one slip at a time."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

from __future__ import annotations

import torch
import triton
import triton.language as tl

from tests.launch.comparison.reported.applications.layers import ints, rand
from tests.launch.comparison.reported.slip import Slip, Subject
from tests.launch.comparison.slips import randn


@triton.jit
def bicubic(src, dst, h, w, out_h, out_w, a, BLOCK: tl.constexpr):
    plane = tl.program_id(1)
    p = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    oy = p // out_w
    ox = p % out_w
    y = (oy + 0.5) * h / out_h - 0.5
    x = (ox + 0.5) * w / out_w - 0.5
    top = tl.floor(y)
    left = tl.floor(x)
    acc = tl.zeros((BLOCK,), tl.float32)
    for i in tl.static_range(4):
        dy = tl.abs(y - top + 1 - i)
        wy = tl.where(dy <= 1, ((a + 2) * dy - (a + 3)) * dy * dy + 1, ((a * dy - 5 * a) * dy + 8 * a) * dy - 4 * a)
        yy = tl.minimum(tl.maximum(top.to(tl.int32) + i - 1, 0), h - 1)
        for j in tl.static_range(4):
            dx = tl.abs(x - left + 1 - j)
            wx = tl.where(dx <= 1, ((a + 2) * dx - (a + 3)) * dx * dx + 1, ((a * dx - 5 * a) * dx + 8 * a) * dx - 4 * a)
            xx = tl.minimum(tl.maximum(left.to(tl.int32) + j - 1, 0), w - 1)
            acc += wy * wx * tl.load(src + (plane * h + yy) * w + xx)
    tl.store(dst + plane * out_h * out_w + p, acc, mask=p < out_h * out_w)


def run_bicubic(kernel):
    kernel[(5, 2)](randn(2, 8, 6), torch.zeros(2, 11, 14), 8, 6, 11, 14, -0.75, BLOCK=32)


def right_bicubic(src, **_):
    return {"dst": torch.nn.functional.interpolate(src[None], (11, 14), mode="bicubic", align_corners=False)[0]}


@triton.jit
def box_blur(src, dst, height, width, pitch, RADIUS: tl.constexpr, BY: tl.constexpr, BX: tl.constexpr):
    y = tl.program_id(1) * BY + tl.arange(0, BY)[:, None]
    x = tl.program_id(0) * BX + tl.arange(0, BX)[None, :]
    total = tl.zeros((BY, BX), tl.int32)
    count = tl.zeros((BY, BX), tl.int32)
    for dy in range(-RADIUS, RADIUS + 1):
        for dx in range(-RADIUS, RADIUS + 1):
            rows = (y + dy >= 0) & (y + dy < height)
            inside = rows & (x + dx >= 0) & (x + dx < width)
            total += tl.load(src + (y + dy) * pitch + x + dx, mask=inside, other=0)
            count += inside.to(tl.int32)
    mean = (total + count // 2) // tl.maximum(count, 1)
    tl.store(dst + y * width + x, mean.to(tl.uint8), mask=(y < height) & (x < width))


def run_box_blur(kernel):
    image = ints(0, 256, 10, 36, dtype=torch.uint8)
    kernel[(2, 3)](image, torch.zeros(10, 32, dtype=torch.uint8), 10, 32, 36, RADIUS=2, BY=4, BX=16)


def right_box_blur(src, **_):
    pad = torch.nn.functional.pad
    total = pad(src[:, :32].long(), (2, 2, 2, 2)).unfold(0, 5, 1).unfold(1, 5, 1).sum((2, 3))
    count = pad(torch.ones(10, 32, dtype=torch.long), (2, 2, 2, 2)).unfold(0, 5, 1).unfold(1, 5, 1).sum((2, 3))
    return {"dst": ((total + count // 2) // count).to(torch.uint8)}


@triton.jit
def leapfrog(pos, vel, mass, new_pos, new_vel, n, dt, soft, BLOCK: tl.constexpr, TILE: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mi = i < n
    px = tl.load(pos + i, mask=mi, other=0.0)
    py = tl.load(pos + n + i, mask=mi, other=0.0)
    ax = tl.zeros((BLOCK,), tl.float32)
    ay = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, n, TILE):
        j = start + tl.arange(0, TILE)
        mj = j < n
        rx = tl.load(pos + j, mask=mj, other=0.0)[None, :] - px[:, None]
        ry = tl.load(pos + n + j, mask=mj, other=0.0)[None, :] - py[:, None]
        r2 = rx * rx + ry * ry + soft * soft
        pull = tl.load(mass + j, mask=mj, other=0.0)[None, :] * tl.rsqrt(r2) / r2
        ax += tl.sum(pull * rx, axis=1)
        ay += tl.sum(pull * ry, axis=1)
    vx = tl.load(vel + i, mask=mi) + dt * ax
    vy = tl.load(vel + n + i, mask=mi) + dt * ay
    tl.store(new_vel + i, vx, mask=mi)
    tl.store(new_vel + n + i, vy, mask=mi)
    tl.store(new_pos + i, px + dt * vx, mask=mi)
    tl.store(new_pos + n + i, py + dt * vy, mask=mi)


def run_leapfrog(kernel):
    args = randn(2, 21), randn(2, 21, seed=1), rand(21, seed=2) + 0.5, torch.zeros(2, 21), torch.zeros(2, 21)
    kernel[(3,)](*args, 21, 0.1, 0.3, BLOCK=8, TILE=8)


def right_leapfrog(pos, vel, mass, dt, soft, **_):
    apart = pos[:, None, :] - pos[:, :, None]
    speed = vel + dt * (mass * apart * (apart.square().sum(0) + soft**2) ** -1.5).sum(2)
    return {"new_vel": speed, "new_pos": pos + dt * speed}


@triton.jit
def red_black(u_ptr, f_ptr, width, spacing, omega, colour, BLOCK: tl.constexpr):
    row = tl.program_id(0) + 1
    col = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK) + 1
    mine = (col < width - 1) & ((row + col) % 2 == colour)
    centre = row * width + col
    around = tl.load(u_ptr + centre - width, mask=mine) + tl.load(u_ptr + centre + width, mask=mine)
    around += tl.load(u_ptr + centre - 1, mask=mine) + tl.load(u_ptr + centre + 1, mask=mine)
    old = tl.load(u_ptr + centre, mask=mine)
    new = (around - spacing * spacing * tl.load(f_ptr + centre, mask=mine)) * 0.25
    tl.store(u_ptr + centre, old + omega * (new - old), mask=mine)


def run_red_black(kernel):
    kernel[(7, 2)](randn(9, 16), randn(9, 16, seed=1), 16, 0.5, 1.6, 1, BLOCK=8)


def right_red_black(u_ptr, f_ptr, spacing, omega, colour, **_):
    u = u_ptr.clone()
    around = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]
    new = torch.lerp(u[1:-1, 1:-1], (around - spacing**2 * f_ptr[1:-1, 1:-1]) / 4, omega)
    mine = (torch.arange(1, 8)[:, None] + torch.arange(1, 15)) % 2 == colour
    u[1:-1, 1:-1] = torch.where(mine, new, u[1:-1, 1:-1])
    return {"u_ptr": u}


@triton.jit
def group_norm_backward(
    dy_ptr, x_ptr, w_ptr, mean_ptr, rstd_ptr, dx_ptr, dw_ptr, db_ptr, size, space, C: tl.constexpr, S: tl.constexpr
):
    n, g = tl.program_id(0), tl.program_id(1)
    groups = tl.num_programs(1)
    c = tl.arange(0, C)
    s = tl.arange(0, S)
    channel = g * size + c
    inside = (c < size)[:, None] & (s < space)[None, :]
    at = (n * groups * size + channel)[:, None] * space + s[None, :]
    dy = tl.load(dy_ptr + at, mask=inside, other=0.0)
    rstd = tl.load(rstd_ptr + n * groups + g)
    normed = (tl.load(x_ptr + at, mask=inside, other=0.0) - tl.load(mean_ptr + n * groups + g)) * rstd
    wdy = dy * tl.load(w_ptr + channel, mask=c < size, other=0.0)[:, None]
    along = tl.sum(wdy * normed) / (size * space)
    level = tl.sum(wdy) / (size * space)
    tl.store(dx_ptr + at, (wdy - normed * along - level) * rstd, mask=inside)
    tl.atomic_add(dw_ptr + channel, tl.sum(dy * normed, axis=1), mask=c < size)
    tl.atomic_add(db_ptr + channel, tl.sum(dy, axis=1), mask=c < size)


def run_group_norm_backward(kernel):
    x = randn(3, 6, 7) * 2 + 1
    grouped = x.reshape(3, 2, 21)
    rstd = (grouped.var(2, unbiased=False) + 1e-5).rsqrt()
    out = torch.zeros(3, 6, 7), torch.zeros(6), torch.zeros(6)
    kernel[(3, 2)](randn(3, 6, 7, seed=1), x, randn(6, seed=2), grouped.mean(2), rstd, *out, 3, 7, C=4, S=8)


def right_group_norm_backward(dy_ptr, x_ptr, w_ptr, **_):
    x, w, b = x_ptr.clone().requires_grad_(), w_ptr.clone().requires_grad_(), torch.zeros(6, requires_grad=True)
    torch.nn.functional.group_norm(x, 2, w, b, 1e-5).backward(dy_ptr)
    return {"dx_ptr": x.grad, "dw_ptr": w.grad, "db_ptr": b.grad}


@triton.jit
def kernel_density(at_ptr, sample_ptr, out_ptr, points, samples, hx, hy, P: tl.constexpr, S: tl.constexpr):
    i = tl.program_id(0) * P + tl.arange(0, P)
    x = tl.load(at_ptr + 2 * i, mask=i < points, other=0.0)
    y = tl.load(at_ptr + 2 * i + 1, mask=i < points, other=0.0)
    density = tl.zeros((P,), tl.float32)
    for start in range(0, samples, S):
        j = start + tl.arange(0, S)
        u = (tl.load(sample_ptr + 2 * j, mask=j < samples, other=0.0)[None, :] - x[:, None]) / hx
        v = (tl.load(sample_ptr + 2 * j + 1, mask=j < samples, other=0.0)[None, :] - y[:, None]) / hy
        bump = tl.where((j < samples)[None, :], tl.exp(-0.5 * (u * u + v * v)), 0.0)
        density += tl.sum(bump, axis=1)
    tl.store(out_ptr + i, density / (samples * 6.283185307 * hx * hy), mask=i < points)


def run_kernel_density(kernel):
    kernel[(3,)](randn(20, 2), randn(27, 2, seed=1), torch.zeros(20), 20, 27, 0.6, 0.9, P=8, S=8)


def right_kernel_density(at_ptr, sample_ptr, hx, hy, **_):
    apart = (sample_ptr - at_ptr[:, None]) / torch.tensor([hx, hy])
    return {"out_ptr": torch.exp(-apart.square().sum(2) / 2).mean(1) / (2 * torch.pi * hx * hy)}


FIELDS = (
    Subject(
        bicubic,
        run_bicubic,
        (
            Slip("off by one", "left.to(tl.int32) + j - 1", "left.to(tl.int32) + j", "the taps one to the right"),
            Slip("missing term", "w / out_w - 0.5", "w / out_w", "corners for centres"),
            Slip("wrong operand", "+ i - 1, 0), h - 1)", "+ i - 1, 0), w - 1)", "the width for the height"),
            Slip("stride or address", "(plane * h + yy) * w", "(plane * w + yy) * w", "planes that lie too close"),
        ),
        right_bicubic,
    ),
    Subject(
        box_blur,
        run_box_blur,
        (
            Slip("cast", "total = tl.zeros((BY, BX), tl.int32)", "total = tl.zeros((BY, BX), tl.uint8)", "8 bits"),
            Slip("mask", "(x + dx >= 0) & (x + dx < width)", "(x + dx >= 0)", "what lies beyond the row"),
            Slip("loop", "for dx in range(-RADIUS, RADIUS + 1)", "for dx in range(-RADIUS, RADIUS)", "lopsided"),
        ),
        right_box_blur,
    ),
    Subject(
        leapfrog,
        run_leapfrog,
        (
            Slip("missing factor", "* tl.rsqrt(r2) / r2", "* tl.rsqrt(r2)", "the distance's first power"),
            Slip(
                "exchanged operands",
                "tl.load(pos + n + j, mask=mj, other=0.0)[None, :] - py[:, None]",
                "py[:, None] - tl.load(pos + n + j, mask=mj, other=0.0)[None, :]",
                "bodies push along y",
                also=("ay += tl.sum", "vy = tl.load"),
            ),
            Slip(
                "masked-off lanes",
                "tl.load(mass + j, mask=mj, other=0.0)",
                "tl.load(mass + j, mask=mj, other=1.0)",
                "bodies in the padding",
            ),
            Slip("wrong operand", "px + dt * vx", "px + dt * ax", "the position moves by the acceleration"),
        ),
        right_leapfrog,
    ),
    Subject(
        red_black,
        run_red_black,
        (
            Slip("mask", "(col < width - 1) & ((row + col) % 2 == colour)", "col < width - 1", "both colours at once"),
            Slip("constant", "* 0.25", "* 0.5", "two neighbours"),
            Slip("missing factor", "spacing * spacing", "spacing", "one power of the spacing"),
        ),
        right_red_black,
    ),
    Subject(
        group_norm_backward,
        run_group_norm_backward,
        (
            Slip("race", "tl.atomic_add(dw_ptr", "tl.store(dw_ptr", "the last image alone"),
            Slip("program or head", "mean_ptr + n * groups + g", "mean_ptr + g", "the first image's means"),
            Slip("last step", "level) * rstd, mask", "level), mask", "not scaled back"),
            Slip("divisor", "tl.sum(wdy * normed) / (size * space)", "tl.sum(wdy * normed) / (C * S)", "the padding"),
        ),
        right_group_norm_backward,
    ),
    Subject(
        kernel_density,
        run_kernel_density,
        (
            Slip("sign", "tl.exp(-0.5 *", "tl.exp(0.5 *", "the bump grows"),
            Slip("axis", "tl.sum(bump, axis=1)", "tl.sum(bump, axis=0)", "over the points"),
            Slip("constant", "6.283185307", "2.506628275", "the norm of one dimension"),
        ),
        right_kernel_density,
    ),
)
