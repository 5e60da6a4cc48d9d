"""Losses, optimisers and what reinforcement learning needs, with one slip at a time."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

from __future__ import annotations

import torch
import triton
import triton.language as tl

from tests.launch.comparison.reported.applications.layers import rand
from tests.launch.comparison.reported.slip import Slip, Subject
from tests.launch.comparison.slips import randn


@triton.jit
def token_loss(
    logit_ptr, label_ptr, loss_ptr, lse_ptr, classes, stride, smoothing, z_weight, ignored, BLOCK: tl.constexpr
):
    row = tl.program_id(0)
    label = tl.load(label_ptr + row)
    logit_ptr += row * stride
    high = float("-inf")
    total = 0.0
    plain = 0.0
    for start in range(0, classes, BLOCK):
        at = start + tl.arange(0, BLOCK)
        x = tl.load(logit_ptr + at, mask=at < classes, other=float("-inf"))
        seen = tl.maximum(high, tl.max(x, axis=0))
        total = total * tl.exp(high - seen) + tl.sum(tl.exp(x - seen), axis=0)
        plain += tl.sum(tl.where(at < classes, x, 0.0), axis=0)
        high = seen
    lse = high + tl.log(total)
    hit = tl.load(logit_ptr + label, mask=label != ignored, other=0.0)
    loss = lse - (1 - smoothing) * hit - smoothing * plain / classes
    loss += z_weight * lse * lse
    tl.store(loss_ptr + row, tl.where(label == ignored, 0.0, loss))
    tl.store(lse_ptr + row, lse)


def run_token_loss(kernel):
    label = torch.tensor([4, -100, 18, 0, 9, -100, 13], dtype=torch.int32)
    kernel[(7,)](randn(7, 24) * 3, label, torch.zeros(7), torch.zeros(7), 19, 24, 0.3, 0.05, -100, BLOCK=8)


def right_token_loss(logit_ptr, label_ptr, smoothing, z_weight, **_):
    x, label = logit_ptr[:, :19], label_ptr.long()
    lse = x.logsumexp(1)
    loss = torch.nn.functional.cross_entropy(x, label, reduction="none", label_smoothing=smoothing)
    return {"loss_ptr": loss + torch.where(label < 0, 0.0, z_weight * lse**2), "lse_ptr": lse}


@triton.jit
def amsgrad(p_ptr, g_ptr, m_ptr, v_ptr, top_ptr, lr, beta1, beta2, eps, decay, step, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    p = tl.load(p_ptr + offs, mask)
    g = tl.load(g_ptr + offs, mask)
    m = beta1 * tl.load(m_ptr + offs, mask) + (1 - beta1) * g
    v = beta2 * tl.load(v_ptr + offs, mask) + (1 - beta2) * g * g
    top = tl.maximum(tl.load(top_ptr + offs, mask), v)
    correct1 = 1 - tl.exp2(step * tl.log2(beta1))
    correct2 = 1 - tl.exp2(step * tl.log2(beta2))
    p = p * (1 - lr * decay)
    p -= lr * (m / correct1) / (tl.sqrt(top / correct2) + eps)
    tl.store(p_ptr + offs, p, mask)
    tl.store(m_ptr + offs, m, mask)
    tl.store(v_ptr + offs, v, mask)
    tl.store(top_ptr + offs, top, mask)


def run_amsgrad(kernel):
    state = [randn(45), randn(45, seed=1), randn(45, seed=2), rand(45, seed=3), rand(45, seed=4)]
    kernel[(3,)](*state, 0.2, 0.9, 0.95, 0.1, 0.4, 3, 45, BLOCK=16)


def right_amsgrad(p_ptr, g_ptr, m_ptr, v_ptr, top_ptr, lr, beta1, beta2, eps, decay, step, **_):
    m, v = torch.lerp(g_ptr, m_ptr, beta1), torch.lerp(g_ptr**2, v_ptr, beta2)
    top = torch.maximum(top_ptr, v)
    update = m / (1 - beta1**step) / ((top / (1 - beta2**step)).sqrt() + eps)
    return {"p_ptr": p_ptr * (1 - lr * decay) - lr * update, "m_ptr": m, "v_ptr": v, "top_ptr": top}


@triton.jit
def v_trace(
    ratio_ptr, reward_ptr, value_ptr, done_ptr, out_ptr, steps, batch, gamma, rho_bar, c_bar, BLOCK: tl.constexpr
):
    b = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    live = b < batch
    following = tl.load(value_ptr + steps * batch + b, mask=live, other=0.0)
    traced = tl.zeros((BLOCK,), tl.float32)
    for back in range(steps):
        t = steps - 1 - back
        at = t * batch + b
        ratio = tl.load(ratio_ptr + at, mask=live, other=0.0)
        reward = tl.load(reward_ptr + at, mask=live, other=0.0)
        done = tl.load(done_ptr + at, mask=live, other=0.0)
        value = tl.load(value_ptr + at, mask=live, other=0.0)
        discount = gamma * (1 - done)
        delta = tl.minimum(ratio, rho_bar) * (reward + discount * following - value)
        traced = delta + discount * tl.minimum(ratio, c_bar) * traced
        tl.store(out_ptr + at, value + traced, mask=live)
        following = value


def run_v_trace(kernel):
    done = (rand(7, 10, seed=3) < 0.2).float()
    args = rand(7, 10) * 2, randn(7, 10, seed=1), randn(8, 10, seed=2), done, torch.zeros(7, 10)
    kernel[(2,)](*args, 7, 10, 0.9, 1.4, 0.8, BLOCK=8)


def right_v_trace(ratio_ptr, reward_ptr, value_ptr, done_ptr, gamma, rho_bar, c_bar, **_):
    discount = gamma * (1 - done_ptr)
    delta = ratio_ptr.clamp(max=rho_bar) * (reward_ptr + discount * value_ptr[1:] - value_ptr[:-1])
    traced = [torch.zeros(10)]
    for t in reversed(range(7)):
        traced.insert(0, delta[t] + discount[t] * ratio_ptr[t].clamp(max=c_bar) * traced[0])
    return {"out_ptr": value_ptr[:-1] + torch.stack(traced[:-1])}


@triton.jit
def jensen_shannon(student_ptr, teacher_ptr, loss_ptr, n, temperature, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    student = tl.load(student_ptr + row * n + c, mask=c < n, other=-1e30) / temperature
    teacher = tl.load(teacher_ptr + row * n + c, mask=c < n, other=-1e30) / temperature
    student -= tl.max(student, axis=0)
    teacher -= tl.max(teacher, axis=0)
    log_p = student - tl.log(tl.sum(tl.exp(student), axis=0))
    log_q = teacher - tl.log(tl.sum(tl.exp(teacher), axis=0))
    p = tl.exp(log_p)
    q = tl.exp(log_q)
    log_mean = tl.log(0.5 * (p + q))
    apart = p * (log_p - log_mean) + q * (log_q - log_mean)
    apart = tl.where(c < n, apart, 0.0)
    tl.store(loss_ptr + row, 0.5 * temperature * temperature * tl.sum(apart, axis=0))


def run_jensen_shannon(kernel):
    kernel[(6,)](randn(6, 21) * 3, randn(6, 21, seed=1) * 3, torch.zeros(6), 21, 1.7, BLOCK=32)


def right_jensen_shannon(student_ptr, teacher_ptr, temperature, **_):
    p, q = (torch.softmax(x / temperature, 1) for x in (student_ptr, teacher_ptr))
    mean = (p + q) / 2
    apart = p * (p / mean).log() + q * (q / mean).log()
    return {"loss_ptr": temperature**2 / 2 * apart.sum(1)}


@triton.jit
def adafactor(w_ptr, g_ptr, row_ptr, col_ptr, rows, cols, lr, decay, eps, clip, ROWS: tl.constexpr, COLS: tl.constexpr):
    layer = tl.program_id(0)
    r = tl.arange(0, ROWS)
    c = tl.arange(0, COLS)
    inside = (r[:, None] < rows) & (c[None, :] < cols)
    at = (layer * rows + r[:, None]) * cols + c[None, :]
    g = tl.load(g_ptr + at, mask=inside, other=0.0)
    square = tl.where(inside, g * g + eps, 0.0)
    row = decay * tl.load(row_ptr + layer * rows + r, mask=r < rows, other=0.0)
    row += (1 - decay) * tl.sum(square, axis=1) / cols
    col = decay * tl.load(col_ptr + layer * cols + c, mask=c < cols, other=0.0)
    col += (1 - decay) * tl.sum(square, axis=0) / rows
    factor = row / (tl.sum(row, axis=0) / rows)
    update = tl.where(inside, g * tl.rsqrt(factor[:, None] * col[None, :]), 0.0)
    norm = tl.sqrt(tl.sum(update * update) / (rows * cols))
    w = tl.load(w_ptr + at, mask=inside)
    tl.store(w_ptr + at, w - lr * update / tl.maximum(norm / clip, 1.0), mask=inside)
    tl.store(row_ptr + layer * rows + r, row, mask=r < rows)
    tl.store(col_ptr + layer * cols + c, col, mask=c < cols)


def run_adafactor(kernel):
    args = randn(3, 10, 13), randn(3, 10, 13, seed=1), rand(3, 10, seed=2) + 0.1, rand(3, 13, seed=3) + 0.1
    kernel[(3,)](*args, 10, 13, 0.3, 0.7, 0.2, 0.5, ROWS=16, COLS=16)


def right_adafactor(w_ptr, g_ptr, row_ptr, col_ptr, lr, decay, eps, clip, **_):
    square = g_ptr**2 + eps
    row, col = torch.lerp(square.mean(2), row_ptr, decay), torch.lerp(square.mean(1), col_ptr, decay)
    update = g_ptr * (row[:, :, None] * col[:, None] / row.mean(1)[:, None, None]).rsqrt()
    norm = update.square().mean((1, 2), keepdim=True).sqrt()
    return {"w_ptr": w_ptr - lr * update / (norm / clip).clamp(min=1), "row_ptr": row, "col_ptr": col}


OBJECTIVES = (
    Subject(
        token_loss,
        run_token_loss,
        (
            Slip("last step", "lse = high + tl.log(total)", "lse = tl.log(total)", "the maximum is not added again"),
            Slip("divisor", "plain / classes", "plain / BLOCK", "the block's width"),
            Slip("stride or address", "row * stride", "row * classes", "rows that lie further apart"),
        ),
        right_token_loss,
    ),
    Subject(
        amsgrad,
        run_amsgrad,
        (
            Slip("epsilon", "(tl.sqrt(top / correct2) + eps)", "tl.sqrt(top / correct2 + eps)", "inside the root"),
            Slip("missing factor", "(1 - lr * decay)", "(1 - decay)", "decay without the rate"),
            Slip("wrong operand", "offs, top, mask)", "offs, v, mask)", "the maximum is forgotten"),
        ),
        right_amsgrad,
    ),
    Subject(
        v_trace,
        run_v_trace,
        (
            Slip("loop", "t = steps - 1 - back", "t = back", "forwards in time", also=("for back in range(steps)",)),
            Slip("missing term", "gamma * (1 - done)", "gamma", "beyond the end of an episode"),
            Slip("function", "tl.minimum(ratio, c_bar)", "tl.maximum(ratio, c_bar)", "max in place of min"),
        ),
        right_v_trace,
    ),
    Subject(
        jensen_shannon,
        run_jensen_shannon,
        (
            Slip("wrong operand", "q * (log_q - log_mean)", "p * (log_q - log_mean)", "the student's weights twice"),
            Slip("missing factor", "0.5 * temperature * temperature", "0.5 * temperature", "one power is missing"),
            Slip("missing function", "log_mean = tl.log(0.5 * (p + q))", "log_mean = 0.5 * (log_p + log_q)", "of logs"),
        ),
        right_jensen_shannon,
    ),
    Subject(
        adafactor,
        run_adafactor,
        (
            Slip("axis", "tl.sum(square, axis=1) / cols", "tl.sum(square, axis=0) / cols", "columns for rows"),
            Slip(
                "function", "tl.maximum(norm / clip, 1.0)", "tl.minimum(norm / clip, 1.0)", "small updates are blown up"
            ),
            Slip(
                "missing function",
                "tl.sqrt(tl.sum(update * update) / (rows * cols))",
                "tl.sum(update * update) / (rows * cols)",
                "the mean square",
            ),
            Slip("epsilon", "g * g + eps, 0.0)", "g * g, 0.0) + eps", "in the padding, too"),
        ),
        right_adafactor,
    ),
)
