"""Every question about a nest is answered, or told in words why not: no error of isl's own comes out."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tests.polyhedral.random_nests import RandomNest, random_nests
from tests.polyhedral.terms import run_terms
from tests.wordings import Wording
from triton_lab.polyhedral import Schedule, TooHard, scop

RED_BLACK = """
for (int t = 0; t < n; t++) {
  for (int i = 1; i < n - 1; i++)
    for (int j = 1 + i % 2; j < n - 1; j += 2)
      A[i][j] = A[i-1][j] + A[i+1][j] + A[i][j-1] + A[i][j+1];
  for (int i = 1; i < n - 1; i++)
    for (int j = 2 - i % 2; j < n - 1; j += 2)
      A[i][j] = A[i-1][j] + A[i+1][j] + A[i][j-1] + A[i][j+1];
}
"""
# PolyBench's adi: needs more than the first count of isl's operations, and half a second.
ADI = """
for (int t = 1; t <= T; t++) {
  for (int i = 1; i < n - 1; i++) {
    v[0][i] = 1.0;
    p[i][0] = 0.0;
    q[i][0] = v[0][i];
    for (int j = 1; j < n - 1; j++) {
      p[i][j] = -c / (a * p[i][j-1] + b);
      q[i][j] = (-d * u[j][i-1] + (1.0 + 2.0 * d) * u[j][i] - f * u[j][i+1] - a * q[i][j-1]) / (a * p[i][j-1] + b);
    }
    v[n-1][i] = 1.0;
    for (int j = n - 2; j >= 1; j--)
      v[j][i] = p[i][j] * v[j+1][i] + q[i][j];
  }
  for (int i = 1; i < n - 1; i++) {
    u[i][0] = 1.0;
    p[i][0] = 0.0;
    q[i][0] = u[i][0];
    for (int j = 1; j < n - 1; j++) {
      p[i][j] = -f / (d * p[i][j-1] + e);
      q[i][j] = (-a * v[i-1][j] + (1.0 + 2.0 * a) * v[i][j] - c * v[i+1][j] - d * q[i][j-1]) / (d * p[i][j-1] + e);
    }
    u[i][n-1] = 1.0;
    for (int j = n - 2; j >= 1; j--)
      u[i][j] = p[i][j] * u[i][j+1] + q[i][j];
  }
}
"""
NEVER = "for (int i = 0; i < n; i++) { A[i] = 0; if (i < 0) B[i] = A[i]; }"
# isl cannot carry these dependences with its usual settings.
UNCARRIED = """\
for i in range(n - 1, 1, -1):
    for j in range(i, min(n, 2 + i)):
        if -i % 2 == 0:
            A[2, 3] += A[0, 0]
"""


def _questions(schedule: Schedule) -> list[Callable[[], object]]:
    found = schedule.scop
    return [
        lambda: [d.vector for d in found.dependences],
        lambda: [d.distances(found) for d in found.value_dependences],
        lambda: str(schedule.automatic()),
        lambda: str(schedule.legality),
        *(lambda s=s: str(schedule.unroll("i", statement=s.name)) for s in found.statements),  # type: ignore[misc]
    ]


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(random_nests())
@example(RandomNest(UNCARRIED, ""))
def test_what_is_not_answered_has_a_reason(nest: RandomNest) -> None:
    found = scop(nest.text)
    for question in _questions(found.bind(**dict.fromkeys(found.parameters, 4)).schedule):
        with suppress(ValueError):  # `TooHard` is one, and whatever refuses with a reason
            question()


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(random_nests(), st.integers(0, 4))
def test_isls_own_order_of_a_random_nest_computes_the_same(nest: RandomNest, n: int) -> None:
    found = scop(nest.text)
    found = found.bind(**dict.fromkeys(found.parameters, n))
    try:
        schedule = found.schedule.automatic()
    except TooHard:
        return
    assert schedule.is_legal
    assert sorted(schedule.order().pairs) == sorted(found.schedule.order().pairs)
    assert run_terms(schedule) == run_terms(found.schedule)


@pytest.mark.parametrize("text", [RED_BLACK, NEVER, UNCARRIED, ADI], ids=["red-black", "never", "uncarried", "adi"])
def test_isls_own_order_is_found_where_it_was_an_error(text: str) -> None:
    found = scop(text)
    found = found.bind(**dict.fromkeys(found.parameters, 5))
    schedule = found.schedule.automatic()
    assert schedule.is_legal
    assert run_terms(schedule) == run_terms(found.schedule)


def test_a_nest_of_statements_that_never_run_keeps_its_order() -> None:
    found = scop("for (int i = 0; i < 0; i++) A[i] = 0;")
    assert found.schedule.automatic().tree == found.tree


@pytest.mark.parametrize(
    ("text", "label", "facts"),
    [
        ("for (int i = 0; i < n; i++) A[i] = 0;", "not constant", {"loop": "i"}),
        ("for (int i = 0; i < 100000; i++) A[i] = 0;", "copies", {"loop": "i", "copies": 100000, "most": 1024}),
    ],
)
def test_a_loop_that_cannot_be_written_out_says_why(
    text: str, label: str, facts: dict[str, object], wording: Wording
) -> None:
    unrolled = scop(text).schedule.unroll("i")
    with wording.raises(ValueError, label, **facts):
        unrolled.program()


def test_a_loop_between_bounds_that_move_together_is_written_out() -> None:
    text = "for (int i = 0; i < n; i++) for (int j = i; j < i + 3; j++) A[i][j] = 0;"
    unrolled = scop(text, n=4).schedule.unroll("j")
    assert unrolled.program().count("A[") == 3
    assert np.array_equal(unrolled.order().points, scop(text, n=4).schedule.order().points)
