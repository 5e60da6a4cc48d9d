"""isl's schedules as loop trees: which loops are marked parallel, what they are called, and that all is kept."""

from __future__ import annotations

import pytest

from triton_lab.polyhedral import scop
from triton_lab.polyhedral.core.loop_tree import every_loop
from triton_lab.polyhedral.related_work import page_nests

FILL = "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) A[i][j] = 1;"
ROWS = "for (int i = 0; i < n; i++) for (int j = 1; j < n; j++) A[i][j] = A[i][j - 1];"
COLUMNS = "for (int i = 1; i < n; i++) for (int j = 0; j < n; j++) A[i][j] = A[i - 1][j];"
CHAIN = "for (int i = 1; i < n; i++) A[i] = A[i - 1];"
BACK = "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) { A[i][j] = i; B[j][i] = A[i][j]; }"
BOTH = f"{CHAIN} for (int k = 0; k < n; k++) for (int l = 0; l < n; l++) C[k][l] = k;"
NEVER = "for (int i = 0; i < n; i++) { A[i] = 1; if (i < 0) B[i] = 2; }"


@pytest.mark.parametrize(
    ("text", "loops"),
    [
        (FILL, [("i", "parallel"), ("j", "")]),  # no loop is parallel within one that is
        (ROWS, [("i", "parallel"), ("j", "")]),
        (COLUMNS, [("j", "parallel"), ("i", "")]),
        (CHAIN, [("i", "")]),
        (page_nests.WAVEFRONT, [("i", ""), ("j", "")]),
        (BACK, [("i", "parallel"), ("j", "")]),
        (NEVER, [("i", "parallel")]),
        ("A[0] = 1;", []),
    ],
)
def test_the_outermost_loop_that_is_free_is_marked(text: str, loops: list[tuple[str, str]]) -> None:
    found = scop(text, n=6).schedule.automatic() if "n" in text else scop(text).schedule.automatic()
    assert found.is_legal
    assert [(loop.name, loop.mark) for loop in every_loop(found.tree)] == loops


def test_nests_beside_each_other_are_scheduled_each_by_itself() -> None:
    found = scop(BOTH, n=5).schedule.automatic()
    assert found.is_legal
    marks = {loop.name: (loop.mark, tuple(loop.expressions)) for loop in every_loop(found.tree)}
    assert marks == {"i": ("", ("S0",)), "k": ("parallel", ("S1",)), "l": ("", ("S1",))}


@pytest.mark.parametrize("text", [FILL, ROWS, COLUMNS, CHAIN, BACK, BOTH, page_nests.WAVEFRONT, page_nests.SKEWED])
def test_every_instance_runs_once(text: str) -> None:
    plain = scop(text, n=5).schedule
    found = plain.automatic()
    assert sorted(map(str, found.order().pairs)) == sorted(map(str, plain.order().pairs))


def test_a_nest_of_which_nothing_runs_stays_as_it_is() -> None:
    plain = scop("for (int i = 0; i < 0; i++) A[i] = 1;").schedule
    assert plain.automatic().tree == plain.tree
