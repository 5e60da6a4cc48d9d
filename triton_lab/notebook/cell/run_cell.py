"""Runs the body of a cell on the target that its line names, with the line numbers of the editor."""

from __future__ import annotations

import ast
import contextlib
import os
from collections.abc import Iterator
from typing import Any

from triton_lab.localization import N_, _, translated
from triton_lab.messages import running_cell
from triton_lab.notebook.cell import print_rewriting
from triton_lab.notebook.cell.magic_options import Options

AWAITS = N_("a %%triton cell cannot use await. Await in a cell above it, and launch the kernel here.")


class CellResult:
    """The outcome of a cell: the file name of its code, and the exception that ended it, if any."""

    def __init__(self, filename: str, error: BaseException | None) -> None:
        self.filename = filename
        self.error = error


@contextlib.contextmanager
def switched(chosen: Options) -> Iterator[list[str]]:
    """Launches inside run on the target that ``chosen`` names; yields remarks to print."""
    from triton_lab.backend.targets.active_target import as_it_is, has_gpu, target
    from triton_lab.backend.targets.loop_and_memory_limits import limits

    notes: list[str] = []
    name = chosen.target
    if os.environ.get("TRITON_INTERPRET") == "1":
        notes.append(
            _(
                "TRITON_INTERPRET=1 is set, so Triton's own interpreter runs kernels defined now, and "
                "their launches cannot be recorded. Unset it and restart the notebook's kernel."
            )
        )
    if name == "both" and not has_gpu():
        notes.append(_("Triton finds no GPU here. The cell ran on the CPU only."))
        name = "cpu"
    with contextlib.ExitStack() as stack:
        stack.enter_context(as_it_is() if name == "auto" else target("cpu" if name == "cpu" else "gpu"))
        if chosen.steps is not None:
            stack.enter_context(limits(max_steps=chosen.steps))
        yield notes


def run(shell: Any, body: str) -> CellResult:
    """Run ``body`` in the notebook's namespace; the value of a last expression is displayed.

    Lines count as in the editor, including the blank lines above the body and the magic's own.
    """
    source = print_rewriting.rewrite("\n" * _above(shell, body) + shell.transform_cell(body))
    # IPython may have counted on already; the cell still has the previous number.
    filename = shell.compile.cache(source, running_cell() or shell.execution_count)
    try:
        *statements, last = ast.parse(source, filename).body or [ast.Pass()]
        shown = isinstance(last, ast.Expr) and not body.rstrip().endswith(";")
        if not shown:
            statements.append(last)
        # Compile everything before running anything: a mistake in the last line is one of the whole cell.
        first = shell.compile(ast.Module(statements, []), filename, "exec")
        asked = shell.compile(ast.Expression(last.value), filename, "eval") if isinstance(last, ast.Expr) else None
        exec(first, shell.user_ns)
        if asked is not None and shown:
            value = eval(asked, shell.user_ns)
            if not _is_compiled_kernel(value):
                shell.displayhook(value)
    except BaseException as error:
        if isinstance(error, SyntaxError) and _awaits(source, error):
            error.msg = translated(AWAITS)
        return CellResult(filename, error)
    return CellResult(filename, None)


def _awaits(source: str, error: SyntaxError) -> bool:
    """Whether a cell's only mistake is an ``await``, which other cells may have and a cell magic cannot."""
    if "outside" not in (error.msg or ""):
        return False
    try:
        compile(source, "cell", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    except SyntaxError:
        return False
    return True


def _above(shell: Any, body: str) -> int:
    """The number of lines above the ``body``: IPython removes blank ones before it looks for magics."""
    kept = shell.history_manager.input_hist_raw if shell.history_manager is not None else [""]
    cell = kept[-1] if kept else ""
    first = cell[: len(cell) - len(cell.lstrip())].count("\n")
    # A direct call of the magic has no such cell.
    return first + 1 if cell.strip().startswith("%%") and cell.strip().endswith(body.strip()) else 1


def _is_compiled_kernel(value: Any) -> bool:
    """Whether a value is the result of a launch: a cell that ends with a launch need not print its address."""
    from triton.compiler import CompiledKernel

    return isinstance(value, CompiledKernel)
