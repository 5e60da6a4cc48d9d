"""How far a learner is, in a plain file beside the notebooks, which outlives kernels.

A kernel runs in the folder of its notebook, so the file lies there: `course-progress.json`, or what the environment
variable TRITON_LAB_PROGRESS names. Several notebooks may be open at once: a change is made under a lock, and the file
is replaced whole, so that nobody ever reads half of it.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import tempfile
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

FILE = "course-progress.json"
_VARIABLE = "TRITON_LAB_PROGRESS"

Notes = dict[str, dict[str, Any]]


class ProgressNotKept(UserWarning):
    """The file that keeps the progress cannot be written: answers are checked all the same."""


@dataclass(frozen=True)
class Progress:
    """Who has solved how many: ``(solved, all)`` by chapter, in their order. It shows itself as a table.

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
        first = f"Chapter {self.chapter}: {here[0]} of {here[1]}. " if here else ""
        return f"{first}Course: {self.solved} of {self.total}."

    __repr__ = __str__

    def _repr_html_(self) -> str:
        rows = "".join(
            f'<tr><td style="text-align: left">{escape(name)}</td>'
            f'<td style="text-align: left"><meter min="0" max="{total}" value="{done}" '
            f'aria-label="chapter {escape(name)}"></meter></td><td>{done} of {total}</td></tr>'
            for name, (done, total) in self.chapters.items()
        )
        caption = f'<caption style="text-align: left; white-space: nowrap">{escape(str(self))}</caption>'
        return f"<table>{caption}{rows}</table>"


def path() -> Path:
    """The file that keeps the progress."""
    return Path(os.environ.get(_VARIABLE) or FILE)


def read() -> Notes:
    """What was noted: by exercise ``tries``, ``hints`` and ``solved``; nothing where no file is ours."""
    try:
        found = json.loads(path().read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    notes = found.get("exercises") if isinstance(found, dict) else None
    return {str(name): one for name, one in notes.items() if isinstance(one, dict)} if isinstance(notes, dict) else {}


def progress(chapter: str = "") -> Progress:
    """How many exercises of each chapter are solved, as the file beside the notebooks says.

    >>> lab.course.progress().total > 20
    True
    """
    return _counted(read(), chapter)


def note(name: str, solved: bool) -> Progress:
    """Write down that exercise ``name`` was tried; once solved, it stays solved."""
    from triton_lab.course.registry import exercise

    with _changed() as notes:
        one = notes.setdefault(name, {})
        one["tries"] = _count(one, "tries") + 1
        one["solved"] = bool(one.get("solved")) or solved
    return _counted(notes, exercise(name).chapter)


def hinted(name: str) -> int:
    """Write down that a hint was asked for; the how manieth it is."""
    with _changed() as notes:
        one = notes.setdefault(name, {})
        one["hints"] = _count(one, "hints") + 1
    return int(one["hints"])


def _count(one: Mapping[str, Any], key: str) -> int:
    value = one.get(key, 0)
    return value if isinstance(value, int) else 0


def _counted(notes: Notes, chapter: str) -> Progress:
    from triton_lab.course.registry import exercises

    chapters: dict[str, tuple[int, int]] = {}
    for one in exercises():
        done, total = chapters.get(one.chapter, (0, 0))
        chapters[one.chapter] = done + bool(notes.get(one.name, {}).get("solved")), total + 1
    return Progress(chapters, chapter)


@contextlib.contextmanager
def _changed() -> Iterator[Notes]:
    """The notes, to be changed; what they are in the end is what the file holds then."""
    file = path().absolute()
    with contextlib.ExitStack() as held:
        try:
            folder = os.open(file.parent, os.O_RDONLY)
            held.callback(os.close, folder)
            fcntl.flock(folder, fcntl.LOCK_EX)
        except OSError as error:
            warnings.warn(f"{file} is not kept: {error}", ProgressNotKept, stacklevel=5)
        notes = read()
        yield notes
        try:
            _replace(file, json.dumps({"version": 1, "exercises": notes}, indent=1, sort_keys=True) + "\n")
        except OSError as error:
            warnings.warn(f"{file} is not kept: {error}", ProgressNotKept, stacklevel=5)


def _replace(file: Path, text: str) -> None:
    handle, temporary = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}-")
    try:
        with open(handle, "w", encoding="utf-8") as opened:
            opened.write(text)
        os.chmod(temporary, 0o644)
        os.replace(temporary, file)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise
