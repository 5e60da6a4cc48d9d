"""A kernel's lines with what a launch says about each: on the card, and as annotations in the editor.

Annotations are bytes moved, how often a line ran, and findings.
"""

from __future__ import annotations

import linecache
import os
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, cast

from triton_lab import messages
from triton_lab.launch.replay.execution_counts import executed
from triton_lab.localization import _
from triton_lab.views.drawing.drawing_text import bytes_text
from triton_lab.views.launch.card.card_scenes import MarkedSource
from triton_lab.views.scenes import FindingNote, LineNote, NotedSource, Whereabouts

if TYPE_CHECKING:
    from triton_lab.launch.access import Access
    from triton_lab.launch.diagnosis.finding import Finding
    from triton_lab.launch.launch import Launch

MOST_LINES = 2000  # of an annotated kernel
MOST_CHARACTERS = 64 * 1024  # of its source
MOST_FINDINGS = 50
_MOST_UP = 2  # the most folders above the notebook's
_BESIDE_THE_PACKAGE = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(messages.__file__))), "")


def place(file: str) -> Whereabouts:
    """The place where a reader finds the lines of ``file``."""
    number = messages.cell_number(file)
    return {"cell": number, "path": "" if number is not None else _from_here(file)}


def _from_here(file: str) -> str:
    """The path of a file in a saved output: from the notebook's folder, within its package, or the mere name.

    The folders of a machine are private, and each machine would give other paths.
    """
    whole = os.path.abspath(file)
    folders = whole.split(os.sep)
    for packages in ("site-packages", "dist-packages"):
        if packages in folders:
            return "/".join(folders[folders.index(packages) + 1 :])
    if whole.startswith(_BESIDE_THE_PACKAGE):
        return whole.removeprefix(_BESIDE_THE_PACKAGE).replace(os.sep, "/")
    try:
        steps = os.path.relpath(whole).split(os.sep)
    except (OSError, ValueError):  # the folder is gone, or is on another drive
        return folders[-1]
    # Folders farther up belong to the machine, and often contain names of people.
    return "/".join(steps) if steps.count(os.pardir) <= _MOST_UP else folders[-1]


def marked_source(launch: Launch, accesses: Sequence[Access], findings: Sequence[Finding]) -> MarkedSource:
    """The kernel's lines, each with its accesses and the gravest of ``findings``, the first in their order."""
    marks: dict[int, list[str]] = {}
    for access in accesses:
        if access.line is not None and access.kind not in marks.setdefault(access.line, []):
            marks[access.line].append(access.kind)
    worst = {one.line: one.severity for one in reversed(findings) if one.line is not None}
    lines = launch.source.rstrip("\n").split("\n") if launch.source else []
    first = launch.first_line
    return {
        "place": place(launch.file),
        "first": first,
        "lines": [(line, marks.get(number, []), worst.get(number)) for number, line in enumerate(lines, start=first)],
    }


def annotated(launch: Launch, accesses: Sequence[Access], findings: Sequence[Finding]) -> list[NotedSource]:
    """The kernel's source with the notes on its lines, then the lines of other files that findings name.

    A kernel whose source is unknown or too long has no notes.
    """
    lines = launch.source.rstrip("\n").split("\n")
    if not launch.source or len(lines) > MOST_LINES or len(launch.source) > MOST_CHARACTERS:
        return []
    told = [one for one in findings[:MOST_FINDINGS] if one.line is not None]
    own = range(launch.first_line, launch.first_line + len(lines))
    notes = [note for note in _notes(launch, accesses) if note["line"] in own]
    here = [one for one in told if _file(one, launch) == launch.file]
    elsewhere = [(_file(one, launch), one) for one in told if _file(one, launch) != launch.file]
    return [
        _noted(launch.file, launch.first_line, lines, notes, here),
        *(_noted(file, one.line or 0, [_line(file, one)], [], [one]) for file, one in elsewhere),
    ]


def _line(file: str, one: Finding) -> str:
    return linecache.getline(file, one.line or 0).rstrip("\n")


def _file(one: Finding, launch: Launch) -> str:
    """The file of a finding's line if it is not the kernel's file but that of a helper; else ""."""
    return one.file or launch.file


def _noted(
    file: str, first: int, lines: Sequence[str], notes: Sequence[LineNote], findings: Sequence[Finding]
) -> NotedSource:
    told = [_finding(one) for one in findings]
    return {**place(file), "first": first, "lines": list(lines), "notes": list(notes), "findings": told}


def _finding(one: Finding) -> FindingNote:
    return {
        "line": one.line or 0,
        "severity": cast("Literal['error', 'warning', 'note']", one.severity),
        "message": "\n".join([one.message, *one.orders]),
        "hint": one.hint,
        "fix": [] if one.fix is None else [(edit.line, edit.before, edit.after) for edit in one.fix.edits],
    }


def _notes(launch: Launch, accesses: Sequence[Access]) -> list[LineNote]:
    """The notes by line, from facts that need no replay."""
    moved: Counter[int] = Counter()
    for access in accesses if not launch.dropped else ():
        if access.line is not None:
            moved[access.line] += access.asked
    total = moved.total()
    times = _times(launch) if launch.programs and not launch.dropped else {}
    found: list[LineNote] = []
    for line in sorted({*times, *moved}):
        share = moved[line] / total if total else 0.0
        runs = times.get(line)
        short = [f"{share:.0%}" if share >= 0.005 else "<1%"] if moved[line] else []
        said = (
            [
                _("{short} of the bytes that {kernel} moves, {bytes_text}").format(
                    short=short[0], kernel=launch.kernel, bytes_text=bytes_text(moved[line])
                )
            ]
            if short
            else []
        )
        if runs is not None:
            short += [f"×{_number(runs)}"] if runs != 1 else []
            said.append(_ran(runs))
        if short:
            found.append({"line": line, "share": share, "text": " ".join(short), "told": "; ".join(said)})
    return found


def _times(launch: Launch) -> dict[int, float]:
    """How often each line ran, per program on average: the count of its operation that ran most often."""
    found: dict[int, float] = {}
    for op, times in executed(launch, replays=False).times.items():
        at = launch.lines.get(op)
        if at is not None and (not at.file or at.file == launch.file):
            found[at.line] = max(found.get(at.line, 0.0), times / launch.programs)
    return found


def _number(runs: float) -> str:
    return f"{runs:,.0f}" if runs == round(runs) else messages.three_digits(runs)


def _ran(runs: float) -> str:
    if runs == 1:
        return _("ran once in each program")
    if runs == round(runs):
        return _("ran {times} in each program").format(times=messages.count(int(runs), "time"))
    # The plural is also used for less than one.
    return _("ran {often} times in each program, on average").format(often=_number(runs))
