"""Affine expressions, conditions with min and max, corners and counts, against plain arithmetic."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.wordings import Wording
from triton_lab.polyhedral import scop
from triton_lab.polyhedral.core.affine_conditions import (
    Extremum,
    Value,
    add,
    compare,
    comparison,
    floor_divide,
    scale,
    truncate_divide,
    value_at,
)
from triton_lab.polyhedral.core.affine_expr import AffineExpr, isl_name, source_name
from triton_lab.polyhedral.core.polyhedron_corners import corners
from triton_lab.polyhedral.related_work import page_nests

_NAMES = ("i", "j", "n")
_small = st.integers(-4, 4)


@st.composite
def affines(draw: st.DrawFn) -> AffineExpr:
    total = AffineExpr.make({name: draw(_small) for name in _NAMES}, draw(_small))
    for _ in range(draw(st.integers(0, 2))):
        divisor = draw(st.integers(1, 4))
        total = total // divisor if draw(st.booleans()) else total % divisor
        total += AffineExpr.of(draw(st.sampled_from(_NAMES)))
    return total


@st.composite
def values(draw: st.DrawFn, depth: int = 2) -> Value:
    if depth and draw(st.booleans()):
        kind = draw(st.sampled_from(["min", "max"]))
        return Extremum(kind, (draw(values(depth - 1)), draw(values(depth - 1))))
    return draw(affines())


_places = st.fixed_dictionaries({name: st.integers(-9, 9) for name in _NAMES})


def number(value: Value, place: dict[str, int]) -> int:
    if isinstance(value, Extremum):
        parts = [number(a, place) for a in value.arguments]
        return min(parts) if value.kind == "min" else max(parts)
    return int(value.evaluate(place))


@given(affines(), affines(), st.integers(-5, 5), st.integers(1, 5), _places)
def test_arithmetic_is_that_of_the_integers(
    a: AffineExpr, b: AffineExpr, factor: int, divisor: int, place: dict[str, int]
) -> None:
    x, y = number(a, place), number(b, place)
    assert number(a + b, place) == x + y
    assert number(a - b, place) == x - y
    assert number(a * factor, place) == x * factor
    assert number(a // divisor, place) == x // divisor
    assert number(a % divisor, place) == x % divisor
    assert number(a.substitute({"i": b}), place) == number(a, {**place, "i": y})


@given(values(), values(), st.integers(-3, 3), st.integers(1, 4), _places)
def test_min_and_max_go_through_arithmetic(
    a: Value, b: Value, factor: int, divisor: int, place: dict[str, int]
) -> None:
    x, y = number(a, place), number(b, place)
    assert number(add(a, b), place) == x + y
    assert number(scale(a, factor), place) == x * factor
    assert number(floor_divide(a, divisor), place) == x // divisor
    assert number(truncate_divide(a, divisor), place) == int(Fraction(x, divisor))


@given(values(), st.lists(_places, min_size=1, max_size=4))
def test_a_value_is_the_same_of_one_place_and_of_many(value: Value, places: list[dict[str, int]]) -> None:
    expected = [number(value, place) for place in places]
    assert [value_at(value, place) for place in places] == expected
    together = {name: np.array([place[name] for place in places]) for name in _NAMES}
    assert np.broadcast_to(value_at(value, together), len(places)).tolist() == expected


@given(values(), values(), st.sampled_from(["<", "<=", ">", ">=", "==", "!="]), _places)
def test_a_comparison_is_a_disjunction_of_conjunctions(a: Value, b: Value, op: str, place: dict[str, int]) -> None:
    formula = compare(op, a, b)

    def holds(constraint) -> bool:  # type: ignore[no-untyped-def]
        value = number(constraint.expression, place)
        return value == 0 if constraint.equality else value >= 0

    expected = eval(f"x {op} y", {"x": number(a, place), "y": number(b, place)})
    assert any(all(holds(c) for c in case) for case in formula) == expected


@given(affines(), st.sampled_from(["≥", "="]), _places)
def test_a_constraint_in_words_says_what_it_says(e: AffineExpr, relation: str, place: dict[str, int]) -> None:
    if e.quotients:
        return
    words = comparison(e, relation, ("i", "j")).replace("−", "-")
    for sign, op in (("≥", ">="), ("≤", "<="), ("≠", "!=")):
        words = words.replace(sign, op)
    words = words.replace("=", "==") if relation == "=" else words
    for name in _NAMES:
        for digit in "23456789":
            words = words.replace(f"{digit}{name}", f"{digit}*{name}")
        words = words.replace(f"0{name}", f"0*{name}")
    value = number(e, place)
    assert eval(words, dict(place)) == {"≥": value >= 0, "=": value == 0}[relation]


def test_words_of_isl_are_names_of_ours() -> None:
    for word in ("mod", "floor", "rat", "exists", "i", "mod_", "and__"):
        assert source_name(isl_name(word)) == word
    found = scop("for (int mod = 0; mod < floor; mod++) A[mod] = 0;", floor=3)
    assert found.count() == 3
    assert found.schedule.program() == "for (int mod = 0; mod < floor; mod++)\n  A[mod] = 0;"


def test_corners_are_those_of_the_constraints_as_written() -> None:
    assert corners([(2, 0, 0), (-2, 0, 9), (0, 1, 0), (0, -2, 9)]) == tuple(
        itertools.product((Fraction(0), Fraction(9, 2)), repeat=2)
    )
    assert scop(page_nests.PAGE).domain.vertices({}) == ((0, 0), (0, 4), (2, 2), (2, 4))
    assert corners([(1, 0), (-1, -1)]) == ()


@pytest.mark.parametrize("n", range(8))
def test_counts_are_those_of_brute_force(n: int) -> None:
    nest = scop("for (int i=0;i<n;i++) for (int j=i;j<2*n;j+=3) for (int k=j/2;k<=i;k++) if (k%2 != 1) A[i]+=k;", n=n)
    expected = [(i, j, k) for i in range(n) for j in range(i, 2 * n, 3) for k in range(j // 2, i + 1) if k % 2 != 1]
    assert nest.count() == len(expected)
    assert list(map(tuple, nest.points().tolist())) == expected


def test_an_unbounded_domain_is_told_of(wording: Wording) -> None:
    with wording.raises(ValueError):
        scop(page_nests.WAVEFRONT).count()
    assert np.array_equal(scop(page_nests.WAVEFRONT, n=2).points(), [[1, 1]])
