"""Who touches each element, against brute force over programs, lanes and elements."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Sequence

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.launch.fakes import FakeAccess, FakeArgument, tile
from triton_lab.launch.maps.tiling import LAYERS, TilingAccesses, touches

X = FakeArgument("x", (10,), (1,))


def element_offsets(argument: FakeArgument) -> dict[tuple[int, ...], int]:
    return {
        index: sum(i * s for i, s in zip(index, argument.strides, strict=True))
        for index in itertools.product(*map(range, argument.shape))
    }


def active_by_brute_force(argument: FakeArgument, accesses: Sequence[FakeAccess]) -> dict[tuple[int, ...], set[int]]:
    """For each element, the programs with an active lane at its place."""
    programs_at = defaultdict(set)
    for access in accesses:
        for iteration in range(access.iterations):
            address, mask = access.address(iteration), access.mask(iteration)
            for program in range(len(address)):
                for where in address[program][mask[program]]:
                    programs_at[int(where)].add(program)
    return {
        index: programs_at[argument.address + offset * argument.itemsize]
        for index, offset in element_offsets(argument).items()
    }


def class_at(found: TilingAccesses, index: Sequence[int]) -> int:
    position = tuple(i + o for i, o in zip(index, found.origin, strict=True))
    return int(found.classes.reshape(found.drawn)[position])


def active(found: TilingAccesses, index: Sequence[int], layer: str = "both") -> set[int]:
    return set(found.active(layer).members(class_at(found, index)).tolist())


def lines(found: TilingAccesses, index: Sequence[int]) -> list[tuple[int | None, str]]:
    return [found.accesses[access] for access in found.touching().members(class_at(found, index))]


@given(st.data())
@settings(max_examples=150, deadline=None)
def test_programs_agree_with_brute_force_for_any_strides(data: st.DataObject) -> None:
    """Random addresses on a tensor of random strides: transposed, expanded, gapped, overlapping."""
    shape = tuple(data.draw(st.lists(st.integers(0, 4), min_size=0, max_size=3)))
    strides = tuple(data.draw(st.lists(st.integers(-5, 40), min_size=len(shape), max_size=len(shape))))
    argument = FakeArgument("x", shape, strides, offset=100)
    programs = data.draw(st.integers(1, 3))
    block = tuple(data.draw(st.lists(st.integers(1, 3), min_size=0, max_size=2)))
    lanes = programs * int(np.prod(block))
    offsets = data.draw(st.lists(st.integers(-10, 60), min_size=lanes, max_size=lanes))
    mask = data.draw(st.lists(st.booleans(), min_size=lanes, max_size=lanes))
    access = FakeAccess(
        argument, "load", 3, [(np.array(offsets).reshape(programs, *block), np.array(mask).reshape(programs, *block))]
    )
    found = touches(argument, [access], programs)
    for index, expected in active_by_brute_force(argument, [access]).items():
        assert active(found, index) == expected


@given(
    rows=st.integers(1, 9),
    columns=st.integers(1, 9),
    block=st.tuples(st.integers(1, 4), st.integers(1, 4)),
    transposed=st.booleans(),
)
@settings(max_examples=60, deadline=None)
def test_blocks_that_hang_over_show_their_masked_lanes_beside_the_elements(
    rows: int, columns: int, block: tuple[int, int], transposed: bool
) -> None:
    strides = (1, rows + 3) if transposed else (columns + 3, 1)
    argument = FakeArgument("x", (rows, columns), strides)
    grid = (-(-rows // block[0]), -(-columns // block[1]), 1)
    access = tile(argument, "store", 5, grid, block, lambda x, y, z, i: (x * block[0], y * block[1]))
    found = touches(argument, [access], grid[0] * grid[1])
    assert found.drawn == (grid[0] * block[0], grid[1] * block[1])
    assert found.origin == (0, 0)
    for row, column in itertools.product(range(found.drawn[0]), range(found.drawn[1])):
        program = row // block[0] + grid[0] * (column // block[1])
        within = row < rows and column < columns
        assert active(found, (row, column)) == ({program} if within else set())
        masked = found.masked("stores").members(class_at(found, (row, column)))
        assert masked.tolist() == ([] if within else [program])
    assert found.inside().reshape(found.drawn).sum() == rows * columns


def test_a_flat_walk_over_a_matrix_does_not_hang_over_its_rows() -> None:
    matrix = FakeArgument("x", (3, 5), (5, 1))
    flat = tile(FakeArgument("x", (15,), (1,)), "load", 2, (2, 1, 1), (8,), lambda x, y, z, i: (x * 8,))
    found = touches(matrix, [flat], 2)
    assert found.drawn == (3, 5)
    assert [active(found, divmod(element, 5)) for element in range(15)] == [{e // 8} for e in range(15)]
    assert found.masked_elsewhere == 1


def test_a_line_begins_with_its_first_element_whoever_is_masked_ahead_of_it() -> None:
    """As of a kernel that turns a line around: the last lanes of the last program point ahead of it."""
    offsets = 9 - np.arange(16).reshape(2, 8)
    backwards = FakeAccess(X, "load", 2, [(offsets, offsets >= 0)])
    found = touches(X, [backwards], 2)
    assert (found.drawn, found.origin, found.masked_elsewhere) == ((10,), (0,), 6)
    assert [active(found, (element,)) for element in range(10)] == [{(9 - e) // 8} for e in range(10)]
    # Whoever is not masked there is shown.
    wrong = FakeAccess(X, "load", 2, [(offsets, offsets >= -2)])
    found = touches(X, [wrong], 2)
    assert (found.drawn, found.origin, found.masked_elsewhere) == ((12,), (2,), 4)
    assert active(found, (-1,)) == {1}
    # And so is a margin of a matrix: its rows and columns stay where they are.
    matrix = FakeArgument("x", (4, 4), (4, 1))
    row, column = np.ogrid[0:4, 0:4]
    tile_back = FakeAccess(matrix, "load", 2, [((row * 4 + 2 - column)[None], (2 - column >= 0)[None] & (row >= 0))])
    found = touches(matrix, [tile_back], 1)
    assert (found.drawn, found.origin, found.masked_elsewhere) == ((4, 5), (0, 1), 0)


def test_an_unmasked_lane_past_the_end_is_outside_and_active() -> None:
    access = tile(X, "store", 4, (3, 1, 1), (4,), lambda x, y, z, i: (x * 4,), masked=False)
    found = touches(X, [access], 3)
    assert found.drawn == (12,)
    assert found.inside().tolist() == [True] * 10 + [False] * 2
    assert active(found, (11,)) == {2}


def test_kinds_and_lines_are_kept_apart() -> None:
    load = tile(X, "load", 7, (1, 1, 1), (8,), lambda x, y, z, i: (0,))
    store = tile(X, "store", 9, (1, 1, 1), (4,), lambda x, y, z, i: (2,))
    found = touches(X, [load, store], 1)
    assert lines(found, (3,)) == [(7, "load"), (9, "store")]
    assert lines(found, (0,)) == [(7, "load")]
    assert active(found, (0,), "stores") == set()
    assert active(found, (5,), "stores") == {0} == active(found, (5,), "loads")


def test_programs_that_did_not_run_an_iteration_leave_no_trace() -> None:
    offsets = np.array([[0, 1], [4, 5]])
    access = FakeAccess(X, "load", 2, [(offsets, np.ones((2, 2), dtype=bool))], ran=[np.array([True, False])])
    found = touches(X, [access], 2)
    assert active(found, (0,)) == {0}
    assert class_at(found, (4,)) == 0


def test_iterations_add_up() -> None:
    access = tile(X, "load", 2, (2, 1, 1), (2,), lambda x, y, z, i: (4 * i + 2 * x,), iterations=2)
    found = touches(X, [access], 2)
    assert [active(found, (e,)) for e in range(8)] == [{e // 2 % 2} for e in range(8)]


def test_elements_with_several_programs_are_shared_and_share_a_class() -> None:
    access = tile(X, "load", 2, (3, 1, 1), (6,), lambda x, y, z, i: (0,))
    found = touches(X, [access], 3)
    number = class_at(found, (0,))
    assert active(found, (0,)) == {0, 1, 2}
    assert dict(zip(LAYERS, found.several[number].tolist(), strict=True)) == {
        "loads": True,
        "stores": False,
        "both": True,
    }
    assert {class_at(found, (e,)) for e in range(6)} == {number}


def test_an_access_wider_than_an_element_covers_all_of_them() -> None:
    access = FakeAccess(X, "load", 2, [(np.array([[0, 2]]), np.ones((1, 2), dtype=bool))], itemsize=8)
    found = touches(X, [access], 1)
    assert [len(active(found, (e,))) for e in range(10)] == [1] * 4 + [0] * 6


def test_bins_have_the_members_of_all_their_positions() -> None:
    access = tile(X, "load", 2, (5, 1, 1), (2,), lambda x, y, z, i: (2 * x,))
    found = touches(X, [access], 5).binned(np.arange(10) // 3, 4)
    programs = found.active()
    assert [programs.members(number).tolist() for number in found.classes] == [[0, 1], [1, 2], [3, 4], [4]]
    assert not found.several[found.classes].any(), "each element has one program, though a bin has two"


def test_nothing_touched() -> None:
    found = touches(X, [], 4)
    assert found.drawn == (10,)
    assert not found.classes.any()
    assert touches(FakeArgument("e", (0, 3), (3, 1)), [], 4).drawn == (0, 3)
