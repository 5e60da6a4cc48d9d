"""The output of Triton's compiler when it refuses a kernel: held back until it is known whether we explain the error.

For a kernel that does not verify, Triton prints its whole module, and MLIR prints its own message past Python, to the
process's standard error. If we explain the mistake, both would only be noise.
"""

from __future__ import annotations

import contextlib
import os
import sys
import warnings
from collections.abc import Iterator
from typing import Any

from triton_lab import messages
from triton_lab.backend import compiler
from triton_lab.backend.source.held_errors import DIAGNOSTIC, HeldErrors
from triton_lab.backend.source.kernel_source import is_tritons
from triton_lab.backend.source.printed_modules import WithoutModules
from triton_lab.localization import _


class Hushed:
    """Captures output while a cell runs, from when Triton's front end begins to read a kernel until it is done.

    ``kept`` is the output about kernels that were refused.
    """

    def __init__(self) -> None:
        self.kept: list[str] = []
        self._held: HeldOutput | None = None

    def begin(self) -> None:
        """Begin to capture: a kernel is about to be compiled."""
        self.end(True)
        self._held = HeldOutput(self.kept)

    def end(self, compiled: bool) -> None:
        """Stop capturing and write the captured output; if the kernel was refused, keep its messages for `tell`."""
        held, self._held = self._held, None
        if held is not None:
            text = held.end()
            held.warn()
            if not compiled:
                self.kept += DIAGNOSTIC.findall(text)
                HeldErrors.pass_on(text)
            elif text:
                _write(text)

    def tell(self) -> None:
        """Print Triton's own messages, since no explanation was found."""
        for text in self.kept:
            sys.stderr.write(text)


class HeldOutput:
    """Captures Triton's prints of modules to Python's standard output, and all of the process's standard error.

    It also captures Python's warnings: Triton gives one for each operand, with the file that a cell is for Python.
    """

    def __init__(self, modules: list[str]) -> None:
        self._stdout = WithoutModules(sys.stdout, modules)
        sys.stdout = self._stdout
        self._catching = warnings.catch_warnings(record=True)
        self._warnings: Any = self._catching.__enter__()
        self._errors = HeldErrors()

    def end(self) -> str:
        """Restore everything; returns the text written to standard error."""
        self._catching.__exit__(None, None, None)
        if sys.stdout is self._stdout:
            sys.stdout = self._stdout.stream
        return self._errors.end()

    def warn(self) -> None:
        """Give the captured warnings, each once; those about lines of the notebook name these lines."""
        for one in {(str(each.message), each.filename, each.lineno): each for each in self._warnings}.values():
            if messages.cell(one.filename):
                sys.stderr.write(f"{messages.place(one.filename, one.lineno)}: {_worded(str(one.message))}\n")
            elif is_tritons(one.filename):  # its place is not in the user's code
                sys.stderr.write(f"Triton says: {one.message}\n")
            else:
                warnings.showwarning(one.message, one.category, one.filename, one.lineno, one.file, one.line)


def _worded(warning: str) -> str:
    """A warning of Triton's front end in our words, if we have some."""
    if not warning.startswith("Logical operators 'and'"):
        return warning
    return _(
        "`and` and `or` take single conditions, not blocks; Triton will refuse this. Write & and |, with each "
        "comparison in parentheses: (offsets >= a) & (offsets < b)."
    )


def _write(text: str) -> None:
    with contextlib.suppress(OSError):
        os.write(2, text.encode())


@contextlib.contextmanager
def hushed() -> Iterator[Hushed]:
    """Capture Triton's output about refused kernels inside."""
    held = Hushed()
    before, compiler.reading = compiler.reading, held
    try:
        yield held
    finally:
        compiler.reading = before
        held.end(False)
