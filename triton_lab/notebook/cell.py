"""Runs the body of a cell so that its line numbers are those of the editor."""

from __future__ import annotations

import ast
from typing import Any

from triton_lab.notebook import prints
from triton_lab.words import running_cell


class CellResult:
    """What became of a cell: the file name its code has, and the exception that ended it, if any."""

    def __init__(self, filename: str, error: BaseException | None) -> None:
        self.filename = filename
        self.error = error


def run(shell: Any, body: str) -> CellResult:
    """Run ``body`` in the notebook's namespace; the value of a last expression is displayed.

    The magic's own line counts as line 1, so the body begins on line 2.
    """
    source = prints.rewrite("\n" + shell.transform_cell(body))
    # Where IPython has counted on already, the cell still bears the number before.
    filename = shell.compile.cache(source, running_cell() or shell.execution_count)
    try:
        *statements, last = ast.parse(source, filename).body or [ast.Pass()]
        shown = isinstance(last, ast.Expr) and not body.rstrip().endswith(";")
        if not shown:
            statements.append(last)
        exec(shell.compile(ast.Module(statements, []), filename, "exec"), shell.user_ns)
        if isinstance(last, ast.Expr) and shown:
            value = eval(shell.compile(ast.Expression(last.value), filename, "eval"), shell.user_ns)
            if not _is_compiled_kernel(value):
                shell.displayhook(value)
    except BaseException as error:
        return CellResult(filename, error)
    return CellResult(filename, None)


def _is_compiled_kernel(value: Any) -> bool:
    """What a launch returns: nobody who ends a cell with a launch wants to read its address."""
    from triton.compiler import CompiledKernel

    return isinstance(value, CompiledKernel)
