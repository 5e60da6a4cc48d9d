"""`HeldErrors`: what is written past Python to standard error, where MLIR says why it refuses a module."""

from __future__ import annotations

import contextlib
import os
import re
import tempfile
from typing import IO

DIAGNOSTIC = re.compile(r"^.*:\d+:\d+: (?:error|note|remark): .*\n?(?:.*\n[ \t]*\^~*\n?)?", re.MULTILINE)
"""The form of MLIR's messages, with the line of the source that stands below; other output is not the compiler's."""


class HeldErrors:
    """Captures standard error from when it is made until `end`."""

    def __init__(self) -> None:
        self._file: IO[bytes] | None = None
        with contextlib.suppress(OSError):  # a process without standard error
            self._before = os.dup(2)
            self._file = tempfile.TemporaryFile()  # noqa: SIM115 - it is read and closed in `end`
            os.dup2(self._file.fileno(), 2)

    def end(self) -> str:
        """Restore it; returns the text that was written."""
        if self._file is None:
            return ""
        os.dup2(self._before, 2)
        os.close(self._before)
        with self._file as file:
            file.seek(0)
            return file.read().decode(errors="replace")

    @staticmethod
    def pass_on(text: str) -> None:
        """Write what was captured, without MLIR's messages."""
        if text := DIAGNOSTIC.sub("", text):
            with contextlib.suppress(OSError):
                os.write(2, text.encode())
