"""The maximal affine parts of a program, and why the rest is none."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

import triton_lab as lab
from tests.polyhedral.random_nests import RandomNest, random_nests
from tests.wordings import Wording, line_of
from triton_lab.polyhedral import NotAScop, scop
from triton_lab.polyhedral.related_work import page_nests

PROGRAM = """\
for (int i = 0; i < n; i++)
  A[i] = 0;
for (int i = 0; i < n; i++)
  A[i] += i;
while (x > 0) {
  for (int i = 0; i < n; i++) {
    B[i] = A[i];
    for (int j = 0; j < K[i]; j++)
      for (int k = j; k < i; k++)
        C[j][k] = B[j];
    D[i] = B[i];
  }
  x = f(x);
}
for (int i = 0; i < n; i++)
  E[i] = D[i];
"""


def test_parts_are_as_long_as_they_can_be() -> None:
    parts = scop(PROGRAM, maximal=True)
    assert [(p.first, p.last, p.around) for p in parts.parts] == [
        (1, 4, ()), (7, 7, ("i",)), (9, 10, ("i", "j")), (11, 11, ("i",)), (15, 16, ()),
    ]  # fmt: skip
    assert [len(p.scop.statements) for p in parts.parts] == [2, 1, 1, 1, 1]
    assert [(r.line, r.column) for r in parts.refusals] == [(5, 1), (8, 25), (13, 7)]
    assert not parts.whole


def test_what_stands_still_around_a_part_is_its_parameter() -> None:
    part = scop(PROGRAM, maximal=True).parts[2].scop
    assert part.parameters == ("j", "i")
    assert part.bind(i=5, j=2).points().tolist() == [[2], [3], [4]]
    assert part.schedule.parallel("k").is_legal


def test_the_text_marks_lines_and_tells_reasons(wording: Wording) -> None:
    text = str(scop(PROGRAM, maximal=True))
    assert "  2 |       for (int k = j; k < i; k++)" in text
    assert "    |   for (int i = 0; i < n; i++) {" in text
    wording(line_of(text, "^", " j "), mark="^", iterator="j")
    wording(line_of(text, "part 2"), part="part 2", statements=1, fixed="i, j")


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(random_nests())
def test_an_affine_program_is_one_part(nest: RandomNest) -> None:
    parts = scop(nest.text, maximal=True)
    assert parts.whole
    assert str(parts.parts[0].scop) == str(scop(nest.text))


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(random_nests(), random_nests())
def test_each_statement_is_in_one_part_or_refused(first: RandomNest, second: RandomNest) -> None:
    """A nest, a call, and a nest in a loop over an array."""
    inside = "\n".join(f"    {line}" for line in second.text.splitlines())
    text = f"{first.text}\nf(A)\nfor x in A:\n{inside}"
    parts = scop(text, maximal=True)
    assert [r.reason[:11] for r in parts.refusals] == ["a call may ", "a loop must"]
    found = [statement.text for part in parts.scops for statement in part.statements]
    assert found == [s.text for nest in (first, second) for s in scop(nest.text).statements]


def test_a_scalar_that_changes_parts_what_it_indexes(wording: Wording) -> None:
    parts = scop("s = 0;\nfor (int i = 0; i < n; i++) A[i] = 0;\ns = B[3];\nA[s] = 1;", maximal=True)
    assert [(p.first, p.last) for p in parts.parts] == [(1, 3), (4, 4)]
    wording(parts.refusals[0].reason, "s", scalar="s")


def gathers(A, B, index):  # type: ignore[no-untyped-def]
    for i in range(4):
        A[i] = 2
    for i in index:
        B[i] = 1
    for i in range(4):
        A[i] += 1


def test_a_python_function_has_parts() -> None:
    parts = lab.polyhedral.scop(gathers, maximal=True)
    first, _, last = parts.scops
    half = first.schedule.run({"A": np.zeros(4)})
    assert last.schedule.run(half)["A"].tolist() == [3] * 4
    assert parts.refusals[0].line == gathers.__code__.co_firstlineno + 3


def test_values_go_to_the_parts_that_have_them(wording: Wording) -> None:
    parts = scop(PROGRAM, maximal=True, n=3)
    assert [p.values.get("n") for p in parts.scops] == [3, None, None, None, 3]
    with wording.raises(ValueError):
        scop(PROGRAM, maximal=True, m=3)


def test_what_is_no_program_is_refused_as_ever(wording: Wording) -> None:
    with pytest.raises(NotAScop, match="unexpected"):
        scop("for (int i = 0; i < ; i++) A[i] = 0;", maximal=True)
    with wording.raises(TypeError):
        scop(3, maximal=True)
    assert not scop("while (x) x = f(x);", maximal=True).parts


def test_the_pages_sparse_nest_has_two_lines_that_are_affine() -> None:
    parts = scop(page_nests.PAGE_SPARSE, maximal=True)
    assert [s.statements[0].text for s in parts.scops] == ["acc = 0", "C[i][j] = acc"]
