"""Views that are read as if they were contiguous; and views that are read with their own strides."""

from __future__ import annotations

from collections.abc import Callable

import torch
import triton
import triton.language as tl

from tests.planted.plant import plant


@triton.jit
def rows_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    row, lane = tl.program_id(0), tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n + lane, mask=lane < n, other=0.0)  # BUG
    tl.store(out_ptr + row, tl.sum(x, 0))


@plant(rows_kernel, "assumed-contiguous", "x_ptr")
def rows_of_a_transposed_view(mended: bool) -> None:
    """The rows of x.t() are the columns of x."""
    x = torch.randn(50, 30).t()
    rows_kernel[(30,)](x.contiguous() if mended else x, torch.empty(30), 50, BLOCK=64)


@plant(rows_kernel, "assumed-contiguous", "x_ptr")
def every_second_row(mended: bool) -> None:
    """Row 1 of x[::2] is row 2 of x."""
    x = torch.randn(20, 40)[::2]
    rows_kernel[(10,)](x.contiguous() if mended else x, torch.empty(10), 40, BLOCK=64)


@plant(rows_kernel, "assumed-contiguous", "x_ptr")
def left_half_of_the_columns(mended: bool) -> None:
    """The rows of x[:, :24] are 48 elements apart."""
    x = torch.randn(16, 48)[:, :24]
    rows_kernel[(16,)](x.contiguous() if mended else x, torch.empty(16), 24, BLOCK=32)


@triton.jit
def flat_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)  # BUG
    tl.store(out_ptr + offsets, x * 2, mask=mask)


@plant(flat_kernel, "assumed-contiguous", "x_ptr")
def flat_copy_of_a_transposed_view(mended: bool) -> None:
    """Elements are paired by their place in memory, which is not their index."""
    x = torch.randn(12, 20).t()
    flat_kernel[(8,)](x.contiguous() if mended else x, torch.empty(20, 12), 240, BLOCK=32)


@triton.jit
def strided_kernel(x_ptr, out_ptr, stride_row, stride_column, n, BLOCK: tl.constexpr):
    row, lane = tl.program_id(0), tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * stride_row + lane * stride_column, mask=lane < n, other=0.0)
    tl.store(out_ptr + row, tl.sum(x, 0))


_VIEWS: dict[str, Callable[[], torch.Tensor]] = {
    "transposed": lambda: torch.randn(50, 30).t(),
    "square and transposed": lambda: torch.randn(32, 32).t(),
    "every second row": lambda: torch.randn(20, 40)[::2],
    "every second column": lambda: torch.randn(20, 40)[:, ::2],
    "left columns": lambda: torch.randn(16, 48)[:, :24],
    "right columns": lambda: torch.randn(16, 48)[:, 24:],
    "middle rows": lambda: torch.randn(16, 48)[4:12],
    "expanded": lambda: torch.randn(1, 48).expand(16, 48),
    "of three axes": lambda: torch.randn(4, 8, 16)[:, 2],
}


def _by_its_strides(name: str) -> Callable[[], None]:
    def run() -> None:
        x = _VIEWS[name]()
        strided_kernel[(x.shape[0],)](x, torch.empty(x.shape[0]), *x.stride(), x.shape[1], BLOCK=64)

    run.__name__ = f"rows by their strides: {name}"
    return run


def _columns(name: str) -> Callable[[], None]:
    def run() -> None:
        x = _VIEWS[name]()
        strided_kernel[(x.shape[1],)](x, torch.empty(x.shape[1]), *x.stride()[::-1], x.shape[0], BLOCK=64)

    run.__name__ = f"columns by their strides: {name}"
    return run


def flat_in_the_order_of_memory() -> None:
    """Both tensors have their elements in the same order, which is not that of rows."""
    x = torch.randn(12, 20).t()
    flat_kernel[(8,)](x, torch.empty_like(x), 240, BLOCK=32)


INNOCENTS = [*map(_by_its_strides, _VIEWS), *map(_columns, _VIEWS), flat_in_the_order_of_memory]
