"""Where lanes stand that stopped a launch, against brute force by lane."""

from __future__ import annotations

import contextlib
import itertools

import numpy as np
import pytest
import torch
import triton
import triton.language as tl
from hypothesis import given, settings
from hypothesis import strategies as st

import triton_lab as lab
from triton_lab.interpreter.kernel_errors import KernelError
from triton_lab.launch.launch import Launch
from triton_lab.launch.maps.index_margins import continued
from triton_lab.launch.maps.tiling import TilingAccesses, touches


@given(st.data())
@settings(max_examples=150, deadline=None)
def test_offsets_past_either_end_are_found_again(data: st.DataObject) -> None:
    """An element of what is continued lies at the offset that its indices and the strides make."""
    shape = tuple(data.draw(st.lists(st.integers(1, 5), min_size=1, max_size=3)))
    gaps = data.draw(st.lists(st.integers(1, 3), min_size=len(shape), max_size=len(shape)))
    order = data.draw(st.permutations(range(len(shape))))
    strides, step = [0] * len(shape), 1
    for axis in order:
        strides[axis] = step * gaps[axis]
        step = strides[axis] * shape[axis]
    astray = np.array(data.draw(st.lists(st.integers(-200, 200), min_size=1, max_size=8)))
    found = continued(shape, tuple(strides), astray)
    assert found is not None
    places = {
        sum(i * s for i, s in zip(index, strides, strict=True)): index
        for index in itertools.product(
            *(
                range(-found.before, size + found.after) if axis == found.dimension else range(size)
                for axis, size in enumerate(shape)
            )
        )
    }
    asked = np.arange(-250, 250)
    elements = found.element(asked)
    for offset, element in zip(asked.tolist(), elements.tolist(), strict=True):
        if element < 0:
            assert offset not in places
            continue
        index = list(np.unravel_index(element, found.shape))
        index[found.dimension] -= found.before
        assert sum(int(i) * s for i, s in zip(index, strides, strict=True)) == offset


def test_a_huge_stray_costs_a_bounded_picture() -> None:
    found = continued((100,), (1,), np.array([1 << 40, -(1 << 40)]))
    assert found is not None and (found.before, found.after) == (64, 64)
    assert continued((), (), np.array([5])) is None and continued((4,), (0,), np.array([5])) is None


@triton.jit
def line_kernel(x_ptr, shift, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK) + shift
    tl.store(x_ptr + offsets, 1.0)


@triton.jit
def tile_kernel(x_ptr, stride, B: tl.constexpr):
    row = tl.program_id(0) * B + tl.arange(0, B)
    column = tl.program_id(1) * B + tl.arange(0, B)
    tl.store(x_ptr + row[:, None] * stride + column[None, :], 1.0)


def failed(run: object) -> Launch:
    with lab.record() as launches, contextlib.suppress(KernelError):
        run()  # type: ignore[operator]
    assert launches[0].stopped is not None
    return launches[0]


def found_in(launch: Launch) -> tuple[TilingAccesses, dict[tuple[int, ...], set[int]], set[tuple[int, ...]]]:
    """What is drawn of x, the programs at each index there, and the indices where the launch was stopped."""
    found = touches(launch.argument("x_ptr"), launch.accesses, launch.programs)
    programs, strays = {}, set()
    assert found.strays is not None
    for position, number in enumerate(found.classes.tolist()):
        index = tuple(int(i) - o for i, o in zip(np.unravel_index(position, found.drawn), found.origin, strict=True))
        programs[index] = set(found.active().members(number).tolist())
        if found.strays[position]:
            strays.add(index)
    return found, programs, strays


@pytest.mark.parametrize(("n", "grid", "shift"), [(100, 4, 0), (100, 4, -5), (100, 2, 60), (64, 6, 0), (64, 4, -128)])
def test_lanes_past_the_ends_of_a_line_stand_where_they_reach(n: int, grid: int, shift: int) -> None:
    launch = failed(lambda: line_kernel[(grid,)](torch.zeros(n), shift, BLOCK=32))
    found, programs, strays = found_in(launch)
    wanted = {(lane + shift,): lane // 32 for lane in range(32 * grid)}
    for index, program in wanted.items():
        if index in programs:
            assert programs[index] == {program}
        else:
            assert not 0 <= index[0] < n
    outside = {index for index in wanted if not 0 <= index[0] < n}
    assert strays == outside & programs.keys() and strays
    assert found.active_elsewhere == len(outside - strays)
    assert {index for index, who in programs.items() if who} == wanted.keys() & programs.keys()


@pytest.mark.parametrize(("rows", "columns"), [(10, 13), (8, 13), (10, 8)])
def test_a_tile_over_the_edge_of_a_matrix_keeps_its_form(rows: int, columns: int) -> None:
    grid = triton.cdiv(rows, 4), triton.cdiv(columns, 4)
    launch = failed(lambda: tile_kernel[grid](torch.zeros(rows, columns), columns, B=4))
    _, programs, strays = found_in(launch)
    for row, column in itertools.product(range(4 * grid[0]), range(4 * grid[1])):
        assert programs[row, column] == {row // 4 + column // 4 * grid[0]}
        assert ((row, column) in strays) == (row * columns + column >= rows * columns)
