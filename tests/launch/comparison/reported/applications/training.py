"""Optimisers, losses and backward passes, with one slip at a time."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

from __future__ import annotations

import torch
import triton
import triton.language as tl

from tests.launch.comparison.reported.applications.layers import ints, rand
from tests.launch.comparison.reported.slip import Slip, Subject
from tests.launch.comparison.slips import randn


@triton.jit
def adadelta(w_ptr, g_ptr, square_ptr, delta_ptr, lr, rho, eps, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    w = tl.load(w_ptr + at, mask=inside)
    g = tl.load(g_ptr + at, mask=inside)
    square = tl.load(square_ptr + at, mask=inside)
    delta = tl.load(delta_ptr + at, mask=inside)
    square = rho * square + (1 - rho) * g * g
    step = tl.sqrt(delta + eps) / tl.sqrt(square + eps) * g
    delta = rho * delta + (1 - rho) * step * step
    tl.store(w_ptr + at, w - lr * step, mask=inside)
    tl.store(square_ptr + at, square, mask=inside)
    tl.store(delta_ptr + at, delta, mask=inside)


def run_adadelta(kernel):
    kernel[(4,)](randn(50), randn(50, seed=1), rand(50, seed=2), rand(50, seed=3), 0.7, 0.8, 0.01, 50, BLOCK=16)


def right_adadelta(w_ptr, g_ptr, square_ptr, delta_ptr, lr, rho, eps, **_):
    square = rho * square_ptr + (1 - rho) * g_ptr**2
    step = ((delta_ptr + eps) / (square + eps)).sqrt() * g_ptr
    return {"w_ptr": w_ptr - lr * step, "square_ptr": square, "delta_ptr": rho * delta_ptr + (1 - rho) * step**2}


@triton.jit
def lamb_step(
    w_ptr, g_ptr, m_ptr, v_ptr, out_ptr, lr, beta1, beta2, eps, decay, correct1, correct2, n, BLOCK: tl.constexpr
):
    layer = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    inside = cols < n
    at = layer * n + cols
    w = tl.load(w_ptr + at, mask=inside, other=0.0)
    g = tl.load(g_ptr + at, mask=inside, other=0.0)
    m = beta1 * tl.load(m_ptr + at, mask=inside, other=0.0) + (1 - beta1) * g
    v = beta2 * tl.load(v_ptr + at, mask=inside, other=0.0) + (1 - beta2) * g * g
    update = (m / correct1) / (tl.sqrt(v / correct2) + eps) + decay * w
    w_norm = tl.sqrt(tl.sum(w * w, axis=0))
    u_norm = tl.sqrt(tl.sum(update * update, axis=0))
    trust = tl.where((w_norm > 0) & (u_norm > 0), w_norm / u_norm, 1.0)
    tl.store(out_ptr + at, w - lr * trust * update, mask=inside)


def run_lamb_step(kernel):
    args = [randn(4, 20), randn(4, 20, seed=1), randn(4, 20, seed=2), rand(4, 20, seed=3), torch.zeros(4, 20)]
    kernel[(4,)](*args, 0.1, 0.9, 0.99, 0.05, 0.3, 0.4, 0.06, 20, BLOCK=32)


def right_lamb_step(w_ptr, g_ptr, m_ptr, v_ptr, lr, beta1, beta2, eps, decay, correct1, correct2, **_):
    m, v = torch.lerp(g_ptr, m_ptr, beta1), torch.lerp(g_ptr**2, v_ptr, beta2)
    update = m / correct1 / ((v / correct2).sqrt() + eps) + decay * w_ptr
    return {"out_ptr": w_ptr - lr * w_ptr.norm(dim=1, keepdim=True) / update.norm(dim=1, keepdim=True) * update}


@triton.jit
def ftrl(w_ptr, g_ptr, z_ptr, n_ptr, alpha, beta, l1, l2, size, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < size
    w = tl.load(w_ptr + at, mask=inside)
    g = tl.load(g_ptr + at, mask=inside)
    z = tl.load(z_ptr + at, mask=inside)
    n = tl.load(n_ptr + at, mask=inside)
    grown = n + g * g
    sigma = (tl.sqrt(grown) - tl.sqrt(n)) / alpha
    z = z + g - sigma * w
    sign = tl.where(z > 0, 1.0, -1.0)
    shrunk = -(z - sign * l1) / ((beta + tl.sqrt(grown)) / alpha + l2)
    w = tl.where(tl.abs(z) > l1, shrunk, 0.0)
    tl.store(w_ptr + at, w, mask=inside)
    tl.store(z_ptr + at, z, mask=inside)
    tl.store(n_ptr + at, grown, mask=inside)


def run_ftrl(kernel):
    kernel[(3,)](randn(40), randn(40, seed=1), randn(40, seed=2), rand(40, seed=3), 0.5, 1.0, 0.4, 0.2, 40, BLOCK=16)


def right_ftrl(w_ptr, g_ptr, z_ptr, n_ptr, alpha, beta, l1, l2, **_):
    grown = n_ptr + g_ptr**2
    z = z_ptr + g_ptr - (grown.sqrt() - n_ptr.sqrt()) / alpha * w_ptr
    w = -torch.nn.functional.softshrink(z, l1) / ((beta + grown.sqrt()) / alpha + l2)
    return {"w_ptr": w, "z_ptr": z, "n_ptr": grown}


@triton.jit
def multi_margin(x_ptr, target_ptr, out_ptr, n, margin, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n + cols, mask=cols < n, other=float("-inf"))
    target = tl.load(target_ptr + row)
    score = tl.load(x_ptr + row * n + target)
    lost = tl.maximum(margin - score + x, 0.0)
    lost = tl.where(cols == target, 0.0, lost)
    tl.store(out_ptr + row, tl.sum(lost, axis=0) / n)


def run_multi_margin(kernel):
    kernel[(8,)](randn(8, 13), ints(0, 13, 8, seed=1), torch.zeros(8), 13, 0.8, BLOCK=16)


def right_multi_margin(x_ptr, target_ptr, margin, **_):
    return {"out_ptr": torch.nn.functional.multi_margin_loss(x_ptr, target_ptr.long(), margin=margin, reduction="none")}


@triton.jit
def info_nce(q_ptr, k_ptr, loss_ptr, n, dim, temperature, N: tl.constexpr, DIM: tl.constexpr):
    row = tl.program_id(0)
    j = tl.arange(0, N)
    d = tl.arange(0, DIM)
    q = tl.load(q_ptr + row * dim + d, mask=d < dim, other=0.0)
    at = j[:, None] * dim + d[None, :]
    k = tl.load(k_ptr + at, mask=(j < n)[:, None] & (d < dim)[None, :], other=0.0)
    q = q / tl.sqrt(tl.sum(q * q, axis=0))
    lengths = tl.sqrt(tl.sum(k * k, axis=1))
    cosine = tl.sum(q[None, :] * k, axis=1) / tl.where(j < n, lengths, 1.0)
    logits = tl.where(j < n, cosine / temperature, float("-inf"))
    top = tl.max(logits, axis=0)
    norm = top + tl.log(tl.sum(tl.exp(logits - top), axis=0))
    positive = tl.sum(tl.where(j == row, logits, 0.0), axis=0)
    tl.store(loss_ptr + row, norm - positive)


def run_info_nce(kernel):
    kernel[(11,)](randn(11, 12), randn(11, 12, seed=1), torch.zeros(11), 11, 12, 0.2, N=16, DIM=16)


def right_info_nce(q_ptr, k_ptr, temperature, **_):
    norm = torch.nn.functional.normalize
    logits = norm(q_ptr, dim=1) @ norm(k_ptr, dim=1).T / temperature
    return {"loss_ptr": torch.nn.functional.cross_entropy(logits, torch.arange(11), reduction="none")}


@triton.jit
def pinball(y_ptr, guess_ptr, quantile_ptr, out_ptr, n, quantiles, BLOCK: tl.constexpr):
    k = tl.program_id(0)
    q = tl.load(quantile_ptr + k)
    acc = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, n, BLOCK):
        at = start + tl.arange(0, BLOCK)
        y = tl.load(y_ptr + at, mask=at < n, other=0.0)
        guess = tl.load(guess_ptr + at * quantiles + k, mask=at < n, other=0.0)
        apart = y - guess
        acc += tl.maximum(q * apart, (q - 1) * apart)
    tl.store(out_ptr + k, tl.sum(acc, axis=0) / n)


def run_pinball(kernel):
    kernel[(3,)](randn(37), randn(37, 3, seed=1), torch.tensor([0.1, 0.5, 0.8]), torch.zeros(3), 37, 3, BLOCK=16)


def right_pinball(y_ptr, guess_ptr, quantile_ptr, **_):
    apart = y_ptr[:, None] - guess_ptr
    return {"out_ptr": torch.maximum(quantile_ptr * apart, (quantile_ptr - 1) * apart).mean(0)}


@triton.jit
def ctc_forward(logp_ptr, label_ptr, alpha_ptr, loss_ptr, steps, classes, length, BLOCK: tl.constexpr):
    sample = tl.program_id(0)
    s = tl.arange(0, BLOCK)
    states = 2 * length + 1
    odd = s % 2 == 1
    label = tl.load(label_ptr + sample * length + s // 2, mask=odd & (s < states), other=0)
    before = tl.load(label_ptr + sample * length + s // 2 - 1, mask=odd & (s > 1) & (s < states), other=0)
    skips = odd & (s > 1) & (label != before)
    alpha = alpha_ptr + sample * steps * states
    logp = logp_ptr + sample * steps * classes
    first = tl.load(logp + label, mask=s < 2, other=-1e30)
    tl.store(alpha + s, first, mask=s < states)
    for t in range(1, steps):
        tl.debug_barrier()
        old = alpha + (t - 1) * states + s
        stay = tl.load(old, mask=s < states, other=-1e30)
        step = tl.load(old - 1, mask=(s > 0) & (s < states), other=-1e30)
        jump = tl.load(old - 2, mask=skips, other=-1e30)
        top = tl.maximum(tl.maximum(stay, step), jump)
        total = top + tl.log(tl.exp(stay - top) + tl.exp(step - top) + tl.exp(jump - top))
        now = total + tl.load(logp + t * classes + label, mask=s < states, other=0.0)
        tl.store(alpha + t * states + s, now, mask=s < states)
    tl.debug_barrier()
    last = tl.load(alpha + (steps - 1) * states + states - 1)
    last_but_one = tl.load(alpha + (steps - 1) * states + states - 2)
    top = tl.maximum(last, last_but_one)
    tl.store(loss_ptr + sample, -(top + tl.log(tl.exp(last - top) + tl.exp(last_but_one - top))))


def run_ctc_forward(kernel):
    logp = torch.log_softmax(randn(3, 9, 5), 2)
    label = torch.tensor([[1, 1, 2], [3, 2, 3], [4, 4, 4]], dtype=torch.int32)
    kernel[(3,)](logp, label, torch.zeros(3, 9, 7), torch.zeros(3), 9, 5, 3, BLOCK=8)


def right_ctc_forward(logp_ptr, label_ptr, **_):
    n = torch.full((3,), 9), torch.full((3,), 3)
    return {"loss_ptr": torch.nn.functional.ctc_loss(logp_ptr.transpose(0, 1), label_ptr.long(), *n, reduction="none")}


@triton.jit
def gelu_backward(x_ptr, dy_ptr, dx_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n)
    dy = tl.load(dy_ptr + at, mask=at < n)
    cdf = 0.5 * (1 + tl.erf(x * 0.7071067811865476))
    pdf = 0.3989422804014327 * tl.exp(-0.5 * x * x)
    tl.store(dx_ptr + at, dy * (cdf + x * pdf), mask=at < n)


def run_gelu_backward(kernel):
    kernel[(3,)](randn(40) * 2, randn(40, seed=1), torch.zeros(40), 40, BLOCK=16)


def right_gelu_backward(x_ptr, dy_ptr, **_):
    x = x_ptr.clone().requires_grad_()
    torch.nn.functional.gelu(x).backward(dy_ptr)
    return {"dx_ptr": x.grad}


@triton.jit
def cross_entropy_gradient(logit_ptr, target_ptr, scale_ptr, out_ptr, n, ignored, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    target = tl.load(target_ptr + row)
    scale = tl.load(scale_ptr)
    top = float("-inf")
    total = 0.0
    for start in range(0, n, BLOCK):
        c = start + tl.arange(0, BLOCK)
        x = tl.load(logit_ptr + row * n + c, mask=c < n, other=float("-inf"))
        new = tl.maximum(top, tl.max(x, axis=0))
        total = total * tl.exp(top - new) + tl.sum(tl.exp(x - new), axis=0)
        top = new
    for start in range(0, n, BLOCK):
        c = start + tl.arange(0, BLOCK)
        x = tl.load(logit_ptr + row * n + c, mask=c < n, other=0.0)
        p = tl.exp(x - top) / total
        gradient = tl.where(c == target, p - 1, p)
        gradient = tl.where(target == ignored, 0.0, gradient)
        tl.store(out_ptr + row * n + c, gradient * scale, mask=c < n)


def run_cross_entropy_gradient(kernel):
    target = torch.tensor([3, 17, -100, 0, 21, 9], dtype=torch.int32)
    kernel[(6,)](randn(6, 22) * 3, target, torch.tensor([0.2]), torch.zeros(6, 22), 22, -100, BLOCK=8)


def right_cross_entropy_gradient(logit_ptr, target_ptr, scale_ptr, **_):
    x = logit_ptr.clone().requires_grad_()
    torch.nn.functional.cross_entropy(x, target_ptr.long(), reduction="sum").backward()
    return {"out_ptr": x.grad * scale_ptr}


@triton.jit
def batch_norm_backward(
    dy_ptr,
    x_ptr,
    w_ptr,
    mean_ptr,
    rstd_ptr,
    dx_ptr,
    dw_ptr,
    db_ptr,
    rows,
    channels,
    ROWS: tl.constexpr,
    BLOCK: tl.constexpr,
):
    c = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    r = tl.arange(0, ROWS)
    live = c < channels
    inside = (r < rows)[:, None] & live[None, :]
    at = r[:, None] * channels + c[None, :]
    x = tl.load(x_ptr + at, mask=inside, other=0.0)
    dy = tl.load(dy_ptr + at, mask=inside, other=0.0)
    w = tl.load(w_ptr + c, mask=live, other=0.0)
    mean = tl.load(mean_ptr + c, mask=live, other=0.0)
    rstd = tl.load(rstd_ptr + c, mask=live, other=0.0)
    normed = (x - mean[None, :]) * rstd[None, :]
    db = tl.sum(dy, axis=0)
    dw = tl.sum(dy * normed, axis=0)
    centred = dy - (db / rows)[None, :] - normed * (dw / rows)[None, :]
    dx = centred * (w * rstd)[None, :]
    tl.store(dx_ptr + at, dx, mask=inside)
    tl.store(dw_ptr + c, dw, mask=live)
    tl.store(db_ptr + c, db, mask=live)


def run_batch_norm_backward(kernel):
    x = randn(13, 10) * 2 + 1
    rstd = (x.var(0, unbiased=False) + 1e-5).rsqrt()
    out = torch.zeros(13, 10), torch.zeros(10), torch.zeros(10)
    kernel[(2,)](randn(13, 10, seed=1), x, randn(10, seed=2), x.mean(0), rstd, *out, 13, 10, ROWS=16, BLOCK=8)


def right_batch_norm_backward(dy_ptr, x_ptr, w_ptr, **_):
    x, w, b = x_ptr.clone().requires_grad_(), w_ptr.clone().requires_grad_(), torch.zeros(10, requires_grad=True)
    torch.nn.functional.batch_norm(x, None, None, w, b, True, 0.0, 1e-5).backward(dy_ptr)
    return {"dx_ptr": x.grad, "dw_ptr": w.grad, "db_ptr": b.grad}


@triton.jit
def bias_gradient(dy_ptr, db_ptr, rows, n, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    c = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    part = tl.program_id(1)
    acc = tl.zeros((BLOCK,), tl.float32)
    for start in range(part * ROWS, rows, tl.num_programs(1) * ROWS):
        r = start + tl.arange(0, ROWS)
        inside = (r < rows)[:, None] & (c < n)[None, :]
        acc += tl.sum(tl.load(dy_ptr + r[:, None] * n + c[None, :], mask=inside, other=0.0), axis=0)
    tl.atomic_add(db_ptr + c, acc, mask=c < n)


def run_bias_gradient(kernel):
    kernel[(2, 3)](randn(45, 12), torch.zeros(12), 45, 12, ROWS=4, BLOCK=8)


@triton.jit
def poisson_loss(x_ptr, y_ptr, part_ptr, n, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    at = pid * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n, other=0.0)
    y = tl.load(y_ptr + at, mask=at < n, other=0.0)
    loss = tl.exp(x) - y * x
    stirling = y * tl.log(y + 1e-8) - y + 0.5 * tl.log(6.2831853 * (y + 1e-8))
    loss += tl.where(y > 1, stirling, 0.0)
    loss = tl.where(at < n, loss, 0.0)
    tl.store(part_ptr + pid, tl.sum(loss, axis=0))


def run_poisson_loss(kernel):
    kernel[(3,)](randn(41), ints(0, 7, 41, seed=1).float(), torch.zeros(3), 41, BLOCK=16)


def right_poisson_loss(x_ptr, y_ptr, **_):
    loss = torch.nn.functional.poisson_nll_loss(x_ptr, y_ptr, True, True, reduction="none")
    return {"part_ptr": torch.nn.functional.pad(loss, (0, 7)).reshape(3, 16).sum(1)}


TRAINERS = (
    Subject(
        adadelta,
        run_adadelta,
        (
            Slip(
                "exchanged operands",
                "tl.sqrt(delta + eps) / tl.sqrt(square + eps) * g",
                "tl.sqrt(square + eps) / tl.sqrt(delta + eps) * g",
                "the ratio turned round",
            ),
            Slip("wrong operand", "(1 - rho) * step * step", "(1 - rho) * g * g", "the gradient's square twice"),
            Slip(
                "missing function",
                "tl.sqrt(square + eps) * g",
                "(square + eps) * g",
                "the second moment without its root",
            ),
        ),
        right_adadelta,
    ),
    Subject(
        lamb_step,
        run_lamb_step,
        (
            Slip(
                "missing function",
                "w_norm = tl.sqrt(tl.sum(w * w, axis=0))",
                "w_norm = tl.sum(w * w, axis=0)",
                "the squared norm",
            ),
            Slip("epsilon", "(tl.sqrt(v / correct2) + eps)", "tl.sqrt(v / correct2 + eps)", "eps inside the root"),
            Slip("wrong operand", "v / correct2", "v / correct1", "the first moment's correction"),
            Slip(
                "order of steps",
                "(m / correct1) / (tl.sqrt(v / correct2) + eps) + decay * w",
                "(m / correct1 + decay * w) / (tl.sqrt(v / correct2) + eps)",
                "decay is not decoupled",
            ),
        ),
        right_lamb_step,
    ),
    Subject(
        ftrl,
        run_ftrl,
        (
            Slip("sign", "-(z - sign * l1)", "(z - sign * l1)", "weights of the other sign"),
            Slip("comparison", "tl.abs(z) > l1", "tl.abs(z) < l1", "the sparse part is turned round"),
            Slip("wrong operand", "z = z + g - sigma * w", "z = z + g - sigma * g", "the gradient for the weight"),
        ),
        right_ftrl,
    ),
    Subject(
        multi_margin,
        run_multi_margin,
        (
            Slip("last step", "tl.where(cols == target, 0.0, lost)", "lost", "the target counts itself"),
            Slip("exchanged operands", "margin - score + x", "margin + score - x", "the difference turned round"),
            Slip("divisor", "tl.sum(lost, axis=0) / n", "tl.sum(lost, axis=0) / (n - 1)", "mean over the others"),
        ),
        right_multi_margin,
    ),
    Subject(
        info_nce,
        run_info_nce,
        (
            Slip("operator", "cosine / temperature", "cosine * temperature", "the temperature multiplies"),
            Slip(
                "missing function",
                "q = q / tl.sqrt(tl.sum(q * q, axis=0))",
                "q = q / tl.sum(q * q, axis=0)",
                "the squared length",
            ),
            Slip("sign", "norm - positive)", "norm + positive)", "the positive is added"),
            Slip(
                "masked-off lanes",
                'cosine / temperature, float("-inf"))',
                "cosine / temperature, 0.0)",
                "the padding counts as negatives",
            ),
        ),
        right_info_nce,
    ),
    Subject(
        pinball,
        run_pinball,
        (
            Slip("operator", "tl.maximum(q * apart", "tl.minimum(q * apart", "min in place of max"),
            Slip("exchanged operands", "apart = y - guess", "apart = guess - y", "over and under exchanged"),
            Slip("stride or address", "at * quantiles + k", "k * n + at", "guesses as [quantile, sample]"),
        ),
        right_pinball,
    ),
    Subject(
        ctc_forward,
        run_ctc_forward,
        (
            Slip(
                "missing condition",
                "skips = odd & (s > 1) & (label != before)",
                "skips = odd & (s > 1)",
                "repeated labels are skipped between",
            ),
            Slip("constant", "mask=s < 2, other=-1e30)", "mask=s < 1, other=-1e30)", "only the blank may start"),
            Slip(
                "missing term",
                "tl.exp(stay - top) + tl.exp(step - top) + tl.exp(jump - top)",
                "tl.exp(stay - top) + tl.exp(jump - top)",
                "a transition is left out",
            ),
            Slip("index", "t * classes + label", "(t - 1) * classes + label", "the emission of the step before"),
        ),
        right_ctc_forward,
    ),
    Subject(
        gelu_backward,
        run_gelu_backward,
        (
            Slip("missing factor", "cdf + x * pdf", "cdf + pdf", "the product rule without x"),
            Slip("sign", "tl.exp(-0.5 * x * x)", "tl.exp(0.5 * x * x)", "the density grows"),
            Slip("constant", "0.7071067811865476", "1.4142135623730951", "sqrt 2 multiplied in place of divided"),
        ),
        right_gelu_backward,
    ),
    Subject(
        cross_entropy_gradient,
        run_cross_entropy_gradient,
        (
            Slip("last step", "tl.where(target == ignored, 0.0, gradient)", "gradient", "ignored rows have a gradient"),
            Slip(
                "index",
                "gradient = tl.where(c == target, p - 1, p)",
                "gradient = tl.where(c - start == target, p - 1, p)",
                "the place within the block",
            ),
            Slip("accumulator", "total * tl.exp(top - new) + tl", "total + tl", "the sum is not rescaled"),
        ),
        right_cross_entropy_gradient,
    ),
    Subject(
        batch_norm_backward,
        run_batch_norm_backward,
        (
            Slip("missing term", " - normed * (dw / rows)[None, :]", "", "the variance's part is left out"),
            Slip("wrong operand", "dw = tl.sum(dy * normed, axis=0)", "dw = tl.sum(dy * x, axis=0)", "the raw input"),
            Slip("divisor", "(db / rows)", "(db / ROWS)", "the padded rows"),
        ),
        right_batch_norm_backward,
    ),
    Subject(
        bias_gradient,
        run_bias_gradient,
        (
            Slip("race", "tl.atomic_add(db_ptr + c, acc", "tl.store(db_ptr + c, acc", "the last part wins"),
            Slip("loop", "tl.num_programs(1) * ROWS):", "tl.num_programs(0) * ROWS):", "the other axis of the grid"),
        ),
        lambda dy_ptr, **_: {"db_ptr": dy_ptr.sum(0)},
    ),
    Subject(
        poisson_loss,
        run_poisson_loss,
        (
            Slip("masked-off lanes", "tl.where(at < n, loss, 0.0)", "loss", "the padding adds exp(0)"),
            Slip("missing function", "tl.exp(x) - y * x", "x - y * x", "the rate is not the logarithm's"),
            Slip("constant", "6.2831853", "3.14159265", "pi in place of 2 pi"),
        ),
        right_poisson_loss,
    ),
)
