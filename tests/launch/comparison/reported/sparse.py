"""Rows of unequal length, counting, moving and sampling, and the slips that were reported of such kernels."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

from __future__ import annotations

import torch
import triton
import triton.language as tl

from tests.launch.comparison.reported.slip import Slip, Subject
from tests.launch.comparison.slips import randn


@triton.jit
def sparse_product(start_ptr, column_ptr, value_ptr, x_ptr, y_ptr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    first = tl.load(start_ptr + row)
    last = tl.load(start_ptr + row + 1)
    acc = tl.zeros((BLOCK,), tl.float32)
    for at in range(first, last, BLOCK):
        k = at + tl.arange(0, BLOCK)
        column = tl.load(column_ptr + k, mask=k < last, other=0)
        value = tl.load(value_ptr + k, mask=k < last, other=0.0)
        acc += value * tl.load(x_ptr + column, mask=k < last, other=0.0)
    tl.store(y_ptr + row, tl.sum(acc, axis=0))


def run_sparse_product(kernel) -> None:
    # The columns and values go on after the last row: what is read too far is there.
    start = torch.tensor([0, 3, 3, 12, 17, 29, 30], dtype=torch.int32)
    column = torch.randint(0, 24, (40,), generator=torch.Generator().manual_seed(2), dtype=torch.int32)
    kernel[(6,)](start, column, randn(40), randn(24, seed=1), torch.zeros(6), BLOCK=8)


@triton.jit
def bag_mean(table_ptr, token_ptr, start_ptr, weight_ptr, out_ptr, n, BLOCK: tl.constexpr):
    bag = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    first = tl.load(start_ptr + bag)
    last = tl.load(start_ptr + bag + 1)
    acc = tl.zeros((BLOCK,), tl.float32)
    for k in range(first, last):
        token = tl.load(token_ptr + k)
        row = tl.load(table_ptr + token * n + cols, mask=cols < n, other=0.0)
        acc += row * tl.load(weight_ptr + k)
    tl.store(out_ptr + bag * n + cols, acc / (last - first), mask=cols < n)


def run_bag_mean(kernel) -> None:
    token = torch.randint(0, 9, (20,), generator=torch.Generator().manual_seed(2), dtype=torch.int32)
    start = torch.tensor([0, 4, 5, 11, 18], dtype=torch.int32)
    kernel[(4,)](randn(9, 20), token, start, randn(20, seed=1), torch.zeros(4, 20), 20, BLOCK=32)


@triton.jit
def compaction(x_ptr, out_ptr, count_ptr, n, threshold, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n + cols, mask=cols < n, other=0.0)
    kept = (x > threshold) & (cols < n)
    place = tl.cumsum(kept.to(tl.int32), axis=0) - 1
    tl.store(out_ptr + row * (n + 1) + place, x, mask=kept)
    tl.store(count_ptr + row, tl.sum(kept.to(tl.int32), axis=0))


def run_compaction(kernel) -> None:
    kernel[(5,)](randn(5, 27), torch.zeros(5, 28), torch.zeros(5, dtype=torch.int32), 27, -0.3, BLOCK=32)


@triton.jit
def greatest(x_ptr, value_ptr, index_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    best = float("-inf")
    place = 0
    for start in range(0, n, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * n + cols, mask=cols < n, other=float("-inf"))
        top = tl.max(x, axis=0)
        here = start + tl.argmax(x, axis=0)
        place = tl.where(top > best, here, place)
        best = tl.maximum(best, top)
    tl.store(value_ptr + row, best)
    tl.store(index_ptr + row, place)


def run_greatest(kernel) -> None:
    kernel[(7,)](randn(7, 44) - 4, torch.zeros(7), torch.zeros(7, dtype=torch.int32), 44, BLOCK=16)


@triton.jit
def bins(x_ptr, count_ptr, n, low, width, BINS: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n, other=0)
    bin = (x - low) // width
    bin = tl.minimum(tl.maximum(bin, 0), BINS - 1)
    tl.atomic_add(count_ptr + bin, 1, mask=at < n)


def run_bins(kernel) -> None:
    x = torch.randint(-30, 30, (200,), generator=torch.Generator().manual_seed(6), dtype=torch.int32)
    kernel[(4,)](x, torch.zeros(16, dtype=torch.int32), 200, -30, 4, BINS=16, BLOCK=64)


@triton.jit
def roll(x_ptr, y_ptr, n, shift, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n + (cols - shift + n) % n, mask=cols < n)
    tl.store(y_ptr + row * n + cols, x, mask=cols < n)


def run_roll(kernel) -> None:
    kernel[(4,)](randn(4, 21), torch.zeros(4, 21), 21, 5, BLOCK=32)


@triton.jit
def permute(x_ptr, y_ptr, heads, length, dim, BT: tl.constexpr, BD: tl.constexpr):
    batch = tl.program_id(0)
    head = tl.program_id(1)
    t = tl.arange(0, BT)
    d = tl.arange(0, BD)
    inside = (t < length)[:, None] & (d < dim)[None, :]
    source = ((batch * length + t[:, None]) * heads + head) * dim + d[None, :]
    target = ((batch * heads + head) * length + t[:, None]) * dim + d[None, :]
    x = tl.load(x_ptr + source, mask=inside)
    tl.store(y_ptr + target, x, mask=inside)


def run_permute(kernel) -> None:
    kernel[(2, 3)](randn(2, 6, 3, 10), torch.zeros(2, 3, 6, 10), 3, 6, 10, BT=8, BD=16)


@triton.jit
def penalty(x_ptr, count_ptr, y_ptr, n, repeated, temperature, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n + cols, mask=cols < n, other=0.0)
    seen = tl.load(count_ptr + row * n + cols, mask=cols < n, other=0) > 0
    less = tl.where(x > 0, x / repeated, x * repeated)
    x = tl.where(seen, less, x)
    tl.store(y_ptr + row * n + cols, x / temperature, mask=cols < n)


def run_penalty(kernel) -> None:
    count = torch.randint(0, 3, (4, 30), generator=torch.Generator().manual_seed(1), dtype=torch.int32)
    kernel[(4,)](randn(4, 30), count, torch.zeros(4, 30), 30, 1.3, 0.7, BLOCK=32)


SPARSE = (
    Subject(
        sparse_product, run_sparse_product,
        (
            Slip("wrong operand", "x_ptr + column", "x_ptr + k - first",
                 "learners' sparse products: the vector is read in order"),
            Slip("accumulator", "acc += value *", "acc = value *",
                 "learners' sparse products: only the last block of a row counts"),
            Slip("loop", "last = tl.load(start_ptr + row + 1)", "last = tl.load(start_ptr + row + 1) + 1",
                 "Helion pull request 2214: the next row's elements are read"),
        ),
    ),
    Subject(
        bag_mean, run_bag_mean,
        (
            Slip("missing term", "row * tl.load(weight_ptr + k)", "row",
                 "FlagGems issue 5220: an argument that is accepted and not used"),
            Slip("index", "weight_ptr + k)", "weight_ptr + token)",
                 "reports of embedding bags: the weights by token, not by place"),
            Slip("last step", "acc / (last - first)", "acc",
                 "FlagGems issue 5220: the sum for the mean"),
            Slip("divisor", "acc / (last - first)", "acc / (last - first + 1)",
                 "reports of embedding bags: the number of rows is one off"),
        ),
    ),
    Subject(
        compaction, run_compaction,
        (
            Slip("scan", "tl.cumsum(kept.to(tl.int32), axis=0) - 1", "tl.cumsum(kept.to(tl.int32), axis=0)",
                 "Triton issue 5897 and learners' compactions: the inclusive sum as the place"),
            Slip("comparison", "(x > threshold)", "(x < threshold)",
                 "learners' compactions: the others are kept"),
        ),
    ),
    Subject(
        greatest, run_greatest,
        (
            Slip("masked-off lanes", 'other=float("-inf"))', "other=0.0)",
                 "FlagGems issue 6447: the padding wins"),
            Slip("missing term", "here = start + tl.argmax(x, axis=0)", "here = tl.argmax(x, axis=0)",
                 "reports of reductions in blocks: the block's start is left out"),
            Slip("comparison", "tl.where(top > best, here, place)", "tl.where(top < best, here, place)",
                 "learners' reductions: the other order"),
        ),
        lambda x_ptr, **_: {"value_ptr": x_ptr.max(1).values, "index_ptr": x_ptr.argmax(1).int()},
    ),
    Subject(
        bins, run_bins,
        (
            Slip("integer division", "(x - low) // width", "x // width - low // width",
                 "Triton issues 619 and 955: integer division rounds towards 0"),
            Slip("missing term", "(x - low) // width", "x // width",
                 "learners' histograms: the lower end is not subtracted"),
        ),
    ),
    Subject(
        roll, run_roll,
        (
            Slip("sign", "(cols - shift + n) % n", "(cols + shift + n) % n",
                 "learners' rolls: the other direction"),
        ),
        lambda x_ptr, **_: torch.roll(x_ptr, 5, 1),
    ),
    Subject(
        permute, run_permute,
        (
            Slip("stride or address", "((batch * heads + head) * length + t[:, None]) * dim",
                 "((batch * length + t[:, None]) * heads + head) * dim",
                 "reports of layouts: the result keeps the order of the input"),
            Slip("missing term", "source = ((batch * length + t[:, None]) * heads", "source = (t[:, None] * heads",
                 "Triton issue 6242: the batch's offset is left out"),
        ),
        lambda x_ptr, **_: x_ptr.transpose(1, 2),
    ),
    Subject(
        penalty, run_penalty,
        (
            Slip("exchanged operands", "tl.where(x > 0, x / repeated, x * repeated)",
                 "tl.where(x > 0, x * repeated, x / repeated)",
                 "reports of sampling: the penalty rewards"),
            Slip("operator", "x / temperature", "x * temperature",
                 "reports of sampling: multiplied by the temperature"),
        ),
    ),
)  # fmt: skip
