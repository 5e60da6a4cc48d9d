"""What the exercises of chapter 17 take for right is what the compiler for sm_90 makes of kernels."""

from __future__ import annotations

import pytest
import torch
import triton
import triton.language as tl

import triton_lab as lab
from tests.wordings import Wording
from triton_lab.course.exercise_registry import exercise
from triton_lab.examples.matmul import matmul


@triton.jit
def _strided(x_ptr, out_ptr, n, stride, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + at, tl.load(x_ptr + at * stride, mask=at < n), mask=at < n)


@triton.jit
def _row_by_row(x_ptr, out_ptr, columns, x0, x1, BLOCK: tl.constexpr):
    j = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + tl.program_id(0) * x0 + j * x1, mask=j < columns)
    tl.store(out_ptr + tl.program_id(0) * columns + j, x, mask=j < columns)


@triton.jit
def _column_by_column(x_ptr, out_ptr, rows, columns, x0, x1, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i * x0 + tl.program_id(0) * x1, mask=i < rows)
    tl.store(out_ptr + i * columns + tl.program_id(0), x, mask=i < rows)


def row_by_row(x: torch.Tensor) -> torch.Tensor:
    out = torch.empty(x.shape, dtype=x.dtype)
    _row_by_row[(x.shape[0],)](x, out, x.shape[1], *x.stride(), BLOCK=triton.next_power_of_2(x.shape[1]))
    return out


def column_by_column(x: torch.Tensor) -> torch.Tensor:
    out = torch.empty(x.shape, dtype=x.dtype)
    _column_by_column[(x.shape[1],)](x, out, *x.shape, *x.stride(), BLOCK=triton.next_power_of_2(x.shape[0]))
    return out


def test_requests_and_sectors_are_those_of_the_machine_code() -> None:
    with lab.record() as launches:
        _strided[(4,)](torch.rand(8192), torch.empty(4096), 4096, 2, BLOCK=1024)
    found = launches[0].compile("sm_90", num_warps=32).transactions.transfers[0]
    assert exercise("strided_requests").judge((found.requests, found.sectors)) is None


@pytest.mark.parametrize(("copy", "kind"), [(row_by_row, "a load"), (column_by_column, "a store")])
def test_a_copy_that_is_right_and_asks_for_too_many_sectors_is_told_the_line(copy, kind, wording: Wording) -> None:  # type: ignore[no-untyped-def]
    fault = exercise("straighten").judge(copy)
    kernel = globals()[f"_{copy.__name__}"]
    line = kernel.starting_line_number + next(k for k, text in enumerate(kernel.raw_src) if f"tl.{kind[2:]}(" in text)
    wording(fault.message, kind=kind, sectors="6,144 sectors", line=line)


def test_the_size_at_the_ridge_is_where_the_roof_turns() -> None:
    a = torch.zeros(896, 896, dtype=torch.float16)
    limited = []
    for size in (832, 896):
        with lab.record() as launches:
            matmul(a[:size, :size].contiguous(), a[:size, :size].contiguous())
        limited.append(launches[0].compile("sm_90").cost.roof("H100").memory_bound)
    assert limited == [True, False]
    assert exercise("size_at_the_ridge").judge(896) is None


# Right answers beside the teacher's, and near misses: what each is told.
BLOCKED = {"threads_per_warp": [32, 1], "warps_per_cta": [4, 1]}
PADDED = lab.layout("padded_shared", (64, 16), pairs=[(32, 1)])


@pytest.mark.parametrize(
    ("size_per_thread", "order", "told"),
    [([1, 4], [0, 1], ""), ([1, 32], [0, 1], ""), ([2, 16], [1, 0], "Thread 0 of warp 0 must hold row 0")],
)
def test_a_row_for_each_thread_may_be_spelled_as_one_likes(size_per_thread, order, told) -> None:  # type: ignore[no-untyped-def]
    made = lab.layout("blocked", (128, 32), size_per_thread=size_per_thread, order=order, **BLOCKED)
    fault = exercise("row_of_lane").judge(made)
    assert (fault is None) if not told else str(fault).startswith(told)


def test_near_misses_of_layouts_are_told_what_is_wrong() -> None:
    def rows(warps: list[int], shape: tuple[int, int] = (128, 32)) -> str:
        made = lab.layout("blocked", shape, size_per_thread=[1, 32], threads_per_warp=[32, 1], warps_per_cta=warps)
        return str(exercise("row_of_lane").judge(made))

    assert "four warps" in rows([2, 1]) and "(64, 32)" in rows([4, 1], (64, 32))
    assert "padding" in str(exercise("swizzle_of_16").judge(PADDED))
    for phases in (
        {"per_phase": 1, "max_phase": 1},
        {"per_phase": 1, "max_phase": 16},
        {"per_phase": 2, "max_phase": 8},
    ):
        made = lab.layout("swizzled_shared", (64, 16), vec=1, **phases)
        assert "columns" in str(exercise("swizzle_of_16").judge(made))


def test_of_many_layouts_those_alone_are_right_that_do_what_is_asked() -> None:
    """Thirty blocked ones, by what a thread, a warp and a program have; and forty-five orders of banks."""
    rows = exercise("row_of_lane")
    right = [
        (size, threads, warps)
        for size in ([1, 32], [1, 4], [32, 1], [4, 1], [2, 16])
        for threads in ([32, 1], [1, 32])
        for warps in ([4, 1], [1, 4], [2, 2])
        if rows.judge(
            lab.layout("blocked", (128, 32), size_per_thread=size, threads_per_warp=threads, warps_per_cta=warps)
        )
        is None
    ]
    assert right == [([1, 32], [32, 1], [4, 1]), ([1, 4], [32, 1], [4, 1])]
    narrow = exercise("swizzle_of_16")
    phases = [(vec, each, most) for vec in (1, 2, 4) for each in (1, 2, 4) for most in (1, 2, 4, 8, 16)]
    made = [
        lab.layout("swizzled_shared", (64, 16), vec=vec, per_phase=each, max_phase=most) for vec, each, most in phases
    ]
    assert [one for one, layout in zip(phases, made, strict=True) if narrow.judge(layout) is None] == [(1, 2, 16)]
