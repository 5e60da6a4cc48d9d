"""Criteria of training, distances and returns, and slips of the classes that were reported of such kernels."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

from __future__ import annotations

import torch
import triton
import triton.language as tl

from tests.launch.comparison.reported.slip import Slip, Subject
from tests.launch.comparison.slips import randn


@triton.jit
def focal(x_ptr, y_ptr, loss_ptr, n, alpha, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n, other=0.0)
    y = tl.load(y_ptr + at, mask=at < n, other=0.0)
    p = tl.sigmoid(x)
    hit = p * y + (1 - p) * (1 - y)
    weight = alpha * y + (1 - alpha) * (1 - y)
    miss = 1 - hit
    tl.store(loss_ptr + at, -weight * miss * miss * tl.log(hit), mask=at < n)


def run_focal(kernel) -> None:
    kernel[(3,)](randn(90), (randn(90, seed=1) > 0).float(), torch.zeros(90), 90, 0.25, BLOCK=32)


def right_focal(x_ptr, y_ptr, alpha, **_):
    hit = torch.where(y_ptr > 0, torch.sigmoid(x_ptr), torch.sigmoid(-x_ptr))
    return -torch.where(y_ptr > 0, alpha, 1 - alpha) * (1 - hit) ** 2 * torch.log(hit)


@triton.jit
def triplet(a_ptr, p_ptr, n_ptr, loss_ptr, dim, margin, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    a = tl.load(a_ptr + row * dim + cols, mask=cols < dim, other=0.0)
    p = tl.load(p_ptr + row * dim + cols, mask=cols < dim, other=0.0)
    n = tl.load(n_ptr + row * dim + cols, mask=cols < dim, other=0.0)
    near = tl.sqrt(tl.sum((a - p) * (a - p), axis=0))
    far = tl.sqrt(tl.sum((a - n) * (a - n), axis=0))
    tl.store(loss_ptr + row, tl.maximum(near - far + margin, 0.0))


def run_triplet(kernel) -> None:
    kernel[(8,)](randn(8, 20), randn(8, 20, seed=1), randn(8, 20, seed=2), torch.zeros(8), 20, 2.0, BLOCK=32)


@triton.jit
def cosine(a_ptr, b_ptr, out_ptr, n, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    dot = 0.0
    aa = 0.0
    bb = 0.0
    for start in range(0, n, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        a = tl.load(a_ptr + row * n + cols, mask=cols < n, other=0.0)
        b = tl.load(b_ptr + row * n + cols, mask=cols < n, other=0.0)
        dot += tl.sum(a * b, axis=0)
        aa += tl.sum(a * a, axis=0)
        bb += tl.sum(b * b, axis=0)
    length = tl.maximum(tl.sqrt(aa), eps) * tl.maximum(tl.sqrt(bb), eps)
    tl.store(out_ptr + row, dot / length)


def run_cosine(kernel) -> None:
    kernel[(7,)](randn(7, 45), randn(7, 45, seed=1), torch.zeros(7), 45, 1e-6, BLOCK=16)


@triton.jit
def contrast(s_ptr, loss_ptr, n, temperature, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    top = -1.0e30
    total = 0.0
    for start in range(0, n, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        s = tl.load(s_ptr + row * n + cols, mask=cols < n, other=float("-inf")) / temperature
        new = tl.maximum(top, tl.max(s, axis=0))
        total = total * tl.exp(top - new) + tl.sum(tl.exp(s - new), axis=0)
        top = new
    own = tl.load(s_ptr + row * n + row) / temperature
    tl.store(loss_ptr + row, top + tl.log(total) - own)


def run_contrast(kernel) -> None:
    kernel[(21,)](randn(21, 21), torch.zeros(21), 21, 0.5, BLOCK=8)


def right_contrast(s_ptr, temperature, **_):
    return torch.nn.functional.cross_entropy(s_ptr / temperature, torch.arange(len(s_ptr)), reduction="none")


@triton.jit
def dice(p_ptr, t_ptr, loss_ptr, n, smooth, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    both = tl.zeros((BLOCK,), tl.float32)
    either = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, n, BLOCK):
        at = start + tl.arange(0, BLOCK)
        p = tl.load(p_ptr + row * n + at, mask=at < n, other=0.0)
        t = tl.load(t_ptr + row * n + at, mask=at < n, other=0.0)
        both += p * t
        either += p + t
    score = (2 * tl.sum(both, axis=0) + smooth) / (tl.sum(either, axis=0) + smooth)
    tl.store(loss_ptr + row, 1 - score)


def run_dice(kernel) -> None:
    p, t = torch.sigmoid(randn(5, 50)), (randn(5, 50, seed=1) > 0).float()
    kernel[(5,)](p, t, torch.zeros(5), 50, 1.0, BLOCK=16)


def right_dice(p_ptr, t_ptr, smooth, **_):
    return 1 - (2 * (p_ptr * t_ptr).sum(1) + smooth) / (p_ptr.sum(1) + t_ptr.sum(1) + smooth)


@triton.jit
def gaussian_loss(x_ptr, mean_ptr, var_ptr, loss_ptr, grad_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    x = tl.load(x_ptr + at, mask=inside, other=0.0)
    mean = tl.load(mean_ptr + at, mask=inside, other=0.0)
    var = tl.load(var_ptr + at, mask=inside, other=1.0)
    apart = x - mean
    tl.store(loss_ptr + at, 0.5 * (tl.log(var) + apart * apart / var), mask=inside)
    tl.store(grad_ptr + at, -apart / var, mask=inside)


def run_gaussian_loss(kernel) -> None:
    var = torch.exp(randn(75, seed=2))
    kernel[(3,)](randn(75), randn(75, seed=1), var, torch.zeros(75), torch.zeros(75), 75, BLOCK=32)


def right_gaussian_loss(x_ptr, mean_ptr, var_ptr, **_):
    apart = x_ptr - mean_ptr
    return {"loss_ptr": 0.5 * (torch.log(var_ptr) + apart**2 / var_ptr), "grad_ptr": -apart / var_ptr}


@triton.jit
def clipped_policy(new_ptr, old_ptr, gain_ptr, loss_ptr, n, clip, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    new = tl.load(new_ptr + at, mask=at < n, other=0.0)
    old = tl.load(old_ptr + at, mask=at < n, other=0.0)
    gain = tl.load(gain_ptr + at, mask=at < n, other=0.0)
    ratio = tl.exp(new - old)
    bounded = tl.minimum(tl.maximum(ratio, 1 - clip), 1 + clip)
    tl.store(loss_ptr + at, -tl.minimum(ratio * gain, bounded * gain), mask=at < n)


def run_clipped_policy(kernel) -> None:
    kernel[(2,)](randn(60), randn(60, seed=1), randn(60, seed=2), torch.zeros(60), 60, 0.2, BLOCK=32)


def right_clipped_policy(new_ptr, old_ptr, gain_ptr, clip, **_):
    ratio = torch.exp(new_ptr - old_ptr)
    return -torch.minimum(ratio * gain_ptr, ratio.clamp(1 - clip, 1 + clip) * gain_ptr)


@triton.jit
def advantage(reward_ptr, value_ptr, going_ptr, out_ptr, steps, gamma, decay):
    row = tl.program_id(0)
    carried = 0.0
    for back in range(0, steps):
        t = steps - 1 - back
        reward = tl.load(reward_ptr + row * steps + t)
        going = tl.load(going_ptr + row * steps + t)
        value = tl.load(value_ptr + row * (steps + 1) + t)
        following = tl.load(value_ptr + row * (steps + 1) + t + 1)
        surprise = reward + gamma * following * going - value
        carried = surprise + gamma * decay * going * carried
        tl.store(out_ptr + row * steps + t, carried)


def run_advantage(kernel) -> None:
    going = (randn(4, 9, seed=2) > -0.5).float()
    kernel[(4,)](randn(4, 9), randn(4, 10, seed=1), going, torch.zeros(4, 9), 9, 0.9, 0.8)


def right_advantage(reward_ptr, value_ptr, going_ptr, steps, gamma, decay, **_):
    out = torch.zeros_like(reward_ptr)
    carried = torch.zeros(len(out))
    for t in reversed(range(steps)):
        surprise = reward_ptr[:, t] + gamma * value_ptr[:, t + 1] * going_ptr[:, t] - value_ptr[:, t]
        carried = surprise + gamma * decay * going_ptr[:, t] * carried
        out[:, t] = carried
    return out


CRITERIA = (
    Subject(
        focal, run_focal,
        (
            Slip("missing term", "-weight * miss * miss", "-miss * miss",
                 "learners' focal losses: the weight of the class is not used"),
            Slip("wrong operand", "-weight * miss * miss", "-weight * hit * hit",
                 "learners' focal losses: the probability for its complement"),
        ),
        right_focal,
    ),
    Subject(
        triplet, run_triplet,
        (
            Slip("last step", "far = tl.sqrt(tl.sum((a - n) * (a - n), axis=0))",
                 "far = tl.sum((a - n) * (a - n), axis=0)", "learners' distances: the root is left out"),
            Slip("exchanged operands", "near - far + margin", "far - near + margin",
                 "learners' losses: the difference is the other way round"),
        ),
        lambda a_ptr, p_ptr, n_ptr, margin, **_: (
            (a_ptr - p_ptr).norm(dim=1) - (a_ptr - n_ptr).norm(dim=1) + margin
        ).clamp(min=0),
    ),
    Subject(
        cosine, run_cosine,
        (
            Slip("wrong operand", "bb += tl.sum(b * b, axis=0)", "bb += tl.sum(a * b, axis=0)",
                 "learners' cosine similarities: one operand for the other"),
            Slip("accumulator", "dot += tl.sum(a * b, axis=0)", "dot = tl.sum(a * b, axis=0)",
                 "learners' loops: the last block overwrites the sum"),
        ),
        lambda a_ptr, b_ptr, **_: torch.nn.functional.cosine_similarity(a_ptr, b_ptr),
    ),
    Subject(
        contrast, run_contrast,
        (
            Slip("scale", "own = tl.load(s_ptr + row * n + row) / temperature", "own = tl.load(s_ptr + row * n + row)",
                 "learners' contrastive losses: the temperature of the chosen logit"),
            Slip("masked-off lanes", 'other=float("-inf")', "other=0.0",
                 "learners' softmaxes: lanes that are masked off enter the sum"),
            Slip("accumulator", "total = total * tl.exp(top - new) + ", "total = total + ",
                 "Triton Puzzles: the sum of an online softmax is not rescaled"),
        ),
        right_contrast,
    ),
    Subject(
        dice, run_dice,
        (
            Slip("constant", "(2 * tl.sum(both, axis=0) + smooth)", "(tl.sum(both, axis=0) + smooth)",
                 "learners' dice losses: the factor of the overlap"),
            Slip("loop", "range(0, n, BLOCK)", "range(BLOCK, n, BLOCK)",
                 "learners' loops: the first block is skipped"),
        ),
        right_dice,
    ),
    Subject(
        gaussian_loss, run_gaussian_loss,
        (
            Slip("missing term", "(tl.log(var) + apart * apart / var)", "(apart * apart / var)",
                 "learners' likelihoods: the logarithm of the variance"),
            Slip("sign", "-apart / var", "apart / var", "learners' gradients: the sign of the inner derivative"),
        ),
        right_gaussian_loss,
    ),
    Subject(
        clipped_policy, run_clipped_policy,
        (
            Slip("function", "-tl.minimum(ratio", "-tl.maximum(ratio",
                 "learners' policy losses: the greater of the two surrogates"),
            Slip("sign", "tl.maximum(ratio, 1 - clip)", "tl.maximum(ratio, 1 + clip)",
                 "learners' policy losses: one bound is used twice"),
        ),
        right_clipped_policy,
    ),
    Subject(
        advantage, run_advantage,
        (
            Slip("direction", "t = steps - 1 - back", "t = back",
                 "learners' returns: time runs forward"),
            Slip("missing term", "gamma * decay * going * carried", "gamma * decay * carried",
                 "reports of returns: the end of an episode is ignored"),
            Slip("index", "t + 1)", "t)", "learners' returns: the value of this step for the next one's"),
        ),
        right_advantage,
    ),
)  # fmt: skip
