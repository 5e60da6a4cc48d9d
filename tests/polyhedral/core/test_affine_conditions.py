"""Comparisons with minima and maxima as cases of constraints: they hold where the comparison does, and nowhere else."""

from __future__ import annotations

import itertools
import operator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from triton_lab.polyhedral.core import affine_conditions
from triton_lab.polyhedral.core.affine_conditions import FALSE, TRUE, Constraint, Extremum
from triton_lab.polyhedral.core.affine_expr import AffineExpr

OPERATORS = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq, "!=": operator.ne,
}  # fmt: skip
POINTS = [{"i": i, "n": n} for i, n in itertools.product(range(-4, 5), range(-3, 4))]
small = st.integers(-3, 3)


@st.composite
def values(draw, depth=2) -> affine_conditions.Value:
    if depth and draw(st.booleans()):
        arguments = tuple(draw(st.lists(values(depth - 1), min_size=2, max_size=2)))
        return Extremum(draw(st.sampled_from(["min", "max"])), arguments)
    return AffineExpr.make({"i": draw(small), "n": draw(small)}, draw(small))


def number(value: affine_conditions.Value, at: dict[str, int]) -> int:
    if isinstance(value, AffineExpr):
        return value.evaluate(at)
    return {"min": min, "max": max}[value.kind](number(each, at) for each in value.arguments)


def holds(formula: affine_conditions.Formula, at: dict[str, int]) -> bool:
    def one(constraint: Constraint) -> bool:
        found = constraint.expression.evaluate(at)
        return found == 0 if constraint.equality else found >= 0

    return any(all(map(one, case)) for case in formula)


@settings(max_examples=60, deadline=None)
@given(values(), values(), st.sampled_from(sorted(OPERATORS)))
def test_a_comparison_holds_exactly_where_it_does(left, right, op):
    formula = affine_conditions.compare(op, left, right)
    other = affine_conditions.compare(affine_conditions.opposite(op), left, right)
    for at in POINTS:
        expected = OPERATORS[op](number(left, at), number(right, at))
        assert holds(formula, at) == expected and holds(other, at) != expected


@settings(max_examples=100, deadline=None)
@given(values(), values(), small, st.integers(1, 4))
def test_arithmetic_goes_inside_of_minima_and_maxima(a, b, factor, divisor):
    for at in POINTS[::7]:
        assert number(affine_conditions.add(a, b), at) == number(a, at) + number(b, at)
        assert number(affine_conditions.scale(a, factor), at) == number(a, at) * factor
        assert number(affine_conditions.floor_divide(a, divisor), at) == number(a, at) // divisor
        exact = number(a, at)
        assert number(affine_conditions.truncate_divide(a, divisor), at) == (abs(exact) // divisor) * (
            1 if exact >= 0 else -1
        )


@pytest.mark.parametrize("op", OPERATORS)
@pytest.mark.parametrize("numbers", [(1, 2), (2, 2), (3, 2)])
def test_what_is_decided_is_true_or_false(op, numbers):
    left, right = (AffineExpr((), number) for number in numbers)
    assert affine_conditions.compare(op, left, right) == (TRUE if OPERATORS[op](*numbers) else FALSE)


def test_an_equality_is_one_constraint_and_cases_keep_their_order():
    i, n = AffineExpr.of("i"), AffineExpr.of("n")
    assert affine_conditions.compare("==", i, n) == ((Constraint(n - i, equality=True),),)
    one, other = affine_conditions.compare("<", i, n), affine_conditions.compare(">=", i, AffineExpr())
    assert affine_conditions.conjunction(one, other) == ((Constraint(n - i - 1), Constraint(i)),)
    assert affine_conditions.disjunction(one, other) == ((Constraint(n - i - 1),), (Constraint(i),))
    assert affine_conditions.conjunction(one, FALSE) == FALSE and affine_conditions.disjunction(one, FALSE) == one
    assert len(affine_conditions.compare("!=", i, n)) == 2


@settings(max_examples=200, deadline=None)
@given(values(0), st.booleans())
def test_a_constraint_is_told_of_any_iterators(expression, equality):
    constraint = Constraint(expression, equality)
    for iterators in ((), ("i",), ("n", "i")):
        for text in (str(constraint), constraint.told(iterators)):
            relation = next(r for r in "≥≤=" if r in text)
            left, right = text.replace("−", "-").split(f" {relation} ")
            function = {"≥": ">=", "≤": "<=", "=": "=="}[relation]
            for at in POINTS[::5]:
                sides = [eval(written(side), dict(at)) for side in (left, right)]
                assert OPERATORS[function](*sides) == holds(((constraint,),), at)


def written(text: str) -> str:
    """``2i`` for Python."""
    return "".join(f"*{c}" if c.isalpha() and k and text[k - 1].isdigit() else c for k, c in enumerate(text))


@pytest.mark.parametrize(
    ("expression", "iterators", "told"),
    [
        (AffineExpr.make({"i": 1, "j": -1}, -1), (), "i ≥ j + 1"),
        (AffineExpr.make({"j": -1, "n": 1}, -1), ("j",), "j ≤ n − 1"),
        (AffineExpr.make({"i": -2, "j": -3}, 9), ("i", "j"), "2i + 3j ≤ 9"),
        (AffineExpr.make({"i": -1, "j": -1}, 9), ("i", "j"), "i + j ≤ 9"),
        (AffineExpr.make({"n": 1}, 3), ("i",), "n ≥ −3"),
        (AffineExpr((), 3), (), "3 ≥ 0"),
    ],
)
def test_one_name_stands_alone_on_the_left_where_that_reads_well(expression, iterators, told):
    assert affine_conditions.comparison(expression, "≥", iterators) == told


@settings(max_examples=100, deadline=None)
@given(st.lists(st.builds(Constraint, values(0), st.booleans()), max_size=4))
def test_constraints_that_exclude_each_other_hold_nowhere(case: list[Constraint]) -> None:
    if affine_conditions.contradictory(case):
        assert not any(holds((tuple(case),), at) for at in POINTS)


@pytest.mark.parametrize("gap", [0, 1])
@pytest.mark.parametrize("equality", [False, True])
def test_opposite_constraints_exclude_each_other_beyond_their_border(gap: int, equality: bool) -> None:
    i, n = AffineExpr.of("i"), AffineExpr.of("n")
    case = [Constraint(i - n - gap, equality), Constraint(n - i)]
    assert affine_conditions.contradictory(case) == bool(gap)
