"""The table of a class's points: on a screen, in a notebook, and in a file for spreadsheets."""

from __future__ import annotations

import csv
import html
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass

from triton_lab.localization import _

_FORMULAS = tuple("=+-@|%\uff1d\uff0b\uff0d\uff20")


@dataclass(frozen=True)
class GradeRow:
    """One exercise in one notebook. ``message`` says why an answer got no points."""

    file: str
    exercise: str
    points: float
    possible: float
    message: str


class Grades(tuple[GradeRow, ...]):
    """A row for each exercise of each notebook. It shows itself as a table: points by notebook.

    >>> lab.course.grade([])
    no notebook was graded
    """

    def by_file(self) -> dict[str, tuple[float, float]]:
        """The points and the possible points, by file.

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
            writer.writerows((harmless(row.file), row.exercise, *_numbers(row), harmless(row.message)) for row in self)

    def __repr__(self) -> str:
        if not self:
            return _("no notebook was graded")
        width = max(len(name) for name in self.by_file())
        lines = []
        for name, (points, possible) in self.by_file().items():
            lines.append(plain(f"{name:{width}}  {_of(points, possible)}"))
            lines += [plain(f"  {row.exercise}: {row.message}") for row in self if row.file == name and row.message]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        rows = "".join(
            f'<tr><td style="text-align: left">{html.escape(row.file)}</td>'
            f'<td style="text-align: left">{html.escape(row.exercise)}</td><td>{_of(row.points, row.possible)}</td>'
            f'<td style="text-align: left">{html.escape(row.message)}</td></tr>'
            for row in self
        )
        names = _("Notebook"), _("Exercise"), _("Points"), _("What is wrong")
        head = "".join(f"<th>{html.escape(name)}</th>" for name in names)
        return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def _numbers(row: GradeRow) -> Sequence[str]:
    return f"{row.points:g}", f"{row.possible:g}"


def _of(points: float, possible: float) -> str:
    return _("{points} of {possible}").format(points=f"{points:g}", possible=f"{possible:g}")


def plain(text: str) -> str:
    """Text on one line, without control characters that terminals and spreadsheets would obey."""
    shown = re.sub(r"\x1b\[[0-9;?]*[ -/]*[@-~]", "", text).replace("\n", " / ")
    return "".join(one if one.isprintable() else " " if one.isspace() else "\ufffd" for one in shown.replace("\t", " "))


def harmless(text: str) -> str:
    """Plain text for a cell of a spreadsheet, which never takes it for a formula."""
    found = plain(text)
    return "'" + found if found.lstrip()[:1] in _FORMULAS else found
