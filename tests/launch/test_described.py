"""What is recorded of accesses through descriptors: a block of addresses for each program, as NumPy works them out."""

from __future__ import annotations

import numpy as np
import pytest
import torch
import triton
import triton.language as tl

import triton_lab


@triton.jit
def tile_kernel(x_ptr, out_ptr, stride, OWN: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    program = tl.program_id(0)
    # Where the stride is each program's own, the block has no one affine form.
    x = tl.make_tensor_descriptor(x_ptr, [6, 5], [stride + 8 * program if OWN else stride, 1], [BM, BN])
    block = x.load([program, 1])
    tl.store(out_ptr + program * BM + tl.arange(0, BM), tl.sum(block, 1))
    x.store([program, 1], block)


@pytest.mark.parametrize("own", [False, True])
@pytest.mark.parametrize("block", [(4, 8), (2, 16), (1, 8)])
def test_a_tile_is_recorded_element_by_element(block: tuple[int, int], own: bool) -> None:
    x = torch.arange(512.0)
    with triton_lab.record() as launches:
        tile_kernel[(3,)](x, torch.zeros(3 * block[0]), 8, OWN=own, BM=block[0], BN=block[1])
    program, row, column = np.ogrid[:3, : block[0], : block[1]]
    expected = (program + row) * (8 + 8 * program * own) + column + 1
    inside = (program + row < 6) & (column + 1 < 5)
    found = [access for access in launches[0].accesses if access.argument == "x_ptr"]
    assert [access.kind for access in found] == ["load", "store"]
    for access in found:
        assert access.block == block
        assert np.array_equal((access.address(0) - x.data_ptr()) // 4, np.broadcast_to(expected, (3, *block)))
        assert np.array_equal(access.mask(0), np.broadcast_to(inside, (3, *block)))


@triton.jit
def rows_kernel(x_ptr, index_ptr, HEIGHT: tl.constexpr, WIDTH: tl.constexpr):
    rows = tl.load(index_ptr + tl.program_id(0) * HEIGHT + tl.arange(0, HEIGHT))
    x = tl.make_tensor_descriptor(x_ptr, [20, 16], [16, 1], [1, WIDTH])
    x.scatter(x.gather(rows, 4), rows, 4)


@pytest.mark.parametrize(("height", "width"), [(8, 8), (8, 16), (16, 8)])
def test_rows_are_recorded_one_by_one(height: int, width: int) -> None:
    x = torch.zeros(20, 16)
    index = torch.from_numpy(np.random.default_rng(0).permutation(40)[: 2 * height].astype(np.int32) % 24)
    with triton_lab.record() as launches:
        rows_kernel[(2,)](x, index, HEIGHT=height, WIDTH=width)
    rows, columns = index.numpy().reshape(2, height, 1).astype(np.int64), np.arange(4, 4 + width)
    found = [access for access in launches[0].accesses if access.argument == "x_ptr"]
    assert [access.kind for access in found] == ["load", "store"]
    for access in found:
        assert access.block == (height, width)
        assert np.array_equal((access.address(0) - x.data_ptr()) // 4, rows * 16 + columns)
        assert np.array_equal(access.mask(0), (rows < 20) & (columns < 16))
