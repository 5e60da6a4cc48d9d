"""Lanes of one program at one element: the model's verdict against the addresses that were recorded."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
import triton
import triton.language as tl
from hypothesis import given, settings
from hypothesis import strategies as st

import triton_lab as lab
from tests.polyhedral.recorded import scop
from triton_lab.examples import all_examples, example


def collide(launch: Any) -> bool:
    """Whether any program has two active lanes of one store at one address."""
    for access in launch.accesses:
        for number in range(access.iterations if access.kind == "store" else 0):
            for address, mask in zip(access.address(number), access.mask(number), strict=True):
                there = address[mask]
                if len(np.unique(there)) < len(there):
                    return True
    return False


@triton.jit
def tile_kernel(
    out_ptr,
    row_stride,
    column_stride,
    n,
    least,
    ROWS: tl.constexpr,
    COLUMNS: tl.constexpr,
    HALF: tl.constexpr,
    RING: tl.constexpr,
):
    row, column = tl.arange(0, ROWS)[:, None], tl.arange(0, COLUMNS)[None, :]
    place = column // HALF % RING * column_stride
    tl.store(out_ptr + tl.program_id(0) * 400 + row * row_stride + place, 1.0, mask=(column < n) & (row >= least))


@settings(max_examples=25, deadline=None)
@given(
    row_stride=st.integers(0, 12),
    column_stride=st.integers(0, 5),
    n=st.integers(0, 9),
    least=st.integers(0, 3),
    half=st.sampled_from([1, 2]),
    ring=st.sampled_from([3, 8]),
)
def test_collisions_are_those_of_the_record(
    row_stride: int, column_stride: int, n: int, least: int, half: int, ring: int
) -> None:
    sizes = {"ROWS": 4, "COLUMNS": 8, "HALF": half, "RING": ring}
    with lab.target("cpu"), lab.record() as launches:
        tile_kernel[(2,)](torch.zeros(800), row_stride, column_stride, n, least, **sizes)
    verdict = scop(launches[0]).collisions
    assert not verdict.open and verdict.sure
    assert verdict.free == (not collide(launches[0]))


@pytest.mark.parametrize(("row_stride", "half", "least"), [(9, 2, 3), (0, 1, 2), (9, 2, 0)])
def test_two_neighbours_in_one_row_or_column_are_found(row_stride: int, half: int, least: int) -> None:
    """No more than two lanes meet anywhere: along a row in one of the last, along a column in the last two."""
    with lab.target("cpu"), lab.record() as launches:
        tile_kernel[(1,)](torch.zeros(40), row_stride, 1, 8, least, ROWS=4, COLUMNS=8, HALF=half, RING=8)
    verdict = scop(launches[0]).collisions
    assert not verdict.free and collide(launches[0]) and [each.kind for each in verdict.stores] == ["store"]


@pytest.mark.parametrize("name", ["vector_add", "softmax", "dropout"])
def test_examples_keep_their_lanes_apart_whatever_their_sizes(name: str) -> None:
    assert name in {each.name for each in all_examples()}
    found = example(name)
    with lab.target("cpu"), lab.record() as launches:
        found.run(**found.inputs("small", 0, "cpu"))
    assert scop(launches[0]).collisions.free


def test_what_comes_from_memory_is_left_open() -> None:
    with lab.target("cpu"), lab.record() as launches:
        scatter_kernel[(1,)](torch.arange(8, dtype=torch.int32), torch.zeros(8), BLOCK=8)
    verdict = scop(launches[0]).collisions
    assert not verdict.free and not verdict.stores and "not affine" in verdict.open[0]


@triton.jit
def rounds_kernel(out_ptr, n, BLOCK: tl.constexpr):
    for start in range(0, n, BLOCK):
        tl.store(out_ptr + start * 0 + tl.arange(0, BLOCK), start)


def test_rounds_of_a_loop_are_not_lanes() -> None:
    """Each round stores over the one before; within a round the lanes are apart, for any number of rounds."""
    with lab.target("cpu"), lab.record() as launches:
        rounds_kernel[(2,)](torch.zeros(8, dtype=torch.int32), 24, BLOCK=8)
    model = scop(launches[0])
    assert model.collisions.free and model.general.collisions.free


@triton.jit
def scatter_kernel(index_ptr, out_ptr, BLOCK: tl.constexpr):
    tl.store(out_ptr + tl.load(index_ptr + tl.arange(0, BLOCK)), 1.0)


@triton.jit
def folded_kernel(out_ptr, half, back, BLOCK: tl.constexpr):
    lane = tl.arange(0, BLOCK)
    tl.store(out_ptr + 8 + tl.where(lane < half, lane, lane - back), lane)


@pytest.mark.parametrize("half", [3, 4])
@pytest.mark.parametrize("back", [0, 1, 3, 4])
def test_lanes_meet_also_where_a_condition_chooses_their_addresses(half: int, back: int) -> None:
    with lab.target("cpu"), lab.record() as launches:
        folded_kernel[(1,)](torch.zeros(16, dtype=torch.int32), half, back, BLOCK=8)
    verdict = scop(launches[0]).collisions
    assert verdict.sure and not verdict.open
    assert verdict.free == (not collide(launches[0])) == (back == 0)
