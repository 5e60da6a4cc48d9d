"""MLIR's message on a module that does not verify, and the piece of the kernel that it concerns."""

from __future__ import annotations

import ast
import linecache
import re
from dataclasses import dataclass

from triton_lab.backend.source.access_source import called_name
from triton_lab.backend.source.kernel_source import is_tritons

_ERROR = re.compile(r"^(?P<file>.+?):(?P<line>\d+):(?P<column>\d+): error: (?P<text>.*)$", re.MULTILINE)
_OPERATION = re.compile(r"'(?:\w+\.)*(\w+)' op")
# The names of operations that are not those of the functions that make them.
_FUNCTIONS = {"elementwise_inline_asm": "inline_asm_elementwise", "atomic_rmw": "atomic_"}


@dataclass(frozen=True)
class VerifierMessage:
    """What MLIR's verifier says: ``line`` and ``column`` count from 1 in ``file``."""

    text: str
    file: str
    line: int
    column: int

    @property
    def operation(self) -> str:
        """The operation that does not verify, without its dialect: ``join``; "" if the message names none."""
        found = _OPERATION.search(self.text)
        return found[1] if found else ""


def verifier_message(said: str) -> VerifierMessage | None:
    """The first error in what MLIR has written; None if there is none."""
    found = _ERROR.search(said)
    if found is None:
        return None
    return VerifierMessage(found["text"], found["file"], int(found["line"]), int(found["column"]))


def concerned(message: VerifierMessage, tree: ast.FunctionDef, before: int) -> ast.expr | ast.stmt | None:
    """The piece of a kernel whose operation does not verify; None if it is not sure.

    ``before`` is the line number in the file before that of `def`, which is line 1 of ``tree``.
    """
    nodes = [each for each in ast.walk(tree) if isinstance(each, (ast.expr, ast.stmt))]
    if is_tritons(message.file):
        # MLIR names a line of a function of Triton's library. The kernel calls that function.
        around = _function(message.file, message.line)
        calls = [each for each in nodes if isinstance(each, ast.Call) and called_name(each) == around]
        return calls[0] if len(calls) == 1 else None
    line = message.line - before
    here = [each for each in nodes if each.lineno <= line <= (each.end_lineno or each.lineno)]
    # A loop or a choice is meant if the operation is one; else only its head is.
    structured = message.operation in ("for", "if", "while")
    kinds = (ast.For, ast.While, ast.If, ast.IfExp) if structured else (ast.Call, ast.BinOp, ast.Compare, ast.Subscript)
    found = [each for each in here if isinstance(each, kinds) and each.lineno == line]
    wanted = _FUNCTIONS.get(message.operation, message.operation)
    named = [each for each in found if isinstance(each, ast.Call) and wanted and called_name(each).startswith(wanted)]
    return next(iter(named or found), None)


def _function(file: str, line: int) -> str:
    """The name of the function of ``file`` around ``line``."""
    try:
        tree = ast.parse("".join(linecache.getlines(file)))
    except SyntaxError:
        return ""
    functions = [each for each in ast.walk(tree) if isinstance(each, ast.FunctionDef)]
    inside = [each for each in functions if each.lineno <= line <= (each.end_lineno or each.lineno)]
    return min(inside, key=lambda each: (each.end_lineno or 0) - each.lineno).name if inside else ""
