"""The exercises that count in a notebook: those of its chapter as released, even if the file was changed."""

from __future__ import annotations

import json
import os
import re
import stat
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from triton_lab.course.edition import checked
from triton_lab.course.exercise_kinds import Exercise
from triton_lab.course.exercise_registry import PAGES, exercises
from triton_lab.localization import _

LARGEST = 64 << 20  # bytes of a notebook's file
_CELLS = 20_000
_CHAPTER = re.compile(r"(?<!\d)(\d\d)(?=_)")


@dataclass(frozen=True)
class Cell:
    """A code cell: its ``text``, and the exercise that it ``checks`` (or "")."""

    text: str
    checks: str


@dataclass(frozen=True)
class HandedIn:
    """A notebook as it was handed in: its code ``cells``, and the exercises that ``count``.

    ``broken`` says why it is no notebook, or that its chapter is unknown; then it is not run.
    """

    file: str
    cells: tuple[Cell, ...]
    count: tuple[Exercise, ...]
    broken: str = ""


def handed_in(path: Path, released: Path | None = None) -> HandedIn:
    """The notebook at ``path``, whatever the file contains.

    Its exercises are those of the chapter with which the file's name begins, else of the chapters of which it has
    checks; or those that ``released`` checks, a notebook or a folder with one of the same name. Raises what reading
    ``released`` raises.
    """
    counted = None if released is None else _checked_in(released / path.name if released.is_dir() else released)
    named = _of_chapters(_named(path.name)) if counted is None else counted
    try:
        cells = _cells(path)
    except OSError as error:
        return HandedIn(
            str(path), (), named, _("it cannot be read: {strerror}").format(strerror=error.strerror or error)
        )
    except RecursionError:
        return HandedIn(str(path), (), named, _("this is not a notebook: its JSON is nested too deeply"))
    except (ValueError, KeyError, TypeError, AttributeError, MemoryError) as error:
        told = str(error) if isinstance(error, _NoNotebook) else ""
        return HandedIn(
            str(path), (), named, _("this is not a notebook{which}").format(which=f": {told}" if told else "")
        )
    if not named and counted is None:
        known = {one.name: one.chapter for one in exercises()}
        named = _of_chapters({known[cell.checks] for cell in cells if cell.checks in known})
    if not named:
        told = _(
            "the file's name does not begin with a chapter's name, and the file has no check: there is nothing to grade"
        )
        return HandedIn(str(path), cells, (), told)
    return HandedIn(str(path), cells, named)


class _NoNotebook(ValueError):
    pass


def _named(name: str) -> set[str]:
    """The chapter with which a file's name begins: ``07_reductions.ipynb``, ``ada-07_reductions.ipynb``."""
    found = [one for one in _CHAPTER.findall(name) if one in PAGES]
    return set(found[:1])


def _of_chapters(chapters: set[str]) -> tuple[Exercise, ...]:
    return tuple(one for one in exercises() if one.chapter in chapters)


def _checked_in(released: Path) -> tuple[Exercise, ...]:
    names = {cell.checks for cell in _cells(released)}
    return tuple(one for one in exercises() if one.name in names)


def _cells(path: Path) -> tuple[Cell, ...]:
    """The code cells of a notebook's file. Raises OSError, RecursionError and ValueError."""
    # Without waiting: opening a pipe in place of a file would never return.
    opened = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with open(opened, "rb") as file:
        if not stat.S_ISREG(os.fstat(opened).st_mode):
            raise _NoNotebook(_("it is not a file"))
        data = file.read(LARGEST + 1)
    if len(data) > LARGEST:
        raise _NoNotebook(_("it has more than {largest} MB").format(largest=LARGEST >> 20))
    try:
        notebook = json.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise _NoNotebook(_("it is not UTF-8")) from None
    except ValueError:
        raise _NoNotebook(_("it is not JSON")) from None
    cells = notebook["cells"] if isinstance(notebook, dict) else None
    if not isinstance(cells, list) or len(cells) > _CELLS:
        raise _NoNotebook(_("it has no list of cells, or the list is too long"))
    texts = [_text(one) for one in cells if one["cell_type"] == "code"]
    return tuple(Cell(text, checked(text) or "") for text in texts)


def _text(cell: dict[str, Any]) -> str:
    source = cell["source"]
    lines: Iterable[Any] = [source] if isinstance(source, str) else source
    text = "".join(line for line in lines)
    # An unpaired UTF-16 surrogate cannot be written in UTF-8.
    return text.encode("utf-8", "replace").decode("utf-8")
