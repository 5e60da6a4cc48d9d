"""Programs are said to keep apart only if they do: held against the bytes themselves."""

from __future__ import annotations

import itertools

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st

from triton_lab.footprint.access_blocks import Blocks
from triton_lab.footprint.disjoint_programs import apart
from triton_lab.ir.effects import RIVALS, Role

_extents = st.integers(0, 4)
_strides = st.integers(-30, 30)


@st.composite
def accesses(draw: st.DrawFn) -> list[Blocks]:
    """A few accesses of a few programs, mostly of tiles that lie side by side, some of them anywhere."""
    found = []
    rank = draw(st.integers(0, 3))
    strides = tuple(draw(_strides) for _ in range(rank))
    size = draw(st.sampled_from([1, 2, 4, 8]))
    for _ in range(draw(st.integers(1, 3))):
        programs = draw(st.lists(st.integers(0, 5), min_size=1, max_size=6))
        extents = [[draw(_extents) for _ in range(rank)] for _ in programs]
        steps = [draw(st.integers(-40, 40)) for _ in range(3)]
        bases = [sum(step * digit for step, digit in zip(steps, (p % 2, p // 2, 1), strict=True)) for p in programs]
        if draw(st.booleans()):
            strides = tuple(draw(_strides) for _ in range(rank))
        found.append(
            Blocks(
                np.array(programs, np.int64),
                draw(st.sampled_from(Role)),
                np.array(bases, np.int64) + 10_000,
                np.array(extents, np.int64).reshape(len(programs), rank),
                strides,
                draw(st.sampled_from([size, 4])),
            )
        )
    return found


def touched(blocks: Blocks) -> list[tuple[int, set[int]]]:
    """The bytes of each block, one by one, with its program."""
    found = []
    for program, base, extents in zip(blocks.programs, blocks.bases, blocks.extents, strict=True):
        places = itertools.product(*map(range, extents))
        starts = [base + sum(i * s for i, s in zip(place, blocks.strides, strict=True)) for place in places]
        found.append((int(program), {int(start) + byte for start in starts for byte in range(blocks.size)}))
    return found


def really_apart(accesses: list[Blocks]) -> bool:
    everything = [(each.role, program, bytes_) for each in accesses for program, bytes_ in touched(each)]
    return not any(
        other[0] in RIVALS[one[0]] and one[1] != other[1] and one[2] & other[2]
        for one, other in itertools.combinations(everything, 2)
    )


def _few(programs: list[int], bases: list[int], extents: list[int], stride: int) -> Blocks:
    """Lines of four-byte elements that are written."""
    lines = np.array(extents, np.int64).reshape(-1, 1)
    return Blocks(np.array(programs, np.int64), Role.STORE, np.array(bases, np.int64), lines, (stride,), 4)


# A line that goes down meets one below its first element; a run that ends a byte behind a row meets what begins there.
DOWNWARDS = [_few([0], [1000], [2], -4), _few([1], [996], [1], 4)]
# A line that holds another one of its program, and reaches beyond that; an axis that moves as another one does.
AROUND_ANOTHER = [_few([0, 0, 1], [1000, 1040, 1200], [100, 2, 2], 4)]
TWICE = [
    Blocks(np.arange(2), Role.STORE, np.array([1000, 1012]), np.full((2, 2), 3), (4, 4), 4),
]
BEHIND_ITS_ROW = [_few([0, 2], [1005, 1080], [1, 2], 8), _few([1, 3], [1008, 1000], [1, 1], 8)]


@settings(max_examples=300, deadline=None)
@given(accesses())
@example(DOWNWARDS)
@example(BEHIND_ITS_ROW)
@example(AROUND_ANOTHER)
@example(TWICE)
def test_programs_are_said_to_keep_apart_exactly_if_they_do(found: list[Blocks]) -> None:
    assert apart(found) == really_apart(found)


def tiles(
    rows: int,
    columns: int,
    height: int,
    width: int,
    pitch: int,
    size: int = 4,
    *,
    masked: bool = True,
    role: Role = Role.STORE,
) -> Blocks:
    """A program for each tile of a matrix, at 1000; ``pitch`` elements from row to row."""
    across = -(-columns // width)
    numbers = np.arange(across * -(-rows // height))
    tops, lefts = numbers // across * height, numbers % across * width
    extents = np.stack([np.full_like(tops, height), np.full_like(lefts, width)], axis=1)
    if masked:
        extents = np.minimum(extents, np.stack([rows - tops, columns - lefts], axis=1))
    return Blocks(numbers, role, 1000 + (tops * pitch + lefts) * size, extents, (pitch * size, size), size)


@given(
    st.integers(1, 40),
    st.integers(1, 40),
    st.integers(1, 9),
    st.integers(1, 9),
    st.integers(0, 5),
    st.sampled_from([1, 2, 8]),
)
@example(7, 9, 4, 4, 0, 4)
def test_tiles_of_a_matrix_are_seen_to_keep_apart(rows, columns, height, width, beyond, size) -> None:
    found = tiles(rows, columns, height, width, columns + beyond, size)
    assert apart([found])
    transposed = Blocks(found.programs, Role.LOAD, found.bases, found.extents[:, ::-1], found.strides[::-1], size)
    assert apart([found, transposed])  # each reads what it writes


def test_tiles_that_reach_into_the_next_row_are_not() -> None:
    assert not apart([tiles(8, 9, 4, 4, 9, masked=False)])
    assert apart([tiles(8, 9, 4, 4, 12, masked=False)])


def test_what_all_read_may_be_anywhere_but_not_where_somebody_writes() -> None:
    writing = tiles(8, 8, 4, 4, 8)
    everything = Blocks(writing.programs, Role.LOAD, np.full(4, 5000), np.full((4, 1), 64), (4,), 4)
    assert apart([writing, everything])
    assert not apart([writing, Blocks(writing.programs, Role.LOAD, np.full(4, 1000), np.full((4, 1), 64), (4,), 4)])


def test_too_many_blocks_are_not_looked_at() -> None:
    count = 1 << 20
    numbers = np.arange(count)
    assert not apart([Blocks(numbers, Role.STORE, numbers * 4, np.ones((count, 0), np.int64), (), 4)])


def test_addresses_at_both_ends_of_memory_do_not_wrap() -> None:
    bases = np.array([0, (1 << 62) - 64, 1 << 62], np.int64)
    assert not apart([Blocks(np.arange(3), Role.STORE, bases, np.full((3, 1), 32), (4,), 4)])
