"""An address in elements becomes coordinates: held to NumPy at every point, and without quotients where it can be."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from triton_lab.launch.argument import Argument
from triton_lab.polyhedral.core.affine_expr import AffineExpr
from triton_lab.polyhedral.kernels.element_coordinates import coordinates
from triton_lab.polyhedral.kernels.symbolic.symbol_facts import Facts


def tensor(shape: tuple[int, ...], strides: tuple[int, ...]) -> Argument:
    return Argument("x", "tensor", shape=shape, strides=strides, dtype="float32", itemsize=4)


def facts(**ranges: tuple[int, int]) -> Facts:
    return Facts(ranges, ranges)


def points(known: Facts) -> dict[str, np.ndarray]:
    """All values of the symbols together, one array a symbol."""
    spans = [range(int(low), int(high) + 1) for low, high in known.ranges.values()]
    grid = np.array(list(itertools.product(*spans))).reshape(-1, len(spans))
    return dict(zip(known.ranges, grid.T, strict=True))


@pytest.mark.parametrize(
    ("offset", "known", "row", "column"),
    [
        # One axis is a whole multiple of the stride, the other stays below it.
        ({"i": 8, "j": 1}, facts(i=(0, 4), j=(0, 7)), "i", "j"),
        # The columns lie in the next row.
        ({"i": 8, "j": 1}, facts(i=(0, 4), j=(8, 15)), "i + 1", "j - 8"),
        ({"i": 8, "j": 1, "": 11}, facts(i=(0, 3), j=(5, 12)), "i + 2", "j - 5"),
        # Backwards from the row's end.
        ({"i": 8, "j": -1, "": 7}, facts(i=(0, 4), j=(0, 7)), "i", "-j + 7"),
        # A coefficient near the stride: the diagonal, forwards and backwards.
        ({"i": 9}, facts(i=(0, 4)), "i", "i"),
        ({"i": 7, "": 7}, facts(i=(0, 4)), "i", "-i + 7"),
    ],
)
def test_a_row_is_told_without_a_quotient(offset: dict[str, int], known: Facts, row: str, column: str) -> None:
    flat = AffineExpr.make({name: c for name, c in offset.items() if name}, offset.get("", 0))
    found = coordinates(flat, tensor((8, 8), (8, 1)), known, ())
    assert found is not None
    assert [str(axis) for axis in found] == [row, column]
    at = points(known)
    expected = np.unravel_index(np.asarray(flat.evaluate(at)), (8, 8))
    for axis, told in zip(found, expected, strict=True):
        assert np.asarray(axis.evaluate(at)).tolist() == told.tolist()


@pytest.mark.parametrize(
    ("coefficient", "start", "rows", "columns"),
    [
        (33, 0, 1, 1),
        (34, 0, 1, 2),
        (63, 31, 2, -1),
        (65, 3, 2, 1),
        (-1, 31, 0, -1),
        (-31, 320, -1, 1),
        (-35, 351, -1, -3),
    ],
)
def test_of_many_terms_the_nearest_multiples_are_tried_first(
    coefficient: int, start: int, rows: int, columns: int
) -> None:
    """Ten terms: too many to try all ways to divide them between row and column."""
    names = [f"i{k}" for k in range(10)]
    known = facts(**dict.fromkeys(names, (0, 1)))
    found = coordinates(AffineExpr.make(dict.fromkeys(names, coefficient), start), tensor((64, 32), (32, 1)), known, ())
    row, column = divmod(start, 32)
    assert found == (
        AffineExpr.make(dict.fromkeys(names, rows), row) if rows else AffineExpr.of(row),
        AffineExpr.make(dict.fromkeys(names, columns), column),
    )


def test_what_no_affine_row_tells_gets_a_quotient() -> None:
    found = coordinates(AffineExpr.of("i"), tensor((4, 8), (8, 1)), facts(i=(0, 31)), ())
    assert found is not None
    assert str(found[0]) == "⌊i/8⌋"
    at = points(facts(i=(0, 31)))
    for axis, told in zip(found, np.unravel_index(at["i"], (4, 8)), strict=True):
        assert np.asarray(axis.evaluate(at)).tolist() == told.tolist()


@given(
    extents=st.lists(st.integers(2, 4), min_size=1, max_size=3),
    padding=st.integers(0, 2),
    coefficients=st.lists(st.integers(0, 12), min_size=2, max_size=2),
    starts=st.lists(st.integers(0, 9), min_size=2, max_size=2),
)
def test_coordinates_lead_back_to_the_element(
    extents: list[int], padding: int, coefficients: list[int], starts: list[int]
) -> None:
    """Inside the tensor they are NumPy's; outside, whatever they are, they lead to the same element."""
    strides, step = [], 1
    for extent in reversed(extents):
        strides.insert(0, step)
        step = step * extent + padding
    known = facts(**{name: (start, start + 2) for name, start in zip("ij", starts, strict=True)})
    offset = AffineExpr.make(dict(zip("ij", coefficients, strict=True)))
    argument = tensor(tuple(extents), tuple(strides))
    found = coordinates(offset, argument, known, ())
    if found is None:
        return
    at = points(known)
    places = [np.broadcast_to(np.asarray(axis.evaluate(at)), at["i"].shape) for axis in found]
    flat = np.asarray(offset.evaluate(at)) + np.zeros_like(at["i"])
    assert sum(place * stride for place, stride in zip(places, strides, strict=True)).tolist() == flat.tolist()
    if not padding:
        inside = flat < math.prod(extents)
        for place, told in zip(places, np.unravel_index(flat[inside], extents), strict=True):
            assert place[inside].tolist() == told.tolist()


def test_strides_that_do_not_tell_elements_apart_are_refused() -> None:
    known = facts(i=(0, 3), j=(0, 3))
    offset = AffineExpr.make({"i": 2, "j": 1})
    assert coordinates(offset, tensor((4, 4), (2, 1)), known, ()) is None, "rows overlap"
    assert coordinates(offset, tensor((4, 4), (0, 1)), known, ()) is None, "one row, four times"
    assert coordinates(AffineExpr.make({"i": 2}, 1), tensor((4,), (2,)), known, ()) is None, "between two elements"
