"""Affine blocks and boxes always equal what the lanes would be, or decline."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from triton_lab.interpreter import affine, box
from triton_lab.interpreter.affine import Affine
from triton_lab.interpreter.box import Box

I64 = np.dtype(np.int64)
shapes = st.lists(st.sampled_from([1, 2, 4, 8]), min_size=1, max_size=3).map(tuple)


@st.composite
def blocks(draw, shape, programs=3, largest=100):
    """An affine block of ``shape`` whose base is shared or not."""
    count = draw(st.sampled_from([1, programs]))
    number = st.integers(-largest, largest)
    base = draw(st.lists(number, min_size=count, max_size=count))
    strides = draw(st.lists(st.integers(-9, 9), min_size=len(shape), max_size=len(shape)))
    return Affine(np.array(base, np.int64), tuple(strides), shape)


def lanes(value, programs=3):
    array = value.elements() if isinstance(value, Box) else value.elements(I64)
    return np.broadcast_to(array, (programs, *value.shape))


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_arithmetic_wraps_nowhere(data):
    shape = data.draw(shapes)
    bits = data.draw(st.sampled_from([8, 16, 32]))
    a, b = data.draw(blocks(shape)), data.draw(blocks(shape))
    for on_affine, on_lanes in ((affine.add, np.add), (affine.subtract, np.subtract), (affine.multiply, np.multiply)):
        result = on_affine(a, b, bits)
        exact = on_lanes(lanes(a), lanes(b))
        fits = -(1 << (bits - 1)) <= exact.min() and exact.max() < 1 << (bits - 1)
        if result is not None:
            assert (lanes(result) == exact).all() and fits
        elif on_affine is not affine.multiply:
            assert not fits, "declined without need"


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_ranges_hold_every_lane(data):
    a = data.draw(blocks(data.draw(shapes)))
    assert a.range() == (lanes(a).min(), lanes(a).max())


@pytest.mark.parametrize("predicate", ["lt", "le", "gt", "ge", "eq"])
@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_comparisons_that_are_boxes(predicate, data):
    shape = data.draw(shapes)
    a, b = data.draw(blocks(shape, largest=20)), data.draw(blocks(shape, largest=20))
    result = box.compare(predicate, a, b)
    assume(result is not None)
    function = {"lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal, "eq": np.equal}[predicate]
    expected = function(lanes(a), lanes(b))
    assert (lanes(result) == expected).all()
    assert result.is_full() == bool(expected.all())


@pytest.mark.parametrize("predicate", ["lt", "le", "gt", "ge", "eq"])
def test_comparisons_at_the_ends_of_64_bits(predicate):
    """Where the difference would wrap there is no box, and no wrong one."""
    holds = {"lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal, "eq": np.equal}[predicate]
    ends = [-(2**63), -(2**63) + 5, -(2**62), -(2**61), 0, 2**61 - 8, 2**62 - 1, 2**62, 2**63 - 9]
    for first, second in [(x, y) for x in ends for y in ends]:
        a, b = (Affine(np.array([base], np.int64), (stride,), (8,)) for base, stride in ((first, 1), (second, 0)))
        result = box.compare(predicate, a, b)
        assert result is None or np.array_equal(lanes(result), holds(lanes(a), lanes(b)))
    near = Affine(np.zeros(1, np.int64), (1,), (8,))
    assert box.compare("lt", near, Affine(np.array([2**60]), (0,), (8,))) is not None


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_boxes_meet_move_and_spread_like_their_lanes(data):
    shape = data.draw(shapes)
    masks = []
    for _ in range(2):
        found = box.compare("lt", data.draw(blocks(shape, largest=20)), data.draw(blocks(shape, largest=20)))
        masks.append(box.full(shape) if found is None else found)
    assert (lanes(box.intersect(*masks)) == (lanes(masks[0]) & lanes(masks[1]))).all()
    order = data.draw(st.permutations(range(len(shape))))
    moved = lanes(masks[0]).transpose(0, *(axis + 1 for axis in order))
    assert (lanes(box.permute(masks[0], order)) == moved).all()
    axis = data.draw(st.integers(0, len(shape)))
    grown = box.expand_dims(masks[0], axis)
    assert (lanes(grown) == np.expand_dims(lanes(masks[0]), axis + 1)).all()
    wide = (*grown.shape[:axis], 4, *grown.shape[axis + 1 :])
    assert (lanes(box.broadcast(grown, wide)) == np.broadcast_to(lanes(grown), (3, *wide))).all()
    rows = np.array([2, 0])
    assert (lanes(masks[0].take(rows), 2) == lanes(masks[0])[rows]).all()


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_the_groups_of_a_box_cover_its_lanes_once(data):
    shape = data.draw(shapes)
    mask = box.compare("lt", data.draw(blocks(shape, largest=20)), data.draw(blocks(shape, largest=20)))
    assume(mask is not None)
    counted = np.zeros((3, *shape), int)
    for rows, slices in mask.groups(3):
        counted[(slice(None) if rows is None else rows, *slices)] += 1
    assert (counted == lanes(mask)).all()


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_affine_blocks_move_like_their_lanes(data):
    shape = data.draw(shapes)
    a = data.draw(blocks(shape))
    order = data.draw(st.permutations(range(len(shape))))
    assert (lanes(affine.permute(a, order)) == lanes(a).transpose(0, *(axis + 1 for axis in order))).all()
    axis = data.draw(st.integers(0, len(shape)))
    grown = affine.expand_dims(a, axis)
    assert (lanes(grown) == np.expand_dims(lanes(a), axis + 1)).all()
    wide = (*grown.shape[:axis], 4, *grown.shape[axis + 1 :])
    assert (lanes(affine.broadcast(grown, wide)) == np.broadcast_to(lanes(grown), (3, *wide))).all()
    target = data.draw(st.sampled_from([shape, (1, *shape), (*shape, 1), (int(np.prod(shape)),)]))
    reshaped = affine.with_shape(a, target)
    if reshaped is not None:
        assert (lanes(reshaped) == lanes(a).reshape(3, *target)).all()
