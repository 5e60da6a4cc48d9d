"""Wrong answers to the chapters about Gluon, as learners misunderstand layouts, waits and phases: each with its reason.

Each is the teacher's answer with one thing changed. What stands beside it must be in the verdict; after ``at:``, a part
of the line that the verdict names.
"""

from __future__ import annotations

from typing import Any

import pytest
from triton.experimental.gluon import language as gl

import triton_lab as lab
from tests.course.chapters import answers, defined
from tests.course.told_fault import told_fault
from triton_lab.course.exercise_registry import exercise


def of_layout(*lists: list[int], shape: tuple[int, int] = (16, 64)) -> Any:
    return lab.layout(gl.BlockedLayout(*lists), shape)


VALUES: dict[str, list[tuple[Any, str]]] = {
    "whole_rows": [
        (of_layout([1, 1], [2, 16], [4, 1], [1, 0]), "neighbours"),  # neighbours of the warp, not of the thread
        (of_layout([1, 4], [4, 8], [4, 1], [1, 0]), "4 rows"),
        (of_layout([4, 1], [2, 16], [4, 1], [1, 0]), "2 times"),  # the axes taken for each other
        (of_layout([1, 4], [2, 16], [1, 4], [1, 0]), "4 times"),  # warps side by side
        (of_layout([1, 4], [2, 16], [8, 1], [1, 0]), "8 of 32"),  # as many warps as the tile has pairs of rows
        (of_layout([1, 4], [2, 16], [4, 1], [1, 0], shape=(64, 16)), "(64, 16)"),
        (gl.BlockedLayout([1, 4], [2, 16], [4, 1], [1, 0]), "lab.layout"),
    ],
    "rows_of_48": [
        ((32, 1), "48 * i"),  # one bank for a column, as with rows of 32
        ((2, 1), "48 * i"),  # the banks and not the threads
        ((16, 16), "32 threads"),  # rows of 64
        ((16, 3), "fewer"),
        (16, "tuple"),
    ],
    "step_seven": [
        ((1, 1), "1, 4 and 7"),  # the phase counted from 1
        ((2, 0), "0, 1, 2, 0, 1"),  # steps counted from 1
        ((1, 2), "0 or 1"),  # the round and not its last bit
        ((0, 1), "0, 1, 2, 0, 1"),
        (1, "tuple"),
    ],
}

IN_TRITON = {
    "@gluon.jit": "@triton.jit",
    "T: gl.constexpr": "T: tl.constexpr",
    "gl.program_id": "tl.program_id",
    "gl.arange(0, T, gl.SliceLayout(1, TILE))": "tl.arange(0, T)",
    "gl.arange(0, T, gl.SliceLayout(0, TILE))": "tl.arange(0, T)",
    "gl.load": "tl.load",
    "gl.store": "tl.store",
}

TASKS: dict[str, list[tuple[dict[str, str], str]]] = {
    "bias_in_gluon": [
        ({"gl.arange(0, T, gl.SliceLayout(1, TILE))": "gl.arange(0, T, gl.SliceLayout(0, TILE))"}, "sliced in axis 1"),
        (
            {"bias_ptr + j, mask=j < columns": "bias_ptr + i, mask=i < columns", "bias[None, :]": "bias[:, None]"},
            "the other axis",
        ),
        ({"bias_ptr + j, mask=j < columns": "bias_ptr + j"}, "lane 1 of program (0, 2, 0)"),
        ({"i[:, None] * stride_0 + j[None, :] * stride_1": "i[:, None] * columns + j[None, :]"}, "strides (203, 1)"),
        (IN_TRITON, "@gluon.jit"),
        ({"gl.program_id(1) * T + ": ""}, "program_id(1) * 32"),
        ({"bias[None, :]": "bias[:, None]"}, "sliced in axis 1"),
    ],
    "turn_in_gluon": [
        ({"max_phase=32": "max_phase=1"}, "takes 1024"),
        ({"max_phase=32": "max_phase=16"}, "takes 64"),
        ({"per_phase=1": "per_phase=2"}, "takes 64"),
        ({"vec=1": "vec=4"}, "takes 128"),
        (
            {
                "gl.SliceLayout(1, DOWN)": "gl.SliceLayout(1, TILE)",
                "gl.SliceLayout(0, DOWN)": "gl.SliceLayout(0, TILE)",
                "tile.load(DOWN)": "tile.load(TILE)",
            },
            "2,048 sectors",
        ),
        ({"tile.load(DOWN)": "tile.load(TILE)"}, "Layout mismatch"),
        ({"j[None, :] * rows + i[:, None]": "i[:, None] * columns + j[None, :]"}, "nested"),
        ({"j[None, :] * rows + i[:, None]": "j[None, :] * columns + i[:, None]"}, "rows instead of columns"),
        ({"tile.load(DOWN), mask=mask": "tile.load(DOWN)"}, "store out of bounds"),
    ],
    "copy_ahead": [
        ({"        async_copy.wait_group(1)\n": ""}, "at:load(LINE)"),
        ({"wait_group(1)": "wait_group(0)"}, "can run; there must be 1"),
        ({"wait_group(1)": "wait_group(2)"}, "at:load(LINE)"),
        ({"        async_copy.commit_group()\n        async": "        async"}, "at:load(LINE)"),
        ({"ring.index((k + 1) % 2)": "ring.index(k % 2)"}, "at:ring.index(k % 2), x_ptr"),
        ({", mask=after < n": ""}, "load out of bounds"),
        ({"load(LINE), mask=i < n": "load(LINE)"}, "store out of bounds"),
        ({"[(4,)]": "[(triton.cdiv(x.numel(), 128),)]"}, "32 programs"),
        ({"gl.num_programs(0) * BLOCK": "BLOCK"}, "both store"),
        ({"2 * ring.index(k % 2).load(LINE)": "2 * gl.load(x_ptr + i, mask=i < n)"}, "4,096 bytes of x"),
    ],
    "tile_by_tma": [
        ({"    mbarrier.expect(bar, x_desc.block_type.nbytes)\n": ""}, "0 of 1 arrivals"),
        ({"x_desc.block_type.nbytes)": "32 * 32)"}, "3,072 more bytes"),
        ({"x_desc.block_type.nbytes)": "2 * x_desc.block_type.nbytes)"}, "4,096 expected bytes"),
        ({"mbarrier.wait(bar, 0)": "mbarrier.wait(bar, 1)"}, "at:tile.load"),
        ({"    mbarrier.wait(bar, 0)\n": ""}, "at:tile.load"),
        ({"    fence_async_shared()\n": ""}, "no fence follows"),
        ({"    tma.store_wait(0)\n": ""}, "the kernel ends"),
        ({"count=1": "count=2"}, "1 of 2 arrivals"),
        ({"    mbarrier.init(bar, count=1)\n": ""}, "not an initialised barrier"),
        ({"program_id(0) * 32": "program_id(0)", "program_id(1) * 32": "program_id(1)"}, "[33, 0]"),
        (
            {"[gl.program_id(0) * 32, gl.program_id(1) * 32]": "[gl.program_id(1) * 32, gl.program_id(0) * 32]"},
            "axes of the program ids",
        ),
    ],
    "ring_of_three": [
        ({"k // 3 & 1": "0"}, "at:.load(TILE)"),
        ({"k // 3 & 1": "k & 1"}, "at:.load(TILE)"),
        ({"k // 3 & 1": "k % 3"}, "at:.load(TILE)"),
        ({"k // 3 & 1": "k // 3 & 1 ^ 1"}, "at:.load(TILE)"),
        ({"        fence_async_shared()\n": ""}, "no fence follows"),
        ({"        tma.store_wait(0)  # the last tile has left `result`\n": ""}, "at:result.store"),
        ({"ahead = k + 2": "ahead = k + 1", "static_range(2)": "static_range(1)"}, "can run; there must be 2"),
        ({"free = ahead % 3": "free = k % 3"}, "more arrivals"),
        ({"gl.cdiv(columns, 32)": "columns // 32"}, "[0, 64]"),
        (
            {"        mbarrier.init(bars.index(k), count=1)\n": "        mbarrier.init(bars.index(0), count=1)\n"},
            "already initialised",
        ),
        ({"[row, ahead * 32]": "[row, ahead]"}, "[0, 64]"),
    ],
}


def verdict(name: str, answer: Any) -> str:
    return str(exercise(name).judge(answer) or "right")


@pytest.mark.parametrize(
    ("name", "answer", "reason"), [(name, *one) for name, found in VALUES.items() for one in found]
)
def test_a_wrong_value_is_rejected_with_its_reason(name: str, answer: Any, reason: str) -> None:
    assert reason in verdict(name, answer)


@pytest.mark.parametrize(
    ("name", "edits", "reason"),
    [(name, *one) for name, found in TASKS.items() for one in found],
    ids=[f"{name}-{number}" for name, found in TASKS.items() for number in range(len(found))],
)
def test_a_wrong_kernel_is_rejected_with_its_reason(name: str, edits: dict[str, str], reason: str) -> None:
    text = answers()[name]
    for old, new in edits.items():
        assert old in text
        text = text.replace(old, new)
    if reason.startswith("at:"):
        (number,) = [k for k, line in enumerate(text.split("\n"), start=1) if reason[3:] in line]
        reason = f"line {number}"
    assert reason in str(told_fault(name, defined(text, name), lambda fault: reason in str(fault)))
