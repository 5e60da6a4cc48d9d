"""Affine blocks and boxes always equal what the lanes would be, or decline."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from triton_lab.interpreter import affine_block, mask_box
from triton_lab.interpreter.affine_block import AffineBlock
from triton_lab.interpreter.mask_box import MaskBox

I64 = np.dtype(np.int64)
COMPARISONS = {"lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal, "eq": np.equal}
shapes = st.lists(st.sampled_from([1, 2, 4, 8]), min_size=1, max_size=3).map(tuple)


@st.composite
def blocks(draw, shape, programs=3, largest=100):
    """An affine block of ``shape`` whose base is shared or not."""
    count = draw(st.sampled_from([1, programs]))
    number = st.integers(-largest, largest)
    base = draw(st.lists(number, min_size=count, max_size=count))
    strides = draw(st.lists(st.integers(-9, 9), min_size=len(shape), max_size=len(shape)))
    return AffineBlock(np.array(base, np.int64), tuple(strides), shape)


def lanes(value, programs=3):
    array = value.elements() if isinstance(value, MaskBox) else value.elements(I64)
    return np.broadcast_to(array, (programs, *value.shape))


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_arithmetic_wraps_nowhere(data):
    shape = data.draw(shapes)
    bits = data.draw(st.sampled_from([8, 16, 32]))
    a, b = data.draw(blocks(shape)), data.draw(blocks(shape))
    for on_affine, on_lanes in (
        (affine_block.add, np.add),
        (affine_block.subtract, np.subtract),
        (affine_block.multiply, np.multiply),
    ):
        result = on_affine(a, b, bits)
        exact = on_lanes(lanes(a), lanes(b))
        fits = -(1 << (bits - 1)) <= exact.min() and exact.max() < 1 << (bits - 1)
        if result is not None:
            assert (lanes(result) == exact).all() and fits
        elif on_affine is not affine_block.multiply:
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
    result = mask_box.compare(predicate, a, b)
    assume(result is not None)
    expected = COMPARISONS[predicate](lanes(a), lanes(b))
    assert (lanes(result) == expected).all()
    assert result.is_full() == bool(expected.all())


@pytest.mark.parametrize("predicate", ["lt", "le", "gt", "ge", "eq"])
def test_comparisons_at_the_ends_of_64_bits(predicate):
    """Where the difference would wrap there is no box, and no wrong one."""
    holds = COMPARISONS[predicate]
    ends = [-(2**63), -(2**63) + 5, -(2**62), -(2**61), 0, 2**61 - 8, 2**62 - 1, 2**62, 2**63 - 9]
    for first, second in [(x, y) for x in ends for y in ends]:
        a, b = (AffineBlock(np.array([base], np.int64), (stride,), (8,)) for base, stride in ((first, 1), (second, 0)))
        result = mask_box.compare(predicate, a, b)
        assert result is None or np.array_equal(lanes(result), holds(lanes(a), lanes(b)))
    near = AffineBlock(np.zeros(1, np.int64), (1,), (8,))
    assert mask_box.compare("lt", near, AffineBlock(np.array([2**60]), (0,), (8,))) is not None


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_boxes_meet_move_and_spread_like_their_lanes(data):
    shape = data.draw(shapes)
    masks = []
    for _ in range(2):
        found = mask_box.compare("lt", data.draw(blocks(shape, largest=20)), data.draw(blocks(shape, largest=20)))
        masks.append(mask_box.full(shape) if found is None else found)
    assert (lanes(mask_box.intersect(*masks)) == (lanes(masks[0]) & lanes(masks[1]))).all()
    order = data.draw(st.permutations(range(len(shape))))
    moved = lanes(masks[0]).transpose(0, *(axis + 1 for axis in order))
    assert (lanes(mask_box.permute(masks[0], order)) == moved).all()
    axis = data.draw(st.integers(0, len(shape)))
    grown = mask_box.expand_dims(masks[0], axis)
    assert (lanes(grown) == np.expand_dims(lanes(masks[0]), axis + 1)).all()
    wide = (*grown.shape[:axis], 4, *grown.shape[axis + 1 :])
    assert (lanes(mask_box.broadcast(grown, wide)) == np.broadcast_to(lanes(grown), (3, *wide))).all()
    rows = np.array([2, 0])
    assert (lanes(masks[0].take(rows), 2) == lanes(masks[0])[rows]).all()


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_the_groups_of_a_box_cover_its_lanes_once(data):
    shape = data.draw(shapes)
    mask = mask_box.compare("lt", data.draw(blocks(shape, largest=20)), data.draw(blocks(shape, largest=20)))
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
    assert (lanes(affine_block.permute(a, order)) == lanes(a).transpose(0, *(axis + 1 for axis in order))).all()
    axis = data.draw(st.integers(0, len(shape)))
    grown = affine_block.expand_dims(a, axis)
    assert (lanes(grown) == np.expand_dims(lanes(a), axis + 1)).all()
    wide = (*grown.shape[:axis], 4, *grown.shape[axis + 1 :])
    assert (lanes(affine_block.broadcast(grown, wide)) == np.broadcast_to(lanes(grown), (3, *wide))).all()
    target = data.draw(st.sampled_from([shape, (1, *shape), (*shape, 1), (int(np.prod(shape)),)]))
    reshaped = affine_block.with_shape(a, target)
    if reshaped is not None:
        assert (lanes(reshaped) == lanes(a).reshape(3, *target)).all()


def scalars(base, shape):
    """A block whose lanes all hold their program's number."""
    return affine_block.splat(np.array(base, np.int64), shape)


@pytest.mark.parametrize("predicate", COMPARISONS)
@pytest.mark.parametrize("bases", [(0,), (-2, 0, 1)])
def test_a_comparison_is_a_box_wherever_it_can_be(predicate, bases):
    """All small blocks against all small numbers: along one axis always, along several where all lanes agree."""
    for shape in ((4,), (2, 2), (1, 3), (1, 1)):
        for strides in itertools.product((-2, -1, 0, 1, 3), repeat=len(shape)):
            a = AffineBlock(np.array(bases, np.int64), strides, shape)
            for bound in range(-5, 6):
                b = scalars((bound,), shape)
                expected = COMPARISONS[predicate](lanes(a), lanes(b))
                changing = sum(bool(s) and n > 1 for s, n in zip(strides, shape, strict=True))
                found = mask_box.compare(predicate, a, b)
                if found is None:
                    # Between the least and the greatest lane there may be numbers that no lane has.
                    assert changing > 1 and not expected.all() and (expected.any() or predicate == "eq")
                    continue
                assert (lanes(found) == expected).all()
                assert found.is_full() == bool(expected.all())
                assert all((low >= 0).all() and (low <= n).all() for low, n in zip(found.lower, shape, strict=True))
                assert all((high >= 0).all() and (high <= n).all() for high, n in zip(found.upper, shape, strict=True))
    assert mask_box.compare("ne", scalars((1,), (2,)), scalars((1,), (2,))) is None


def test_where_several_axes_change_a_comparison_is_a_box_at_the_very_ends():
    a = AffineBlock(np.zeros(1, np.int64), (1, 1), (2, 2))  # 0, 1, 1, 2
    always = {"lt": (3, 2), "le": (2, 1), "gt": (-1, 0), "ge": (0, 1)}
    for predicate, (decided, undecided) in always.items():
        assert mask_box.compare(predicate, a, scalars((decided,), (2, 2))).is_full()
        assert mask_box.compare(predicate, a, scalars((undecided,), (2, 2))) is None
    never = {"lt": (0, 1), "le": (-1, 0), "gt": (2, 1), "ge": (3, 2), "eq": (3, 2)}
    for predicate, (decided, undecided) in never.items():
        assert not lanes(mask_box.compare(predicate, a, scalars((decided,), (2, 2)))).any()
        assert mask_box.compare(predicate, a, scalars((undecided,), (2, 2))) is None
    assert not lanes(mask_box.compare("eq", a, scalars((-1,), (2, 2)))).any()
    assert mask_box.compare("eq", a, a).is_full()


def test_groups_are_as_few_as_can_be():
    """Programs that agree are one group, all of them at once where they all do; those without a lane are in none."""
    shape = (4, 2)
    both = mask_box.full((2,))
    for upper, expected in {
        (3, 3, 3): [(None, 3)],
        (3, 1, 3): [([1], 1), ([0, 2], 3)],
        (0, 2, 0): [([1], 2)],
        (0, 0, 0): [],
    }.items():
        mask = MaskBox((np.zeros(1, np.int64), both.lower[0]), (np.array(upper), both.upper[0]), shape)
        found = mask.groups(3)
        told = [(None if rows is None else rows.tolist(), slices[0].stop) for rows, slices in found]
        assert told == expected
        assert all(slices[1] == slice(0, 2) for _, slices in found)
    assert mask_box.full(shape).groups(3) == [(None, (slice(0, 4), slice(0, 2)))]
    assert mask_box.where_scalar(np.array([False]), shape).groups(3) == []


@pytest.mark.parametrize("bits", [8, 16, 32, 64])
def test_integers_fit_up_to_the_very_ends(bits):
    least, most = -(1 << (bits - 1)), (1 << (bits - 1)) - 1
    for base, stride in ((least, 1), (most - 3, 1), (most, -1), (least + 3, -1)):
        assert affine_block.fits(AffineBlock(np.array([base]), (stride,), (4,)), bits)
    if bits < 64:
        for base, stride in ((least - 1, 1), (most - 2, 1), (least + 2, -1), (most + 1, -1)):
            assert not affine_block.fits(AffineBlock(np.array([base]), (stride,), (4,)), bits)
        one = scalars((1,), (4,))
        ends = scalars((least, most), (4,))
        assert affine_block.add(ends, one, bits) is None and affine_block.subtract(ends, one, bits) is None
        assert affine_block.multiply(ends, scalars((-1,), (4,)), bits) is None
        assert affine_block.multiply(ends, one, bits) is not None


def test_products_that_64_bits_may_not_hold_are_left_to_the_lanes():
    """Computing them would wrap before anybody could look."""
    for a, b, inside in (
        (2**31, 2**31, False),
        (2**31, 2**31 - 1, True),
        (-(2**31), 2**31, False),
        (2**40, 2**40, False),
    ):
        for one, other in ((a, b), (b, a)):
            product = affine_block.multiply(scalars((one,), (2,)), scalars((other,), (2,)), 64)
            assert (product is not None) == inside
            assert product is None or (lanes(product) == a * b).all()


def test_the_largest_of_each_programs_factors_counts():
    factors = (2**40, 2**40), (1, 2**40), (-(2**40), 1)
    for one, other in itertools.permutations(factors, 2):
        assert affine_block.multiply(scalars(one, (2,)), scalars(other, (2,)), 64) is None


def test_products_stay_affine_where_one_factor_is_the_same_in_all_lanes():
    shape = (4, 2)
    block = AffineBlock(np.array([5, 6, 7]), (3, 1), shape)
    once, per_program = scalars((-3,), shape), scalars((2, -4, 9), shape)
    for one, other in ((block, once), (once, block), (per_program, once), (per_program, per_program)):
        product = affine_block.multiply(one, other, 32)
        assert product is not None and (lanes(product) == lanes(one) * lanes(other)).all()
    assert affine_block.multiply(block, per_program, 32) is None and affine_block.multiply(block, block, 32) is None
    assert (
        affine_block.multiply(AffineBlock(np.array([1]), (1, 0), shape), AffineBlock(np.array([1]), (0, 1), shape), 32)
        is None
    )


def test_an_axis_of_one_lane_has_no_stride():
    """So that it can be spread, and what it is multiplied with stays affine."""
    block = AffineBlock(np.array([5]), (3,), (4,))
    for axis in (0, 1):
        grown = affine_block.expand_dims(block, axis)
        assert grown.strides[axis] == 0 and grown.only_axis() == 1 - axis
        assert affine_block.with_shape(grown, (4,)).strides == (3,)
    assert affine_block.with_shape(block, (1, 4, 1)).strides == (0, 3, 0)
    assert affine_block.with_shape(block, (2, 2)) is None and affine_block.with_shape(block, (1, 2)) is None


def test_the_only_axis():
    base = np.zeros(1, np.int64)
    for strides, shape, axis in (
        ((1, 0), (2, 2), 0), ((0, 1), (2, 2), 1), ((1, 1), (2, 2), None), ((0, 0), (2, 2), -1),
        ((1, 1), (1, 2), 1), ((1, 1), (2, 1), 0), ((5, 5), (1, 1), -1), ((1, 0, 1), (2, 2, 2), None),
    ):  # fmt: skip
        assert AffineBlock(base, strides, shape).only_axis() == axis


@pytest.mark.parametrize("rows", [[0], [2, 0], [0, 1, 2], []])
def test_rows_are_taken_of_each_programs_own_and_of_what_all_share(rows):
    shape, chosen = (4,), np.array(rows, np.int64)
    shared, own = AffineBlock(np.array([7]), (1,), shape), AffineBlock(np.array([7, 8, 20]), (1,), shape)
    assert shared.take(chosen) is shared
    assert (lanes(own.take(chosen), len(rows)) == lanes(own)[chosen]).all()
    mask = mask_box.compare("lt", own, scalars((9,), shape))
    assert (lanes(mask.take(chosen), len(rows)) == lanes(mask)[chosen]).all()


def test_a_box_of_one_lane_spreads_where_it_is_on():
    on = np.array([True, False, True])
    for shape, wide in (((1,), (4,)), ((1, 2), (4, 2)), ((2, 1), (2, 4))):
        mask = mask_box.where_scalar(on, shape)
        spread = mask_box.broadcast(mask, wide)
        assert (lanes(spread) == on.reshape(3, *(1 for _ in wide))).all()
        assert spread.shape == wide and not spread.is_full()
    narrow = mask_box.compare("lt", AffineBlock(np.zeros(1, np.int64), (1, 0), (4, 1)), scalars((3,), (4, 1)))
    assert (lanes(mask_box.broadcast(narrow, (4, 2))) == (np.arange(4) < 3)[:, None]).all()
