"""The grid picture: colours against the model, words, forms, bad requests."""

from __future__ import annotations

import re

import numpy as np
import pytest
import torch
import triton
import triton.language as tl

import triton_lab as lab
from tests.launch.fakes import FakeAccess, FakeArgument, FakeLaunch, tile
from triton_lab.views.drawing import style
from triton_lab.views.drawing.raster import CHOSEN, DIMMED, NORMAL
from triton_lab.views.launch.tiling.grid_view import LAYERS, GridView

A = FakeArgument("a", (6, 8), (8, 1))
C = FakeArgument("c", (6, 6), (1, 6), storage_address=0xA0000)


def launch() -> FakeLaunch:
    """3x2 programs: a program loads two whole rows of A by its x, twice as often for y = 1, and stores a tile of C."""
    load = tile(A, "load", 1, (3, 2, 1), (2, 8), lambda x, y, z, i: (2 * x, 0), iterations=2)
    second = np.array([False] * 3 + [True] * 3)
    load = FakeAccess(A, "load", 1, load.lanes, ran=[np.ones(6, dtype=bool), second])
    store = tile(C, "store", 3, (3, 2, 1), (2, 3), lambda x, y, z, i: (2 * x, 3 * y))
    return FakeLaunch((3, 2, 1), (A, C), [load, store])


def test_the_grid_stands_in_its_own_shape_and_the_argument_has_its_colours() -> None:
    view = GridView(launch(), sms=2, by="wave")
    grid, argument = view.heatmaps
    assert (grid.layout.rows, grid.layout.columns) == (2, 3)
    colours = grid.styles[grid.cells, 0]
    assert colours.tolist() == [style.SEQUENTIAL + (style.LEVELS - 1) * (p // 2) // 2 for p in range(6)]
    tiles = argument.styles[argument.cells, 0].reshape(6, 6)
    for row in range(6):
        for column in range(6):
            assert tiles[row, column] == colours[row // 2 + 3 * (column // 3)]


def test_imbalance_and_sharing_are_told() -> None:
    text = GridView(launch(), sms=3).text()
    assert "6 programs; 22 to 38 lanes (the maximum is 1.27 times the mean); 1 to 2 iterations" in text
    assert "wave 1: programs (0, 1, 0) to (2, 1, 0), numbers 3 to 5, load 192 bytes" in text
    assert re.search(r"load 192 bytes, 192 bytes .*\(1 time each\)", text)


def test_a_picked_program_and_those_that_share_its_inputs() -> None:
    view = GridView(launch(), program=1, by="shared")
    assert view.numbers("shared").tolist() == [0, 64, 0, 0, 64, 0]
    assert view.emphasis(1).tolist()[1:] == [DIMMED, CHOSEN, DIMMED, DIMMED, NORMAL, DIMMED]


@pytest.mark.parametrize("by", LAYERS)
def test_every_form_of_every_layer(by: str) -> None:
    data, _ = GridView(launch(), by=by, program=2)._repr_mimebundle_()
    assert data["image/png"].startswith(b"\x89PNG") and data["text/plain"].startswith("kernel: ")


@pytest.mark.parametrize("grid", [(0, 1, 1), (1, 1, 1), (7, 1, 1), (2, 3, 4), (70000, 1, 1)])
def test_launches_without_accesses_of_any_grid(grid: tuple[int, int, int]) -> None:
    view = GridView(FakeLaunch(grid, (A,), []))
    assert view._repr_mimebundle_()[0]["image/png"]
    assert grid != (0, 1, 1) or "has no programs" in view.text()


def test_bad_requests_name_what_there_is() -> None:
    with pytest.raises(ValueError, match=r"order, wave, lanes, bytes, iterations, shared, .*'x'"):
        GridView(launch(), by="x")
    with pytest.raises(ValueError, match="sms=0"):
        GridView(launch(), sms=0)
    with pytest.raises(ValueError, match=r"'q'; .*: a, c"):
        GridView(launch(), argument="q")


@triton.jit
def rows_of_eight(out_ptr, n, BLOCK: tl.constexpr):
    x = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + tl.program_id(1) * n + x, 1.0, x < n)


@pytest.mark.parametrize("programs", [40, 240])
def test_all_programs_that_touch_no_memory_are_outlined(programs: int) -> None:
    with lab.record() as launches:
        rows_of_eight[(2, programs)](torch.zeros(programs, 8), 8, BLOCK=8)
    grid, *_ = GridView(launches[0]).heatmaps
    (mark,) = grid.marks
    assert sum(rows * columns for _, _, _, rows, columns in mark.runs) == programs
    assert str(programs) in mark.text and "x = 1" in mark.text
