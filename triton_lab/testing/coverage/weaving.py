"""Kernels are compiled with marks: prints without operands, which survive all passes and which the interpreter knows.

Triton's front end reads each function through `CodeGenerator`, helpers too, which is the one place where all of them
come by; it is put back afterwards. What is compiled so has an entry of its own in Triton's cache.
"""

from __future__ import annotations

import ast
import contextlib
import gc
import sys
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any
from unittest import mock

from triton_lab.backend import compiler
from triton_lab.backend.source import is_tritons
from triton_lab.interpreter.ops.output import MARK
from triton_lab.testing.coverage.blocks import key_of, woven

_VARIANT = "marked-1"
# What takes a function of elements: no mark may stand in there, and all of it runs with the statement that names it.
_TAKE = frozenset({"reduce", "associative_scan", "map_elementwise"})
_CORE = "triton.language.core"


@contextlib.contextmanager
def marked() -> Iterator[None]:
    """Inside, what Triton compiles for the CPU target has marks."""
    from triton.compiler.code_generator import CodeGenerator

    before = CodeGenerator.visit_FunctionDef

    def visit(generator: Any, node: ast.FunctionDef) -> Any:
        function = getattr(generator, "jit_fn", None)
        if function is not None and _is_users(function) and not _within_elements():
            node = woven(function, node, _marker(key_of(function)))
        return before(generator, node)

    with mock.patch.object(CodeGenerator, "visit_FunctionDef", visit), mock.patch.object(compiler, "variant", _VARIANT):
        _forget()
        try:
            yield
        finally:
            _forget()


def _forget() -> None:
    """Let every kernel be compiled anew, or read from Triton's cache on disk: what was compiled has other marks."""
    from triton.runtime.jit import JITFunction

    for each in gc.get_objects():
        # `isinstance` would run foreign code: lazy proxies answer it.
        if issubclass(type(each), JITFunction):
            each.device_caches.clear()


def _is_users(function: Any) -> bool:
    file = getattr(getattr(function, "fn", None), "__code__", None)
    return file is not None and not is_tritons(file.co_filename) and not function.is_gluon()


def _within_elements() -> bool:
    """Whether the front end is at a function that is run element by element."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_name in _TAKE and frame.f_globals.get("__name__") == _CORE:
            return True
        frame = frame.f_back
    return False


def _marker(key: str) -> Callable[[int, ast.AST], ast.stmt]:
    from triton.language import core

    @core.builtin  # type: ignore[untyped-decorator]
    def mark(number: Any, _semantic: Any = None) -> None:
        _semantic.builder.create_print(f"{MARK}{key}:{getattr(number, 'value', number)}", False, [], [])

    def statement(number: int, node: ast.AST) -> ast.stmt:
        call = ast.Expr(ast.Call(ast.Constant(mark), [ast.Constant(number)], []))
        return ast.fix_missing_locations(ast.copy_location(call, node))

    return statement
