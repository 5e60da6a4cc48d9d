"""Grades a class's notebooks: each runs in a process of its own, with limits, and another judges it (`judging/`).

This happens on this machine, or on several workers: a notebook is sent as text, and the results of its checks come
back.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from triton_lab import messages
from triton_lab.course.grade_table import GradeRow, Grades, plain
from triton_lab.course.released_exercises import Cell, HandedIn, handed_in
from triton_lab.localization import N_, _, translated

SECONDS = 300.0  # for one notebook
MEMORY = 8 << 30  # bytes of data that it may hold
_GRACE = 60.0  # seconds on top: to begin, to end, and to report how far it came

# Environment variables that stay: where programs and libraries are, the language, and Triton's settings.
_NAMES = frozenset({"PATH", "HOME", "LANG", "LANGUAGE", "TZ", "TMPDIR", "USER", "VIRTUAL_ENV", "CONDA_PREFIX"})
_PREFIXES = ("TRITON", "LC_", "LD_", "OMP_", "MKL_", "XDG_CACHE")
Said = tuple[bytes, str]
_MEMORY_EXCEEDED = N_("a cell took more memory than it may have")


@dataclass(frozen=True)
class Judgements:
    """The results of the checks, by exercise: whether the answer is right, and what is wrong.

    ``ended`` is the reason if there are no more. ``limits`` says what is not isolated. ``memory``: a cell needed too
    much. ``lost``: nothing was judged.
    """

    told: Mapping[str, tuple[bool, str]]
    ended: str
    limits: str = ""
    memory: bool = False
    lost: bool = False


def grade(
    files: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    *,
    seconds: float = SECONDS,
    memory: int = MEMORY,
    jobs: int | None = None,
    released: str | os.PathLike[str] | None = None,
    told: Callable[[str], None] | None = print,
    scheduler: str | None = None,
    security: Any = None,
    insecure: bool = False,
) -> Grades:
    """Run learners' notebooks and judge their answers: a table with points, and a line as each notebook ends.

    The exercises that count are those of the chapter with which the file's name begins (``07_reductions.ipynb``). With
    another name, they are those of all chapters of which the notebook has checks. With ``released``, a notebook or a
    folder of them, they are those that it checks. Each answer is judged where the notebook has its check.

    Cells run in a process of their own, in an empty folder, for ``seconds`` at most and with ``memory`` bytes of data;
    a notebook that needs more gets the points that it had by then. Another process judges: it makes the inputs, and
    runs launches again. ``jobs`` notebooks run at a time, by default as many as there are CPUs. If the system has
    user namespaces, cells see neither the grader nor the network; if not, a line says so. ``told`` gets the lines.

    With a Dask ``scheduler``, and the further options of `target`, its workers share the notebooks. If the workers are
    lost, the remaining notebooks get no points and a message that says so. Raises TargetError if there are no workers
    at first.

    >>> lab.course.grade("nowhere.ipynb")
    Traceback (most recent call last):
        ...
    FileNotFoundError: no notebook is at nowhere.ipynb
    """
    chosen = [Path(one) for one in ([files] if isinstance(files, (str, os.PathLike)) else files)]
    missing = [str(one) for one in chosen if not os.path.lexists(one)]
    if missing:
        raise FileNotFoundError(_("no notebook is at {missing}").format(missing=missing[0]))
    handed = [handed_in(one, None if released is None else Path(released)) for one in chosen]
    calls = {
        number: functools.partial(judged, one.cells, seconds, memory)
        for number, one in enumerate(handed)
        if not one.broken
    }
    if scheduler is None:
        found = _here(calls, jobs or os.cpu_count() or 1)
    else:
        limits = {"max_seconds": _longest(seconds) + _GRACE, "max_bytes": 3 * memory}
        found = _elsewhere(calls, scheduler=scheduler, security=security, insecure=insecure, **limits)
    rows: dict[int, list[GradeRow]] = {number: list(_broken(one)) for number, one in enumerate(handed) if one.broken}
    tell = _Lines(told, len(handed))
    for number, own in rows.items():
        tell.ended(handed[number], own)
    for number, judgement in found:
        tell.limits(judgement.limits)
        rows[number] = list(_rows(handed[number], judgement))
        tell.ended(handed[number], rows[number])
    return Grades(row for number in range(len(handed)) for row in rows[number])


class _Lines:
    """The printed lines: one for each notebook that has ended, and one for what is not isolated."""

    def __init__(self, told: Callable[[str], None] | None, total: int) -> None:
        self._told, self._total, self._done = told or (lambda line: None), total, 0
        self._limits: set[str] = set()

    def ended(self, one: HandedIn, rows: Sequence[GradeRow]) -> None:
        self._done += 1
        points, possible = sum(row.points for row in rows), sum(row.possible for row in rows)
        why = f": {one.broken}" if one.broken else ""
        self._told(
            plain(
                _("[{done}/{total}] {file}: {points} of {possible}{why}").format(
                    done=self._done,
                    total=self._total,
                    file=one.file,
                    points=f"{points:g}",
                    possible=f"{possible:g}",
                    why=why,
                )
            )
        )

    def limits(self, limits: str) -> None:
        if limits and limits not in self._limits:
            self._limits.add(limits)
            self._told(limits)


def _broken(one: HandedIn) -> Iterator[GradeRow]:
    """The rows of a notebook that is not run: nothing in it counts."""
    for exercise in one.count:
        yield GradeRow(one.file, exercise.name, 0.0, float(exercise.points), one.broken)
    if not one.count:
        yield GradeRow(one.file, "", 0.0, 0.0, one.broken)


def _rows(one: HandedIn, found: Judgements) -> Iterator[GradeRow]:
    checks = {cell.checks for cell in one.cells}
    for exercise in one.count:
        points = float(exercise.points)
        if exercise.name in found.told:
            solved, message = found.told[exercise.name]
        elif exercise.name not in checks and not found.lost:
            solved, message = False, _("the notebook has no check for it")
        else:
            solved, message = False, found.ended or _("the notebook ended before this check")
        more = f" ({translated(_MEMORY_EXCEEDED)})" if found.memory and not solved else ""
        yield GradeRow(one.file, exercise.name, points if solved else 0.0, points, "" if solved else message + more)


def _here(calls: Mapping[int, Callable[[], Said]], jobs: int) -> Iterator[tuple[int, Judgements]]:
    """The results of the calls, ``jobs`` at a time, each as it ends."""
    pool = ThreadPoolExecutor(jobs)
    try:
        waiting = {pool.submit(call): number for number, call in calls.items()}
        for done in as_completed(waiting):
            yield waiting[done], _heard(*done.result())
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _elsewhere(calls: Mapping[int, Callable[[], Said]], **where: Any) -> Iterator[tuple[int, Judgements]]:
    """The results of the calls on a scheduler's workers, in order: received results stay if workers are lost."""
    from triton_lab.remote.remote_errors import RemoteError
    from triton_lab.remote.spread import outcomes

    left = list(calls)
    try:
        for outcome in outcomes(list(calls.values()), **where):
            lost = Judgements({}, _("not graded: {error}").format(error=outcome.error), lost=True)
            yield left.pop(0), _sent(outcome.value) if outcome.error is None else lost
    except RemoteError:
        lost = Judgements(
            {},
            _("not graded: the connection to the workers was lost. Grade it again when a worker is there"),
            lost=True,
        )
        yield from ((number, lost) for number in left)


def _longest(seconds: float) -> float:
    """The longest time for a notebook and its judge."""
    return 2 * seconds + _GRACE


def _sent(value: Any) -> Judgements:
    """The data from a worker, which may be anything."""
    match value:
        case (bytes() as said, str() as ended):
            return _heard(said, ended)
    return Judgements({}, _("not graded: the worker's answer is not a judge's report"), lost=True)


def judged(cells: Sequence[Cell], seconds: float, memory: int) -> Said:
    """Run and judge the cells of a notebook; returns the judge's output, as lines of JSON, and why it ended early."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        asked = {
            "cells": [{"text": cell.text, "checks": cell.checks} for cell in cells],
            "folder": folder,
            "seconds": seconds,
            "memory": memory,
        }
        judge = subprocess.Popen(
            [sys.executable, "-m", "triton_lab.course.judging.judge"],
            cwd="/",  # modules must not come from a folder that cells can write to
            env=_environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        late = ""
        try:
            said, _unused = judge.communicate(json.dumps(asked).encode(), _longest(seconds))
        except subprocess.TimeoutExpired:
            late = _("judging took longer than {longest}").format(longest=messages.seconds_text(_longest(seconds)))
            said = _killed(judge)
        except BaseException:  # an interrupt does not wait for the judge
            _killed(judge)
            raise
        return said, late or (
            _("its judge ended with exit code {returncode}").format(returncode=judge.returncode)
            if judge.returncode
            else ""
        )


def _environment() -> dict[str, str]:
    """The environment of the judge's process, without secrets, since cells can read it."""
    kept = {name: value for name, value in os.environ.items() if name in _NAMES or name.startswith(_PREFIXES)}
    return kept | {
        "TRITON_DEFAULT_BACKEND": "triton_lab",
        "PYTHONPATH": os.pathsep.join(filter(None, map(os.path.abspath, sys.path))),
        "PYTHONSAFEPATH": "1",
    }


def _killed(judge: subprocess.Popen[bytes]) -> bytes:
    """End the judge, and with it all that it has started; returns its output."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(judge.pid, signal.SIGKILL)
    return judge.communicate()[0]


def _heard(said: bytes, ended: str) -> Judgements:
    found: dict[str, tuple[bool, str]] = {}
    limits, memory = "", False
    for line in said.decode("utf-8", "replace").splitlines():
        try:
            one = json.loads(line)
        except (ValueError, RecursionError):  # the last line of a judge that was ended while writing
            continue
        match one:
            case {"exercise": str() as exercise, "solved": bool() as solved, "message": str() as message}:
                found[exercise] = solved, message
            case {"ended": str() as ended}:
                pass
            case {"limits": str() as limits}:
                pass
            case {"memory": _}:
                memory = True
    return Judgements(found, ended, limits, memory)
