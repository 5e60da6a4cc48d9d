"""Index spaces with margins, and walks along dimensions, against brute force over elements and lanes."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from triton_lab.launch.element_index import Ints, places
from triton_lab.launch.maps.overhang import MarginSpace, Step, by_walk, space, step_along, walk

Index = tuple[int, ...]
shapes = st.lists(st.integers(1, 4), min_size=1, max_size=3).map(tuple)


def indices(shape: Sequence[int]) -> Iterator[Index]:
    return itertools.product(*map(range, shape))


def offset_of(index: Sequence[int], strides: Sequence[int]) -> int:
    return sum(i * s for i, s in zip(index, strides, strict=True))


@st.composite
def spaces(draw: st.DrawFn, shape: Index) -> MarginSpace:
    before = tuple(draw(st.integers(0, 3)) for _ in shape)
    return MarginSpace(
        shape, before, tuple(b + s + draw(st.integers(0, 3)) for b, s in zip(before, shape, strict=True))
    )


def place(where: MarginSpace, index: Sequence[int]) -> int:
    """The position of an index of the argument, -1 beside the margins."""
    grid = np.arange(int(np.prod(where.padded))).reshape(where.padded)
    moved = tuple(i + b for i, b in zip(index, where.before, strict=True))
    inside = all(0 <= i < size for i, size in zip(moved, where.padded, strict=True))
    return int(grid[moved]) if inside else -1


@given(st.data())
@settings(deadline=None)
def test_elements_stand_behind_the_margins(data: st.DataObject) -> None:
    where = data.draw(shapes.flatmap(spaces))
    expected = [place(where, index) for index in indices(where.shape)]
    assert where.position(np.arange(len(expected))).tolist() == expected
    assert np.flatnonzero(where.inside()).tolist() == expected and len(where.inside()) == np.prod(where.padded)


def test_where_there_are_no_elements_nothing_has_a_position() -> None:
    assert MarginSpace((2, 0), (1, 1), (4, 3)).position(np.array([0, 5])).tolist() == [-1, -1]


@given(st.data())
@settings(deadline=None)
def test_margins_hold_those_that_are_nowhere_wider(data: st.DataObject) -> None:
    shape = data.draw(shapes)
    one, other = data.draw(spaces(shape)), data.draw(spaces(shape))
    margins = [
        (before, padded - before - size)
        for each in (one, other)
        for before, padded, size in zip(each.before, each.padded, shape, strict=True)
    ]
    wide, needed = margins[: len(shape)], margins[len(shape) :]
    assert one.holds(other) == all(a >= c and b >= d for (a, b), (c, d) in zip(wide, needed, strict=True))
    assert one.holds(one)


@given(st.data())
@settings(deadline=None)
def test_margins_are_as_wide_as_the_lanes_reach(data: st.DataObject) -> None:
    shape = data.draw(shapes)
    steps = st.tuples(st.integers(0, len(shape) - 1), st.integers(-2, 2))
    walks = data.draw(st.lists(st.lists(st.tuples(steps, st.integers(1, 3)), max_size=3), max_size=3))
    low, high = [0] * len(shape), [0] * len(shape)
    for axes in walks:
        for lane in indices([extent for _, extent in axes]):
            reached = [0] * len(shape)
            for ((dimension, count), _), at in zip(axes, lane, strict=True):
                reached[dimension] += count * at
            low, high = list(map(min, low, reached)), list(map(max, high, reached))
    found = space(shape, [([step for step, _ in axes], [extent for _, extent in axes]) for axes in walks])
    assert (found.shape, found.before) == (shape, tuple(-each for each in low))
    assert found.padded == tuple(size + b - a for size, a, b in zip(shape, low, high, strict=True))


@given(st.data())
@settings(deadline=None, max_examples=300)
def test_a_step_follows_the_dimension_of_which_it_is_the_fewest_indices(data: st.DataObject) -> None:
    """The largest of those that it follows alike, and of these the outermost."""
    shape = data.draw(shapes)
    strides = tuple(data.draw(st.integers(-6, 6)) for _ in shape)
    stride = data.draw(st.integers(-12, 12))
    fitting = [
        (abs(count), -size, dimension, count)
        for dimension, (size, own) in enumerate(zip(shape, strides, strict=True))
        for count in range(-12, 13)
        if own and count * own == stride
    ]
    expected = min(fitting)[2:] if fitting else None
    assert step_along(stride, shape, strides) == ((0, 0) if stride == 0 else expected)


@st.composite
def blocks(draw: st.DrawFn) -> tuple[Ints, list[int], list[int]]:
    """Offsets (programs, *block) of a block with strides, these, and the extents."""
    extents = draw(st.lists(st.integers(1, 3), max_size=2))
    strides = [draw(st.integers(-6, 6)) for _ in extents]
    first = draw(st.lists(st.integers(-9, 9), min_size=1, max_size=3))
    lanes = np.array([offset_of(lane, strides) for lane in indices(extents)]).reshape(extents)
    return np.array(first).reshape(-1, *(1,) * len(extents)) + lanes, strides, extents


@given(st.data())
@settings(deadline=None, max_examples=300)
def test_a_block_walks_where_each_axis_follows_a_dimension(data: st.DataObject) -> None:
    shape = data.draw(shapes)
    own = tuple(data.draw(st.integers(-4, 4)) for _ in shape)
    offsets, strides, extents = data.draw(blocks())
    steps = [
        step_along(stride, shape, own) if extent > 1 else (0, 0)
        for stride, extent in zip(strides, extents, strict=True)
    ]
    assert walk(offsets, shape, own) == (None if None in steps else steps)
    crooked = offsets.copy()
    crooked.reshape(-1)[data.draw(st.integers(0, offsets.size - 1))] += data.draw(st.sampled_from([-1, 1]))
    lanes = crooked - crooked.reshape(len(crooked), -1)[:, 0].reshape(-1, *(1,) * len(extents))
    if (lanes != lanes[:1]).any():
        assert walk(crooked, shape, own) is None, "programs differ"
    elif lanes.size and walk(crooked, shape, own) is not None:
        taken = [lanes[(0, *(int(k == axis) for k in range(len(extents))))] if extents[axis] > 1 else 0
                 for axis in range(len(extents))]  # fmt: skip
        assert lanes[0].reshape(-1).tolist() == [offset_of(lane, taken) for lane in indices(extents)]


def test_nothing_walks_where_there_is_nothing() -> None:
    some = np.zeros((1, 2), np.int64)
    assert walk(np.zeros((0, 2), np.int64), (3,), (1,)) is None
    assert walk(np.zeros((2, 0), np.int64), (3,), (1,)) is None
    assert walk(some, (), ()) is None
    assert walk(some, (3, 0), (1, 1)) is None
    assert walk(some, (3,), (1,)) == [(0, 0)]


@st.composite
def walked(draw: st.DrawFn) -> tuple[Index, Index, list[Step], list[int], list[Index]]:
    """A matrix without overlap, a walk over it, and where each program's first lane stands."""
    shape = draw(shapes)
    order = draw(st.permutations(range(len(shape))))
    strides, step = [0] * len(shape), 1
    for axis in order:
        strides[axis] = step * draw(st.integers(1, 2)) * draw(st.sampled_from([1, 1, -1]))
        step = abs(strides[axis]) * shape[axis]
    walked = draw(st.lists(st.sampled_from(range(len(shape))), unique=True, max_size=len(shape)))
    steps = [(dimension, draw(st.sampled_from([1, 1, 2, -1, -2]))) for dimension in walked]
    extents = [draw(st.integers(1, 4)) for _ in steps]
    corners = [
        tuple(draw(st.integers(-1 if draw(st.integers(0, 3)) == 0 else 0, size - 1)) for size in shape)
        for _ in range(draw(st.integers(1, 3)))
    ]
    return shape, tuple(strides), steps, extents, corners


@given(walked(), st.data())
@settings(deadline=None, max_examples=300)
def test_lanes_that_walk_stand_where_their_indices_say(
    case: tuple[Index, Index, list[Step], list[int], list[Index]], data: st.DataObject
) -> None:
    """Beside the margins, and in a program whose first lane is lost, an active lane is where its address says."""
    shape, strides, steps, extents, corners = case
    known = places(shape, strides)
    where = space(shape, [(steps, extents)])
    elements = {offset_of(index, strides): index for index in indices(shape)}
    index = [
        [
            tuple(
                i + sum(count * at for (axis, count), at in zip(steps, lane, strict=True) if axis == k)
                for k, i in enumerate(corner)
            )
            for lane in indices(extents)
        ]
        for corner in corners
    ]
    offsets = np.array([[offset_of(each, strides) for each in lanes] for lanes in index])
    told = np.array([[place(where, elements[o]) if o in elements else -1 for o in row] for row in offsets.tolist()])
    lost = [offset_of(corner, strides) not in elements for corner in corners]
    # A lane beside the argument may be where another element is: then that is where its walk begins.
    begins = [elements.get(offset_of(corner, strides), corner) for corner in corners]
    walks = np.array(
        [
            [-1 if gone else place(where, [i + b - c for i, b, c in zip(at, begin, corner, strict=True)]) for at in row]
            for row, begin, corner, gone in zip(index, begins, corners, lost, strict=True)
        ]
    )
    active = np.array(data.draw(st.lists(st.booleans(), min_size=told.size, max_size=told.size))).reshape(told.shape)
    inside = where.inside()
    agrees = (walks == told) | ((told < 0) & ~((walks >= 0) & inside[walks])) | ~active | (walks < 0)
    block = (len(corners), *extents)
    for tile in (False, True):
        found = by_walk(offsets.reshape(block), active.reshape(block), steps, known, where, told.reshape(block), tile)
        if not tile and not agrees.all():
            assert found is None
            continue
        expected = np.where((walks < 0) & active, told, walks)
        assert found is not None and found.shape == block
        assert found.reshape(len(corners), -1).tolist() == expected.tolist()
