"""Keeps the modules that Triton prints when it refuses a kernel off standard output: the error names the user's line.

In a notebook, cells with the magic hold back more (`triton_lab.notebook.cell.compiler_output`). This is for scripts.
"""

from __future__ import annotations

import os
import sys
from typing import Any


class WithoutModules:
    """A stream that passes everything on except the modules that Triton prints when it refuses them."""

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


_held: WithoutModules | None = None


def hold() -> None:
    """Begin to drop printed modules: a kernel is about to be read. TRITON_LAB_TRACEBACK=full shows them."""
    global _held
    release()
    if sys.stdout is not None and os.environ.get("TRITON_LAB_TRACEBACK") != "full":
        sys.stdout = _held = WithoutModules(sys.stdout, [])


def release() -> None:
    """Restore standard output after a kernel was read, unless other code has replaced it meanwhile."""
    global _held
    if _held is not None and sys.stdout is _held:
        sys.stdout = _held.stream
    _held = None
