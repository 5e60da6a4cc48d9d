"""What programs do and share, against brute force over programs and elements."""

from __future__ import annotations

import numpy as np
import pytest
import torch
import triton
import triton.language as tl
from hypothesis import given, settings
from hypothesis import strategies as st

import triton_lab as lab
from tests.launch.fakes import FakeAccess, FakeArgument, tile
from triton_lab.launch.maps.program_work import inputs, shared, waves, work

A = FakeArgument("a", (6, 8), (8, 1))
B = FakeArgument("b", (8, 6), (1, 10), storage_address=0x90000)
C = FakeArgument("c", (6, 6), (6, 1), storage_address=0xA0000)


def product(grouped: bool) -> list[FakeAccess]:
    """3x3 programs of a matrix product in tiles of 2, in row or in column order of C."""
    grid = (9, 1, 1)
    at = (lambda p: (p % 3, p // 3)) if grouped else (lambda p: (p // 3, p % 3))
    return [
        tile(A, "load", 1, grid, (2, 4), lambda p, y, z, i: (2 * at(p)[0], 4 * i), iterations=2),
        tile(B, "load", 2, grid, (4, 2), lambda p, y, z, i: (4 * i, 2 * at(p)[1]), iterations=2),
        tile(C, "store", 3, grid, (2, 2), lambda p, y, z, i: (2 * at(p)[0], 2 * at(p)[1])),
    ]


def test_work_adds_up() -> None:
    done = work(product(False), 9)
    assert done.lanes.tolist() == [2 * 8 + 2 * 8 + 4] * 9
    assert done.loaded.tolist() == [4 * 32] * 9 and done.stored.tolist() == [16] * 9
    assert done.iterations.tolist() == [2] * 9 and not done.masked.any()


def test_masked_lanes_and_programs_that_stop_early() -> None:
    offsets = np.array([[0, 1], [4, 5]])
    mask = np.array([[True, False], [True, True]])
    access = FakeAccess(A, "load", 2, [(offsets, mask)] * 2, ran=[np.array([True, True]), np.array([True, False])])
    done = work([access], 2)
    assert done.lanes.tolist() == [2, 2] and done.masked.tolist() == [2, 0]
    assert done.iterations.tolist() == [2, 1]


@settings(deadline=None, max_examples=40)
@given(st.data())
def test_sharing_and_waves_agree_with_brute_force(data: st.DataObject) -> None:
    programs, sms = data.draw(st.integers(1, 5)), data.draw(st.integers(1, 4))
    lanes = [data.draw(st.lists(st.integers(0, 9), min_size=programs * 3, max_size=programs * 3)) for _ in range(2)]
    x = FakeArgument("x", (10,), (3,))
    access = FakeAccess(
        x, "load", 1, [(3 * np.array(one).reshape(programs, 3), np.ones((programs, 3), dtype=bool)) for one in lanes]
    )
    sets = [{one[3 * p + k] for one in lanes for k in range(3)} for p in range(programs)]
    found = inputs([x], [access], programs)
    for p in range(programs):
        assert shared(found, p, programs).tolist() == [4 * len(sets[p] & other) for other in sets]
    for number, wave in enumerate(waves(found, programs, sms)):
        mine = sets[number * sms : (number + 1) * sms]
        assert (wave.first, wave.last) == (number * sms, number * sms + len(mine) - 1)
        assert wave.loaded == 4 * sum(map(len, mine)) and wave.distinct == 4 * len(set().union(*mine))


def test_square_groups_of_programs_load_fewer_different_bytes_than_rows() -> None:
    by_rows = waves(inputs([A, B, C], product(False), 9), 9, 3)
    assert [wave.distinct for wave in by_rows] == [4 * (16 + 48)] * 3
    assert [wave.loaded for wave in by_rows] == [4 * 3 * 32] * 3


@triton.jit
def between(x, low, high, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(x + i, i, mask=(i >= low) & (i < high))


@pytest.mark.parametrize("ends", [(0, 12), (3, 12), (0, 7), (2, 3), (5, 11), (8, 5)])
def test_lanes_between_two_bounds_are_counted(ends: tuple[int, int]) -> None:
    low, high = ends
    with lab.target("cpu"), lab.record() as launches:
        between[(3,)](torch.zeros(12, dtype=torch.int32), low, high, B=4)
    wanted = [sum(low <= i < high for i in range(first, first + 4)) for first in (0, 4, 8)]
    done = work(launches[0].accesses, 3)
    assert done.lanes.tolist() == wanted and done.masked.tolist() == [4 - each for each in wanted]


def test_no_programs() -> None:
    assert waves([], 0, 4) == [] and work([], 0).lanes.tolist() == []
