"""The verdict on a schedule against executing it."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from tests.polyhedral.terms import run_terms
from tests.wordings import Wording
from triton_lab.polyhedral import scop
from triton_lab.polyhedral.related_work import page_nests

MATRICES = [((a, b), (c, d)) for a, b, c, d in itertools.product(range(-2, 3), repeat=4) if a * d - b * c != 0]
# Every element is written once at most, so that each broken dependence changes a value that survives.
NESTS = {
    "wavefront": page_nests.WAVEFRONT,
    "skewed": page_nests.SKEWED,
    "anti": "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) A[i][j] = A[i+1][j] + A[i][j+1];",
    "knight": "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) A[i][j] = A[i-2][j+1] - A[i+1][j+2];",
}


def test_there_are_496_invertible_matrices() -> None:
    assert len(MATRICES) == 496


@pytest.mark.parametrize("name", NESTS)
def test_for_all_invertible_matrices_the_verdict_is_that_of_executing_both_orders(name: str) -> None:
    found = scop(NESTS[name], n=6)
    before = run_terms(found.schedule)
    verdicts = []
    for matrix in MATRICES:
        schedule = found.schedule.matrix(matrix)
        verdicts.append(schedule.is_legal)
        assert schedule.is_legal == (run_terms(schedule) == before), matrix
    assert 0 < sum(verdicts) < len(MATRICES)


def test_a_schedule_with_ties_between_dependent_instances_is_illegal_and_says_so() -> None:
    found = scop(page_nests.WAVEFRONT, n=6)
    # Singular matrices: rows run at once, or antidiagonals.
    rows = found.schedule.matrix([[1, 0]])
    assert [v.kind for v in rows.legality.violations] == ["tied"]
    fronts = found.schedule.matrix([[1, 1]])
    assert fronts.is_legal
    assert run_terms(fronts) == run_terms(found.schedule)


def test_the_violated_instances_are_those_that_run_too_early(wording: Wording) -> None:
    found = scop(page_nests.WAVEFRONT, n=4)
    backwards = found.schedule.reverse("i")
    (violation,) = backwards.legality.violations
    assert violation.kind == "reversed"
    pairs = {tuple(p) for p in violation.pairs(found).tolist()}
    assert pairs == {(i, j, i + 1, j) for i in range(1, 3) for j in range(1, 4)}
    assert "target runs first" in str(backwards.legality)
    assert repr(backwards.legality) == str(backwards.legality)
    assert repr(violation.dependence) == f"<{violation.dependence}>" and repr(violation).endswith(" reversed>")
    ((statement, text),) = ((each, repr(each)) for each in found.statements)
    wording(text, name="S0", text=statement.text, loops="i, j")


def test_interchange_of_the_skewed_nest_needs_a_skew_first() -> None:
    found = scop(page_nests.SKEWED, n=6)
    assert not found.schedule.interchange("i", "j").is_legal
    assert found.schedule.skew("j", "i").interchange("i", "j").is_legal


@pytest.mark.parametrize(
    ("transform", "legal"),
    [
        (lambda s: s.parallel("i"), False),
        (lambda s: s.parallel("j"), False),
        (lambda s: s.skew("j", "i").interchange("i", "j").parallel("i"), True),
        (lambda s: s.skew("j", "i").interchange("i", "j").parallel("j"), False),
        (lambda s: s.tile({"i": 2, "j": 3}), True),
        (lambda s: s.vectorize("j"), False),
    ],
)
def test_a_parallel_loop_must_carry_no_dependence(transform, legal) -> None:  # type: ignore[no-untyped-def]
    found = scop(page_nests.WAVEFRONT, n=5)
    assert transform(found.schedule).is_legal == legal


def test_the_loop_of_a_violation_is_named() -> None:
    schedule = scop(page_nests.WAVEFRONT).schedule.parallel("j")
    assert [(v.kind, v.loop, v.dependence.vector) for v in schedule.legality.violations] == [
        ("concurrent", "j", (0, 1))
    ]


def test_statements_without_a_loop_in_common_have_no_distance(wording: Wording) -> None:
    found = scop("for (int i = 0; i < n; i++) A[0] = i; for (int i = 0; i < n; i++) B[i] = A[0];")
    flow, output = sorted(found.dependences, key=lambda each: each.kind)
    assert (flow.kind, flow.source, flow.target, flow.array, flow.vector) == ("flow", "S0", "S1", "A", ())
    assert (output.kind, output.source, output.target, output.array, output.vector) == (
        "output",
        "S0",
        "S0",
        "A",
        ("+",),
    )
    wording(flow, kind="flow", source="S0", target="S1", array="A")
    wording(output, kind="output", statement="S0", array="A", distance="(+)")


def test_dependences_of_matmul() -> None:
    found = scop(page_nests.MATMUL)
    assert {d.array for d in found.dependences} == {"C"}
    assert sorted((d.kind, d.source, d.target, d.vector) for d in found.dependences) == [
        ("anti", "S1", "S1", (0, 0, "+")),
        ("flow", "S0", "S1", (0, 0)),
        ("flow", "S1", "S1", (0, 0, "+")),
        ("output", "S0", "S1", (0, 0)),
        ("output", "S1", "S1", (0, 0, "+")),
    ]
    assert {(d.source, d.target, d.vector) for d in found.value_dependences} == {
        ("S0", "S1", (0, 0)),
        ("S1", "S1", (0, 0, 1)),
    }


def test_memory_and_value_dependences_differ_where_a_value_is_overwritten() -> None:
    found = scop("for (int i = 0; i < n; i++) { t = A[i]; B[i] = t; }", n=4)
    memory = [d for d in found.dependences if d.kind == "flow" and d.array == "t"]
    (value,) = found.value_dependences
    assert sum(len(d.pairs(found)) for d in memory) == 4 + 3 + 2 + 1
    assert value.distances(found) == ((0,),)


def test_isls_own_schedule_is_legal_and_computes_the_same() -> None:
    rng = np.random.default_rng(0)
    for text in (page_nests.MATMUL, page_nests.WAVEFRONT, page_nests.SKEWED, page_nests.TRANSPOSE, page_nests.STENCIL):
        found = scop(text, n=7)
        schedule = found.schedule.automatic()
        assert schedule.is_legal
        assert run_terms(schedule) == run_terms(found.schedule)
        arrays = {a.name: rng.random((8,) * a.ndim) for a in found.arrays}
        ours, theirs = schedule.run(arrays), found.schedule.run(arrays)
        assert all(np.array_equal(ours[name], theirs[name]) for name in arrays)
