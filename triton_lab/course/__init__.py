"""The course's exercises: checked on many cases and by what the lab records of a launch, handed out, and graded.

In a notebook: ``exercise("add_constant").check(add_constant)``. The chapters themselves are `notebooks/` of the
repository; their solutions stand between ``# BEGIN SOLUTION`` and ``# END SOLUTION``, and `student` takes them out.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from triton_lab.localization import _

if TYPE_CHECKING:
    from triton_lab.course.edition import BrokenSolution as BrokenSolution
    from triton_lab.course.edition import student as student
    from triton_lab.course.exercise_kinds import Exercise as Exercise
    from triton_lab.course.exercise_registry import exercise as exercise
    from triton_lab.course.exercise_registry import exercises as exercises
    from triton_lab.course.feedback import NotSolved as NotSolved
    from triton_lab.course.grade_table import Grades as Grades
    from triton_lab.course.grading import grade as grade
    from triton_lab.course.progress_file import ProgressNotKept as ProgressNotKept
    from triton_lab.course.progress_file import ProgressSetAside as ProgressSetAside
    from triton_lab.course.progress_store import progress as progress
    from triton_lab.views.prediction_view import predict as predict

_PUBLIC = {
    "BrokenSolution": "edition",
    "Exercise": "exercise_kinds",
    "Grades": "grade_table",
    "NotSolved": "feedback",
    "ProgressNotKept": "progress_file",
    "ProgressSetAside": "progress_file",
    "exercise": "exercise_registry",
    "exercises": "exercise_registry",
    "grade": "grading",
    "predict": ".views.prediction_view",  # from a room above
    "progress": "progress_store",
    "student": "edition",
}

__all__ = [
    "BrokenSolution",
    "Exercise",
    "Grades",
    "NotSolved",
    "ProgressNotKept",
    "ProgressSetAside",
    "exercise",
    "exercises",
    "grade",
    "predict",
    "progress",
    "student",
]


def __getattr__(name: str) -> Any:
    if name not in _PUBLIC:
        raise AttributeError(_("module {name} has no attribute {name2}").format(name=repr(__name__), name2=repr(name)))
    return getattr(importlib.import_module(f".{_PUBLIC[name]}", __name__), name)


def __dir__() -> list[str]:
    return sorted(__all__)
