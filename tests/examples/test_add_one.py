"""Add one through strides: views share memory with what they were cut from, copies do not."""

from __future__ import annotations

import pytest
import torch

from triton_lab.examples.add_one import add_one


def counting(rows: int, columns: int) -> torch.Tensor:
    return torch.arange(rows * columns, dtype=torch.float32).reshape(rows, columns)


def test_split_views_change_the_original() -> None:
    original = counting(4, 6)
    left, right = torch.split(original, [2, 4], dim=1)
    assert left.stride() == right.stride() == (6, 1)
    assert right.data_ptr() - left.data_ptr() == 8
    add_one(left)
    assert torch.equal(original, counting(4, 6) + torch.tensor([1, 1, 0, 0, 0, 0]))
    add_one(right)
    assert torch.equal(original, counting(4, 6) + 1)


def test_contiguous_copies_leave_the_original() -> None:
    original = counting(4, 6) + 1
    left, right = (view.contiguous() for view in torch.split(original, [2, 4], dim=1))
    assert left.stride() == (2, 1) and right.stride() == (4, 1)
    add_one(left)
    add_one(right)
    assert torch.equal(original, counting(4, 6) + 1)
    assert torch.equal(torch.cat([left, right], dim=1), counting(4, 6) + 2)


@pytest.mark.parametrize("shape", [(1, 1), (3, 5), (9, 33)])
def test_shapes_that_no_block_divides(shape: tuple[int, int]) -> None:
    assert torch.equal(add_one(counting(*shape)), counting(*shape) + 1)


def test_transposed_view() -> None:
    original = counting(5, 3)
    add_one(original.T)
    assert torch.equal(original, counting(5, 3) + 1)


def test_strided_view_leaves_the_gaps() -> None:
    original = torch.zeros(7, 9)
    add_one(original[1::2, ::3])
    expected = torch.zeros(7, 9)
    expected[1::2, ::3] = 1
    assert torch.equal(original, expected)


def test_expanded_row_is_one_row_in_storage() -> None:
    """Stride 0: every logical row is the same memory, and all rows of the one block load before any stores."""
    row = counting(1, 4)
    add_one(row.expand(3, 4), block_rows=4)
    assert torch.equal(row, counting(1, 4) + 1)


def test_empty() -> None:
    assert add_one(torch.empty(0, 4)).shape == (0, 4)
