"""Differences planted on purpose, 60 of them, and whether `lab.compare` names their cause.

    python -m tests.gpu.causes              # on a machine with an NVIDIA GPU: prints a table; --out writes it
    python -m tests.gpu.causes --on cpu     # anywhere

On a GPU that side is what the GPU makes. Elsewhere it is what the interpreter makes of the same arithmetic; cases that
differ by what they do to memory need no other side.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
import triton
import triton.language as tl

import triton_lab as lab
from tests.launch.comparison.kernels import (
    as_of_a_gpu,
    exponential,
    overlapping,
    recorded,
    row_sum,
    scale_and_shift,
    tile_product,
    with_ways_of_a_gpu,
)
from triton_lab.launch.comparison.comparison_result import Comparison
from triton_lab.launch.comparison.numerics import in_threads
from triton_lab.launch.launch import Launch

# What a sentence about the cause has to say.
SAID = {
    "fma": "fused multiply-add",
    "tf32": "tf32 inputs of tl.dot",
    "approximate exp": "the GPU's exp",
    "summation order": "the order ",
    "race": "a race|a store where programs add up",
    "uninitialised": "memory that was never written",
    # Or the argument that is the mask's bound: two launches with other numbers, or another one in its place.
    "wrong mask": r"mask|bound is|\w+ instead of bound",
    "wrong stride": "stride",
    "dtype of the accumulator": "is float16 in ",
}
OTHERS = {"wrong mask": ("stride",), "wrong stride": ("mask",)}
Run = Callable[[], Any]


@dataclass(frozen=True)
class Case:
    """``run`` launches the kernel that is off. ``against`` is what it should make: None is the interpreter's result,
    another run that of a right kernel, and a tensor or function what `lab.compare` takes.

    ``stands_in`` makes the GPU's side from the interpreter's launch where there is no GPU.
    """

    cause: str
    name: str
    run: Run
    against: Any = None
    stands_in: Callable[[Launch], Launch] = lambda launch: as_of_a_gpu(launch, {})

    def compared(self, side: str) -> Comparison:
        """Both sides, the first on the GPU if ``side`` is "gpu"."""
        launch = recorded(self.run, side)
        if self.against is None:
            return lab.compare(launch if side == "gpu" else self.stands_in(launch))
        if isinstance(self.against, Other):
            return lab.compare(launch, recorded(self.against.run, side))
        return lab.compare(launch, self.against)


@dataclass(frozen=True)
class Other:
    """A run of the right kernel."""

    run: Run


def randn(*shape: int, seed: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed)).to(dtype)


# --- Arithmetic ---------------------------------------------------------------------------------------


@triton.jit
def polynomial(x_ptr, out_ptr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets)
    tl.store(out_ptr + offsets, ((0.3 * x + 1.7) * x - 0.9) * x + 0.1)


@triton.jit
def mixed(x_ptr, y_ptr, out_ptr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x, y = tl.load(x_ptr + offsets), tl.load(y_ptr + offsets)
    tl.store(out_ptr + offsets, x * (1.0 - y) + y * 0.1)


@triton.jit
def power_of_two(x_ptr, out_ptr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, tl.exp2(tl.load(x_ptr + offsets)))


@triton.jit
def growth(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, tl.exp(-tl.abs(x)), mask=mask)


@triton.jit
def column_sum(x_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr):
    rows, columns = tl.arange(0, M), tl.arange(0, N)
    block = tl.load(x_ptr + rows[:, None] * N + columns[None, :])
    tl.store(out_ptr + columns, tl.sum(block, 0))


@triton.jit
def squares_sum(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    offsets = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n + offsets, mask=offsets < n, other=0.0)
    tl.store(out_ptr + row, tl.sum(tl.abs(x), 0) + 1.0)


def products(
    n: int, k: int, seed: int, acc: Any = tl.float32, dtype: torch.dtype = torch.float32, step: int = 16
) -> Run:
    a, b = randn(n, k, seed=seed, dtype=dtype), randn(k, n, seed=seed + 100, dtype=dtype)
    return lambda: tile_product[(1,)](a, b, torch.empty(n, n), k, N=n, BLOCK_K=step, ACC=acc)


def fused(number: int) -> Run:
    n = 128 << number % 3
    x, y = randn(n, seed=number), randn(n, seed=number + 50)
    if number % 3 == 0:
        return lambda: scale_and_shift[(n // 128,)](x, y, torch.empty(n), n, BLOCK=128)
    if number % 3 == 1:
        return lambda: polynomial[(n // 128,)](x, torch.empty(n), BLOCK=128)
    return lambda: mixed[(n // 128,)](x, y, torch.empty(n), BLOCK=128)


def exponentials(number: int) -> Run:
    n = 128 << number % 3
    x = randn(n, seed=number) * (3 + number)
    if number % 3 == 0:
        return lambda: exponential[(n // 128,)](x, torch.empty(n), BLOCK=128)
    if number % 3 == 1:
        return lambda: growth[(n // 128,)](x, torch.empty(n), n - 5, BLOCK=128)
    return lambda: exponential[(n // 64,)](x, torch.empty(n), BLOCK=64)


def sums(number: int) -> Run:
    if number % 3 == 2:
        x = randn(64, 32, seed=number)
        return lambda: column_sum[(1,)](x, torch.empty(32), 64, 32)
    kernel, n = (row_sum, 1024) if number % 3 == 0 else (squares_sum, 512)
    x = randn(16, n, seed=number)
    return lambda: kernel[(16,)](x, torch.empty(16), n, BLOCK=n)


def way(name: str) -> Callable[[Launch], Launch]:
    return lambda launch: with_ways_of_a_gpu(launch, name)


ARITHMETIC = [
    *(Case("fma", f"{number}", fused(number), stands_in=way("fused multiply-add")) for number in range(7)),
    *(
        Case("tf32", f"{n} x {k}", products(n, k, n + k), stands_in=way("dots of the GPU"))
        for n, k in ((16, 16), (16, 32), (16, 64), (32, 32), (32, 64), (32, 16), (64, 32))
    ),
    *(
        Case("approximate exp", f"{number}", exponentials(number), stands_in=way("exp of the GPU"))
        for number in range(7)
    ),
    *(
        Case(
            "summation order",
            f"{number}",
            sums(number),
            stands_in=lambda launch: as_of_a_gpu(launch, in_threads(launch)[0].table),
        )
        for number in range(7)
    ),
]


# --- Memory -------------------------------------------------------------------------------------------


@triton.jit
def counted(x_ptr, total_ptr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    part = tl.sum(tl.load(x_ptr + offsets), 0)
    tl.store(total_ptr, tl.load(total_ptr) + part)


@triton.jit
def binned(x_ptr, bins_ptr, BLOCK: tl.constexpr, BINS: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.sum(tl.load(x_ptr + offsets), 0)
    which = tl.program_id(0) % BINS
    tl.store(bins_ptr + which, tl.load(bins_ptr + which) + value)


@triton.jit
def neighbours(x_ptr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x_ptr + offsets, tl.load(x_ptr + offsets) + tl.load(x_ptr + BLOCK + offsets))


@triton.jit
def shifted(x_ptr, out_ptr, scale, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets) * scale)


@triton.jit
def accumulated(x_ptr, out_ptr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, tl.load(out_ptr + offsets) + tl.load(x_ptr + offsets))


def race(number: int) -> Case:
    x = randn(512, seed=number).abs() + 1
    if number % 3 == 0:
        blocks = 4 + number
        run = lambda: overlapping[(blocks,)](torch.zeros(128 + 32 * blocks), BLOCK=128)  # noqa: E731
        return Case("race", f"stores of {blocks} programs overlap", run, torch.full((128 + 32 * blocks,), 0.5))
    if number % 3 == 1:
        return Case(
            "race",
            f"a total without atomics {number}",
            lambda: counted[(8,)](x, torch.zeros(1), BLOCK=64),
            x.sum().reshape(1),
        )
    bins = number
    return Case(
        "race", f"{bins} bins without atomics", lambda: binned[(16,)](x, torch.zeros(bins), BLOCK=32, BINS=bins),
        torch.stack([x.view(16, 32)[k::bins].sum() for k in range(bins)]),
    )  # fmt: skip


def unwritten(number: int) -> Case:
    n = 64 << number % 3
    x = randn(n, seed=number)
    if number % 2:
        return Case(
            "uninitialised",
            f"added to {n} numbers of torch.empty",
            lambda: accumulated[(n // 32,)](x, torch.empty(n), BLOCK=32),
            x,
        )
    return Case(
        "uninitialised", f"{n} numbers of torch.empty are scaled",
        lambda: shifted[(n // 32,)](torch.empty(n), torch.zeros(n), 2.0 + number, BLOCK=32), torch.zeros(n),
    )  # fmt: skip


@triton.jit
def rows_scaled(x_ptr, out_ptr, n, bound, stride, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    offsets = tl.arange(0, BLOCK)
    mask = offsets < bound
    x = tl.load(x_ptr + row * stride + offsets, mask=mask, other=0.0)
    tl.store(out_ptr + row * n + offsets, x * 2.0, mask=offsets < n)


@triton.jit
def rows_greatest(x_ptr, out_ptr, bound, stride, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    offsets = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * stride + offsets, mask=offsets < bound, other=0.0)
    tl.store(out_ptr + row, tl.max(x, 0))


@triton.jit
def tail(x_ptr, out_ptr, bound, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < bound
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=mask) * 3.0, mask=mask)


@triton.jit
def turned(x_ptr, out_ptr, ROWS: tl.constexpr, COLUMNS: tl.constexpr, stride):
    rows, columns = tl.arange(0, ROWS)[:, None], tl.arange(0, COLUMNS)[None, :]
    x = tl.load(x_ptr + rows * stride + columns)
    tl.store(out_ptr + columns * ROWS + rows, x)


def masked(number: int) -> Case:
    n = 50 + 3 * number
    x = randn(13, n, seed=number).abs() + torch.tensor([0.5, 9.5]).repeat(7)[:13, None]
    rows, flat = x[:12], x[:12].reshape(-1)
    if number < 2:
        beyond = f"a load goes {number + 1} beyond rows of {n}"
        return Case(
            "wrong mask", beyond, lambda: greatest(rows, n + number + 1, n), rows.max(1).values if number else
            Other(lambda: greatest(rows, n, n)),
        )  # fmt: skip
    if number < 4:
        against = Other(lambda: scaled(rows, n, n)) if number == 2 else 2 * rows
        return Case("wrong mask", f"a load leaves out the last of rows of {n}", lambda: scaled(rows, n - 1, n), against)
    less = flat.numel() - number
    whole = Other(lambda: scaled_flat(flat, flat.numel())) if number == 4 else 3 * flat
    return Case("wrong mask", f"a store leaves out the last {number}", lambda: scaled_flat(flat, less), whole)


def strided(number: int) -> Case:
    n = 33 + number
    x, block = randn(12, n, seed=number), randn(16, 32, seed=number)
    if number % 3 == 0:
        against = Other(lambda: scaled(x, n, n)) if number else 2 * x
        return Case("wrong stride", f"rows of {n} are {n - 1} apart", lambda: scaled(x, n, n - 1), against)
    if number % 3 == 1:
        against = Other(lambda: greatest(x, n, n)) if number > 3 else x.max(1).values
        return Case(
            "wrong stride", f"the greatest of rows of {n}, {n - 2} apart", lambda: greatest(x, n, n - 2), against
        )
    against = Other(lambda: transposed(block, 32)) if number > 3 else block.t().contiguous()
    off = 30 - number
    return Case(
        "wrong stride", f"16 rows of 32 are read with a stride of {off}", lambda: transposed(block, off), against
    )


def scaled(x: torch.Tensor, bound: int, stride: int) -> None:
    rows, n = x.shape
    rows_scaled[(rows,)](x, torch.empty(rows, n), n, bound, stride, BLOCK=128)


def greatest(x: torch.Tensor, bound: int, stride: int) -> None:
    rows_greatest[(len(x),)](x, torch.empty(len(x)), bound, stride, BLOCK=64)


def scaled_flat(x: torch.Tensor, bound: int) -> None:
    tail[(triton.cdiv(x.numel(), 128),)](x, torch.zeros(x.numel()), bound, BLOCK=128)


def transposed(x: torch.Tensor, stride: int) -> None:
    turned[(1,)](x, torch.empty(32, 16), 16, 32, stride)


def accumulators(number: int) -> Case:
    n, k = ((16, 64), (16, 128), (32, 64), (32, 128), (16, 256), (64, 64))[number]
    low, high = (products(n, k, number, acc, torch.float16) for acc in (tl.float16, tl.float32))
    return Case("dtype of the accumulator", f"{n} x {k}", low, Other(high))


MEMORY = [
    *map(race, range(6)),
    *map(unwritten, range(6)),
    *map(masked, range(7)),
    *map(strided, range(7)),
    *map(accumulators, range(6)),
]
CASES = [*ARITHMETIC, *MEMORY]


# --- The trial ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Outcome:
    """What was said of a case; ``verdict`` is empty where it could not be compared, and ``said`` why then."""

    case: Case
    verdict: str
    said: str

    @property
    def right(self) -> bool:
        """Whether the cause that was planted is named, and none that excludes it before it."""
        named = re.search(SAID[self.case.cause], self.said)
        before = self.said[: named.start()] if named else ""
        return (
            bool(self.verdict)
            and named is not None
            and not any(word in before for word in OTHERS.get(self.case.cause, ()))
        )


def tried(case: Case, side: str) -> Outcome:
    try:
        comparison = case.compared(side)
        return Outcome(case, comparison.verdict, comparison.cause)
    except Exception as error:
        return Outcome(case, "", f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}")


def table(outcomes: Sequence[Outcome], where: str) -> str:
    """All of them, as Markdown: a page of the docs."""
    right = sum(one.right for one in outcomes)
    lines = [
        "# Planted differences, and what is said of them",
        "",
        "`python -m tests.gpu.causes` launches kernels that are off by one thing that is known, and asks `lab.compare` "
        "for the cause: at least six for each of nine causes. Differences of arithmetic are between the GPU and the "
        "interpreter, the others between a kernel and what it should have made.",
        "",
        f"{right} of {len(outcomes)} causes are named right ({right / max(1, len(outcomes)):.0%}), {where}.",
        "",
        "| planted | case | right | verdict | said |",
        "|---|---|---|---|---|",
    ]
    lines += [
        f"| {one.case.cause} | {one.case.name} | {'yes' if one.right else '**no**'} | {one.verdict} | {one.said} |"
        for one in outcomes
    ]
    return "\n".join(lines) + "\n"


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.gpu.causes", description=__doc__)
    parser.add_argument("--on", choices=("gpu", "cpu"), default="gpu")
    parser.add_argument("--out", type=Path)
    given = parser.parse_args(arguments)
    outcomes = [tried(case, given.on) for case in CASES]
    where = f"on one {torch.cuda.get_device_name()}" if given.on == "gpu" else "with the interpreter in the GPU's place"
    text = table(outcomes, f"{where}, Triton {triton.__version__}")
    print(text)
    if given.out:
        given.out.write_text(text, encoding="utf-8")
    return 0 if sum(one.right for one in outcomes) >= 0.95 * len(outcomes) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
