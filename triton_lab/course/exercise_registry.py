"""The exercises of all chapters by name. A chapter's file is imported on request."""

from __future__ import annotations

import importlib
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

from triton_lab.localization import _

if TYPE_CHECKING:
    from triton_lab.course.exercise_kinds import Exercise

PAGES = {
    "00": "first_kernel",
    "01": "gpu_basics",
    "02": "grids",
    "03": "storage",
    "04": "masks",
    "05": "dtypes",
    "06": "aliasing",
    "07": "reductions",
    "08": "scans",
    "09": "matmul",
    "10": "tuning",
    "11": "atomics",
    "12": "random_numbers",
    "13": "attention",
    "14": "attention_backward",
    "15": "clinic",
    "16": "clinic_two",
    "17": "ttir",
    "18": "thread_layouts",
    "19": "machine_code",
    "20": "profiling",
    "21": "persistent",
    "22": "low_precision",
    "23": "gluon_tiles",
    "24": "gluon_copies",
    "25": "gluon_products",
    "26": "gluon_attention",
    "27": "compiled_functions",
    "28": "kernel_tests",
    "29": "side_by_side",
    "30": "lazy_graphs",
    "31": "polyhedra",
    "32": "scheduling",
}
"""Chapter -> the module of `chapter_exercises` with its tuple `EXERCISES`."""


@cache
def exercises() -> tuple[Exercise, ...]:
    """All exercises, in the order of the course. Raises ValueError if two have one name.

    >>> [one.name for one in lab.course.exercises()][:2]
    ['add_constant', 'scale_and_shift']
    """
    found: dict[str, Exercise] = {}
    for chapter, page in PAGES.items():
        for one in importlib.import_module(f"triton_lab.course.chapter_exercises.{page}").EXERCISES:
            if one.name in found:
                raise ValueError(
                    _("two exercises are called {name}: the second is in {page}.py").format(
                        name=repr(one.name), page=page
                    )
                )
            found[one.name] = replace(one, chapter=chapter)
    return tuple(found.values())


def exercise(name: str) -> Exercise:
    """The exercise called ``name``; LookupError lists those of a like name.

    >>> lab.course.exercise("add_constant").title
    'Add a constant'
    >>> lab.course.exercise("add_constants")
    Traceback (most recent call last):
        ...
    LookupError: no exercise is called 'add_constants'; is it add_constant or add_at or add_transpose?
    """
    import difflib

    found = {one.name: one for one in exercises()}
    if name not in found:
        near = difflib.get_close_matches(name, found, n=3) or list(found)
        raise LookupError(
            _("no exercise is called {name}; is it {near}?").format(name=repr(name), near=" or ".join(near))
        )
    return found[name]
