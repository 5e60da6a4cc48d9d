"""A notebook's code cells run one after the other, in this process and without a front end: for grading and tests."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from triton_lab.course.edition import Notebook, checked, source_of


@dataclass(frozen=True)
class CellRun:
    """What became of one code cell: its ``number`` among all cells, the exercise that it checks (or ""), and the error
    that it ended with (or ""): ``kind`` is the name of its class."""

    number: int
    exercise: str
    kind: str = ""
    message: str = ""


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


def ran(notebook: Notebook) -> Iterator[CellRun]:
    """Run every code cell, errors or not, and say what became of each."""
    shell = Shell()
    for number, cell in enumerate(notebook["cells"]):
        if cell["cell_type"] == "code":
            text = source_of(cell)
            error = shell.run(text)
            kind = type(error).__name__ if error is not None else ""
            yield CellRun(number, checked(text) or "", kind, str(error or ""))
