"""Loads of whole rows are innocent at once; the lanes of all others are examined."""

from __future__ import annotations

import pytest
import torch
import triton
import triton.language as tl

import triton_lab
from triton_lab.launch.checks.rules import wrong_stride


@triton.jit
def rows_kernel(x_ptr, out_ptr, first, stride, n, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    column = tl.arange(0, BLOCK)
    at = first + row[:, None] * stride + column[None, :]
    x = tl.load(x_ptr + at, mask=column[None, :] < n, other=0.0)
    tl.store(out_ptr + row, tl.sum(x, 1))


@pytest.mark.parametrize(
    ("rows", "columns", "block", "n", "stride", "first", "shown"),
    [
        (8, 16, 16, 16, 16, 0, False),
        (8, 16, 16, 16, 8, 0, True),  # the rows are as far apart as the tensor has rows
        (8, 16, 16, 16, 8, 8, False),  # the last row is none of them
        (8, 12, 16, 12, 12, 0, False),
        (8, 12, 16, 12, 8, 0, True),
        (8, 16, 16, 15, 16, 0, False),
        (16, 8, 8, 8, 8, 0, False),
        (8, 16, 16, 16, 0, 0, False),
        (8, 16, 16, 16, 0, 16, False),
        (8, 16, 8, 8, 16, 0, False),
    ],
)
def test_whole_rows(
    rows: int,
    columns: int,
    block: int,
    n: int,
    stride: int,
    first: int,
    shown: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    x, out = torch.rand(rows, columns), torch.zeros(rows)
    asked: list[bool] = []

    def found() -> list[str]:
        with triton_lab.record() as launches:
            rows_kernel[(rows // 4,)](x, out, first, stride, n, ROWS=4, BLOCK=block)
        return [str(one) for one in launches[0].findings if one.kind == "wrong-stride"]

    quick = found()
    monkeypatch.setattr(wrong_stride, "_loads_rows", lambda event, argument: bool(asked.append(True)))
    assert found() == quick and asked
    assert bool(quick) == shown
