"""Products of narrow types and grouped products, as a GPU computes them: their times, and the errors of their sums.

`tests.gpu.course_sweeps` runs the sweeps. The errors go into a file of their own:

    python -m tests.gpu.narrow_products FILE    # on a machine with a GPU: some seconds
    python -m tests.gpu.narrow_products FILE --small --on cpu    # anywhere: whether it runs
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import torch
import triton
import triton.language as tl

import triton_lab as lab
from triton_lab.examples.matmul import grouped_order
from triton_lab.launch.benchmark.benchmark_result import Sweep

E4M3_MAX = 448.0
GROUP = 32  # elements that share a scale in mxfp8 and mxfp4
EXACT = 128  # products after which an exact kernel adds the sum of the tensor cores to its own
DEPTHS = [64, 256, 1024, 4096, 16384]


@triton.jit
def narrow_kernel(
    a_ptr, b_ptr, c_ptr, M, N, K, IMPRECISE: tl.constexpr,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP_M: tl.constexpr,
):  # fmt: skip
    """a @ b.T for rows of a and rows of b that lie close; K is a multiple of BK."""
    tile_m, tile_n = grouped_order(tl.program_id(0), tl.cdiv(M, BM), tl.cdiv(N, BN), GROUP_M)
    m, n, k = tile_m * BM + tl.arange(0, BM), tile_n * BN + tl.arange(0, BN), tl.arange(0, BK)
    total = tl.zeros((BM, BN), tl.float32)
    for start in range(0, K, BK):
        a = tl.load(a_ptr + m[:, None] * K + (start + k)[None, :], mask=(m < M)[:, None], other=0.0)
        b = tl.load(b_ptr + n[None, :] * K + (start + k)[:, None], mask=(n < N)[None, :], other=0.0)
        total = tl.dot(a, b, total, max_num_imprecise_acc=IMPRECISE)
    mask = (m < M)[:, None] & (n < N)[None, :]
    tl.store(c_ptr + m[:, None] * N + n[None, :], total.to(c_ptr.dtype.element_ty), mask=mask)


@triton.jit
def scaled_kernel(
    a_ptr, a_scale_ptr, b_ptr, b_scale_ptr, c_ptr, M, N, K, A: tl.constexpr, B: tl.constexpr,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP_M: tl.constexpr,
):  # fmt: skip
    """a @ b.T with a scale for each 32 elements of a row. A is e4m3 or bf16 (without scales), B is e4m3 or e2m1."""
    tile_m, tile_n = grouped_order(tl.program_id(0), tl.cdiv(M, BM), tl.cdiv(N, BN), GROUP_M)
    m, n, k = tile_m * BM + tl.arange(0, BM), tile_n * BN + tl.arange(0, BN), tl.arange(0, BK)
    packed: tl.constexpr = 2 if B == "e2m1" else 1
    kb, groups = tl.arange(0, BK // packed), tl.arange(0, BK // 32)
    total = tl.zeros((BM, BN), tl.float32)
    for start in range(0, K, BK):
        a = tl.load(a_ptr + m[:, None] * K + (start + k)[None, :], mask=(m < M)[:, None], other=0.0)
        at_b = n[None, :] * (K // packed) + (start // packed + kb)[:, None]
        b = tl.load(b_ptr + at_b, mask=(n < N)[None, :], other=0.0)
        at = (start // 32 + groups)[None, :]
        b_scale = tl.load(b_scale_ptr + n[:, None] * (K // 32) + at, mask=(n < N)[:, None], other=127)
        if A == "bf16":
            total = tl.dot_scaled(a, None, A, b, b_scale, B, total)
        else:
            a_scale = tl.load(a_scale_ptr + m[:, None] * (K // 32) + at, mask=(m < M)[:, None], other=127)
            total = tl.dot_scaled(a, a_scale, A, b, b_scale, B, total)
    mask = (m < M)[:, None] & (n < N)[None, :]
    tl.store(c_ptr + m[:, None] * N + n[None, :], total.to(c_ptr.dtype.element_ty), mask=mask)


@triton.jit
def experts_kernel(
    x_ptr, w_ptr, out_ptr, first_ptr, expert_ptr, begin_ptr, end_ptr, N, K,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
):  # fmt: skip
    """Rows of x by the matrix of their expert: a program has one tile, whose expert and first row are in tables."""
    tile = tl.program_id(1)
    expert, first = tl.load(expert_ptr + tile), tl.load(first_ptr + tile)
    m, n, k = first + tl.arange(0, BM), tl.program_id(0) * BN + tl.arange(0, BN), tl.arange(0, BK)
    inside = m < tl.load(end_ptr + expert)
    total = tl.zeros((BM, BN), tl.float32)
    for start in range(0, K, BK):
        x = tl.load(x_ptr + m[:, None] * K + (start + k)[None, :], mask=inside[:, None], other=0.0)
        w = tl.load(w_ptr + (expert.to(tl.int64) * K + start + k)[:, None] * N + n[None, :])
        total = tl.dot(x, w, total)
    tl.store(out_ptr + m[:, None] * N + n[None, :], total.to(tl.float16), mask=inside[:, None])


def _bytes(rows: int, columns: int, device: str) -> torch.Tensor:
    return torch.randint(0, 256, (rows, columns), dtype=torch.uint8, device=device)


def _scales(rows: int, depth: int, device: str) -> torch.Tensor:
    return torch.randint(120, 130, (rows, depth // GROUP), dtype=torch.uint8, device=device)


def _ways(device: str, rows: Callable[[int], int], tile: int, warps: int, deep: int) -> dict[str, Callable]:
    """Products of (rows, size) and (size, size), by the types of both."""

    def plain(dtype, imprecise):
        def prepare(size):
            a, b = (torch.randn(m, size, device=device).to(dtype) for m in (rows(size), size))
            c = torch.empty(rows(size), size, device=device, dtype=torch.bfloat16)
            grid = (triton.cdiv(rows(size), tile) * triton.cdiv(size, 128),)
            return lambda: narrow_kernel[grid](
                a, b, c, rows(size), size, size, imprecise,
                BM=tile, BN=128, BK=deep * (2 if dtype.itemsize == 1 else 1), GROUP_M=8, num_warps=warps, num_stages=3,
            )  # fmt: skip

        return prepare

    def scaled(a_type, b_type):
        def prepare(size):
            m, packed = rows(size), 2 if b_type == "e2m1" else 1
            a = torch.randn(m, size, device=device).to(torch.bfloat16 if a_type == "bf16" else torch.float8_e4m3fn)
            b = _bytes(size, size // packed, device)
            if b_type == "e4m3":
                b = torch.randn(size, size, device=device).to(torch.float8_e4m3fn)
            c = torch.empty(m, size, device=device, dtype=torch.bfloat16)
            a_scale, b_scale = _scales(m, size, device), _scales(size, size, device)
            grid = (triton.cdiv(m, tile) * triton.cdiv(size, 128),)
            return lambda: scaled_kernel[grid](
                a, a_scale, b, b_scale, c, m, size, size, a_type, b_type,
                BM=tile, BN=128, BK=2 * deep, GROUP_M=8, num_warps=warps, num_stages=3,
            )  # fmt: skip

        return prepare

    return {
        "float16": plain(torch.float16, None),
        "fp8": plain(torch.float8_e4m3fn, None),
        f"fp8, exact after {EXACT}": plain(torch.float8_e4m3fn, min(EXACT, 2 * deep)),
        "mxfp8": scaled("e4m3", "e4m3"),
        "bf16 by mxfp4": scaled("bf16", "e2m1"),
    }


def narrow(device: str, small: bool) -> Sweep:
    """Square products by the type of the numbers."""
    sizes = [128] if small else [1024, 4096, 8192]
    ways = _ways(device, lambda size: size, 128, 8, 64)
    found = lab.sweep(ways, sizes, flops=lambda size: 2.0 * size**3, seconds=0.05, axis="rows and columns")
    return Sweep(found.rows, found.target, axis=found.axis)  # the peak would be that of float16


def few_rows(device: str, small: bool) -> Sweep:
    """16 rows by a square matrix, as when a model writes one word for each of 16 texts."""
    sizes = [128] if small else [4096, 8192, 16384]
    found = lab.sweep(_ways(device, lambda size: 16, 16, 4, 64), sizes, seconds=0.05, axis="rows and columns")
    # The bytes differ from type to type.
    return Sweep(tuple(replace(row, bytes=None) for row in found), found.target, axis=found.axis)


def _experts(many: int, device: str, small: bool):
    """(x, w, out, the rows of each expert) for 8,192 rows that are shared out unevenly."""
    rows, deep = (256, 64) if small else (8192, 1024)
    generator = torch.Generator().manual_seed(many)
    weights = torch.rand(many, generator=generator) + 0.1
    counts = torch.bincount(torch.multinomial(weights, rows, replacement=True, generator=generator), minlength=many)
    x = torch.randn(rows, deep, device=device).half()
    w = torch.randn(many, deep, deep, device=device).half()
    return x, w, torch.empty_like(x), counts.tolist()


def _tables(counts: list[int], tile: int, device: str):
    """For each tile its first row and its expert; for each expert its first row and the row after its last."""
    first, expert, begin, end, row = [], [], [], [], 0
    for number, count in enumerate(counts):
        begin.append(row)
        for start in range(row, row + count, tile):
            first.append(start)
            expert.append(number)
        row += count
        end.append(row)
    return tuple(torch.tensor(one, dtype=torch.int32, device=device) for one in (first, expert, begin, end))


def grouped(device: str, small: bool) -> Sweep:
    """8,192 rows of 1,024 numbers, each by the matrix of its expert, by the number of experts."""
    tile = 64
    options = {"BM": tile, "BN": 64 if small else 128, "BK": 64, "num_warps": 4, "num_stages": 3}

    def launch(x, w, out, tables):
        K, N = w.shape[1:]
        first, expert, begin, end = tables
        grid = (triton.cdiv(N, options["BN"]), len(first))
        experts_kernel[grid](x, w, out, first, expert, begin, end, N, K, **options)

    def together(size):
        x, w, out, counts = _experts(size, device, small)
        tables = _tables(counts, tile, device)
        return lambda: launch(x, w, out, tables)

    def apart(size):
        x, w, out, counts = _experts(size, device, small)
        parts, row = [], 0
        for number, count in enumerate(counts):
            if count:
                tables = _tables([count], tile, device)
                parts.append((x[row : row + count], w[number : number + 1], out[row : row + count], tables))
            row += count

        def launches():
            for part in parts:
                launch(*part)

        return launches

    sizes = [2] if small else [1, 4, 16, 64, 256]
    rows, deep = (256, 64) if small else (8192, 1024)
    return lab.sweep(
        {"one launch": together, "a launch for each expert": apart},
        sizes,
        flops=lambda size: 2.0 * rows * deep * deep,
        seconds=0.05,
        axis="experts",
    )


def errors(device: str, small: bool) -> list[dict[str, object]]:
    """The error of sums of products, relative to the greatest sum, by type, depth and kind of numbers.

    ``sums`` compares with the exact product of the rounded numbers, ``whole`` with that of the numbers before rounding.
    """
    found: list[dict[str, object]] = []
    size, warps = (64, 4) if small else (128, 4)
    for kind in ("between 0 and 1", "around 0"):
        for depth in DEPTHS[:2] if small else DEPTHS:
            generator = torch.Generator().manual_seed(depth)
            make = torch.rand if kind == "between 0 and 1" else torch.randn
            x, y = (make(size, depth, generator=generator) for _ in range(2))
            ways = {"float16": (torch.float16, None), "fp8": (torch.float8_e4m3fn, None)}
            ways |= {f"fp8, exact after {step}": (torch.float8_e4m3fn, step) for step in (32, 64)}
            for name, (dtype, imprecise) in ways.items():
                a, b = x.to(dtype), y.to(dtype)
                c = torch.empty(size, size, device=device)
                narrow_kernel[(1,)](
                    a.to(device), b.to(device), c, size, size, depth, imprecise,
                    BM=size, BN=size, BK=64, GROUP_M=1, num_warps=warps,
                )  # fmt: skip
                rounded, whole = a.double() @ b.double().T, x.double() @ y.double().T
                of_sums = float((c.cpu().double() - rounded).abs().max() / rounded.abs().max())
                of_all = float((c.cpu().double() - whole).abs().max() / whole.abs().max())
                found.append({"numbers": kind, "depth": depth, "way": name, "sums": of_sums, "whole": of_all})
    return found


SWEEPS: dict[str, Callable[[str, bool], Sweep]] = {one.__name__: one for one in (narrow, few_rows, grouped)}


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.gpu.narrow_products", description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--on", default="gpu", choices=("gpu", "cpu"))
    parser.add_argument("--small", action="store_true")
    given = parser.parse_args(arguments)
    with lab.target(given.on):
        found = errors("cuda" if given.on == "gpu" else "cpu", given.small)
    given.file.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
