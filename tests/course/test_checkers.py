"""The checkers are checked: plausible wrong answers are rejected, and differently written right ones accepted."""

from __future__ import annotations

import math
import warnings
from itertools import islice
from typing import Any

import pytest
import torch

from tests.course import others
from tests.course.chapters import answers, defined
from tests.course.mutants import Mutant, mutants
from tests.course.same import means_the_same
from tests.wordings import Wording
from triton_lab.course import run_answer
from triton_lab.course.exercise_kinds import Exercise, Question, Task
from triton_lab.course.exercise_registry import exercise, exercises
from triton_lab.course.trial import answer_cause

TASKS = [one for one in exercises() if isinstance(one, Task)]
VALUES = [one for one in exercises() if not isinstance(one, Task)]
ONE_OF_EACH_KIND = list({type(one): one for one in reversed(exercises())}.values())
# Wrong, and taken for right: each program runs until it waits, so nobody is caught behind a lock that lets all in.
MISSED = {(name, "tl.atomic_cas(lock_ptr, 0, 1) == 1 - 1") for name in ("best", "highest")}
TRIED = 4  # of each task's wrong answers; `python -m tests.course.mutants` tries all

each_task = pytest.mark.parametrize("one", TASKS, ids=lambda one: one.name)
each_value = pytest.mark.parametrize("one", VALUES, ids=lambda one: one.name)


@pytest.fixture
def no_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    """Why an answer is wrong is not asked, which takes most of the time: `test_answer_fault` is about that."""
    monkeypatch.setattr(answer_cause, "cause_lines", lambda *_: ("not asked",))
    monkeypatch.setattr(run_answer, "_PATIENCE", 0.0)


def is_rejected(one: Exercise, text: str) -> bool:
    """Whether the answer in ``text`` is not taken for right; one that cannot even be defined is not."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            answer: Any = defined(text, one.name)
        except Exception:
            return True
        return one.judge(answer) is not None


def spread(found: list[Mutant], count: int) -> list[Mutant]:
    """``count`` of them, of as many kinds as there are."""
    by_kind: dict[str, list[Mutant]] = {}
    for mutant in found:
        by_kind.setdefault(mutant.kind, []).append(mutant)
    turns = max(map(len, by_kind.values()))
    return list(islice((kind[turn] for turn in range(turns) for kind in by_kind.values() if turn < len(kind)), count))


def test_every_exercise_is_checked_in_a_chapter_and_has_an_answer() -> None:
    assert list(answers()) == [one.name for one in exercises()]


@pytest.mark.parametrize("one", ONE_OF_EACH_KIND, ids=lambda one: one.name)
def test_the_teachers_answer_is_right(one: Exercise) -> None:
    """All others are judged, too, where each chapter is run with its answers: a check of a wrong one raises there
    (`tests/browser/test_course_lab.py`; without a browser `tests/notebooks/test_course.py`)."""
    assert str(one.judge(defined(answers()[one.name], one.name)) or "right") == "right"


@each_task
def test_another_right_answer_is_right(one: Task) -> None:
    assert str(one.judge(getattr(others, one.name)) or "right") == "right"


@each_task
@pytest.mark.usefixtures("no_reason")
def test_wrong_answers_are_rejected(one: Task) -> None:
    """None of four, of as many kinds as there are, is taken for right."""
    found = [mutant for mutant in mutants(answers()[one.name]) if not means_the_same(one.name, mutant)]
    assert len(found) >= TRIED
    tried = [mutant for mutant in spread(found, TRIED) if (one.name, mutant.became) not in MISSED]
    taken = [mutant for mutant in tried if not is_rejected(one, mutant.text)]
    assert [(mutant.kind, mutant.line, mutant.became) for mutant in taken] == []


@each_task
@pytest.mark.usefixtures("no_reason")
def test_what_is_no_kernels_work_is_rejected(one: Task, wording: Wording) -> None:
    """The reference itself, a sample's answer for all, and nothing."""
    first = one.cases[0].made(0)
    sample = one.reference(**{name: _copied(value) for name, value in first.items()})

    def by_torch(**inputs: Any) -> Any:
        found = one.reference(**{name: _copied(value) for name, value in inputs.items()})
        for name, changed in zip(one.changes, _each(found), strict=False):
            inputs[name].copy_(changed)
        return None if one.changes else found

    def by_heart(**inputs: Any) -> Any:
        for name, learned in zip(one.changes, _each(sample), strict=False):
            inputs[name].copy_(torch.zeros_like(inputs[name]) + learned.flatten()[0])
        return None if one.changes else sample.clone()

    fault = one.judge(by_torch)
    assert fault is not None
    wording(fault.message)
    assert one.judge(by_heart) is not None
    assert one.judge(lambda **inputs: None) is not None


@each_value
def test_wrong_values_are_rejected(one: Exercise) -> None:
    wrong: list[Any] = [0, 1 << 40, -1, 0.5, "1", True, (), (1, 1), ((1, 1), (1, 1)), lambda: 1, None, ...]
    if isinstance(one, Question):
        right = one.right()
        if isinstance(right, tuple):
            wrong += [right[::-1], tuple(part + 1 for part in right), (right[0], right[1] - 1), right[0]]
        else:
            wrong += (
                [right[::-1], f"{right}64"]
                if isinstance(right, str)
                else [right + 1, right - 1, right * 2, right // 2, -right, str(right)]
            )
    assert [one.judge(value) for value in wrong].count(None) == 0


def _each(results: Any) -> tuple[Any, ...]:
    return results if isinstance(results, tuple) else (results,)


def _copied(value: Any) -> Any:
    return value.clone() if isinstance(value, torch.Tensor) else value


@pytest.mark.parametrize("name", ["gradient_of_v", "gradient_of_q"])
def test_what_the_forward_pass_kept_is_that_of_its_inputs(name: str) -> None:
    task = exercise(name)
    assert isinstance(task, Task) and task.cases
    for case in task.cases:
        given = case.made()
        scores = given["q"].double() @ given["k"].double().mT / math.sqrt(given["q"].shape[-1])
        assert torch.allclose(given["lse"].double(), scores.logsumexp(-1), atol=1e-5)
