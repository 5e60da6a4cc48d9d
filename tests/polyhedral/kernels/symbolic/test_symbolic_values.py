"""Numbers by cases: what is pruned can nowhere occur, and what is kept means the same. Held to all points of a box."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from triton_lab.polyhedral.core.affine_conditions import Constraint, Extremum
from triton_lab.polyhedral.core.affine_expr import AffineExpr
from triton_lab.polyhedral.kernels.symbolic.symbol_facts import Case, Facts
from triton_lab.polyhedral.kernels.symbolic.symbolic_values import (
    MOST_CASES,
    SymbolicCase,
    SymbolicNumber,
    Truth,
    Unknown,
    both,
    either,
    holds,
    holds_case,
    negation,
    pruned,
    simplified,
)

RANGES = {"i": (0, 3), "j": (-1, 2)}
FACTS = Facts(RANGES, RANGES)
FIRST, SECOND = AffineExpr.of("i"), AffineExpr.of("j")
POINTS = dict(zip(RANGES, np.array(list(itertools.product(range(4), range(-1, 3)))).T, strict=True))
# What intervals see is always so or never, and what only isl sees.
NEVER = (Constraint(FIRST - SECOND - 1), Constraint(SECOND - FIRST - 1))
ALWAYS = Constraint(FIRST)
EVEN_WORSE = (Constraint(FIRST - 4),)

expressions = st.builds(
    lambda a, b, c: FIRST * a + SECOND * b + c, st.integers(-2, 2), st.integers(-2, 2), st.integers(-3, 3)
)
cases = st.lists(st.builds(Constraint, expressions, st.booleans()), max_size=3).map(tuple)
pieces = st.lists(st.builds(SymbolicCase, cases, expressions), min_size=1, max_size=4)


@given(pieces)
def test_pruning_leaves_what_can_occur_and_its_value_everywhere(given_pieces: list[SymbolicCase]) -> None:
    found = pruned(given_pieces, FACTS)
    assert isinstance(found, SymbolicNumber)
    some = np.logical_or.reduce([np.broadcast_to(holds_case(piece.when, POINTS), 16) for piece in given_pieces])
    before = np.broadcast_to(SymbolicNumber(tuple(given_pieces)).evaluate(POINTS), 16)
    assert np.broadcast_to(found.evaluate(POINTS), 16)[some].tolist() == before[some].tolist()
    if len(found.pieces) > 1:
        assert all(np.any(holds_case(piece.when, POINTS)) for piece in found.pieces)


@pytest.mark.parametrize("never", [NEVER, EVEN_WORSE], ids=["only isl sees it", "intervals see it"])
@pytest.mark.parametrize("others", [1, 2, 3])
def test_a_case_that_never_holds_goes_whatever_stands_beside_it(others: int, never: tuple[Constraint, ...]) -> None:
    real = [SymbolicCase((Constraint(FIRST - SECOND - k, True),), FIRST + k) for k in range(others)]
    for place in range(others + 1):
        found = pruned([*real[:place], SymbolicCase(never, SECOND), *real[place:]], FACTS)
        assert isinstance(found, SymbolicNumber)
        assert [piece.value for piece in found.pieces] == [piece.value for piece in real]


def test_where_nothing_gets_any_value_will_do() -> None:
    assert (
        pruned([SymbolicCase(NEVER, FIRST), SymbolicCase(NEVER, SECOND)], FACTS)
        == pruned([SymbolicCase(EVEN_WORSE, FIRST)], FACTS)
        == SymbolicNumber.of(0)
    )


def test_what_always_holds_is_no_condition_and_one_value_no_case() -> None:
    here, there = (ALWAYS, Constraint(FIRST - SECOND)), (Constraint(SECOND - FIRST - 1),)
    found = pruned([SymbolicCase(here, FIRST), SymbolicCase(there, SECOND)], FACTS)
    assert found == SymbolicNumber((SymbolicCase((Constraint(FIRST - SECOND),), FIRST), SymbolicCase(there, SECOND)))
    assert pruned([SymbolicCase(here, FIRST, 2), SymbolicCase(there, FIRST, 2)], FACTS) == SymbolicNumber.of(FIRST, 2)
    assert (
        isinstance(kept := pruned([SymbolicCase(here, FIRST, 1), SymbolicCase(there, FIRST, 2)], FACTS), SymbolicNumber)
        and len(kept.pieces) == 2
    )


def test_an_extremum_stays_as_long_as_there_are_cases() -> None:
    least = Extremum("min", (FIRST, SECOND))
    both = [SymbolicCase((Constraint(SECOND - FIRST),), FIRST), SymbolicCase((Constraint(FIRST - SECOND - 1),), SECOND)]
    assert pruned(both, FACTS, least) == SymbolicNumber(tuple(both), least)
    assert pruned([SymbolicCase(EVEN_WORSE, FIRST), both[1]], FACTS, least) == SymbolicNumber.of(SECOND)


def test_more_cases_than_anybody_reads_are_unknown_and_say_for_what_names() -> None:
    wide = {"i": (0, 2 * MOST_CASES)}
    many = [SymbolicCase((Constraint(FIRST - k, True),), FIRST * 0 + k) for k in range(MOST_CASES + 1)]
    assert isinstance(pruned(many[:-1], Facts(wide, wide)), SymbolicNumber)
    found = pruned(many, Facts(wide, wide))
    assert isinstance(found, Unknown) and found.names == {"i"} and str(MOST_CASES + 1) in found.reason


formulas = st.lists(cases, max_size=4).map(tuple)


@given(formulas)
def test_a_simplified_condition_holds_where_it_did_and_has_no_case_that_never_does(formula: tuple[Case, ...]) -> None:
    found = simplified(formula, FACTS)
    assert np.broadcast_to(holds(found, POINTS), 16).tolist() == np.broadcast_to(holds(formula, POINTS), 16).tolist()
    assert len(set(found)) == len(found)
    if len(found) > 1:
        assert all(np.broadcast_to(holds_case(case, POINTS), 16).any() for case in found)


def test_of_several_cases_those_stay_that_can_hold() -> None:
    first, second = (Constraint(FIRST - 2),), (Constraint(SECOND - 1),)
    assert simplified((first,), FACTS) == (first,)
    assert simplified((first, NEVER, second, first), FACTS) == (first, second)
    assert simplified((NEVER,), FACTS) == (NEVER,), "one alone is not looked at"
    assert simplified((first, (ALWAYS,)), FACTS) == ((),)
    assert simplified((EVEN_WORSE,), FACTS) == ()


@given(formulas, formulas)
def test_and_or_and_not_are_what_they_are_at_every_point(a: tuple[Case, ...], b: tuple[Case, ...]) -> None:
    one, other = (np.broadcast_to(holds(formula, POINTS), 16) for formula in (a, b))

    def at(truth: Truth) -> list[bool]:
        assert truth.unknown is None
        return list(np.broadcast_to(holds(truth.cases, POINTS), 16).tolist())

    assert at(both(Truth(a), Truth(b), FACTS)) == (one & other).tolist()
    assert at(either(Truth(a), Truth(b), FACTS)) == (one | other).tolist()
    not_one = negation(Truth(a), FACTS)
    if not_one.unknown is None:
        assert at(not_one) == (~one).tolist()
        together = np.zeros(16, int)
        for case in not_one.cases:
            together += holds_case(case, POINTS)
        assert together.max() < 2, "no two cases meet"


def test_what_is_unknown_of_one_is_unknown_of_both() -> None:
    dark, light = Truth(((ALWAYS,),), Unknown("dark")), Truth(((ALWAYS,),))
    for found in (both(dark, light, FACTS), both(light, dark, FACTS), either(dark, light, FACTS)):
        assert found.unknown == Unknown("dark")
    assert negation(dark, FACTS) == Truth(((),), Unknown("dark"))


def test_a_number_is_single_where_it_has_one_case_that_always_holds() -> None:
    n = AffineExpr.of("n")
    when = (Constraint(n),)
    assert SymbolicNumber((SymbolicCase((), n),)).single == n
    assert SymbolicNumber((SymbolicCase(when, n),)).single is None
    assert SymbolicNumber((SymbolicCase((), n), SymbolicCase(when, AffineExpr.of(1)))).single is None
