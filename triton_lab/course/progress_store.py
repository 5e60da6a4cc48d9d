"""A learner's progress, in a plain file beside the notebooks, which outlives kernels.

A kernel runs in the folder of its notebook, so the file lies there: `course-progress.json`, or what the environment
variable TRITON_LAB_PROGRESS names. `progress_file` reads and writes it.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from html import escape
from pathlib import Path

from triton_lab.course.progress_file import Notes, change, found
from triton_lab.localization import _

FILE = "course-progress.json"
_VARIABLE = "TRITON_LAB_PROGRESS"


@dataclass(frozen=True)
class Progress:
    """The progress: ``(solved, all)`` by chapter, in order. It shows itself as a table.

    >>> progress = lab.course.progress()
    >>> progress.chapters["00"][1] > 2
    True
    """

    chapters: Mapping[str, tuple[int, int]]
    chapter: str = ""

    @property
    def solved(self) -> int:
        """How many exercises are solved.

        >>> 0 <= lab.course.progress().solved <= lab.course.progress().total
        True
        """
        return sum(done for done, _ in self.chapters.values())

    @property
    def total(self) -> int:
        """How many exercises the course has."""
        return sum(total for _, total in self.chapters.values())

    def __str__(self) -> str:
        here = self.chapters.get(self.chapter)
        first = (
            _("Chapter {chapter}: {here} of {here2}. ").format(chapter=self.chapter, here=here[0], here2=here[1])
            if here
            else ""
        )
        return _("{first}Course: {solved} of {total}.").format(first=first, solved=self.solved, total=self.total)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        rows = "".join(_row(name, done, total) for name, (done, total) in self.chapters.items())
        caption = f'<caption style="text-align: left; white-space: nowrap">{escape(str(self))}</caption>'
        return f"<table>{caption}{rows}</table>"


def _row(name: str, done: int, total: int) -> str:
    chapter = _("chapter {name}").format(name=name)
    solved = _("{points} of {possible}").format(points=done, possible=total)
    return (
        f'<tr><td style="text-align: left">{escape(name)}</td>'
        f'<td style="text-align: left"><meter min="0" max="{total}" value="{done}" '
        f'aria-label="{escape(chapter)}"></meter></td><td>{escape(solved)}</td></tr>'
    )


def path() -> Path:
    """The path of the progress file."""
    return Path(os.environ.get(_VARIABLE) or FILE)


def progress(chapter: str = "") -> Progress:
    """How many exercises of each chapter are solved, as the file beside the notebooks says.

    >>> lab.course.progress().total > 20
    True
    """
    return _counted(found(path()).notes, chapter)


def note(name: str, solved: bool) -> Progress:
    """Note that exercise ``name`` was tried; once solved, it stays solved."""
    from triton_lab.course.exercise_registry import exercise

    def tried(notes: Notes) -> None:
        one = notes.setdefault(name, {})
        one["tries"] = one.get("tries", 0) + 1
        one["solved"] = one.get("solved", False) or solved

    return _counted(_changed(tried), exercise(name).chapter)


def hinted(name: str) -> int:
    """Note that a hint was requested; returns its number, from 1."""

    def asked(notes: Notes) -> None:
        one = notes.setdefault(name, {})
        one["hints"] = one.get("hints", 0) + 1

    return int(_changed(asked)[name]["hints"])


def _changed(how: Callable[[Notes], None]) -> Notes:
    notes, told = change(path().absolute(), how)
    for one in told:
        warnings.warn(one, stacklevel=4)  # at the caller of the check or the hint
    return notes


def _counted(notes: Notes, chapter: str) -> Progress:
    from triton_lab.course.exercise_registry import exercises

    chapters: dict[str, tuple[int, int]] = {}
    for one in exercises():
        done, total = chapters.get(one.chapter, (0, 0))
        chapters[one.chapter] = done + bool(notes.get(one.name, {}).get("solved")), total + 1
    return Progress(chapters, chapter)
