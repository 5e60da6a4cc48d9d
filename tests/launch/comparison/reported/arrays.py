"""Products, codes and sums of arrays, and slips of the classes that were reported of such kernels."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

from __future__ import annotations

import itertools

import torch
import triton
import triton.language as tl

from tests.launch.comparison.reported.slip import Slip, Subject
from tests.launch.comparison.slips import randn


@triton.jit
def packed_mean(x_ptr, start_ptr, y_ptr, dim, BLOCK: tl.constexpr, COLS: tl.constexpr):
    seq = tl.program_id(0)
    first = tl.load(start_ptr + seq)
    end = tl.load(start_ptr + seq + 1)
    c = tl.arange(0, COLS)
    acc = tl.zeros((COLS,), tl.float32)
    for start in range(first, end, BLOCK):
        t = start + tl.arange(0, BLOCK)
        inside = (t[:, None] < end) & (c[None, :] < dim)
        acc += tl.sum(tl.load(x_ptr + t[:, None] * dim + c[None, :], mask=inside, other=0.0), axis=0)
    tl.store(y_ptr + seq * dim + c, acc / (end - first), mask=c < dim)


def run_packed_mean(kernel) -> None:
    starts = torch.tensor([0, 7, 11, 24, 27], dtype=torch.int32)
    kernel[(4,)](randn(27, 12), starts, torch.zeros(4, 12), 12, BLOCK=4, COLS=16)


@triton.jit
def confusion(true_ptr, guess_ptr, count_ptr, n, classes, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    true = tl.load(true_ptr + at, mask=at < n, other=0)
    guess = tl.load(guess_ptr + at, mask=at < n, other=0)
    tl.atomic_add(count_ptr + true * classes + guess, 1, mask=at < n)


def run_confusion(kernel) -> None:
    random = torch.Generator().manual_seed(3)
    true, guess = (torch.randint(0, 4, (90,), generator=random, dtype=torch.int32) for _ in range(2))
    kernel[(3,)](true, guess, torch.zeros(4, 4, dtype=torch.int32), 90, 4, BLOCK=32)


def right_confusion(true_ptr, guess_ptr, classes, **_):
    return torch.bincount(true_ptr * classes + guess_ptr, minlength=16).reshape(4, 4).to(torch.int32)


@triton.jit
def kronecker(a_ptr, b_ptr, out_ptr, n, q, p, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    col = tl.arange(0, BLOCK)
    a = tl.load(a_ptr + row // p * n + col // q, mask=col < cols, other=0.0)
    b = tl.load(b_ptr + row % p * q + col % q, mask=col < cols, other=0.0)
    tl.store(out_ptr + row * cols + col, a * b, mask=col < cols)


def run_kronecker(kernel) -> None:
    kernel[(12,)](randn(3, 5), randn(4, 3, seed=1), torch.zeros(12, 15), 5, 3, 4, 15, BLOCK=16)


@triton.jit
def gram(a_ptr, c_ptr, n, K, alpha, BM: tl.constexpr, BK: tl.constexpr):
    i = tl.program_id(0) * BM + tl.arange(0, BM)
    j = tl.program_id(1) * BM + tl.arange(0, BM)
    acc = tl.zeros((BM, BM), tl.float32)
    for start in range(0, K, BK):
        k = start + tl.arange(0, BK)
        left = tl.load(a_ptr + i[:, None] * K + k[None, :], mask=(i[:, None] < n) & (k[None, :] < K), other=0.0)
        right = tl.load(a_ptr + j[None, :] * K + k[:, None], mask=(j[None, :] < n) & (k[:, None] < K), other=0.0)
        acc += tl.dot(left, right)
    acc = tl.where(i[:, None] >= j[None, :], alpha * acc, 0.0)
    tl.store(c_ptr + i[:, None] * n + j[None, :], acc, mask=(i[:, None] < n) & (j[None, :] < n))


def run_gram(kernel) -> None:
    kernel[(2, 2)](randn(28, 40), torch.ones(28, 28), 28, 40, 0.5, BM=16, BK=16)


@triton.jit
def sums_before(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    carried = 0.0
    for start in range(0, n, BLOCK):
        at = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * n + at, mask=at < n, other=0.0)
        y = tl.cumsum(x, axis=0) - x + carried
        tl.store(y_ptr + row * n + at, y, mask=at < n)
        carried += tl.sum(x, axis=0)


def run_sums_before(kernel) -> None:
    kernel[(5,)](randn(5, 45), torch.zeros(5, 45), 45, BLOCK=16)


@triton.jit
def complex_product(a_ptr, b_ptr, c_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    a = tl.load(a_ptr + 2 * at, mask=at < n, other=0.0)
    ai = tl.load(a_ptr + 2 * at + 1, mask=at < n, other=0.0)
    b = tl.load(b_ptr + 2 * at, mask=at < n, other=0.0)
    bi = tl.load(b_ptr + 2 * at + 1, mask=at < n, other=0.0)
    tl.store(c_ptr + 2 * at, a * b - ai * bi, mask=at < n)
    tl.store(c_ptr + 2 * at + 1, a * bi + ai * b, mask=at < n)


def run_complex_product(kernel) -> None:
    kernel[(3,)](randn(70, 2), randn(70, 2, seed=1), torch.zeros(70, 2), 70, BLOCK=32)


def right_complex_product(a_ptr, b_ptr, **_):
    return torch.view_as_real(torch.view_as_complex(a_ptr) * torch.view_as_complex(b_ptr))


@triton.jit
def codebook(x_ptr, code_ptr, index_ptr, codes, D: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    d = tl.arange(0, D)
    x = tl.load(x_ptr + row * D + d)
    best = float("inf")
    found = 0
    for start in range(0, codes, BLOCK):
        c = start + tl.arange(0, BLOCK)
        code = tl.load(code_ptr + c[:, None] * D + d[None, :], mask=c[:, None] < codes, other=0.0)
        far = tl.sum(code * code, axis=1) - 2 * tl.sum(code * x[None, :], axis=1)
        far = tl.where(c < codes, far, float("inf"))
        least = tl.min(far, axis=0)
        where = start + tl.argmin(far, axis=0)
        found = tl.where(least < best, where, found)
        best = tl.minimum(best, least)
    tl.store(index_ptr + row, found)


def run_codebook(kernel) -> None:
    kernel[(24,)](randn(24, 8), randn(30, 8, seed=1), torch.zeros(24, dtype=torch.int32), 30, D=8, BLOCK=16)


@triton.jit
def asymmetric_quantize(x_ptr, q_ptr, scale_ptr, zero_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n + cols, mask=cols < n, other=0.0)
    low = tl.min(tl.where(cols < n, x, float("inf")), axis=0)
    high = tl.max(tl.where(cols < n, x, float("-inf")), axis=0)
    scale = (high - low) / 255.0
    zero = tl.floor(-low / scale + 0.5)
    q = tl.floor(x / scale + 0.5) + zero
    q = tl.minimum(tl.maximum(q, 0.0), 255.0)
    tl.store(q_ptr + row * n + cols, q.to(tl.uint8), mask=cols < n)
    tl.store(scale_ptr + row, scale)
    tl.store(zero_ptr + row, zero)


def run_asymmetric_quantize(kernel) -> None:
    kernel[(6,)](randn(6, 28) + 4, torch.zeros(6, 28, dtype=torch.uint8), torch.zeros(6), torch.zeros(6), 28, BLOCK=32)


def right_asymmetric_quantize(x_ptr, **_):
    scale = (x_ptr.amax(1) - x_ptr.amin(1)) / 255.0
    zero = torch.floor(-x_ptr.amin(1) / scale + 0.5)
    q = torch.floor(x_ptr / scale[:, None] + 0.5) + zero[:, None]
    return {"q_ptr": q.clamp(0, 255).to(torch.uint8), "scale_ptr": scale, "zero_ptr": zero}


@triton.jit
def mixed_matvec(a_ptr, x_ptr, y_ptr, rows, n, ROWS: tl.constexpr, COLS: tl.constexpr):
    r = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    acc = tl.zeros((ROWS,), tl.float32)
    for start in range(0, n, COLS):
        c = start + tl.arange(0, COLS)
        inside = (r[:, None] < rows) & (c[None, :] < n)
        a = tl.load(a_ptr + r[:, None] * n + c[None, :], mask=inside, other=0.0).to(tl.float32)
        x = tl.load(x_ptr + c, mask=c < n, other=0.0).to(tl.float32)
        acc += tl.sum(a * x[None, :], axis=1)
    tl.store(y_ptr + r, acc, mask=r < rows)


def run_mixed_matvec(kernel) -> None:
    a, x = (randn(20, 200) + 2).half(), (randn(200, seed=1) + 2).half()
    kernel[(3,)](a, x, torch.zeros(20), 20, 200, ROWS=8, COLS=32)


ARRAYS = (
    Subject(
        packed_mean, run_packed_mean,
        (
            Slip("index", "end = tl.load(start_ptr + seq + 1)", "end = tl.load(start_ptr + seq + 1) - 1",
                 "reports of packed sequences: the last token is left out"),
            Slip("divisor", "acc / (end - first)", "acc / BLOCK", "learners' means: the block's size for the count"),
        ),
        lambda x_ptr, start_ptr, **_: torch.stack(
            [x_ptr[first:end].mean(0) for first, end in itertools.pairwise(start_ptr)]
        ),
    ),
    Subject(
        confusion, run_confusion,
        (
            Slip("race", "tl.atomic_add(count_ptr + true * classes + guess, 1",
                 "tl.store(count_ptr + true * classes + guess, 1",
                 "Triton issue 5326: a store to places that occur more than once"),
            Slip("mask", "guess, 1, mask=at < n)", "guess, 1)",
                 "reports of histograms: lanes beyond the end are counted"),
        ),
        right_confusion,
    ),
    Subject(
        kronecker, run_kronecker,
        (
            Slip("index", "row % p * q + col % q", "row % p * q + col // n",
                 "learners' index arithmetic: another factor's size"),
            Slip("stride or address", "row // p * n + col // q", "row // p * q + col // q",
                 "Liger-Kernel pull request 1461: another argument's stride"),
        ),
        lambda a_ptr, b_ptr, **_: torch.kron(a_ptr, b_ptr),
    ),
    Subject(
        gram, run_gram,
        (
            Slip("comparison", "i[:, None] >= j[None, :], alpha", "i[:, None] > j[None, :], alpha",
                 "learners' triangles: the diagonal is left out"),
            Slip("accumulator", "acc += tl.dot(left, right)", "acc = tl.dot(left, right)",
                 "learners' products: the last block overwrites the sum"),
            Slip("scale", "alpha * acc, 0.0)", "alpha * alpha * acc, 0.0)", "learners' products: scaled twice"),
        ),
        lambda a_ptr, alpha, **_: torch.tril(alpha * a_ptr @ a_ptr.T),
    ),
    Subject(
        sums_before, run_sums_before,
        (
            Slip("scan", "tl.cumsum(x, axis=0) - x + carried", "tl.cumsum(x, axis=0) + carried",
                 "reports of scans: inclusive for exclusive"),
            Slip("wrong operand", "carried += tl.sum(x, axis=0)", "carried += tl.sum(y, axis=0)",
                 "learners' scans: the sums for the values"),
        ),
        lambda x_ptr, **_: x_ptr.cumsum(1) - x_ptr,
    ),
    Subject(
        complex_product, run_complex_product,
        (
            Slip("sign", "a * b - ai * bi", "a * b + ai * bi", "learners' complex numbers: the square of i"),
            Slip("wrong operand", "a * bi + ai * b, mask", "a * bi + ai * bi, mask",
                 "learners' complex numbers: an imaginary part for a real one"),
        ),
        right_complex_product,
    ),
    Subject(
        codebook, run_codebook,
        (
            Slip("constant", "axis=1) - 2 * tl.sum", "axis=1) - tl.sum",
                 "learners' distances: the factor of the product"),
            Slip("masked-off lanes", 'tl.where(c < codes, far, float("inf"))', "tl.where(c < codes, far, 0.0)",
                 "FlagGems issue 6447: the least place is one that is masked off"),
            Slip("index", "start + tl.argmin(far, axis=0)", "tl.argmin(far, axis=0)",
                 "learners' searches: the place within the block"),
        ),
        lambda x_ptr, code_ptr, **_: torch.cdist(x_ptr, code_ptr).argmin(1).to(torch.int32),
    ),
    Subject(
        asymmetric_quantize, run_asymmetric_quantize,
        (
            Slip("masked-off lanes", 'tl.min(tl.where(cols < n, x, float("inf")), axis=0)', "tl.min(x, axis=0)",
                 "aiter issue 4288: lanes that are masked off enter the extremes"),
            Slip("cast", "tl.floor(x / scale + 0.5) + zero", "tl.floor(x / scale) + zero",
                 "aiter pull request 4637: cut for rounded"),
            Slip("divisor", "(high - low) / 255.0", "(high - low) / 127.0",
                 "learners' quantization: the range of the signed type"),
        ),
        right_asymmetric_quantize,
    ),
    Subject(
        mixed_matvec, run_mixed_matvec,
        (
            Slip("accumulator", "acc += tl.sum(a * x[None, :], axis=1)",
                 "acc += tl.sum(a * x[None, :], axis=1).to(tl.bfloat16)",
                 "reports of mixed precision: the partial sums are rounded"),
            Slip("loop", "range(0, n, COLS)", "range(0, n // COLS * COLS, COLS)",
                 "flash-linear-attention issue 906: the tail is skipped"),
        ),
        lambda a_ptr, x_ptr, **_: a_ptr.float() @ x_ptr.float(),
    ),
)  # fmt: skip
