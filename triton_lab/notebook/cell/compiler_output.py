"""What Triton's compiler prints while it refuses a kernel: held back until it is known whether that is told better.

A kernel that does not verify makes Triton print its whole module, and MLIR its own message past Python, on the
process's standard error. Of a mistake that we explain, nobody wants to read either.
"""

from __future__ import annotations

import contextlib
import os
import re
import sys
import tempfile
import warnings
from collections.abc import Iterator
from typing import IO, Any

from triton_lab import messages
from triton_lab.backend import compiler
from triton_lab.backend.source.kernel_source import is_tritons

# How MLIR says what is wrong; what it prints besides belongs to somebody else.
_DIAGNOSTIC = re.compile(r"^.*:\d+:\d+: (?:error|note|remark): .*\n?", re.MULTILINE)


class Hushed:
    """Listens while a cell runs: from when Triton's front end begins to read a kernel to when it has done so.

    ``kept`` is what it printed of kernels that it refused.
    """

    def __init__(self) -> None:
        self.kept: list[str] = []
        self._held: HeldOutput | None = None

    def begin(self) -> None:
        """A kernel is about to be compiled."""
        self.end(True)
        self._held = HeldOutput(self.kept)

    def end(self, compiled: bool) -> None:
        """What was written in the meantime is; a compiler's last words are kept for `tell`."""
        held, self._held = self._held, None
        if held is not None:
            text = held.end()
            held.warn()
            if not compiled:
                self.kept += _DIAGNOSTIC.findall(text)
                text = _DIAGNOSTIC.sub("", text)
            if text:
                _write(text)

    def tell(self) -> None:
        """Nobody has explained it: say what Triton has said."""
        for text in self.kept:
            sys.stderr.write(text)


class HeldOutput:
    """Standard output in Python, as far as Triton prints a module, and standard error of the process, in all.

    And what Python's warnings say: Triton gives one for each operand, with the file that a cell is for Python.
    """

    def __init__(self, modules: list[str]) -> None:
        self._stdout = _WithoutModules(sys.stdout, modules)
        sys.stdout = self._stdout
        self._catching = warnings.catch_warnings(record=True)
        self._warnings: Any = self._catching.__enter__()
        self._file: IO[bytes] | None = None
        with contextlib.suppress(OSError):  # a process without standard error
            self._before = os.dup(2)
            self._file = tempfile.TemporaryFile()  # noqa: SIM115 - it is read and closed in `end`
            os.dup2(self._file.fileno(), 2)

    def end(self) -> str:
        """All is as it was; gives what was written to standard error."""
        self._catching.__exit__(None, None, None)
        if sys.stdout is self._stdout:
            sys.stdout = self._stdout.stream
        if self._file is None:
            return ""
        os.dup2(self._before, 2)
        os.close(self._before)
        with self._file as file:
            file.seek(0)
            return file.read().decode(errors="replace")

    def warn(self) -> None:
        """Give the warnings that were held back, each once, and those about the notebook's lines at these."""
        for one in {(str(each.message), each.filename, each.lineno): each for each in self._warnings}.values():
            if messages.cell(one.filename):
                sys.stderr.write(f"{messages.place(one.filename, one.lineno)}: {one.message}\n")
            elif is_tritons(one.filename):  # where it stands is nothing that the user wrote
                sys.stderr.write(f"Triton says: {one.message}\n")
            else:
                warnings.showwarning(one.message, one.category, one.filename, one.lineno, one.file, one.line)


class _WithoutModules:
    """A stream that passes everything on but what Triton prints of a module that it refuses."""

    def __init__(self, stream: Any, modules: list[str]) -> None:
        self.stream, self._modules = stream, modules

    def write(self, text: str) -> int:
        if _prints_a_module(sys._getframe(1).f_code):
            self._modules.append(text)
            return len(text)
        return int(self.stream.write(text))

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


def _prints_a_module(code: Any) -> bool:
    from triton.compiler.code_generator import ast_to_ttir

    return code is ast_to_ttir.__code__


def _write(text: str) -> None:
    with contextlib.suppress(OSError):
        os.write(2, text.encode())


@contextlib.contextmanager
def hushed() -> Iterator[Hushed]:
    """Inside, what Triton prints of kernels that it refuses is kept."""
    held = Hushed()
    before, compiler.reading = compiler.reading, held
    try:
        yield held
    finally:
        compiler.reading = before
        held.end(False)
