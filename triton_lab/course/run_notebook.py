"""Runs a notebook's code cells one after the other, in this process and without a front end: for grading and tests."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from triton_lab.course.answer_fault import TO_DO, stub_of
from triton_lab.course.edition import Notebook, checked, source_of


@dataclass(frozen=True)
class CellRun:
    """The outcome of one code cell.

    It has its ``number`` among all cells, the exercise that it checks (or ""), and the error that ended it (or "");
    ``kind`` is the name of the error's class.
    """

    number: int
    exercise: str
    kind: str = ""
    message: str = ""


class Shell:
    """IPython as a notebook's cells see it, without a front end."""

    def __init__(self) -> None:
        from IPython.core.interactiveshell import InteractiveShell

        shell: Any = InteractiveShell.instance()
        self._shell = shell
        shell.reset()
        # Pictures take most of a notebook's time, and are not shown to anyone here.
        shell.display_formatter.mimebundle_formatter.enabled = False
        shell.display_formatter.active_types = ["text/plain"]
        shell.showtraceback = lambda *args, **kwargs: None
        shell.run_line_magic("load_ext", "triton_lab")

    @property
    def names(self) -> dict[str, Any]:
        """The names that the cells have defined."""
        return dict(self._shell.user_ns)

    def run(self, text: str) -> BaseException | None:
        """Run a cell; returns the error that ended it, if any."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = self._shell.run_cell(text, store_history=True, silent=False)
        error: BaseException | None = result.error_before_exec or result.error_in_exec
        return error


def ran(notebook: Notebook) -> Iterator[CellRun]:
    """Run every code cell, even after errors; yields the outcome of each."""
    shell = Shell()
    for number, cell in enumerate(notebook["cells"]):
        if cell["cell_type"] == "code":
            text = source_of(cell)
            error = shell.run(text)
            kind = type(error).__name__ if error is not None else ""
            yield CellRun(number, checked(text) or "", kind, "" if error is None else _message(error))


def _message(error: BaseException) -> str:
    """The error's message; for an error that a stub caused, which an error of compilation may hide, the stub's."""
    text = str(error)
    return text if TO_DO in text else stub_of(error) or text
