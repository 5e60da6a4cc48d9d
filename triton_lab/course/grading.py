"""A class's notebooks, graded: each run in a process of its own, with limits, and judged by the course's own checks.

Here, or where several workers share the work: a notebook travels as text, and what its checks said comes back.
"""

from __future__ import annotations

import contextlib
import csv
import functools
import html
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from triton_lab import words
from triton_lab.course.edition import checked, source_of
from triton_lab.course.registry import exercise

SECONDS = 300.0  # for one notebook
MEMORY = 8 << 30  # bytes of data that it may hold
_GRACE = 30.0  # seconds that a worker has beside them, to end a notebook itself and say how far it came

Judgements = tuple[dict[str, tuple[bool, str]], str]
"""What the checks said, by exercise: whether the answer is right, and what is wrong. And why there are no more."""


@dataclass(frozen=True)
class Row:
    """One exercise in one notebook. ``message`` says what is wrong with an answer that got no points."""

    file: str
    exercise: str
    points: float
    possible: float
    message: str


class Grades(tuple[Row, ...]):
    """A row for each exercise of each notebook. It shows itself as a table: points by notebook.

    >>> lab.course.grade([])
    no notebook was graded
    """

    def by_file(self) -> dict[str, tuple[float, float]]:
        """Points and what was possible, by file.

        >>> lab.course.grade([]).by_file()
        {}
        """
        found: dict[str, tuple[float, float]] = {}
        for row in self:
            points, possible = found.get(row.file, (0.0, 0.0))
            found[row.file] = points + row.points, possible + row.possible
        return found

    def to_csv(self, path: str | os.PathLike[str]) -> None:
        """Write all rows to a file that spreadsheets open.

        >>> import pathlib, tempfile
        >>> path = pathlib.Path(tempfile.mkdtemp(), "grades.csv")
        >>> lab.course.grade([]).to_csv(path)
        >>> path.read_text()
        'file,exercise,points,possible,message\\n'
        """
        with open(path, "w", encoding="utf-8", newline="") as opened:
            writer = csv.writer(opened, lineterminator="\n")
            writer.writerow(("file", "exercise", "points", "possible", "message"))
            writer.writerows(
                (_harmless(row.file), row.exercise, *_numbers(row), _harmless(row.message)) for row in self
            )

    def __repr__(self) -> str:
        if not self:
            return "no notebook was graded"
        width = max(len(name) for name in self.by_file())
        lines = []
        for name, (points, possible) in self.by_file().items():
            lines.append(f"{name:{width}}  {points:g} of {possible:g}")
            lines += [f"  {row.exercise}: {row.message}" for row in self if row.file == name and row.message]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        rows = "".join(
            f'<tr><td style="text-align: left">{html.escape(row.file)}</td>'
            f'<td style="text-align: left">{html.escape(row.exercise)}</td><td>{row.points:g} of {row.possible:g}</td>'
            f'<td style="text-align: left">{html.escape(row.message)}</td></tr>'
            for row in self
        )
        head = "".join(f"<th>{name}</th>" for name in ("Notebook", "Exercise", "Points", "What is wrong"))
        return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


@dataclass(frozen=True)
class _HandedIn:
    """A notebook as somebody handed it in: its ``text``, and the exercises that it ``asked`` to be checked in their
    order; None where it is no notebook."""

    file: str
    text: str
    asked: tuple[str, ...] | None


def grade(
    files: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    *,
    seconds: float = SECONDS,
    memory: int = MEMORY,
    scheduler: str | None = None,
    security: Any = None,
    insecure: bool = False,
) -> Grades:
    """Run learners' notebooks and judge their answers: a table with points.

    Each runs in a process of its own, in an empty folder, for ``seconds`` at most and with ``memory`` bytes of data; a
    notebook that needs more gets the points that it had by then. Only those exercises count that it has a check of.
    A process is no jail: who grades strangers does so in a container.

    With a ``scheduler`` of Dask's, and what `target` takes beside it, its workers share the notebooks. Where they are
    lost, those that are left get no points and a message that says so. Raises TargetError where there is none at first.

    >>> lab.course.grade("nowhere.ipynb")
    Traceback (most recent call last):
        ...
    FileNotFoundError: no notebook is at nowhere.ipynb
    """
    chosen = [files] if isinstance(files, (str, os.PathLike)) else list(files)
    missing = [os.fspath(one) for one in chosen if not Path(one).is_file()]
    if missing:
        raise FileNotFoundError(f"no notebook is at {missing[0]}")
    handed = [_handed_in(Path(one)) for one in chosen]
    calls = [functools.partial(judgements, one.text, seconds, memory) for one in handed if one.asked]
    if scheduler is None:
        found: Iterator[Judgements] = (call() for call in calls)
    else:
        limits = {"max_seconds": seconds + _GRACE, "max_bytes": memory}
        found = _elsewhere(calls, scheduler=scheduler, security=security, insecure=insecure, **limits)
    return Grades(row for one in handed for row in _rows(one, next(found) if one.asked else ({}, "")))


def _handed_in(path: Path) -> _HandedIn:
    try:
        text = path.read_text(encoding="utf-8")
        cells = json.loads(text)["cells"]
        asked = dict.fromkeys(name for cell in cells if (name := checked(source_of(cell))) is not None)
    except (ValueError, KeyError, TypeError):
        return _HandedIn(str(path), "", None)
    return _HandedIn(str(path), text, tuple(asked))


def _rows(one: _HandedIn, found: Judgements) -> Iterator[Row]:
    if one.asked is None:
        yield Row(one.file, "", 0.0, 0.0, "this is no notebook")
        return
    told, ended = found
    for name in one.asked:
        try:
            points = float(exercise(name).points)
        except LookupError as error:
            yield Row(one.file, name, 0.0, 0.0, str(error))
            continue
        solved, message = told.get(name, (False, ended or "the notebook ended before this check"))
        yield Row(one.file, name, points if solved else 0.0, points, "" if solved else message)


def _elsewhere(calls: Sequence[Callable[[], Judgements]], **where: Any) -> Iterator[Judgements]:
    """What the calls give on a scheduler's workers, in their order: what came back stays, whatever is lost later."""
    from triton_lab.remote.failures import RemoteError
    from triton_lab.remote.spread import outcomes

    done = 0
    try:
        for outcome in outcomes(calls, **where):
            yield outcome.value if outcome.error is None else ({}, f"not graded: {outcome.error}")
            done += 1
    except RemoteError:
        lost: Judgements = {}, "not graded: the workers were lost; grade it again when one is there"
        yield from [lost] * (len(calls) - done)


def judgements(text: str, seconds: float, memory: int) -> Judgements:
    """Run the notebook of which this is the file's text, and hear what its checks say. Workers call it, too."""
    with tempfile.TemporaryDirectory() as folder:
        file, told, inside = (os.path.join(folder, name) for name in ("notebook", "told", "inside"))
        Path(file).write_text(text, encoding="utf-8")
        os.mkdir(inside)
        environment = os.environ | {
            "TRITON_LAB_PROGRESS": os.path.join(folder, "progress.json"),
            "TRITON_DEFAULT_BACKEND": "triton_lab",
            "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
        }
        child = subprocess.Popen(
            [sys.executable, "-m", "triton_lab.course.running", file, told, str(memory)],
            cwd=inside,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        ended = _wait(child, seconds)
        found: dict[str, tuple[bool, str]] = {}
        for line in Path(told).read_text(encoding="utf-8").splitlines() if os.path.exists(told) else ():
            with contextlib.suppress(ValueError):  # the last line, of a process that was ended while it wrote
                one = json.loads(line)
                found[one["exercise"]] = bool(one["solved"]), str(one["message"])
        return found, ended


def _wait(child: subprocess.Popen[bytes], seconds: float) -> str:
    """Wait for the process, or end it and all that it has started; why there is no more to be heard of it."""
    try:
        code = child.wait(seconds)
        ended = f"its process ended with {code}" if code else ""
    except subprocess.TimeoutExpired:
        ended = f"the notebook did not end within {words.seconds_text(seconds)}"
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()
    return ended


def _numbers(row: Row) -> Sequence[str]:
    return f"{row.points:g}", f"{row.possible:g}"


def _harmless(text: str) -> str:
    """Text for a cell of a spreadsheet, which must not take it for a formula."""
    return "'" + text if text[:1] in ("=", "+", "-", "@") else text
