"""Twenty kernels that are slow on a GPU for a reason each, as people write them: for `tests.gpu.advice_gains`.

They were written before the code that looks for edits, and were not changed for it.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
import triton
import triton.language as tl


class Prepared:
    """A kernel with its grid and arguments; a call launches it."""

    def __init__(self, kernel: Any, grid: tuple[int, ...], *args: Any, **kwargs: Any) -> None:
        self.kernel, self.grid, self.args, self.kwargs = kernel, grid, args, kwargs

    def __call__(self) -> None:
        self.kernel[self.grid](*self.args, **self.kwargs)


@dataclass(frozen=True)
class SlowKernel:
    """A kernel, what is slow about it, and ``prepare(device)``, which makes its tensors."""

    name: str
    reason: str
    prepare: Callable[[str], Prepared]


SLOW: list[SlowKernel] = []


def slow(reason: str):
    """Add the function, which prepares a launch, to `SLOW`."""

    def added(prepare):
        SLOW.append(SlowKernel(prepare.__name__, reason, prepare))
        return prepare

    return added


def rand(device: str, *shape: int, dtype=torch.float32):
    """Random numbers that are the same on each device."""
    return torch.randn(*shape, generator=torch.Generator().manual_seed(0)).to(dtype).to(device)


# --- Elementwise ----------------------------------------------------------------------------------


@triton.jit
def cyclic_copy_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    offsets = pid + tl.arange(0, BLOCK) * tl.num_programs(0)
    mask = offsets < n
    tl.store(y_ptr + offsets, tl.load(x_ptr + offsets, mask=mask), mask=mask)


@slow("neighbouring lanes are a whole grid apart")
def cyclic_copy(device):
    x = rand(device, 1 << 22)
    y = torch.empty_like(x)
    return Prepared(cyclic_copy_kernel, (triton.cdiv(x.numel(), 1024),), x, y, x.numel(), BLOCK=1024)


@triton.jit
def small_block_add_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    y = tl.load(y_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, x + y, mask=mask)


@slow("32 elements for each program of 128 threads")
def small_block_add(device):
    x, y = rand(device, 1 << 22), rand(device, 1 << 22)
    out = torch.empty_like(x)
    return Prepared(small_block_add_kernel, (triton.cdiv(x.numel(), 32),), x, y, out, x.numel(), BLOCK=32)


@triton.jit
def wide_gelu_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    inner = 0.7978845608 * (x + 0.044715 * x * x * x)
    e = tl.exp(2.0 * inner)
    out = 0.5 * x * (1.0 + (e - 1.0) / (e + 1.0))
    tl.store(out_ptr + offsets, out, mask=mask)


@slow("8,192 elements in the registers of one warp")
def wide_gelu(device):
    x = rand(device, 1 << 22)
    out = torch.empty_like(x)
    return Prepared(wide_gelu_kernel, (triton.cdiv(x.numel(), 8192),), x, out, x.numel(), BLOCK=8192, num_warps=1)


@triton.jit(do_not_specialize=["n"])
def needless_mask_kernel(x_ptr, out_ptr, factor, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, x * factor, mask=mask)


@slow("a mask that is never false, whose bound the compiler does not know: one float16 at a time")
def needless_mask(device):
    x = rand(device, 1 << 23, dtype=torch.float16)
    out = torch.empty_like(x)
    return Prepared(needless_mask_kernel, (x.numel() // 1024,), x, out, 1.5, x.numel(), BLOCK=1024)


@triton.jit
def interleaved_magnitude_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    real = tl.load(x_ptr + 2 * offsets, mask=mask)
    imaginary = tl.load(x_ptr + 2 * offsets + 1, mask=mask)
    tl.store(out_ptr + offsets, tl.sqrt(real * real + imaginary * imaginary), mask=mask)


@slow("real and imaginary parts lie side by side, and two loads take every second number")
def interleaved_magnitude(device):
    x = rand(device, 1 << 22, 2)
    out = torch.empty(1 << 22, device=device)
    return Prepared(interleaved_magnitude_kernel, (triton.cdiv(1 << 22, 256),), x, out, 1 << 22, BLOCK=256)


@triton.jit
def scalar_copy_kernel(x_ptr, out_ptr, PER_PROGRAM: tl.constexpr):
    start = tl.program_id(0) * PER_PROGRAM
    for k in range(PER_PROGRAM):
        tl.store(out_ptr + start + k, tl.load(x_ptr + start + k))


@slow("one float16 at a time, in a loop")
def scalar_copy(device):
    x = rand(device, 1 << 19, dtype=torch.float16)
    out = torch.empty_like(x)
    return Prepared(scalar_copy_kernel, (x.numel() // 64,), x, out, PER_PROGRAM=64)


@triton.jit
def few_programs_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    step = tl.num_programs(0) * BLOCK
    for start in range(tl.program_id(0) * BLOCK, n, step):
        offsets = start + tl.arange(0, BLOCK)
        mask = offsets < n
        tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=mask) * 2.0, mask=mask)


@slow("32 programs for 132 multiprocessors, each of which loops")
def few_programs(device):
    x = rand(device, 1 << 22)
    out = torch.empty_like(x)
    return Prepared(few_programs_kernel, (32,), x, out, x.numel(), BLOCK=1024)


@triton.jit
def tall_tile_bias_kernel(x_ptr, bias_ptr, out_ptr, M, N, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    mask = (rows[:, None] < M) & (columns[None, :] < N)
    where = rows[:, None] * N + columns[None, :]
    x = tl.load(x_ptr + where, mask=mask)
    bias = tl.load(bias_ptr + columns, mask=columns < N)
    tl.store(out_ptr + where, x + bias[None, :], mask=mask)


@slow("tiles of 512 rows and two columns of a row-major matrix")
def tall_tile_bias(device):
    x, bias = rand(device, 2048, 2048), rand(device, 2048)
    out = torch.empty_like(x)
    grid = (triton.cdiv(2048, 512), triton.cdiv(2048, 2))
    return Prepared(tall_tile_bias_kernel, grid, x, bias, out, 2048, 2048, BLOCK_M=512, BLOCK_N=2)


@triton.jit
def transpose_strips_kernel(x_ptr, out_ptr, M, N, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    mask = (rows[:, None] < M) & (columns[None, :] < N)
    tile = tl.load(x_ptr + rows[:, None] * N + columns[None, :], mask=mask)
    tl.store(out_ptr + columns[None, :] * M + rows[:, None], tile, mask=mask)


@slow("a transpose by strips of one row, whose columns are scattered")
def transpose_strips(device):
    x = rand(device, 2048, 2048)
    out = torch.empty_like(x)
    grid = (2048, triton.cdiv(2048, 512))
    return Prepared(transpose_strips_kernel, grid, x, out, 2048, 2048, BLOCK_M=1, BLOCK_N=512)


# --- Rows and reductions --------------------------------------------------------------------------


@triton.jit
def softmax_kernel(x_ptr, out_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    offsets = tl.arange(0, BLOCK)
    mask = offsets < columns
    x = tl.load(x_ptr + row * columns + offsets, mask=mask, other=float("-inf"))
    e = tl.exp(x - tl.max(x, axis=0))
    tl.store(out_ptr + row * columns + offsets, e / tl.sum(e, axis=0), mask=mask)


@slow("16 warps for a row of 256 numbers")
def many_warps_softmax(device):
    x = rand(device, 16384, 256)
    out = torch.empty_like(x)
    return Prepared(softmax_kernel, (16384,), x, out, 256, BLOCK=256, num_warps=16)


@slow("a row of 64 numbers for each program of 128 threads")
def tiny_softmax(device):
    x = rand(device, 65536, 64)
    out = torch.empty_like(x)
    return Prepared(softmax_kernel, (65536,), x, out, 64, BLOCK=64)


@triton.jit
def column_sum_kernel(x_ptr, out_ptr, M, N, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    columns = tl.program_id(0) * BLOCK_N + tl.arange(0, BLOCK_N)
    total = tl.zeros((BLOCK_N,), tl.float32)
    for start in range(0, M, BLOCK_M):
        rows = start + tl.arange(0, BLOCK_M)
        mask = (rows[:, None] < M) & (columns[None, :] < N)
        total += tl.sum(tl.load(x_ptr + rows[:, None] * N + columns[None, :], mask=mask, other=0.0), axis=0)
    tl.store(out_ptr + columns, total, mask=columns < N)


@slow("a column of a row-major matrix for each program")
def column_sum(device):
    x = rand(device, 2048, 2048)
    out = torch.empty(2048, device=device)
    return Prepared(column_sum_kernel, (2048,), x, out, 2048, 2048, BLOCK_M=1024, BLOCK_N=1)


@triton.jit
def short_loop_rms_norm_kernel(x_ptr, weight_ptr, out_ptr, columns, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0) * columns
    squares = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, columns, BLOCK):
        offsets = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row + offsets, mask=offsets < columns, other=0.0)
        squares += x * x
    scale = 1.0 / tl.sqrt(tl.sum(squares) / columns + eps)
    for start in range(0, columns, BLOCK):
        offsets = start + tl.arange(0, BLOCK)
        mask = offsets < columns
        x = tl.load(x_ptr + row + offsets, mask=mask)
        weight = tl.load(weight_ptr + offsets, mask=mask)
        tl.store(out_ptr + row + offsets, x * scale * weight, mask=mask)


@slow("two loops over a row, 64 numbers at a time")
def short_loop_rms_norm(device):
    x, weight = rand(device, 1024, 4096), rand(device, 4096)
    out = torch.empty_like(x)
    return Prepared(short_loop_rms_norm_kernel, (1024,), x, weight, out, 4096, 1e-6, BLOCK=64)


@triton.jit
def row_sum_kernel(x_ptr, out_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, columns, BLOCK):
        offsets = start + tl.arange(0, BLOCK)
        total += tl.load(x_ptr + row * columns + offsets, mask=offsets < columns, other=0.0)
    tl.store(out_ptr + row, tl.sum(total))


@slow("eight warps for 128 numbers at a time")
def many_warps_row_sum(device):
    x = rand(device, 1024, 4096)
    out = torch.empty(1024, device=device)
    return Prepared(row_sum_kernel, (1024,), x, out, 4096, BLOCK=128, num_warps=8)


@triton.jit
def narrow_matvec_kernel(a_ptr, x_ptr, y_ptr, K, BLOCK_K: tl.constexpr):
    row = tl.program_id(0)
    total = 0.0
    for start in range(0, K, BLOCK_K):
        offsets = start + tl.arange(0, BLOCK_K)
        a = tl.load(a_ptr + row * K + offsets)
        x = tl.load(x_ptr + offsets)
        total += tl.sum(a * x)
    tl.store(y_ptr + row, total)


@slow("32 numbers of a row at a time, with a reduction for each")
def narrow_matvec(device):
    a, x = rand(device, 4096, 1024), rand(device, 1024)
    y = torch.empty(4096, device=device)
    return Prepared(narrow_matvec_kernel, (4096,), a, x, y, 1024, BLOCK_K=32)


@triton.jit
def one_warp_layer_norm_kernel(x_ptr, weight_ptr, bias_ptr, out_ptr, columns, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0) * columns
    offsets = tl.arange(0, BLOCK)
    mask = offsets < columns
    x = tl.load(x_ptr + row + offsets, mask=mask, other=0.0)
    mean = tl.sum(x) / columns
    apart = tl.where(mask, x - mean, 0.0)
    scale = 1.0 / tl.sqrt(tl.sum(apart * apart) / columns + eps)
    weight = tl.load(weight_ptr + offsets, mask=mask)
    bias = tl.load(bias_ptr + offsets, mask=mask)
    tl.store(out_ptr + row + offsets, apart * scale * weight + bias, mask=mask)


@slow("one warp for a row of 8,192 numbers")
def one_warp_layer_norm(device):
    x, weight, bias = rand(device, 512, 8192), rand(device, 8192), rand(device, 8192)
    out = torch.empty_like(x)
    return Prepared(one_warp_layer_norm_kernel, (512,), x, weight, bias, out, 8192, 1e-6, BLOCK=8192, num_warps=1)


@triton.jit
def atomic_sum_kernel(x_ptr, total_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n, other=0.0)
    tl.atomic_add(total_ptr, tl.sum(x))


@slow("an atomic addition to one number for each 128 numbers")
def atomic_sum(device):
    x = rand(device, 1 << 22)
    total = torch.zeros(1, device=device)
    return Prepared(atomic_sum_kernel, (triton.cdiv(x.numel(), 128),), x, total, x.numel(), BLOCK=128)


# --- Products of matrices -------------------------------------------------------------------------


@triton.jit
def matmul_kernel(
    a_ptr, b_ptr, c_ptr, M, N, K, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr
):  # fmt: skip
    pid = tl.program_id(0)
    across = tl.cdiv(N, BLOCK_N)
    rows = (pid // across) * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = (pid % across) * BLOCK_N + tl.arange(0, BLOCK_N)
    inner = tl.arange(0, BLOCK_K)
    total = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for k in range(0, K, BLOCK_K):
        a = tl.load(a_ptr + rows[:, None] * K + (k + inner)[None, :], mask=(k + inner)[None, :] < K, other=0.0)
        b = tl.load(b_ptr + (k + inner)[:, None] * N + columns[None, :], mask=(k + inner)[:, None] < K, other=0.0)
        total = tl.dot(a, b, total)
    mask = (rows[:, None] < M) & (columns[None, :] < N)
    tl.store(c_ptr + rows[:, None] * N + columns[None, :], total.to(tl.float16), mask=mask)


def _matmul(device, size, m, n, k, **options):
    a, b = rand(device, size, size, dtype=torch.float16), rand(device, size, size, dtype=torch.float16)
    c = torch.empty_like(a)
    grid = (triton.cdiv(size, m) * triton.cdiv(size, n),)
    return Prepared(matmul_kernel, grid, a, b, c, size, size, size, BLOCK_M=m, BLOCK_N=n, BLOCK_K=k, **options)


@slow("programs row by row, with tiles of 32 x 128")
def plain_matmul(device):
    return _matmul(device, 1024, 32, 128, 32)


@slow("no load ahead: num_stages=1")
def unpipelined_matmul(device):
    return _matmul(device, 1024, 64, 64, 64, num_stages=1)


@slow("tiles of 16 x 16 x 16")
def small_tile_matmul(device):
    return _matmul(device, 512, 16, 16, 16)
