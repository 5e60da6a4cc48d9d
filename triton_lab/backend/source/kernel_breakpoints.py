"""``breakpoint()`` in a kernel: Triton compiles it to nothing, and the debugger knows it by its line."""

from __future__ import annotations

import ast
import functools
import textwrap
from typing import Any

from triton_lab.backend.source.kernel_source import reachable

NAME = "breakpoint"


def _compiled() -> None:
    """What a kernel calls: nothing."""


_compiled.__name__ = _compiled.__qualname__ = NAME  # in Python's message about arguments


def install() -> None:
    """From now on Triton's front end knows ``breakpoint``, for each target; a kernel's own names come first."""
    from triton.compiler.code_generator import CodeGenerator

    CodeGenerator.builtin_namespace.setdefault(NAME, _compiled)


def breakpoint_lines(kernel: Any) -> tuple[tuple[str, int], ...]:
    """The file and line of each ``breakpoint()`` in ``kernel`` and in the functions that it can call, in this order."""
    found: list[tuple[str, int]] = []
    for function in reachable([kernel]):
        source = getattr(function, "src", None)
        if source and NAME in source and not _is_own(function):
            file, first = function.fn.__code__.co_filename, function.starting_line_number
            found.extend((file, first + line - 1) for line in _lines("".join(function.raw_src)))
    return tuple(found)


def is_breakpoint(node: ast.AST) -> bool:
    """Whether a statement is a call of ``breakpoint()``."""
    call = node.value if isinstance(node, ast.Expr) else None
    return isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == NAME


def _is_own(function: Any) -> bool:
    """Whether the user gave the name a meaning of its own."""
    return function.fn is None or NAME in function.fn.__globals__ or NAME in function.fn.__code__.co_freevars


@functools.lru_cache(maxsize=256)
def _lines(source: str) -> tuple[int, ...]:
    """The lines of the calls, from 1 in the function's own text."""
    try:
        tree = ast.parse(textwrap.dedent(source))
    except SyntaxError:
        return ()
    return tuple(sorted(node.lineno for node in ast.walk(tree) if isinstance(node, ast.stmt) and is_breakpoint(node)))
