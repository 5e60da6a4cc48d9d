"""Compiles kernels with marks: prints without operands, which survive all passes and which the interpreter knows.

Triton's front end reads each function, helpers too, through `CodeGenerator`; it is replaced here and restored
afterwards. Kernels with marks have entries of their own in Triton's cache.
"""

from __future__ import annotations

import ast
import contextlib
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any
from unittest import mock

from triton_lab.backend import compiler
from triton_lab.backend.source.kernel_source import is_tritons
from triton_lab.interpreter.ops.print_and_assert import MARK
from triton_lab.testing.coverage.statement_blocks import key_of, woven

_VARIANT = "marked-1"
# Operations that take a function of elements: it can have no marks, and counts as run by the statement that names it.
_TAKE = frozenset({"reduce", "associative_scan", "map_elementwise"})
_CORE = "triton.language.core"


@contextlib.contextmanager
def marked() -> Iterator[None]:
    """Kernels that Triton compiles for the CPU target inside get marks."""
    from triton.compiler.code_generator import CodeGenerator

    before = CodeGenerator.visit_FunctionDef

    def visit(generator: Any, node: ast.FunctionDef) -> Any:
        function = getattr(generator, "jit_fn", None)
        if function is not None and _is_users(function) and not _within_elements():
            node = woven(function, node, _marker(key_of(function)))
        return before(generator, node)

    with (
        mock.patch.object(CodeGenerator, "visit_FunctionDef", visit),
        mock.patch.object(compiler, "variant", _VARIANT),
        _other_kernels(),
    ):
        yield


@contextlib.contextmanager
def _other_kernels() -> Iterator[None]:
    """Separate compilations inside from those outside: each kernel is compiled again, or read from the disk cache."""
    from triton.runtime.jit import JITFunction

    before = JITFunction.run
    remembered: dict[int, tuple[Any, Any]] = {}  # by identity: Triton hashes a function by its text

    def run(function: Any, *arguments: Any, **keywords: Any) -> Any:
        if id(function) not in remembered:
            remembered[id(function)] = function, function.device_caches
            function.device_caches = defaultdict(function.device_caches.default_factory)
        return before(function, *arguments, **keywords)

    with mock.patch.object(JITFunction, "run", run):
        try:
            yield
        finally:
            for function, caches in remembered.values():
                function.device_caches = caches


def _is_users(function: Any) -> bool:
    file = getattr(getattr(function, "fn", None), "__code__", None)
    return file is not None and not is_tritons(file.co_filename) and not function.is_gluon()


def _within_elements() -> bool:
    """Whether the front end is reading a function that runs element by element."""
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
