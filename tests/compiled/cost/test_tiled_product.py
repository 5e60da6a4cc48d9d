"""What the formula says that tiles move is what recorded launches load and store, over every edge."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch
import triton
import triton.language as tl

import triton_lab as lab
from tests.wordings import Wording
from triton_lab.compiled.cost import gpu
from triton_lab.compiled.cost.tiled_product import LARGEST_TILE, MOST, ProductBytes, TiledProduct, sides
from triton_lab.examples.matmul import matmul
from triton_lab.launch.launch import Launch

# No size, one, and all sizes are multiples of the tiles' sides; a tile larger than C; one column.
SIZES = [(70, 90, 50), (64, 96, 32), (64, 33, 40), (5, 7, 3), (16, 1, 16), (1, 1, 1)]
TILES = [(16, 16), (16, 64), (64, 32), (128, 16)]


@triton.jit
def one_by_one(a_ptr, b_ptr, c_ptr, N, K, BLOCK: tl.constexpr):
    i, j = tl.program_id(0), tl.program_id(1)
    k = tl.arange(0, BLOCK)
    row = tl.load(a_ptr + i * K + k, mask=k < K, other=0.0)
    column = tl.load(b_ptr + k * N + j, mask=k < K, other=0.0)
    tl.store(c_ptr + i * N + j, tl.sum(row * column, axis=0))


def product_of(a: torch.Tensor, b: torch.Tensor, tile: tuple[int, int]) -> TiledProduct:
    return TiledProduct(a.shape[0], b.shape[1], a.shape[1], a.element_size(), "float32", tile)


def moved_in(launch: Launch) -> ProductBytes:
    """The bytes that the launch's lanes load and store, each time that they do."""
    found = dict.fromkeys(("a_ptr", "b_ptr", "c_ptr"), 0)
    for access in launch.accesses:
        assert access.argument is not None and (access.kind == "store") == (access.argument == "c_ptr")
        found[access.argument] += access.asked
    return ProductBytes(*found.values())


def recorded(m: int, n: int, k: int, tile: tuple[int, int], dtype: torch.dtype = torch.float32, **more: int) -> Launch:
    with lab.target("cpu"), lab.record() as launches:
        matmul(torch.ones(m, k, dtype=dtype), torch.ones(k, n, dtype=dtype), tile[0], tile[1], **more)
    return launches[0]


@pytest.mark.parametrize("tile", TILES)
@pytest.mark.parametrize("sizes", SIZES)
def test_the_bytes_are_those_of_a_recorded_launch(sizes: tuple[int, int, int], tile: tuple[int, int]) -> None:
    launch = recorded(*sizes, tile, block_k=16)
    product = TiledProduct(*sizes, 4, "float32", tile)
    assert launch.programs == product.tiles[0] * product.tiles[1]
    assert moved_in(launch) == product.moved


@pytest.mark.parametrize("more", [{"block_k": 16}, {"block_k": 64}, {"group_m": 1}, {"group_m": 3}])
def test_neither_steps_nor_the_order_of_programs_change_the_bytes(more: dict[str, int]) -> None:
    launch = recorded(70, 90, 50, (32, 16), torch.float16, **more)
    assert moved_in(launch) == TiledProduct(70, 90, 50, 2, "float16", (32, 16)).moved


def test_tiles_of_one_element_are_a_program_for_each() -> None:
    a, b, c = torch.ones(9, 13), torch.ones(13, 5), torch.zeros(9, 5)
    with lab.target("cpu"), lab.record() as launches:
        one_by_one[(9, 5)](a, b, c, 5, 13, BLOCK=16)
    assert moved_in(launches[0]) == product_of(a, b, (1, 1)).moved


@pytest.mark.parametrize("tile", [(16, 16), (32, 16), (16, 64)])
def test_each_byte_once_is_what_the_launch_must_move(tile: tuple[int, int]) -> None:
    launch = recorded(70, 90, 50, tile)
    product = TiledProduct(70, 90, 50, 4, "float32", tile)
    assert launch.compile("sm_90").cost.bytes.ideal == product.once.total


@pytest.mark.parametrize("tile", [(16, 32), (64, 16)])
def test_a_program_loads_the_rows_and_columns_of_its_tile(tile: tuple[int, int]) -> None:
    m, n, k = 70, 90, 50
    launch = recorded(m, n, k, tile, group_m=1)  # programs in reading order
    product = TiledProduct(m, n, k, 4, "float32", tile)
    down, across = product.tiles
    for number, (row, column) in enumerate(itertools.product(range(down), range(across))):
        rows, columns = product.inside(row, column)
        want = {"a_ptr": np.zeros((m, k), bool), "b_ptr": np.zeros((k, n), bool), "c_ptr": np.zeros((m, n), bool)}
        want["a_ptr"][rows.start : rows.stop] = True
        want["b_ptr"][:, columns.start : columns.stop] = True
        want["c_ptr"][rows.start : rows.stop, columns.start : columns.stop] = True
        found = {name: np.zeros_like(of) for name, of in want.items()}
        for access in launch.accesses:
            for step in range(access.iterations):
                lanes = access.mask(step)[number]
                places = (access.byte_offset(step)[number] // access.itemsize)[lanes]
                found[str(access.argument)].reshape(-1)[places] = True
        for name in want:
            assert np.array_equal(found[name], want[name]), (name, row, column)


def test_operations_and_roof() -> None:
    product = TiledProduct(512, 512, 512, 2, "float16", (64, 64))
    h100 = gpu("H100")
    assert product.operations == 2 * 512**3
    assert product.intensity(product.moved) == product.operations / ((8 + 8 + 1) * 512 * 512 * 2)
    assert product.rate(product.moved, h100) == product.intensity(product.moved) * 3350e9
    assert TiledProduct(4096, 4096, 4096, 2, "float16", (64, 64)).rate(ProductBytes(1, 1, 1), h100) == 989.4e12
    assert product.accumulator == 64 * 64 * 4
    assert TiledProduct(8, 8, 8, 8, "float64", (4, 2)).accumulator == 64


def test_sides_are_powers_of_two_until_one_covers_the_axis() -> None:
    assert sides(1) == [1] and sides(5) == [1, 2, 4, 8] and sides(64)[-1] == 64
    assert sides(MOST)[-1] == LARGEST_TILE


def test_what_is_no_product_is_refused(wording: Wording) -> None:
    with wording.raises(ValueError, m=0, n=4, k=6):
        TiledProduct(0, 4, 6, 4, "float32", (1, 1))
    with wording.raises(ValueError, tile="(48, 16)"):
        TiledProduct(64, 64, 64, 4, "float32", (48, 16))
    with wording.raises(ValueError, down=2, across=4, tile="(2, 0)"):
        TiledProduct(64, 64, 64, 4, "float32", (32, 16)).inside(2, 0)
