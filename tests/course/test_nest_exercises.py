"""Answers that are loops or orders of loops: isl takes what is right, however it is written, and nothing else."""

from __future__ import annotations

from typing import Any

import pytest

import triton_lab as lab
from tests.course import others
from tests.course.chapters import answers
from tests.course.mutants import LOOPS, ORDERS, mutants
from tests.course.same import means_the_same
from tests.course.test_checkers import TRIED, is_rejected, spread
from tests.wordings import Wording
from triton_lab.course import exercise
from triton_lab.course.exercise_kinds import Exercise
from triton_lab.course.exercise_registry import exercises
from triton_lab.course.nest_exercises import NestExercise, OrderExercise
from triton_lab.polyhedral import Schedule

CHANGES = {NestExercise: LOOPS, OrderExercise: ORDERS}
each_nest = pytest.mark.parametrize(
    "one", [one for one in exercises() if type(one) in CHANGES], ids=lambda one: one.name
)

# Beside those that are made: short answers have few parts to change.
WRONG = {
    "fronts": (
        "order",
        'order.parallel("i")',
        'order.skew("j", "i").parallel("j")',
        "order.matrix([[1, 1], [1, 0]])",
        'order.matrix([[1, -1], [1, 0]]).parallel("t1")',
    ),
    "one_pass": (
        "order",
        'order.shift("i", 1, statement="S1")',
        'order.fuse("S0", "S1").shift("i", -1, statement="S1")',
        'order.fuse("S0", "S1").shift("i", 1, statement="S0")',
        'order.fuse("S0", "S1").shift("i", 40, statement="S1")',
    ),
    "few_misses": (
        "order",
        'order.interchange("i", "j")',
        'order.split("i", 8)',
        'order.split("j", 8)',
        'order.tile({"i": 4, "j": 4})',
    ),
}


def told(name: str, answer: Any) -> str:
    return str(exercise(name).judge(answer) or "right")


@each_nest
def test_another_right_answer_is_right(one: Exercise) -> None:
    assert told(one.name, getattr(others, one.name)) == "right"


@each_nest
def test_wrong_answers_are_rejected(one: NestExercise | OrderExercise) -> None:
    text = answers()[one.name]
    found = [mutant for mutant in mutants(text, CHANGES[type(one)]) if not means_the_same(one.name, mutant)]
    written = [f"def {one.name}(order):\n    return {steps}" for steps in WRONG.get(one.name, ())]
    assert len(found) + len(written) >= TRIED
    tried = [mutant.text for mutant in spread(found, TRIED)] + written
    assert [text for text in tried if not is_rejected(one, text)] == []


# Bodies of two loops over i and j below n, and what is said of them.
BODIES = {
    "A[i, j] = 1": ("A[0, 2]", "n = 3"),
    "A[i, i] = 1": ("A[0, 1]", "n = 2"),
    "A[i + k, j] = 1": ("k",),
    "A[i * j, j] = 1": ("line 3",),
}


@pytest.mark.parametrize("body", BODIES)
def test_the_first_element_that_is_wrong_is_told(body: str, wording: Wording) -> None:
    head = "for i in range(n):\n    for j in range(n):\n        "
    found = told("band", head + body)
    assert all(part in found for part in BODIES[body])
    wording(found, body)


def test_the_same_elements_may_come_from_the_wrong_place_or_with_other_numbers(wording: Wording) -> None:
    loops = "for i in range(n):\n    for j in range(n):\n        B[j, n - 1 - i] = {}"
    assert told("quarter_turn", loops.format("A[i, j]")) == "right"
    wording(told("quarter_turn", loops.format("A[j, i]")), source="A[1, 0]", target="B[0, 0]")
    wording(told("quarter_turn", loops.format("A[i, j] + 0 * A[i, j + 1]")), target="B[0, 0]")
    wording(told("quarter_turn", loops.format("2 * A[i, j]")), target="B[0, 0]")
    twice = "for k in range(2):\n    for i in range(n):\n        A[i, i] = 1"
    assert "is not written" in told("band", twice)


def test_an_element_that_is_written_twice_is_told(wording: Wording) -> None:
    loops = (
        "for k in range(2):\n  for i in range(n):\n    for j in range(max(0, i - 1), min(n, i + 2)):\n      A[i, j] = 1"
    )
    wording(told("band", loops), element="A[0, 0]", n="n = 1")


def test_an_illegal_order_is_drawn_and_a_slow_one_told(wording: Wording) -> None:
    fault = exercise("fronts").judge(lambda order: order.interchange("i", "j").parallel("i"))
    assert fault is not None and "distance (1, 0)" in fault.message
    assert isinstance(fault.picture, Schedule) and not fault.picture.is_legal
    wording(told("fronts", lambda order: order), found="49 steps", most=13)
    # A parallel loop of one iteration is no gain.
    assert "49 steps" in told("fronts", lambda order: order.split("j", 1).parallel("ji"))
    assert "32 accesses miss" in told("one_pass", lambda order: order)
    assert "a grid of (2, 7)" in told("outer_blocks", lambda order: order.tile({"y": 32, "x": 16}))


def test_what_is_no_order_of_this_nest_is_told(wording: Wording) -> None:
    other = lab.schedule("for (int i = 0; i < n; i++) A[i] = 0;", n=8)
    wording(told("fronts", lambda order: other))
    wording(told("fronts", lambda order: None))
    assert "ValueError:" in told("fronts", lambda order: order.reverse("k"))


def test_a_stub_says_what_to_do() -> None:
    def stub(A: Any, n: int) -> None:
        raise NotImplementedError("To do: loops")

    for name, answer in (("band", stub), ("fronts", lambda order: stub(order, 1))):
        fault = exercise(name).judge(answer)
        assert fault is not None and fault.untouched and fault.message == "To do: loops"


def test_the_least_stride_is_what_the_lab_says() -> None:
    """With it the programs do not race, with one less they do."""
    import torch

    from tests.course.chapters import FOLDER, defined

    text = (FOLDER / "31_polyhedra.py").read_text(encoding="utf-8")
    kernel = "@triton.jit\ndef fill_rows" + text.split("@triton.jit\ndef fill_rows")[1].split("\n\n\n")[0]
    fill_rows = defined(kernel, "fill_rows")
    free = {}
    for stride in (12, 13):
        with lab.target("cpu"), lab.record() as launches:
            fill_rows[(4,)](torch.zeros(4, 13), 13, stride, BLOCK=16)
        free[stride] = lab.polyhedral.scop(launches).is_race_free
    assert free == {12: False, 13: True} and exercise("least_stride").judge(13) is None
