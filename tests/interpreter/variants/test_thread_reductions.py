"""Sums as threads of a GPU make them, held to what an H100 made of rows and blocks with Triton 3.6 (``h100.npz``)."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import triton
import triton.language as tl

from tests.launch.comparison.kernels import recorded
from triton_lab.backend.targets.sm90_layouts import reduced_of
from triton_lab.interpreter.variants.thread_reductions import Shares, reduced

H100 = np.load(Path(__file__).parents[1] / "h100.npz")

# By the name of the data: shape, axis, and the bases of registers, lanes and warps that the H100's kernel had.
LAYOUTS: dict[str, tuple[tuple[int, ...], int, Any, Any, Any]] = {
    "row_32_8": ((32,), 0, [], [[1], [2], [4], [8], [16]], [[0], [0], [0]]),
    "row_64_1": ((64,), 0, [[1]], [[2], [4], [8], [16], [32]], []),
    "row_256_4": ((256,), 0, [[1]], [[2], [4], [8], [16], [32]], [[64], [128]]),
    "row_512_8": ((512,), 0, [[1]], [[2], [4], [8], [16], [32]], [[64], [128], [256]]),
    "row_1024_4": ((1024,), 0, [[1], [2], [512]], [[4], [8], [16], [32], [64]], [[128], [256]]),
    "two_16_16_0_4": (
        (16, 16), 0, [[0, 1]], [[0, 2], [0, 4], [0, 8], [1, 0], [2, 0]], [[4, 0], [8, 0]],
    ),
    "two_16_16_1_1": (
        (16, 16), 1, [[0, 1], [0, 2], [8, 0]], [[0, 4], [0, 8], [1, 0], [2, 0], [4, 0]], [],
    ),
    "two_32_64_1_4": (
        (32, 64), 1, [[0, 1], [0, 2], [8, 0], [16, 0]], [[0, 4], [0, 8], [0, 16], [0, 32], [1, 0]], [[2, 0], [4, 0]],
    ),
    "two_64_32_0_4": (
        (64, 32), 0, [[0, 1], [0, 2], [16, 0], [32, 0]], [[0, 4], [0, 8], [0, 16], [1, 0], [2, 0]], [[4, 0], [8, 0]],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", LAYOUTS)
def test_sums_are_those_of_a_gpu_to_the_bit(name: str) -> None:
    shape, axis, *bases = LAYOUTS[name]
    shares = Shares.along(axis, shape, *bases)
    assert shares is not None
    x, made = H100[f"{name}_x"], H100[f"{name}_o"]
    assert np.array_equal(reduced(np.add, x, 1 if name.startswith("row") else axis, shares, False), made)


@triton.jit
def all_of_a_row(x, out, N: tl.constexpr):
    row = tl.program_id(0)
    tl.store(out + row, tl.sum(tl.load(x + row * N + tl.arange(0, N))))


@triton.jit
def along_an_axis(x, out, M: tl.constexpr, N: tl.constexpr, AXIS: tl.constexpr):
    block = tl.load(x + tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :])
    total = tl.sum(block, AXIS)
    tl.store(out + tl.arange(0, total.shape[0]), total)


@pytest.mark.parametrize("name", ["row_1024_4", "two_32_64_1_4"])
def test_layouts_are_those_of_the_compiler_for_the_gpu(name: str) -> None:
    shape, axis, *bases = LAYOUTS[name]
    warps = int(name.rsplit("_", 1)[1])
    x = torch.zeros(shape)
    if len(shape) == 1:
        launch = recorded(lambda: all_of_a_row[(1,)](x, torch.zeros(1), *shape, num_warps=warps))
    else:
        launch = recorded(lambda: along_an_axis[(1,)](x, torch.zeros(shape[1 - axis]), *shape, axis, num_warps=warps))
    (layout,) = reduced_of(*launch.compiled)
    assert layout is not None and layout.shape == shape
    found = [layout.bases(part) for part in ("register", "lane", "warp")]
    assert [[list(basis) for basis in one] for one in found] == bases


def test_a_layout_that_does_not_hold_each_element_once_is_not_known() -> None:
    assert Shares.along(0, (4,), [[1]], [[1]], []) is None
    assert Shares.along(0, (4, 2), [[1, 1]], [[2, 0]], []) is None
    assert Shares.along(0, (4,), [[1]], [[0], [2]], []) == Shares(4, (1,), (2,), ())


def test_a_thread_sums_in_order_or_in_pairs_of_neighbours() -> None:
    shares = Shares(4, (1, 2), (), ())
    x = np.float32([[1, 2**24, -(2**24), 1]])
    assert reduced(np.add, x, 1, shares, pairs=False).tolist() == [1.0]
    assert reduced(np.add, x, 1, shares, pairs=True).tolist() == [1.0 + 2**24 - 1 - 2**24 + 1]
