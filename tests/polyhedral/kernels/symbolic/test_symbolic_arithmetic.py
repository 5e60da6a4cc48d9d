"""Arithmetic by cases, held to Python's own on all points of a box."""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.wordings import Wording
from triton_lab.polyhedral.core.affine_conditions import Constraint, Extremum, value_at
from triton_lab.polyhedral.core.affine_expr import AffineExpr
from triton_lab.polyhedral.kernels.symbolic import symbolic_arithmetic
from triton_lab.polyhedral.kernels.symbolic.symbol_facts import Facts, interval
from triton_lab.polyhedral.kernels.symbolic.symbolic_values import SymbolicCase, SymbolicNumber, Unknown, holds

RANGES = {"_a": (0, 3), "_b": (-2, 2)}
FACTS = Facts(RANGES, RANGES)
A, B = AffineExpr.of("_a"), AffineExpr.of("_b")
POINTS = dict(zip(RANGES, np.array(list(itertools.product(range(4), range(-2, 3)))).T, strict=True))
SIZE = 20

expressions = st.builds(lambda a, b, c: A * a + B * b + c, *(st.integers(-2, 2),) * 2, st.integers(-5, 5))
quotients = st.builds(lambda e, d, k: (e // d) * k, expressions, st.integers(2, 4), st.integers(-2, 2))
affine = st.one_of(expressions, st.builds(operator.add, quotients, expressions))


def _by_cases(split: AffineExpr, yes: AffineExpr, no: AffineExpr) -> SymbolicNumber:
    return SymbolicNumber((SymbolicCase((Constraint(split),), yes), SymbolicCase((Constraint(-split - 1),), no)))


def _greater(kind: str, x: AffineExpr, y: AffineExpr) -> SymbolicNumber:
    below = x - y if kind == "max" else y - x
    pieces = (SymbolicCase((Constraint(below),), x), SymbolicCase((Constraint(-below - 1),), y))
    return SymbolicNumber(pieces, Extremum(kind, (x, y)))  # type: ignore[arg-type]


numbers = st.one_of(
    st.builds(SymbolicNumber.of, affine),
    st.builds(_by_cases, expressions, affine, affine),
    st.builds(_greater, st.sampled_from(["min", "max"]), expressions, expressions),
)


def values(number: SymbolicNumber) -> np.ndarray:
    return np.broadcast_to(number.evaluate(POINTS), SIZE)


def truncated(x: int, y: int) -> int:
    return abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)


def said_by_extremum(number: SymbolicNumber) -> np.ndarray | None:
    """What ``extremum`` says, where there is one."""
    return None if number.extremum is None else np.broadcast_to(value_at(number.extremum, POINTS), SIZE)


def assert_is(found: SymbolicNumber | Unknown, expected: np.ndarray | list[int]) -> None:
    assert isinstance(found, SymbolicNumber), found
    assert values(found).tolist() == list(expected)
    told = said_by_extremum(found)
    assert told is None or told.tolist() == list(expected)


@settings(max_examples=60, deadline=None)
@given(numbers, numbers, st.integers(-3, 3))
def test_sums_differences_and_multiples(a: SymbolicNumber, b: SymbolicNumber, factor: int) -> None:
    assert_is(symbolic_arithmetic.add(a, b, FACTS), values(a) + values(b))
    assert_is(symbolic_arithmetic.subtract(a, b, FACTS), values(a) - values(b))
    assert_is(symbolic_arithmetic.scaled(a, factor), values(a) * factor)


@settings(max_examples=60, deadline=None)
@given(numbers, numbers)
def test_products_least_and_greatest(a: SymbolicNumber, b: SymbolicNumber) -> None:
    found = symbolic_arithmetic.multiply(a, b, FACTS)
    if isinstance(found, Unknown):
        assert "too many cases" in found.reason
    else:
        assert_is(found, values(a) * values(b))
    assert_is(symbolic_arithmetic.extremum("min", a, b, FACTS), np.minimum(values(a), values(b)))
    assert_is(symbolic_arithmetic.extremum("max", a, b, FACTS), np.maximum(values(a), values(b)))


COMPARED: dict[str, Callable[..., np.ndarray]] = {
    "<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal, "==": np.equal, "!=": np.not_equal,
}  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(numbers, numbers, st.sampled_from(sorted(COMPARED)))
def test_comparisons(a: SymbolicNumber, b: SymbolicNumber, op: str) -> None:
    found = symbolic_arithmetic.compare(op, a, b, FACTS)
    assert found.unknown is None
    assert np.broadcast_to(holds(found.cases, POINTS), SIZE).tolist() == COMPARED[op](values(a), values(b)).tolist()


divisors = st.one_of(
    st.integers(-4, 4).map(SymbolicNumber.of),
    st.sampled_from([A + 1, -A - 1, B + 3, B - 3, A * 2 - 3]).map(SymbolicNumber.of),
    st.builds(_by_cases, expressions, st.just(A + 1), st.sampled_from([AffineExpr.of(-2), B - 4])),
)


def by_zero() -> Unknown:
    found = symbolic_arithmetic.divide(SymbolicNumber.of(3), SymbolicNumber.of(0), FACTS, "floor")
    assert isinstance(found, Unknown)
    return found


def test_a_divisor_of_zero_is_the_reason(wording: Wording) -> None:
    wording(by_zero().reason)


@settings(max_examples=80, deadline=None)
@given(numbers, divisors, st.sampled_from(["floor", "zero"]))
def test_quotients_and_remainders(a: SymbolicNumber, b: SymbolicNumber, rounding: str) -> None:
    quotient = symbolic_arithmetic.divide(a, b, FACTS, rounding)  # type: ignore[arg-type]
    rest = symbolic_arithmetic.remainder(a, b, FACTS, rounding)  # type: ignore[arg-type]
    pairs = list(zip(values(a).tolist(), values(b).tolist(), strict=True))
    if any(y == 0 for _, y in pairs):
        assert isinstance(quotient, Unknown) and isinstance(rest, Unknown)
        assert quotient.reason == rest.reason == by_zero().reason
        return
    divided = truncated if rounding == "zero" else operator.floordiv
    for found, expected in (
        (quotient, [divided(x, y) for x, y in pairs]),
        (rest, [x - divided(x, abs(y)) * abs(y) for x, y in pairs]),
    ):
        if isinstance(found, Unknown):
            assert "too many cases" in found.reason
        else:
            assert_is(found, expected)


FAR = {"_a": (0, 3), "_b": (-2, 2), "_x": (-math.inf, math.inf), "n": (1, 3), "m": (1, math.inf)}
WIDE = Facts(FAR, FAR)
X, N = AffineExpr.of("_x"), AffineExpr.of("n")


def test_what_is_known_of_a_factor_only_by_its_case_is_gone_through() -> None:
    between = (Constraint(X - 1), Constraint(-X + 3))
    few = SymbolicNumber(
        (
            SymbolicCase(between, X),
            SymbolicCase((Constraint(X - 4),), AffineExpr.of(5)),
            SymbolicCase((Constraint(-X),), AffineExpr.of(7)),
        )
    )
    points = {"_x": np.arange(-3, 7), "_a": np.array([[0], [2], [3]])}
    plus = SymbolicNumber.of(A + 20)
    for found, function in (
        (symbolic_arithmetic.multiply(plus, few, WIDE), np.multiply),
        (symbolic_arithmetic.multiply(few, plus, WIDE), np.multiply),
        (symbolic_arithmetic.divide(plus, few, WIDE), np.floor_divide),
        (symbolic_arithmetic.remainder(plus, few, WIDE), np.remainder),
    ):
        assert isinstance(found, SymbolicNumber)
        assert found.evaluate(points).tolist() == function(plus.evaluate(points), few.evaluate(points)).tolist()


@pytest.mark.parametrize("half", [Constraint(X - 1), Constraint(-X - 1)], ids=["above", "below"])
def test_a_factor_or_divisor_without_end_is_unknown(half: Constraint, wording: Wording) -> None:
    endless = SymbolicNumber(
        (SymbolicCase((half,), X), SymbolicCase((Constraint(-half.expression - 1),), AffineExpr.of(3)))
    )
    other = SymbolicNumber.of(X * 2 + 1)
    product = symbolic_arithmetic.multiply(endless, other, WIDE)
    assert isinstance(product, Unknown) and product.names == {"_x"}
    wording(product.reason)
    quotient = symbolic_arithmetic.divide(other, endless, WIDE)
    assert isinstance(quotient, Unknown) and quotient.names == {"_x"} and "a variable" in quotient.reason
    assert isinstance(symbolic_arithmetic.remainder(other, endless, WIDE), Unknown)


def test_a_parameter_is_asked_for_and_no_case_is_made_of_it() -> None:
    for a, b in ((N, A), (A, N), (N, N + 1), (AffineExpr.of("m"), A)):
        found = symbolic_arithmetic.multiply(SymbolicNumber.of(a), SymbolicNumber.of(b), WIDE)
        assert isinstance(found, Unknown) and found.names == a.names | b.names
    for function in (symbolic_arithmetic.divide, symbolic_arithmetic.remainder):
        found = function(SymbolicNumber.of(A), SymbolicNumber.of(N), WIDE)
        assert isinstance(found, Unknown) and found.names == {"n"}
    known = {**FAR, "n": (2, 2)}
    found = symbolic_arithmetic.multiply(SymbolicNumber.of(N), SymbolicNumber.of(X), Facts(known, known))
    assert found == SymbolicNumber.of(X * 2), "a parameter with its value is a number"


def test_a_number_is_constant_where_it_has_one_case_and_one_value() -> None:
    assert symbolic_arithmetic.constant(SymbolicNumber.of(7), FACTS) == 7
    assert symbolic_arithmetic.constant(SymbolicNumber.of(A // 4 - 2), FACTS) == -2
    assert symbolic_arithmetic.constant(SymbolicNumber.of(A), FACTS) is None
    assert symbolic_arithmetic.constant(_by_cases(B, AffineExpr.of(1), AffineExpr.of(2)), FACTS) is None


@pytest.mark.parametrize("divisor", [2, 3, 4, 8])
@pytest.mark.parametrize("shift", range(-9, 9))
def test_a_quotient_that_never_changes_is_its_value(divisor: int, shift: int) -> None:
    found = symbolic_arithmetic.floor(A + shift + X * divisor * 2, divisor, WIDE)
    inside = {(a + shift) // divisor for a in range(4)}
    assert bool(found.quotients) == (len(inside) > 1)
    for a, x in itertools.product(range(4), (-3, 0, 5)):
        assert int(found.evaluate({"_a": a, "_x": x})) == (a + shift + x * divisor * 2) // divisor


@pytest.mark.parametrize("bits", [3, 4, 8])
def test_what_fits_stands_on_both_sides_of_each_limit(bits: int) -> None:
    most = 2 ** (bits - 1)
    for low, high in itertools.product((-most - 1, -most, 0), (0, most - 1, most)):
        here = Facts({"n": (-math.inf, math.inf)}, {"n": (low, high)})
        assert symbolic_arithmetic.fits(SymbolicNumber.of("n"), bits, here) == (-most <= low and high < most)
        # Intervals say too much: the case keeps the value inside.
        cut = (Constraint(N + most), Constraint(-N + most - 1))
        outside = SymbolicNumber((SymbolicCase(cut, N), SymbolicCase((Constraint(N - most),), AffineExpr.of(0))))
        assert symbolic_arithmetic.fits(outside, bits, here)
        assert symbolic_arithmetic.fits(
            SymbolicNumber((SymbolicCase((Constraint(N - 4 * most),), N * 9),)), bits, here
        ), "nowhere"
    assert symbolic_arithmetic.fits(SymbolicNumber.of("_c0"), bits, FACTS), "a loop's value that is looked at again"
    assert not symbolic_arithmetic.fits(SymbolicNumber.of("_x"), bits, FACTS)
    mixed = SymbolicNumber(
        (SymbolicCase((Constraint(B),), AffineExpr.of("_c0")), SymbolicCase((Constraint(-B - 1),), AffineExpr.of(most)))
    )
    assert not symbolic_arithmetic.fits(mixed, bits, FACTS), "each case counts"


conditions = st.lists(st.builds(Constraint, affine, st.booleans()), max_size=2).map(tuple)


def _where(when: tuple[Constraint, ...]) -> np.ndarray:
    return np.broadcast_to(holds((when,), POINTS), SIZE)


@settings(max_examples=100, deadline=None)
@given(affine, conditions, conditions)
def test_facts_know_the_least_and_the_greatest(value: AffineExpr, when: tuple[Constraint, ...], more: tuple) -> None:  # type: ignore[type-arg]
    every = np.broadcast_to(value.evaluate(POINTS), SIZE)
    low, high = FACTS.bounds(value)
    assert low <= every.min() and every.max() <= high
    assert FACTS.bounds_here(value) == (low, high)
    facts = FACTS.under((more,))
    there = every[_where(when) & _where(more)]
    expected = (there.min(), there.max()) if there.size else (math.inf, -math.inf)
    assert facts.exact(value, when) == facts.exact(value, when) == expected
    for low, high in ((expected[0], expected[1]), (-2, 3)):
        if there.size or high == 3:
            beyond = bool(((there < low) | (there > high)).any())
            assert facts.leaves_here(value, int(low), int(high), when) == beyond
    assert facts.feasible(when) == bool(there.size)
    trimmed = FACTS.trim(when)
    assert _where(when).tolist() == (_where(trimmed).tolist() if trimmed is not None else [False] * SIZE)


@pytest.mark.parametrize("equality", [False, True])
@pytest.mark.parametrize("shift", range(-6, 4))
def test_what_always_or_never_holds_is_seen_by_its_interval(shift: int, equality: bool) -> None:
    """Of one symbol an interval is exact."""
    for expression in (A + shift, -A - shift, A * 0 + shift):
        holding = {bool(holds(((Constraint(expression, equality),),), {"_a": a})) for a in range(4)}
        when = (Constraint(expression, equality),) * 2
        inside = (
            equality and holding == {False} and min(abs(int(expression.evaluate({"_a": a}))) for a in range(4)) == 0
        )
        assert not inside
        expected = {(True,): (), (False,): None}.get(tuple(holding), when[:1])
        assert FACTS.trim(when) == expected


@pytest.mark.parametrize("factor", [-3, -1, 1, 2])
@pytest.mark.parametrize("divisor", [2, 5])
def test_a_remainder_is_bounded_whatever_it_is_of(divisor: int, factor: int) -> None:
    rest = (X - (X // divisor) * divisor) * factor
    ends = sorted((0, factor * (divisor - 1)))
    assert interval(rest, FAR) == tuple(ends)
    assert interval(rest + A + 7, FAR) == (ends[0] + 7, ends[1] + 10)
    assert interval(rest, {"_x": (0, 1)})[0] >= ends[0]
    for doubled in ((X // divisor) * divisor * factor, X * factor - (X // divisor)):
        assert not all(map(math.isfinite, interval(doubled, FAR))), "no remainder"


def test_what_holds_here_is_known_apart_from_what_holds_always() -> None:
    facts = Facts({"n": (1, math.inf)}, {"n": (8, 8)}).block((4, 2))
    assert facts.bounds(AffineExpr.of("_l0")) == (0, 3) == facts.bounds_here(AffineExpr.of("_l0"))
    assert facts.bounds(AffineExpr.of("_l1")) == (0, 1)
    assert facts.exact(N) == facts.bounds(N) == (1, math.inf)
    assert facts.bounds_here(N) == (8, 8) and not facts.leaves_here(N, 8, 8, ())
    assert facts.leaves_here(N, 9, 20, ()) and facts.leaves_here(N, 1, 7, ())
    under = facts.under(((Constraint(-N + 5),),), _c=((0, 9), (0, 1)))
    assert under.exact(N) == (1, 5) and not under.leaves_here(N, 9, 20, ()), "it never runs here"
    assert (under.bounds(AffineExpr.of("_c")), under.bounds_here(AffineExpr.of("_c"))) == ((0, 9), (0, 1))
    assert under.block((4, 2)).bounds(AffineExpr.of("_l0")) == (0, 3)
    assert facts.bounds(AffineExpr.of("other")) == (-math.inf, math.inf)
