"""What the exercises of chapters 17 to 19 take for right is what the compiler for sm_90 makes of kernels."""

from __future__ import annotations

import re

import pytest
import torch
import triton
import triton.language as tl

import triton_lab as lab
from tests.course.chapters import FOLDER, answers, defined
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


@triton.jit
def _mean_of_rows(x_ptr, bias_ptr, out_ptr, n, ROWS: tl.constexpr, BIAS: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for k in tl.static_range(ROWS):
        total += tl.load(x_ptr + k * n + at, mask=at < n)
    if BIAS:
        total += tl.load(bias_ptr + at, mask=at < n)
    tl.store(out_ptr + at, total / ROWS, mask=at < n)


@triton.jit
def _mean_in_turns(x_ptr, bias_ptr, out_ptr, n, ROWS: tl.constexpr, BIAS: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for k in range(ROWS):
        total += tl.load(x_ptr + k * n + at, mask=at < n)
    if BIAS:
        total += tl.load(bias_ptr + at, mask=at < n)
    tl.store(out_ptr + at, total / ROWS, mask=at < n)


def _ttir(launch: lab.Launch) -> str:
    return str(launch.compile("sm_90").stages["ttir"])


def test_loads_are_left_as_the_compiler_leaves_them() -> None:
    x, bias, out = torch.zeros(6, 50), torch.zeros(50), torch.empty(50)
    with lab.record() as launches:
        _mean_of_rows[(1,)](x, bias, out, 50, ROWS=6, BIAS=False, BLOCK=64)
        _mean_in_turns[(1,)](x, bias, out, 50, ROWS=6, BIAS=True, BLOCK=64)
    found = tuple(_ttir(one).count("= tt.load") for one in launches)
    assert exercise("loads_left").judge(found) is None
    assert exercise("loads_left").judge((6, 7)) is not None and exercise("loads_left").judge((7, 2)) is not None


@triton.jit
def _scale(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + at, tl.load(x_ptr + at, mask=at < n) * 2, mask=at < n)


def test_a_kernel_is_compiled_as_often_as_triton_does() -> None:
    made = [torch.zeros(n) for n in (1, 16, 17, 32, 100, 4096, 5001)] + [torch.zeros(17)[1:]]
    with lab.record() as launches:
        for x in made:
            _scale[(triton.cdiv(len(x), 256),)](x, torch.empty_like(x), len(x), BLOCK=256)
    found = len(set(map(_ttir, launches)))
    assert exercise("compilations_of_scale").judge(found) is None
    assert all(exercise("compilations_of_scale").judge(wrong) is not None for wrong in (2, 3, 8))


def test_the_ttir_that_is_shown_is_that_of_the_answer() -> None:
    def plain(text: str) -> list[str]:
        """Lines without places in the source, without attributes, and with values numbered as they come."""
        text = re.sub(r" loc\((?:[^()]|\([^()]*\))*\)", "", text.replace(" attributes {noinline = false}", ""))
        body = re.search(r"tt\.func public @\w+(\(.*?tt\.return)", text, re.DOTALL)
        assert body is not None
        names: dict[str, str] = {}
        numbered = re.sub(r"%\w+", lambda name: names.setdefault(name[0], f"%{len(names)}"), body[1])
        return re.sub(r"\s+", " ", numbered).split(" %")

    shown = re.search(r"# ```text\n(.*?)# ```", (FOLDER / "17_ttir.py").read_text(encoding="utf-8"), re.DOTALL)
    assert shown is not None
    answer = defined(answers()["from_ttir"], "from_ttir")
    with lab.record() as launches:
        answer(torch.zeros(1000))
    assert plain(_ttir(launches[0])) == plain(re.sub("^# ?", "", shown[1], flags=re.MULTILINE))


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (("(n - 1 - at)", "at"), "result is"),  # not turned
        (("(n - 1 - at)", "(n - at)"), "x_ptr"),  # one too far
        (("x > 0, x, tl.exp(x) - 1", "x > 0, tl.exp(x) - 1, x"), "result is"),  # the operands of select
        (("tl.exp(x) - 1", "1 - tl.exp(x)"), "result is"),  # the operands of subf
        (("x > 0", "x < 0"), "result is"),  # olt for ogt
    ],
)
def test_a_misread_operation_is_told(change: tuple[str, str], told: str) -> None:
    text = answers()["from_ttir"].replace(*change)
    assert text != answers()["from_ttir"]
    assert told in str(exercise("from_ttir").judge(defined(text, "from_ttir")))


def test_ttir_may_be_read_in_another_style() -> None:
    text = answers()["from_ttir"].replace("mask=mask)\n    tl.store", "mask=mask, other=0.0)\n    tl.store")
    text = (
        text.replace("BLOCK=256", "BLOCK=512").replace("x.numel(), 256", "x.numel(), 512").replace("x > 0", "0.0 < x")
    )
    assert exercise("from_ttir").judge(defined(text, "from_ttir")) is None


@triton.jit
def _copy(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + at, tl.load(x_ptr + at, mask=at < n), mask=at < n)


def test_neighbours_of_a_thread_are_those_of_the_compilers_layout() -> None:
    found = []
    for dtype, block, warps in ((torch.float16, 1024, 8), (torch.int8, 1024, 4), (torch.int8, 4096, 4)):
        x = torch.zeros(2 * block, dtype=dtype)
        with lab.record() as launches:
            _copy[(2,)](x, torch.empty_like(x), 2 * block, BLOCK=block, num_warps=warps)
        (size,) = re.findall(r"sizePerThread = \[(\d+)\]", launches[0].compile("sm_90").stages["ttgir"])
        found.append(int(size))
    assert exercise("neighbours_of_thread").judge(tuple(found)) is None
    assert all(exercise("neighbours_of_thread").judge(wrong) is not None for wrong in ((8, 16, 16), (4, 8, 32), 4))


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
