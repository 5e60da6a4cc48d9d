"""The measurements of a GPU that the course shows, as `lab.sweep` makes them.

    python -m tests.gpu.course_sweeps FILE    # on a machine with a GPU: about three minutes
    python -m tests.gpu.course_sweeps FILE --small --on cpu    # anywhere: whether all of them run

The file has each sweep with its rows, as JSON.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path

import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

import triton_lab as lab
from tests.gpu import narrow_products
from triton_lab.backend.targets.gpu_timer import Time
from triton_lab.examples.matmul import grouped_order, matmul_kernel
from triton_lab.launch.benchmark.benchmark_result import Sweep

LINE = 32  # floats: 128 bytes, a line of an H100's caches
STEPS = 1 << 14  # loads one after the other, of one program
CACHED = 1 << 25  # bytes that the second cache holds: of such a set all but the first loads should come from a cache


@triton.jit
def chase_kernel(next_ptr, out_ptr, steps):
    """Each load needs the number that the load before it brought."""
    at = 0
    for _ in range(steps):
        at = tl.load(next_ptr + at)
    tl.store(out_ptr, at)


@triton.jit
def copy_in_turns_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    for start in range(tl.program_id(0) * BLOCK, n, tl.num_programs(0) * BLOCK):
        at = start + tl.arange(0, BLOCK)
        tl.store(out_ptr + at, tl.load(x_ptr + at, mask=at < n), mask=at < n)


@triton.jit
def read_again_kernel(x_ptr, out_ptr, n, steps, BLOCK: tl.constexpr):
    """Blocks of a set of n numbers, again and again: each program begins at another one."""
    total = tl.zeros((BLOCK,), tl.float32)
    for step in range(steps):
        at = (tl.program_id(0) + step * tl.num_programs(0)) * BLOCK % n
        total += tl.load(x_ptr + at + tl.arange(0, BLOCK))
    tl.store(out_ptr + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK), total)


@triton.jit
def strided_kernel(x_ptr, out_ptr, n, stride, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + at, tl.load(x_ptr + at.to(tl.int64) * stride, mask=at < n), mask=at < n)


@triton.jit
def fused_kernel(x_ptr, y_ptr, out_ptr, n, a, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n)
    y = tl.load(y_ptr + at, mask=at < n)
    tl.store(out_ptr + at, tl.maximum(a * x, 0.0) + y, mask=at < n)


@triton.jit
def norm_of_a_block_kernel(x_ptr, out_ptr, columns, BLOCK: tl.constexpr):
    """The row in one block: read once."""
    j = tl.arange(0, BLOCK)
    at = tl.program_id(0) * columns + j
    x = tl.load(x_ptr + at, mask=j < columns, other=0.0)
    centred = tl.where(j < columns, x - tl.sum(x, axis=0) / columns, 0.0)
    variance = tl.sum(centred * centred, axis=0) / columns
    tl.store(out_ptr + at, centred / tl.sqrt(variance + 1e-5), mask=j < columns)


@triton.jit
def norm_in_three_reads_kernel(x_ptr, out_ptr, columns, BLOCK: tl.constexpr):
    """A loop for the mean, one for the variance, one for the result."""
    base = tl.program_id(0) * columns
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, columns, BLOCK):
        j = start + tl.arange(0, BLOCK)
        total += tl.load(x_ptr + base + j, mask=j < columns, other=0.0)
    mean = tl.sum(total, axis=0) / columns
    squares = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, columns, BLOCK):
        j = start + tl.arange(0, BLOCK)
        centred = tl.where(j < columns, tl.load(x_ptr + base + j, mask=j < columns, other=0.0) - mean, 0.0)
        squares += centred * centred
    scale = 1 / tl.sqrt(tl.sum(squares, axis=0) / columns + 1e-5)
    for start in range(0, columns, BLOCK):
        j = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + base + j, mask=j < columns, other=0.0)
        tl.store(out_ptr + base + j, (x - mean) * scale, mask=j < columns)


@triton.jit
def welford_kernel(x_ptr, out_ptr, columns, BLOCK: tl.constexpr):
    """Mean and variance in one loop, the result in another."""
    base = tl.program_id(0) * columns
    count, mean, squares = 0.0, 0.0, 0.0
    for start in range(0, columns, BLOCK):
        j = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + base + j, mask=j < columns, other=0.0)
        size = tl.minimum(columns - start, BLOCK).to(tl.float32)
        middle = tl.sum(x, axis=0) / size
        centred = tl.where(j < columns, x - middle, 0.0)
        apart = middle - mean
        squares += tl.sum(centred * centred, axis=0) + apart * apart * count * size / (count + size)
        mean += apart * size / (count + size)
        count += size
    scale = 1 / tl.sqrt(squares / columns + 1e-5)
    for start in range(0, columns, BLOCK):
        j = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + base + j, mask=j < columns, other=0.0)
        tl.store(out_ptr + base + j, (x - mean) * scale, mask=j < columns)


@triton.jit
def descriptor_product_kernel(a, b, c, M, N, K, T: tl.constexpr, TK: tl.constexpr, GROUP_M: tl.constexpr):
    """The tiles that a program of a persistent kernel computes; of any other kernel, the one tile of a program."""
    for tile in tl.range(tl.program_id(0), tl.cdiv(M, T) * tl.cdiv(N, T), tl.num_programs(0), flatten=True):
        tile_m, tile_n = grouped_order(tile, tl.cdiv(M, T), tl.cdiv(N, T), GROUP_M)
        total = tl.zeros((T, T), tl.float32)
        for k in range(0, K, TK):
            total = tl.dot(a.load([tile_m * T, k]), b.load([k, tile_n * T]), total)
        c.store([tile_m * T, tile_n * T], total.to(tl.float16))


@triton.jit
def seeded_dropout_kernel(x_ptr, out_ptr, n, seed, p, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n)
    tl.store(out_ptr + at, tl.where(tl.rand(seed, at) > p, x / (1 - p), 0.0), mask=at < n)


@triton.jit
def masked_dropout_kernel(x_ptr, keep_ptr, out_ptr, n, p, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n)
    keep = tl.load(keep_ptr + at, mask=at < n)
    tl.store(out_ptr + at, tl.where(keep, x / (1 - p), 0.0), mask=at < n)


def latency(device: str, small: bool) -> Sweep:
    """The time of one load that waits for the load before it, by the bytes among which it jumps."""

    def steps(size):
        return 64 if small else max(STEPS, 16 * _lines(size)) if size <= CACHED else STEPS

    def chase(size):
        lines = _lines(size)
        order = torch.randperm(lines)
        after = torch.empty(lines, dtype=torch.int64)
        after[order] = order.roll(-1)
        following = torch.zeros(lines * LINE, dtype=torch.int32)
        following[::LINE] = (after * LINE).int()
        following, out = following.to(device), torch.empty(1, dtype=torch.int32, device=device)
        return lambda: chase_kernel[(1,)](following, out, steps(size), num_warps=1)

    sizes = [1 << k for k in (range(14, 16) if small else range(14, 29))]
    found = lab.sweep(
        {"one load after the other": chase}, sizes, flops=lambda size: 1.0, seconds=0.3, axis="bytes of the set"
    )

    def each(time: Time | None, count: int) -> Time | None:
        return time and replace(time, median=time.median / count, low=time.low / count, high=time.high / count)

    rows = tuple(replace(row, flops=None, time=each(row.time, steps(row.size))) for row in found)
    return Sweep(rows, found.target, axis=found.axis)


def _lines(size: int) -> int:
    return max(2, size // (4 * LINE))


def programs(device: str, small: bool) -> Sweep:
    """A copy of 256 MiB by so many programs."""
    n = 1 << (14 if small else 26)
    x = torch.rand(n, device=device)
    out = torch.empty_like(x)

    def copy(size):
        return lambda: copy_in_turns_kernel[(size,)](x, out, n, BLOCK=1024)

    sizes = [1, 4] if small else [1, 2, 4, 8, 16, 33, 66, 132, 264, 528, 1056, 2112, 4224, 8448, 16896]
    return lab.sweep({"a copy of 256 MiB": copy}, sizes, bytes=lambda size: 8.0 * n, axis="programs")


def again(device: str, small: bool) -> Sweep:
    """Reading the same bytes again and again, by how many bytes they are: 4 GiB in all."""
    many, block = (4, 1024) if small else (2112, 2048)
    steps = (1 << (12 if small else 30)) // (many * block) + 1

    def read(size):
        x = torch.rand(max(size // 4, block), device=device)
        out = torch.empty(many * block, device=device)
        return lambda: read_again_kernel[(many,)](x, out, x.numel(), steps, BLOCK=block)

    sizes = [1 << k for k in (range(14, 16) if small else range(17, 31))]
    return lab.sweep(
        {"reads of a set of this many bytes": read},
        sizes,
        bytes=lambda size: 4.0 * many * block * steps,
        axis="bytes of the set",
    )


def stride(device: str, small: bool) -> Sweep:
    """A load of every size-th float; the bytes are those that the kernel asks for."""
    n = 1 << (10 if small else 24)

    def load(size):
        x, out = torch.rand(n * size, device=device), torch.empty(n, device=device)
        return lambda: strided_kernel[(triton.cdiv(n, 1024),)](x, out, n, size, BLOCK=1024)

    return lab.sweep({"every size-th float": load}, [1, 2, 4, 8, 16, 32], bytes=lambda size: 8.0 * n, axis="stride")


def chain(device: str, small: bool) -> Sweep:
    """relu(a * x) + y by three kernels of torch and by one of ours."""

    def three(size):
        x, y = torch.rand(size, device=device), torch.rand(size, device=device)
        return lambda: torch.relu(x * 2.5) + y

    def one(size):
        x, y, out = (torch.rand(size, device=device) for _ in range(3))
        return lambda: fused_kernel[(triton.cdiv(size, 1024),)](x, y, out, size, 2.5, BLOCK=1024)

    sizes = [1 << k for k in (range(10, 12) if small else range(12, 29, 2))]
    found = lab.sweep(
        {"three kernels": three, "one kernel": one}, sizes, bytes=lambda size: 12.0 * size, axis="elements"
    )
    return Sweep(tuple(replace(row, bytes=None) for row in found), found.target, axis=found.axis)


def norms(device: str, small: bool) -> Sweep:
    """Rows to mean 0 and variance 1: in one block, in three reads, and by Welford's way."""

    def made(kernel, whole=False):
        def rows(size):
            count = max(1, (1 << (12 if small else 26)) // size)
            x = torch.rand(count, size, device=device)
            out = torch.empty_like(x)
            block = triton.next_power_of_2(size) if whole else min(2048, triton.next_power_of_2(size))
            warps = max(4, min(16, block // 1024))
            return lambda: kernel[(count,)](x, out, size, BLOCK=block, num_warps=warps)

        return rows

    ways: dict[str, Callable] = {
        "the row in a block": made(norm_of_a_block_kernel, whole=True),
        "three reads": made(norm_in_three_reads_kernel),
        "Welford, two reads": made(welford_kernel),
    }
    total = 1 << (12 if small else 26)
    sizes = [256, 512] if small else [1 << k for k in range(9, 17)]
    return lab.sweep(ways, sizes, bytes=lambda size: 8.0 * max(1, total // size) * size, axis="columns")


def _products(configs: list[dict[str, int]], sizes: list[int], device: str) -> Sweep:
    def ours(size, GROUP_M, num_warps=8, num_stages=3, tile=128):
        a, b = (torch.randn(size, size, device=device).half() for _ in range(2))
        c = torch.empty_like(a)
        grid = (triton.cdiv(size, tile) ** 2,)
        blocks = {"BLOCK_M": tile, "BLOCK_N": tile, "BLOCK_K": 64, "GROUP_M": GROUP_M}
        strides = (*a.stride(), *b.stride(), *c.stride())
        return lambda: matmul_kernel[grid](
            a, b, c, size, size, size, *strides, **blocks, num_warps=num_warps, num_stages=num_stages
        )

    return lab.sweep(
        {"product": ours}, sizes, configs=configs, flops=lambda size: 2.0 * size**3, axis="rows and columns"
    )


def order(device: str, small: bool) -> Sweep:
    """The product of two float16 matrices, in bands of 1, 4, 8 and 16 rows of tiles."""
    sizes = [256] if small else [1024, 2048, 4096, 8192, 16384]
    return _products([{"GROUP_M": band} for band in (1, 4, 8, 16)], sizes, device)


def configurations(device: str, small: bool) -> Sweep:
    """The same product by num_warps, num_stages and the tile."""
    sizes = [256] if small else [1024, 4096, 8192]
    configs = [
        {"GROUP_M": 8, "tile": tile, "num_warps": warps, "num_stages": stages}
        for tile in (64, 128)
        for warps in (4, 8)
        for stages in (2, 3, 4)
    ]
    return _products(configs[:2] if small else configs, sizes, device)


def persistent(device: str, small: bool) -> Sweep:
    """A product of float16: by pointers, by descriptors, and by descriptors in a kernel of one program for each SM."""
    tile, deep, sms = 128, 64, 132

    def described(size, most):
        a, b = (torch.randn(size, size, device=device).half() for _ in range(2))
        c = torch.empty_like(a)
        tensors = [
            TensorDescriptor.from_tensor(x, s) for x, s in ((a, [tile, deep]), (b, [deep, tile]), (c, [tile] * 2))
        ]
        programs = min(most, triton.cdiv(size, tile) ** 2)
        return lambda: descriptor_product_kernel[(programs,)](
            *tensors, size, size, size, T=tile, TK=deep, GROUP_M=8, num_warps=8, num_stages=3
        )

    def pointers(size):
        a, b = (torch.randn(size, size, device=device).half() for _ in range(2))
        c = torch.empty_like(a)
        blocks = {"BLOCK_M": tile, "BLOCK_N": tile, "BLOCK_K": deep, "GROUP_M": 8, "num_warps": 8, "num_stages": 3}
        strides = (*a.stride(), *b.stride(), *c.stride())
        return lambda: matmul_kernel[(triton.cdiv(size, tile) ** 2,)](a, b, c, size, size, size, *strides, **blocks)

    ways: dict[str, Callable] = {
        "pointers, a program for each tile": pointers,
        "descriptors, a program for each tile": lambda size: described(size, 1 << 30),
        "descriptors, 132 programs": lambda size: described(size, sms),
    }
    sizes = [256] if small else [512, 1024, 2048, 4096, 8192]
    return lab.sweep(ways, sizes, flops=lambda size: 2.0 * size**3, axis="rows and columns")


def dropouts(device: str, small: bool) -> Sweep:
    """Dropout with a mask of bytes that is loaded, and with a seed."""

    def mask(size):
        x, out = torch.rand(size, device=device), torch.empty(size, device=device)
        keep = torch.rand(size, device=device) > 0.5
        return lambda: masked_dropout_kernel[(triton.cdiv(size, 1024),)](x, keep, out, size, 0.5, BLOCK=1024)

    def seed(size):
        x, out = torch.rand(size, device=device), torch.empty(size, device=device)
        return lambda: seeded_dropout_kernel[(triton.cdiv(size, 1024),)](x, out, size, 7, 0.5, BLOCK=1024)

    sizes = [1 << k for k in (range(10, 12) if small else range(16, 29, 2))]
    return lab.sweep({"a stored mask": mask, "a seed": seed}, sizes, bytes=lambda size: 8.0 * size, axis="elements")


SWEEPS: dict[str, Callable[[str, bool], Sweep]] = {
    one.__name__: one
    for one in (latency, programs, again, stride, chain, norms, order, configurations, dropouts, persistent)
} | narrow_products.SWEEPS


def main(arguments: list[str] | None = None, sweeps: dict[str, Callable[[str, bool], Sweep]] = SWEEPS) -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.gpu.course_sweeps", description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--on", default="gpu", choices=("gpu", "cpu"))
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--only", nargs="*", default=list(sweeps))
    given = parser.parse_args(arguments)
    device = "cuda" if given.on == "gpu" else "cpu"
    found: dict[str, object] = {}
    for name in given.only:
        with lab.target(given.on):
            swept = sweeps[name](device, given.small)
        print(name, swept, sep="\n", flush=True)
        found[name] = asdict(swept)
        # What has been measured is kept when a later one fails.
        given.file.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
