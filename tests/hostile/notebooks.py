"""Hostile notebooks for `grade`: forged results, host computing, processes that end, hang or flood, odd files.

Each is graded in a small class with an honest notebook beside it, which must keep its points; none of the hostile ones
may get a point that it has not earned, end the grading, or delay it beyond its own time.
"""

from __future__ import annotations

import contextlib
import csv
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.hostile.forgeries import FORGED
from tests.hostile.outcome import Try
from tests.hostile.unruly import UNRULY
from triton_lab.course.grading import grade

SECONDS = 60.0
MEMORY = 4 << 30
CLASS = 8  # notebooks that are graded at a time, beside the honest one
CHECKS = ("add_constant", "scale_and_shift", "relu", "square_in_place", "idle_lanes")

Writer = Callable[[Path], None]


@dataclass(frozen=True)
class Hostile:
    """A file that ``write`` puts at a path, and the points that it has earned; ``seconds`` that it may take."""

    name: str
    write: Writer
    points: float = 0.0
    seconds: float = SECONDS


def notebook(*cells: str) -> str:
    """A notebook's file with these cells of code."""
    made = [
        {"cell_type": "code", "metadata": {}, "source": text, "outputs": [], "execution_count": None} for text in cells
    ]
    return json.dumps({"cells": made, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})


def check(name: str) -> str:
    """The cell that checks an exercise."""
    return f'exercise("{name}").check({name})'


def checked(*cells: str, names: tuple[str, ...] = CHECKS) -> Writer:
    """A notebook with these cells, and the chapter's checks after them."""
    return lambda path: path.write_text(notebook(*cells, *map(check, names)), encoding="utf-8")  # type: ignore[return-value]


def honest(path: Path) -> None:
    """The teacher's answers to chapter 00."""
    from tests.course.chapters import answers

    cells = ["import torch\nimport triton\nimport triton.language as tl\nfrom triton_lab.course import exercise"]
    for name in CHECKS:
        cells += [answers()[name], check(name)]
    path.write_text(notebook(*cells), encoding="utf-8")


# A process of its own, since a sandbox ends all descendants of the process that closes it.
CLOSED_OFF = f"""
import sys
from triton_lab.course.judging import sandbox

box = sandbox.start(lambda end: end.close(), sys.argv[1], {MEMORY})
box.close()
sys.exit(bool(box.limits))
"""


def closed_off() -> bool:
    """Whether cells see no other process here, and cannot write to files."""
    with tempfile.TemporaryDirectory() as folder:
        return not subprocess.run([sys.executable, "-c", CLOSED_OFF, folder], check=False).returncode


def corpus() -> Iterator[Hostile]:
    """All of them."""
    for name, cells in FORGED.items():
        yield Hostile(name, checked(*cells))
    for name, cell in UNRULY.items() if closed_off() else ():  # else they would end what else runs on the machine
        yield Hostile(name, checked(cell), seconds=15.0 if "never" in name else SECONDS)
    yield from _files()


def _files() -> Iterator[Hostile]:
    text = lambda held: lambda path: path.write_text(held, encoding="utf-8")  # noqa: E731
    data = lambda held: lambda path: path.write_bytes(held)  # noqa: E731
    right = "idle_lanes = 24"
    yield Hostile("a list", text("[1]"))
    yield Hostile("an empty file", text(""))
    yield Hostile("no UTF-8", data(b'{"cells": "\xff\xfe"}'))
    yield Hostile("brackets in the file", text("[" * 100_000))
    yield Hostile("cells that are brackets", text('{"cells": ' + "[" * 100_000 + "]" * 100_000 + "}"))
    yield Hostile("a number of a million digits", text('{"cells": ' + "1" * 1_000_000 + "}"))
    yield Hostile("cells that are an object", text('{"cells": {"a": 1}}'))
    yield Hostile("cells that are numbers", text('{"cells": [1, 2]}'))
    yield Hostile("no cells", text("{}"))
    yield Hostile("a cell without a source", text('{"cells": [{"cell_type": "code"}]}'))
    yield Hostile("a source of numbers", text('{"cells": [{"cell_type": "code", "source": [1, 2]}]}'))
    yield Hostile("a source that is an object", text('{"cells": [{"cell_type": "code", "source": {"a": 1}}]}'))
    yield Hostile("an old format", text('{"worksheets": [{"cells": []}], "nbformat": 3}'))
    yield Hostile("too many cells", lambda path: _write(path, *["1"] * 20_001))
    yield Hostile("more bytes than a notebook has", data(b"[" + b" " * (65 << 20) + b"]"))
    yield Hostile("a directory", lambda path: path.mkdir())
    yield Hostile("a pipe", lambda path: os.mkfifo(path))
    yield Hostile("a link to nothing", lambda path: path.symlink_to("nowhere"))
    yield Hostile("a link to itself", lambda path: path.symlink_to(path.name))
    yield Hostile("a link to a device", lambda path: path.symlink_to("/dev/zero"))
    yield Hostile("an archive", data(b"PK\x03\x04" + bytes(1000)))
    yield Hostile("no checks", lambda path: _write(path, right))
    yield Hostile("a deleted check", checked(right, names=("relu",)))
    yield Hostile("a check of nothing", checked(right, 'exercise("nothing").check(1)', names=()))
    yield Hostile("a check in prose", lambda path: _markdown(path, check("idle_lanes")))
    yield Hostile("nested brackets in a cell", checked("x = " + "[" * 100_000 + "]" * 100_000, right), points=1)
    yield Hostile("many lines", checked("x = 1\n" * 20_000, right), points=1)
    yield Hostile("half a character", lambda path: path.write_text(notebook("'\ud800'", right, check("idle_lanes"))), 1)
    yield Hostile("a zero byte", checked("x = '\0'", right), points=1)
    yield Hostile("a mark of byte order", lambda path: _marked(path, right, check("idle_lanes")), points=1)
    yield Hostile("a check twice", checked(right, check("idle_lanes"), check("idle_lanes")), points=1)
    yield Hostile("a check that was changed", checked(right, 'exercise("idle_lanes").check(0) or True', names=()), 1)


def _write(path: Path, *cells: str) -> None:
    path.write_text(notebook(*cells), encoding="utf-8")


def _marked(path: Path, *cells: str) -> None:
    path.write_text("\ufeff" + notebook(*cells), encoding="utf-8")


def _markdown(path: Path, text: str) -> None:
    cells = [{"cell_type": "markdown", "metadata": {}, "source": text}]
    path.write_text(json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))


# --- Grading them -----------------------------------------------------------------------------------------


def tries(seed: int) -> Iterator[Try]:
    """Classes of some hostile notebooks and an honest one."""
    found = list(corpus())
    for quick in (False, True):
        chosen = [one for one in found if (one.seconds < SECONDS) == quick]
        for first in range(0, len(chosen), CLASS):
            yield from graded(chosen[first : first + CLASS])


def graded(some: list[Hostile]) -> Iterator[Try]:
    """A class: a try for each of these, and one for the honest notebook beside them."""
    seconds = min(one.seconds for one in some)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        for number, one in enumerate(some):
            one.write(Path(folder, f"00_{number}.ipynb"))
        beside = Path(folder, "00_honest.ipynb")
        honest(beside)
        files = [*(Path(folder, f"00_{number}.ipynb") for number in range(len(some))), beside]
        began = time.monotonic()
        try:
            grades = grade(files, seconds=seconds if seconds < SECONDS else SECONDS, memory=MEMORY, jobs=2, told=None)
        except BaseException as error:  # nothing that is handed in may end the grading
            for one in some:
                yield Try(one.name, "wrong", f"the grading ended: {type(error).__name__}: {error}")
            if not isinstance(error, Exception):
                raise
            return
        late = time.monotonic() - began > len(files) * (2 * seconds + 30)
        points = {name: found[0] for name, found in grades.by_file().items()}
        for one, file in zip(some, files, strict=False):
            told = [row.message for row in grades if row.file == str(file)]
            seen = f"{points.get(str(file))} points for {one.points}: {told}"
            right = points.get(str(file)) == one.points and all(told) == (one.points == 0)
            refused = any("no notebook" in message or "be read" in message for message in told)
            outcome = "hung" if late else "wrong" if not right else "refused" if refused else "survived"
            yield Try(one.name, outcome, seen)  # type: ignore[arg-type]
        kept = points.get(str(beside)) == len(CHECKS)
        told = [row.message for row in grades if row.file == str(beside)]
        yield Try("the honest one beside them", "survived" if kept else "wrong", f"{some[0].name} ...: {told}")
        table = Path(folder, "table.csv")
        grades.to_csv(table)
        with table.open(newline="", encoding="utf-8") as opened, contextlib.closing(opened):
            rows = list(csv.reader(opened))
        cells = [cell for row in rows for cell in row]
        safe = len(rows) == len(grades) + 1 and all(
            cell.isprintable() and cell[:1] not in tuple("=+-@") for cell in cells
        )
        yield Try("their table", "survived" if safe else "wrong", str(rows)[:500])
