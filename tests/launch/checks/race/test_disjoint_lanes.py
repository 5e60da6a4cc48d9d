"""Accesses whose lanes never meet, told without a look at them: held to a look at all of them."""

from __future__ import annotations

import itertools
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from triton_lab.interpreter.affine_block import AffineBlock
from triton_lab.launch.checks.race.disjoint_lanes import never_meet


def sight(base: list[int], strides: tuple[int, ...], shape: tuple[int, ...], itemsize: int = 4) -> Any:
    pointer = AffineBlock(np.array(base), strides, shape)
    event = SimpleNamespace(pointer=pointer, shape=shape, programs=np.arange(len(base)))
    return SimpleNamespace(event=event, itemsize=itemsize)


def listed(addresses: np.ndarray, itemsize: int = 4, programs: Any = None) -> Any:
    known = np.arange(len(addresses)) if programs is None else programs
    event = SimpleNamespace(pointer=addresses, shape=addresses.shape[1:], programs=known)
    return SimpleNamespace(event=event, itemsize=itemsize)


def meet(part: list[Any]) -> bool:
    """Whether two different lanes of some program touch the same byte."""
    for program in range(4):
        owner: dict[int, int] = {}
        for each in part:
            if program not in each.event.programs:
                continue
            row = each.event.programs.tolist().index(program)
            pointer = each.event.pointer
            addresses = pointer if isinstance(pointer, np.ndarray) else pointer.elements(np.dtype(np.int64))
            there = np.broadcast_to(addresses, (len(each.event.programs), *each.event.shape))[row].reshape(-1)
            for lane, address in enumerate(there.tolist()):
                for byte in range(address, address + each.itemsize):
                    if owner.setdefault(byte, lane) != lane:
                        return True
    return False


strides = st.sampled_from([-16, -4, 0, 1, 2, 4, 8, 12, 16, 32, 48])
shapes = st.sampled_from([(1,), (2,), (4,), (2, 2), (4, 2), (1, 4), (4, 1), (2, 1, 2), (2, 2, 2)])


@st.composite
def parts(draw: st.DrawFn) -> list[Any]:
    shape = draw(shapes)
    steps = tuple(draw(strides) for _ in shape)
    other = tuple(draw(strides) for _ in shape) if draw(st.integers(0, 4)) == 0 else steps
    programs = draw(st.integers(1, 3))
    bases = st.lists(st.integers(0, 24).map(lambda k: 4 * k), min_size=programs, max_size=programs)
    sizes = draw(st.sampled_from([(4, 4), (4, 4), (4, 4), (4, 2), (2, 2)]))
    found = [sight(draw(bases), each, shape, size) for each, size in zip((steps, other), sizes, strict=True)]
    return found + [sight(draw(bases), steps, shape, sizes[0]) for _ in range(draw(st.integers(0, 2)))]


@settings(max_examples=400, deadline=None)
@given(parts())
def test_where_lanes_are_said_never_to_meet_they_never_do(part: list[Any]) -> None:
    if never_meet(part):
        assert not meet(part)


@pytest.mark.parametrize(("rows", "columns"), list(itertools.product((1, 2, 4), repeat=2)))
@pytest.mark.parametrize("width", [4, 8, 12])
def test_tiles_of_one_grid_are_seen_at_once(rows: int, columns: int, width: int) -> None:
    """Of ``width`` columns: What moves by whole tiles meets itself alone, what moves by half a tile is looked at."""
    steps = (4 * width, 4)

    def at(*moves: tuple[int, int]) -> list[Any]:
        return [sight([64 + 4 * (row * width + column)] * 2, steps, (rows, columns)) for row, column in moves]

    assert never_meet(at((0, 0), (0, 0)))
    assert never_meet(at((0, 0), (rows, 0), (5 * rows, 0)))
    if columns > 1 or rows == 1:
        assert never_meet(at(*((rows * k, columns * n) for k in range(2) for n in range(width // columns))))
    for moves in ([(0, 0), (0, 1)], [(0, 0), (1, 0)], [(0, 0), (1, 1)]):
        part = at(*moves)
        assert never_meet(part) <= (not meet(part))
    if columns > 1:
        assert not never_meet(at((0, 0), (0, columns // 2)))
        # A tile that goes on into the next row.
        assert not (rows > 1 and never_meet(at((0, 0), (0, width - columns // 2), (1, 0))))


@pytest.mark.parametrize("stride", [0, 1, 2, 3, 4, 5, 8])
def test_lanes_of_one_block_are_apart_from_their_size_on(stride: int) -> None:
    assert never_meet([sight([0], (stride,), (4,))]) == (stride >= 4)
    assert never_meet([sight([0], (4 * 4 - 4 + stride, 4), (2, 4))]) == (stride >= 4)
    assert never_meet([sight([0], (0, stride), (1, 4))]) == (stride >= 4), "an axis of one lane has no step"


def test_listed_addresses_that_are_the_same_each_time() -> None:
    own = np.array([[0, 8, 4], [100, 104, 96]])
    assert never_meet([listed(own), listed(own.copy())])
    assert not never_meet([listed(own), listed(own + 4)])
    assert not never_meet([listed(own), listed(own[:, ::-1])])
    assert not never_meet([listed(own), listed(own, programs=np.array([1, 0]))])
    assert not never_meet([listed(own), listed(own, itemsize=2)])
    assert not never_meet([listed(own), sight([0, 96], (4,), (3,))])
    assert not never_meet([listed(np.array([[0, 8, 8], [0, 4, 8]]))])
    shared = np.array([0, 4, 8])
    assert not never_meet([listed(own), SimpleNamespace(event=SimpleNamespace(
        pointer=own, shape=(3, 1), programs=np.arange(2)), itemsize=4)])  # fmt: skip
    assert not never_meet([SimpleNamespace(event=SimpleNamespace(
        pointer=shared, shape=(3,), programs=np.arange(2)), itemsize=4)])  # fmt: skip


def test_a_block_that_goes_on_into_the_next_row_is_no_tile_of_the_grid() -> None:
    """Columns 3 to 5 of rows of four: what looks like the second tile of three columns ends in the row below."""
    part = [sight([0], (16, 4), (2, 3)), sight([12], (16, 4), (2, 3))]
    assert meet(part) and not never_meet(part)
