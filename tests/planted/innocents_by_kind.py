"""Kernels that are right, for kinds of findings whose planted bugs have few twins: each in several sizes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import torch
import triton
import triton.language as tl

from tests.planted import masked_reductions
from tests.planted.aliasing import scale_kernel
from tests.planted.bounds_pointers import table_load_kernel, table_store_kernel
from tests.planted.refused import gather_kernel

Run = Callable[[], None]


def each(name: str, run: Callable[..., None], cases: Iterable[Any]) -> list[Run]:
    """A run for each case, which is passed to ``run``."""

    def made(case: Any) -> Run:
        def one() -> None:
            run(*case) if isinstance(case, tuple) else run(case)

        one.__name__ = f"{name}: {case}"
        return one

    return [made(case) for case in cases]


def parts_of_one_storage(n: int, gap: int) -> None:
    """Input and output lie in one tensor, behind each other."""
    memory = torch.ones(2 * n + gap)
    scale_kernel[(triton.cdiv(n, 32),)](memory[:n], memory[n + gap :], n, BLOCK=32)


@triton.jit
def behind_header_kernel(bytes_ptr, out_ptr, HEADER: tl.constexpr, DTYPE: tl.constexpr):
    lane = tl.arange(0, 8)
    tl.store(out_ptr + lane, tl.load((bytes_ptr + HEADER).to(tl.pointer_type(DTYPE)) + lane).to(tl.float32))


def behind_a_header(header: int, dtype: Any) -> None:
    """Numbers behind a header of whole numbers."""
    packed = torch.zeros(128, dtype=torch.uint8)
    behind_header_kernel[(1,)](packed, torch.zeros(8), HEADER=header, DTYPE=dtype)


def entries_that_are_missing(kernel: Any, missing: int) -> None:
    """Null entries are masked off, or never reached."""
    parts = [torch.zeros(16, dtype=torch.float32 if kernel is table_load_kernel else torch.int32) for _ in range(6)]
    addresses = torch.tensor([part.data_ptr() for part in parts])
    addresses[missing] = 0
    if kernel is table_load_kernel:
        kernel[(6,)](addresses, torch.zeros(6, 16), BLOCK=16, MENDED=True)
    else:
        kernel[(6,)](addresses, MENDED=True)


def table_of_live_tensors(entries: int) -> None:
    """All tensors that a table points to are alive."""
    parts = [torch.ones(16) for _ in range(entries)]
    addresses = torch.tensor([part.data_ptr() for part in parts])
    table_load_kernel[(entries,)](addresses, torch.zeros(entries, 16), BLOCK=16, MENDED=True)


def assertion_that_holds(n: int) -> None:
    index = torch.arange(n, dtype=torch.int64).flip(0)
    gather_kernel[(n,)](torch.ones(n), index, torch.zeros(n), n, MENDED=False, debug=True)


@triton.jit
def _of_two(a, b, WAY: tl.constexpr):
    if WAY == "early":
        return a
    return a + b


@triton.jit
def returning_kernel(x_ptr, out_ptr, n, WAY: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    if WAY == "bare" and tl.program_id(0) > 0:
        return
    x = tl.load(x_ptr + at, mask=at < n, other=0.0)
    tl.store(out_ptr + at, _of_two(x, x, WAY), mask=at < n)
    if WAY == "at the end":
        return


@triton.jit
def compared_kernel(x_ptr, out_ptr, n, WAY: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    mask = (at >= 4) & (at < n)
    if WAY == "bits":
        mask = (at & 3) == 0
    elif WAY == "either":
        mask = (at < 4) | (at > n)
    elif WAY == "not":
        mask = ~(at < 4) & (at < n)
    elif WAY == "twice":
        mask = (at % 2 == 0) & ((at < n) | (at == 0))
    tl.store(out_ptr + at, tl.load(x_ptr + at, mask=mask, other=0.0), mask=mask)


@triton.jit
def ignoring_kernel(x_ptr, flag_ptr, WAY: tl.constexpr, BLOCK: tl.constexpr):
    x = tl.load(x_ptr + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK))
    if tl.sum(x) > 0:
        if WAY == "kind":
            tl.store(flag_ptr, 1)  # triton-lab: ignore[same-value]
        elif WAY == "another comment":
            tl.atomic_max(flag_ptr, 1)  # triton-lab finds nothing here
        elif WAY == "no comment":
            tl.atomic_max(flag_ptr, 1)  # nothing is ignored here


def ignored(way: str, block: int) -> None:
    ignoring_kernel[(4,)](torch.ones(4 * block), torch.zeros(1, dtype=torch.int32), WAY=way, BLOCK=block)


@triton.jit
def walking_kernel(x_ptr, w_ptr, out_ptr, n, WAY: tl.constexpr, BLOCK: tl.constexpr):
    lane = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    pointers = x_ptr + lane
    for start in range(0, n, BLOCK):
        if WAY == "moved":
            total += tl.load(x_ptr + start + lane, mask=start + lane < n, other=0.0)
        elif WAY == "carried":
            total += tl.load(pointers, mask=start + lane < n, other=0.0)
            pointers += BLOCK
        elif WAY == "same mask":
            total += tl.load(w_ptr + lane, mask=lane < n, other=0.0)
        elif WAY == "no mask":
            total += tl.load(x_ptr + start + lane, mask=start + lane < n, other=0.0) * tl.load(w_ptr + lane)
        elif WAY == "number":
            total += tl.load(x_ptr + start + lane, mask=start + lane < n, other=0.0) * tl.load(w_ptr)
    tl.store(out_ptr + lane, total)


@triton.jit
def read_later_kernel(x_ptr, w_ptr, out_ptr, n, WAY: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n, other=0.0)
    w = tl.load(w_ptr + at, mask=at < n, other=0.0)
    if WAY == "again":
        x = x + w
        w = tl.load(w_ptr + at, mask=at < n, other=1.0)
    elif WAY == "condition":
        if tl.sum(w) > 0:
            x = x * 2
    elif WAY == "mask":
        tl.store(out_ptr + at, x, mask=w > 0)
    elif WAY == "carried":
        for _ in range(2):
            x = x + w
            w = tl.load(w_ptr + at, mask=at < n, other=0.0)
    elif WAY == "atomic":
        old = tl.atomic_add(out_ptr + at, w, mask=at < n)  # noqa: F841
    tl.store(out_ptr + at, x + w, mask=at < n)


@triton.jit
def wide_sum_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, n, BLOCK):
        at = start + tl.arange(0, BLOCK)
        total += tl.load(x_ptr + at, mask=at < n, other=0.0).to(tl.float32)
    tl.store(out_ptr, tl.sum(total))


@triton.jit
def clamped_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n, other=0.0)
    tl.store(out_ptr + at, tl.clamp(x, 0.0, 255.0).to(tl.uint8), mask=at < n)


@triton.jit
def centred_kernel(x_ptr, out_ptr, n, WAY: tl.constexpr, SIDE: tl.constexpr):
    row, column = tl.arange(0, SIDE), tl.arange(0, SIDE)
    at = row[:, None] * SIDE + column[None, :]
    x = tl.load(x_ptr + at, mask=column[None, :] < n, other=0.0)
    total = tl.sum(x, axis=1)
    if WAY == "kept":
        tl.store(out_ptr + at, x - tl.sum(x, axis=1, keep_dims=True))
    elif WAY == "placed":
        tl.store(out_ptr + at, x - total[:, None])
    elif WAY == "both sides":
        tl.store(out_ptr + at, x / (1 + total[:, None]) / (1 + total[None, :]))
    elif WAY == "pairs":
        tl.store(out_ptr + at, total[:, None] + tl.sum(x, axis=0)[None, :] - 2 * tl.dot(x, x))
    elif WAY == "columns":
        tl.store(out_ptr + at, x - tl.sum(x, axis=0))
    elif WAY == "turned":
        tl.store(out_ptr + at, tl.trans(x) - total)
    elif WAY == "first lane":
        tl.store(out_ptr + column, tl.sum(x), mask=column == 0)
    elif WAY == "all":
        tl.store(out_ptr + at, x / tl.sum(x))
    else:
        tl.store(out_ptr + row, total)


SIZES = (10, 16, 33, 64)
_FLOATS = (torch.float16, torch.bfloat16)


def _sized(kernel: Any) -> Callable[[str, int], None]:
    """Runs of a kernel of x, out and n, in a way."""

    def run(way: str, n: int) -> None:
        kernel[(1,)](torch.ones(n + 64), torch.zeros(n + 64), n, WAY=way, BLOCK=64)

    return run


def _weighted(kernel: Any) -> Callable[[str, int], None]:
    def run(way: str, n: int) -> None:
        kernel[(1,)](torch.ones(n), torch.ones(64), torch.zeros(64), n, WAY=way, BLOCK=64 if n > 16 else 16)

    return run


def _all(ways: Iterable[str], sizes: Iterable[int] = SIZES) -> list[tuple[str, int]]:
    return [(way, size) for way in ways for size in sizes]


def centred(way: str, side: int) -> None:
    centred_kernel[(1,)](torch.ones(side, side), torch.zeros(side, side), side - 3, WAY=way, SIDE=side)


def summed_in_float32(dtype: torch.dtype, n: int) -> None:
    wide_sum_kernel[(1,)](torch.ones(n, dtype=dtype), torch.zeros(1), n, BLOCK=64)


def clamped(n: int) -> None:
    x = torch.linspace(-300.0, 600.0, n).round()
    clamped_kernel[(1,)](x, torch.zeros(n, dtype=torch.uint8), n, BLOCK=256)


_IGNORED = each("ignored", ignored, _all(("kind", "another comment", "no comment"), (16, 32, 64, 128, 256, 512, 1024)))
_DTYPES = (tl.int8, tl.int16, tl.int32, tl.int64)
_TABLES = [(kernel, k) for kernel in (table_load_kernel, table_store_kernel) for k in range(6)]
_TABLES += [(kernel, [j, k]) for kernel in (table_load_kernel, table_store_kernel) for j, k in ((0, 5), (1, 2), (3, 4))]

_RETURNS = ("early", "late", "bare", "at the end")
_CENTRES = ("kept", "placed", "both sides", "pairs", "columns", "turned", "first lane", "all", "rows")
_WALKS = ("moved", "carried", "same mask", "no mask", "number")

BY_KIND: dict[str, list[Run]] = {
    "alias": each("parts", parts_of_one_storage, [(n, gap) for n in (16, 33, 64, 100) for gap in (0, 1, 16, 64)]),
    "misaligned": each("header", behind_a_header, [(8 * k, dtype) for dtype in _DTYPES for k in range(5)]),
    "null-pointer": each("missing", entries_that_are_missing, _TABLES),
    "unverified": each("entries", table_of_live_tensors, range(1, 20)),
    "assertion": each("holds", assertion_that_holds, range(1, 20)),
    "lost-result": each("returns", _sized(returning_kernel), _all(_RETURNS, range(5, 10))),
    "precedence": each("compares", _sized(compared_kernel), _all(("both", "bits", "either", "not", "twice"))),
    "unused-ignore": _IGNORED,
    "unknown-ignore": _IGNORED,
    "standing-load": each("walks", _weighted(walking_kernel), _all(_WALKS, (64, 70, 130, 256))),
    "unused-load": each(
        "reads", _weighted(read_later_kernel), _all(("plain", "again", "condition", "mask", "carried", "atomic"))
    ),
    "masked-reduction": [
        run
        for kernel in (
            masked_reductions.from_zero_on,
            masked_reductions.over_a_border_of_zeros,
            masked_reductions.maximum_that_cancels,
            masked_reductions.greatest_of_absolute_values,
            masked_reductions.mean_of_table_rows,
        )
        for run in each(kernel.__name__, kernel, (3, 50, 100, 127, 128))
    ],
    "wrong-axis": each("centres", centred, _all(_CENTRES, (16, 32, 64))),
    "lost-precision": each("sums", summed_in_float32, [(d, n) for d in _FLOATS for n in (50, 64, 100, 128, 200)]),
    "spilt-byte": each("clamps", clamped, (50, 100, 128, 200, 256)),
}
