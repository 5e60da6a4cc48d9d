"""Boxes of lanes tell of positions what the lanes tell one by one."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.launch.fakes import FakeArgument
from triton_lab.interpreter.affine_block import AffineBlock
from triton_lab.interpreter.mask_box import MaskBox
from triton_lab.launch.access import Access
from triton_lab.launch.maps import box_positions
from triton_lab.launch.maps.access_heat import heat, heat_of_accesses
from triton_lab.launch.maps.access_lanes import Timeline
from triton_lab.launch.maps.heat import Heat
from triton_lab.launch.maps.lane_boxes import BoxStep, apart
from triton_lab.launch.maps.strided_lanes import StridedAxis
from triton_lab.launch.recording.access_event import AccessEvent

START = 1 << 16


@dataclass(frozen=True)
class LaneByLane:
    """The same access, of which nobody can see that it is compact."""

    access: Access

    def __getattr__(self, name: str) -> Any:
        return getattr(self.access, name)


def access(argument: Any, programs: int, kind: str, itemsize: int, done: list[AccessEvent], op: int = 0) -> Access:
    return Access(op, kind, 3, 0, "float32", itemsize, argument, programs, done, lambda ops: {})


def same(found: Heat, expected: Heat) -> None:
    for name in ("shape", "drawn", "origin", "over", "unit", "first", "programs", "moments"):
        assert getattr(found, name) == getattr(expected, name), name
    for name in ("active_elsewhere", "masked_elsewhere"):
        assert getattr(found, name) == getattr(expected, name), name
    for name in ("classes", "counts"):
        assert np.array_equal(getattr(found, name), getattr(expected, name)), name
    assert np.array_equal(found.table.starts, expected.table.starts)
    assert np.array_equal(found.table.items, expected.table.items)


def agrees_with_lanes(argument: Any, accesses: list[Access], programs: int) -> None:
    lanes: Any = [LaneByLane(one) for one in accesses]
    for over in ("shape", "storage"):
        same(heat(argument, accesses, programs, over), heat(argument, lanes, programs, over))
    same(heat_of_accesses(argument, accesses, programs), heat_of_accesses(argument, lanes, programs))


@dataclass(frozen=True)
class Walk:
    """A block's strides in elements and its shape; ``counts`` are indices a lane, by the dimension that each axis
    follows, where it follows one."""

    strides: tuple[int, ...]
    shape: tuple[int, ...]
    counts: tuple[tuple[int, int], ...] = ()


@st.composite
def walks(draw: st.DrawFn, argument: FakeArgument) -> Walk:
    """Along the argument's dimensions, along its elements, or any at all."""
    how = draw(st.sampled_from(["dimensions", "dimensions", "elements", "any"]))
    counts = ()
    if how == "dimensions":
        chosen = draw(st.lists(st.sampled_from(range(len(argument.shape))), unique=True, min_size=1))
        counts = tuple((k, draw(st.sampled_from([1, 1, 1, -1, 2]))) for k in chosen)
        strides = [argument.strides[k] * count for k, count in counts]
    elif how == "elements":
        strides = [draw(st.sampled_from([1, 1, -1, 3]))]
    else:
        strides = draw(st.lists(st.integers(-6, 9), min_size=1, max_size=3))
    return Walk(tuple(strides), tuple(draw(st.integers(1, 5)) for _ in strides), counts)


@st.composite
def events(draw: st.DrawFn, argument: FakeArgument, programs: int, walk: Walk, order: int) -> AccessEvent:
    """What some of the programs do together, with a mask that is a box (perhaps one that is right) or none."""
    rows = np.array(draw(st.lists(st.integers(0, programs - 1), min_size=1, unique=True).map(sorted)))
    index = np.array([[draw(st.integers(0, size - 1)) for size in argument.shape] for _ in rows])
    index += draw(st.sampled_from([0, 0, 0, -1, 3]))
    base = argument.address + argument.itemsize * (index @ np.array(argument.strides))
    if draw(st.integers(0, 4)) == 0:
        base = base[:1]
    mask = None
    how = draw(st.sampled_from(["none", "any", "inside", "inside"]))
    if how == "any" or (how == "inside" and not walk.counts):
        pairs = [sorted(draw(st.integers(0, size)) for _ in range(2)) for size in walk.shape for _ in rows]
        ends = np.array(pairs).reshape(len(walk.shape), len(rows), 2)
        mask = MaskBox(tuple(ends[:, :, 0]), tuple(ends[:, :, 1]), walk.shape)
    elif how == "inside":
        upper = [
            np.clip((argument.shape[k] - 1 - index[:, k]) // count + 1 if count > 0 else index[:, k] + 1, 0, extent)
            for (k, count), extent in zip(walk.counts, walk.shape, strict=True)
        ]
        mask = MaskBox((np.zeros(len(rows), np.int64),) * len(upper), tuple(upper), walk.shape)
    pointer = AffineBlock(base, tuple(4 * stride for stride in walk.strides), walk.shape)
    return AccessEvent(order, rows, pointer, mask, walk.shape)


@st.composite
def launches(draw: st.DrawFn) -> tuple[FakeArgument, list[Access], int]:
    """A tensor of any strides, a load and perhaps a store that walk it, and how many programs there are."""
    shape = tuple(draw(st.lists(st.integers(1, 6), min_size=1, max_size=3)))
    dense = [int(np.prod(shape[axis + 1 :])) for axis in range(len(shape))]
    any_strides = st.tuples(*(st.integers(-7, 9) for _ in shape))
    expanded = tuple(0 if draw(st.booleans()) else one for one in dense)
    kinds = [tuple(dense), tuple(2 * one for one in dense), expanded, None]
    strides = draw(st.sampled_from(kinds)) or draw(any_strides)
    argument = FakeArgument("x", shape, strides, offset=40, storage_address=START, storage_bytes=1 << 10)
    programs = draw(st.integers(1, 4))
    accesses = []
    for op in range(draw(st.integers(1, 2))):
        walk = draw(walks(argument))
        turns = range(draw(st.integers(1, 3)))
        itemsize = draw(st.sampled_from([4, 4, 4, 2, 8]))
        done = [draw(events(argument, programs, walk, 10 * op + turn)) for turn in turns]
        accesses.append(access(argument, programs, ("load", "store")[op], itemsize, done, op))
    return argument, accesses, programs


@given(launches())
@settings(max_examples=200, deadline=None)
def test_boxes_say_what_lanes_say(launch: tuple[FakeArgument, list[Access], int]) -> None:
    agrees_with_lanes(*launch)


def tiles(rows: int, columns: int, block: int, transposed: bool = False) -> tuple[FakeArgument, Access, int]:
    """A grid of tiles over a matrix, whose last ones hang over the edge."""
    down, right = -(-rows // block), -(-columns // block)
    strides = (1, rows) if transposed else (columns, 1)
    argument = FakeArgument("x", (rows, columns), strides, storage_address=START, storage_bytes=4 * rows * columns)
    row, column = (index.reshape(-1) * block for index in np.indices((down, right)))
    base = argument.address + 4 * (row * strides[0] + column * strides[1])
    upper = np.minimum(block, rows - row), np.minimum(block, columns - column)
    mask = MaskBox((np.zeros_like(row),) * 2, upper, (block, block))
    pointer = AffineBlock(base, (4 * strides[0], 4 * strides[1]), (block, block))
    event = AccessEvent(0, np.arange(len(base)), pointer, mask, (block, block))
    return argument, access(argument, len(base), "store", 4, [event]), len(base)


@pytest.mark.parametrize("transposed", [False, True])
def test_tiles_that_hang_over_the_edge_are_boxes_beside_it(transposed: bool) -> None:
    argument, one, programs = tiles(45, 70, 16, transposed)
    agrees_with_lanes(argument, [one], programs)
    found = heat(argument, [one], programs)
    assert found.drawn == (48, 80) and int(found.counts.sum()) == 45 * 70


def test_masked_lanes_ahead_of_a_line_are_counted_and_have_no_place() -> None:
    argument = FakeArgument("x", (1000,), (1,), storage_address=START, storage_bytes=4000)
    first = 999 - np.arange(0, 1024, 128)
    mask = MaskBox((np.zeros(8, np.int64),), (np.minimum(128, first + 1),), (128,))
    event = AccessEvent(0, np.arange(8), AffineBlock(argument.address + 4 * first, (-4,), (128,)), mask, (128,))
    one = access(argument, 8, "load", 4, [event])
    agrees_with_lanes(argument, [one], 8)
    found = heat(argument, [one], 8)
    assert (found.drawn, found.origin, found.masked_elsewhere) == ((1000,), (0,), 24)


def test_a_flat_walk_over_a_matrix_is_a_stretch_of_its_elements() -> None:
    argument = FakeArgument("x", (30, 50), (50, 1), storage_address=START, storage_bytes=6000)
    first = np.arange(0, 1536, 128)
    mask = MaskBox((np.zeros(12, np.int64),), (np.minimum(128, 1500 - first),), (128,))
    event = AccessEvent(0, np.arange(12), AffineBlock(argument.address + 4 * first, (4,), (128,)), mask, (128,))
    one = access(argument, 12, "load", 4, [event])
    agrees_with_lanes(argument, [one], 12)
    assert heat(argument, [one], 12).drawn == (30, 50)


def test_a_tiled_launch_is_not_looked_at_lane_by_lane(monkeypatch: pytest.MonkeyPatch) -> None:
    argument, one, programs = tiles(400, 700, 16)

    def no_lanes(*_: object) -> None:
        raise AssertionError("lanes were asked for")

    monkeypatch.setattr(Access, "address", no_lanes)
    monkeypatch.setattr(Access, "mask", no_lanes)
    assert int(heat(argument, [one], programs).counts.sum()) == 400 * 700


@pytest.mark.parametrize(
    ("shape", "strides", "compact"),
    [
        ((6,), (1,), True),
        ((1, 6), (0, 1), True),  # of one row no two share a place
        ((3, 6), (0, 1), False),
        ((6, 3), (1, 0), False),
        ((2, 3), (2, 1), False),  # steps of one dimension meet those of the other
        ((0, 6), (6, 1), False),
        ((), (), False),
    ],
)
def test_boxes_are_told_where_no_two_elements_share_a_place(
    shape: tuple[int, ...], strides: tuple[int, ...], compact: bool
) -> None:
    argument = FakeArgument("x", shape, strides, storage_address=START)
    event = AccessEvent(0, np.arange(1), AffineBlock(np.array([START]), (4,), (4,)), None, (4,))
    one = access(argument, 1, "load", 4, [event])
    assert (box_positions.over_shape(argument, [one], Timeline.of_iterations([one])) is not None) == compact
    if shape != ():
        agrees_with_lanes(argument, [one], 1)


def test_blocks_of_too_many_boxes_are_left_to_lanes(monkeypatch: pytest.MonkeyPatch) -> None:
    argument, one, programs = tiles(45, 70, 16)
    expected = heat(argument, [one], programs)
    monkeypatch.setattr(box_positions, "MOST_BOXES", 10)
    same(heat(argument, [one], programs), expected)


@pytest.mark.parametrize(
    ("steps", "expected"),
    [(((3, 5), (9, 2)), False), (((3, 5), (15, 2)), True), (((1, 4), (4, 4)), True), (((1, 4), (3, 2)), False)],
)
def test_steps_are_apart_from_the_reach_of_those_below_on(steps: Any, expected: bool) -> None:
    none = np.zeros(1, np.int64)
    made = [BoxStep(0, count, StridedAxis(4, extent, none, none + extent)) for count, extent in steps]
    assert apart(made) == apart(made[::-1]) == expected
    lanes = [sum(parts) for parts in itertools.product(*(range(0, count * extent, count) for count, extent in steps))]
    assert expected == (len(set(lanes)) == len(lanes))
