"""Corners of polyhedra by exact arithmetic, and the half-spaces that hold all integer points of a constraint."""

from __future__ import annotations

import itertools
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from triton_lab.polyhedral.core.affine_conditions import Constraint
from triton_lab.polyhedral.core.affine_expr import AffineExpr
from triton_lab.polyhedral.core.polyhedron_corners import corners, half_space, half_spaces

small = st.integers(-4, 4)
rows = st.lists(st.tuples(small, small, small), min_size=2, max_size=6)


@settings(max_examples=150, deadline=None)
@given(rows)
def test_corners_in_the_plane_are_where_two_borders_cross_inside(found):
    """By Cramer's rule."""
    expected = set()
    for (a, b, c), (d, e, f) in itertools.combinations(found, 2):
        determinant = a * e - b * d
        if determinant:
            x, y = Fraction(b * f - c * e, determinant), Fraction(c * d - a * f, determinant)
            if all(p * x + q * y + r >= 0 for p, q, r in found):
                expected.add((x, y))
    assert corners(found) == tuple(sorted(expected))


def test_corners_of_a_cube_a_line_and_nothing():
    cube = [(*(s if k == axis else 0 for k in range(3)), 1) for axis in range(3) for s in (1, -1)]
    assert corners(cube) == tuple(itertools.product((-1, 1), repeat=3))
    assert corners([(2, 1), (-1, 3)]) == ((Fraction(-1, 2),), (Fraction(3),))
    assert corners([]) == () and corners([(1, 0), (-1, -1)]) == ()


@settings(max_examples=150, deadline=None)
@given(small, small, small, st.integers(-3, 3), st.integers(1, 4), st.integers(-3, 3), st.integers(-3, 3))
def test_a_half_space_holds_every_integer_point_and_no_other_where_there_is_no_quotient(a, b, c, q, d, e, f):
    """Of ``a i + b j + c + q floor((e i + f) / d) >= 0``."""
    i, j = AffineExpr.of("i"), AffineExpr.of("j")
    expression = i * a + j * b + c + ((i * e + f) // d) * q
    row = half_space(expression, ["i", "j"])
    for x, y in itertools.product(range(-6, 7), repeat=2):
        exact = expression.evaluate({"i": x, "j": y})
        most = row[0] * x + row[1] * y + row[2]
        if exact >= 0:
            assert most >= 0
        if not expression.quotients:
            assert (most >= 0) == (exact >= 0)


def test_an_equality_is_two_half_spaces_and_values_take_the_place_of_names():
    i, n = AffineExpr.of("i"), AffineExpr.of("n")
    piece = (Constraint(n - i), Constraint(i - 2, equality=True))
    assert half_spaces(piece, {"n": AffineExpr((), 9)}, ["i"]) == [(-1, 9), (1, -2), (-1, 2)]


@pytest.mark.parametrize(
    ("expression", "row"),
    [
        (AffineExpr.of("i") // 2, (1, 0)),
        (AffineExpr.of("i") // -2, (-1, 0)),
        ((AffineExpr.of("i") // 3) * -1 + 1, (-1, 5)),
        ((AffineExpr.of("i") + AffineExpr.of("i") // 2 + 1), (3, 2)),
    ],
)
def test_half_spaces_of_quotients(expression, row):
    assert half_space(expression, ["i"]) == row
