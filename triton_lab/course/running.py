"""A notebook's code cells run one after the other, in this process and without a front end: for grading and tests.

`grading` starts ``python -m triton_lab.course.running`` for each notebook.
"""

from __future__ import annotations

import ctypes
import json
import resource
import signal
import sys
import warnings
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from triton_lab.course.edition import Notebook, checked, source_of


@dataclass(frozen=True)
class Ran:
    """What became of one code cell: its ``number`` among all cells, the exercise that it checks (or ""), and the error
    that it ended with (or ""): ``kind`` is the name of its class."""

    number: int
    exercise: str
    kind: str = ""
    message: str = ""


@dataclass(frozen=True)
class Judged:
    """What a check says of an answer, for a class's table."""

    exercise: str
    solved: bool
    message: str


class Shell:
    """IPython as a notebook's cells meet it, with nobody to show anything to."""

    def __init__(self) -> None:
        from IPython.core.interactiveshell import InteractiveShell

        shell: Any = InteractiveShell.instance()
        self._shell = shell
        shell.reset()
        # Pictures take most of a notebook's time, and nobody looks.
        shell.display_formatter.mimebundle_formatter.enabled = False
        shell.display_formatter.active_types = ["text/plain"]
        shell.showtraceback = lambda *args, **kwargs: None
        shell.run_line_magic("load_ext", "triton_lab")

    @property
    def names(self) -> dict[str, Any]:
        """What the cells have defined."""
        return dict(self._shell.user_ns)

    def run(self, text: str) -> BaseException | None:
        """Run a cell; the error that it ended with."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = self._shell.run_cell(text, store_history=True, silent=False)
        error: BaseException | None = result.error_before_exec or result.error_in_exec
        return error


def ran(notebook: Notebook) -> Iterator[Ran]:
    """Run every code cell, errors or not, and say what became of each."""
    shell = Shell()
    for number, cell in enumerate(notebook["cells"]):
        if cell["cell_type"] == "code":
            text = source_of(cell)
            error = shell.run(text)
            kind = type(error).__name__ if error is not None else ""
            yield Ran(number, checked(text) or "", kind, str(error or ""))


def judged(notebook: Notebook) -> Iterator[Judged]:
    """Run the cells of a learner's notebook; where it checks an exercise, judge the answer as it is by then.

    The check is the course's own, whatever the cell was made into; an exercise whose cell is missing is not judged.
    """
    from triton_lab.course.registry import exercise

    shell = Shell()
    for cell in notebook["cells"]:
        if cell["cell_type"] != "code":
            continue
        name = checked(source_of(cell))
        if name is None:
            shell.run(source_of(cell))
            continue
        try:
            fault = exercise(name).judge(shell.names.get(name, ...))
        except Exception as error:  # an answer may do anything
            yield Judged(name, False, f"{type(error).__name__}: {error}")
        else:
            yield Judged(name, fault is None, "" if fault is None else str(fault))


def limit(memory: int) -> None:
    """Let this process hold so many bytes of data at most."""
    _, most = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (memory if most == resource.RLIM_INFINITY else min(memory, most), most))


def end_with_parent() -> None:
    """From now on this process is killed when the one ends that has started it, however that comes."""
    libc, set_signal_of_parents_death = ctypes.CDLL(None), 1
    libc.prctl(set_signal_of_parents_death, signal.SIGKILL)


def main(file: str, told: str, memory: str) -> None:
    """Judge the notebook ``file``, and write a line of JSON to ``told`` for each check."""
    end_with_parent()
    with open(file, encoding="utf-8") as opened:
        notebook = json.load(opened)
    limit(int(memory))
    with open(told, "w", encoding="utf-8") as out:
        for one in judged(notebook):
            print(json.dumps(asdict(one)), file=out, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
