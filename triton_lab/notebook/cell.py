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

    Lines count as the editor shows them: those above the body are blank, and the magic's own.
    """
    source = prints.rewrite("\n" * _above(shell, body) + shell.transform_cell(body))
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


def _above(shell: Any, body: str) -> int:
    """How many lines of the cell stand above its ``body``: IPython takes blank ones away before it looks for magics."""
    kept = shell.history_manager.input_hist_raw if shell.history_manager is not None else [""]
    cell = kept[-1] if kept else ""
    first = cell[: len(cell) - len(cell.lstrip())].count("\n")
    # Who calls the magic by itself has written no such cell.
    return first + 1 if cell.strip().startswith("%%") and cell.strip().endswith(body.strip()) else 1


def _is_compiled_kernel(value: Any) -> bool:
    """What a launch returns: nobody who ends a cell with a launch wants to read its address."""
    from triton.compiler import CompiledKernel

    return isinstance(value, CompiledKernel)
