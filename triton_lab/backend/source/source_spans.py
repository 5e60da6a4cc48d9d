"""Maps a line and column, as Triton reports them, to a span of a function's source.

Triton 3.6 counts columns from 0 in the dedented source, and reports a call at the start of the last of its parts that
the front end visits. Newer versions count from 1 in the file's own lines, and report a call where it starts. The column
reported for the function itself shows which version it is.
"""

from __future__ import annotations

import ast
import functools
import textwrap
from dataclasses import dataclass

Position = tuple[int, int]


@dataclass(frozen=True, slots=True)
class KernelSpan:
    """``start .. end`` as (line, column). Lines count from 1 in the file, columns in characters from 0."""

    start: Position
    end: Position


@dataclass(frozen=True, slots=True)
class _Node:
    """A call or a simple statement, by byte columns of the dedented source.

    ``reported`` is the place where Triton 3.6 reports a call.
    """

    start: Position
    end: Position
    reported: Position | None
    accesses: bool


@dataclass(frozen=True, slots=True)
class _Function:
    lines: tuple[str, ...]
    nodes: tuple[_Node, ...]
    indent: int


def span(source: str, first_line: int, line: int, column: int, old: bool) -> KernelSpan | None:
    """The innermost call or statement of ``source`` at the reported place; None if there is none.

    ``source`` is the function's text as in the file, from ``first_line`` on.
    """
    function = _read(source)
    if function is None:
        return None
    at = (line - first_line + 1, column if old else column - 1 - function.indent)
    found = [node for node in function.nodes if at == (node.reported if old else node.start) and node.reported]
    found = [node for node in found if node.accesses] or found
    found = found or [node for node in function.nodes if node.start <= at < node.end]
    if not found:
        return None
    node = min(found, key=lambda node: (node.end[0] - node.start[0], node.end[1] - node.start[1]))
    return KernelSpan(_in_file(function, first_line, node.start), _in_file(function, first_line, node.end))


@functools.lru_cache(maxsize=256)  # a card of attention asks a hundred times; 0.6 ms each
def _read(source: str) -> _Function | None:
    dedented = textwrap.dedent(source)
    try:
        tree = ast.parse(dedented)
    except SyntaxError:
        return None
    first, inner = source.split("\n", 1)[0], dedented.split("\n", 1)[0]
    nodes = tuple(_node(node) for node in ast.walk(tree) if _counts(node))
    return _Function(tuple(source.split("\n")), nodes, len(first.encode()) - len(inner.encode()))


def _counts(node: ast.AST) -> bool:
    # A compound statement would be too wide a span for what its head contains.
    return isinstance(node, ast.Call) or (isinstance(node, ast.stmt) and not hasattr(node, "body"))


def _node(node: ast.AST) -> _Node:
    assert isinstance(node, (ast.Call, ast.stmt))
    start = (node.lineno, node.col_offset)
    end = (node.end_lineno or node.lineno, node.end_col_offset or node.col_offset)
    if not isinstance(node, ast.Call):
        return _Node(start, end, None, False)
    # Keywords are visited before positional arguments, the function itself first.
    last = [node.func, *(keyword.value for keyword in node.keywords), *node.args][-1]
    if isinstance(last, ast.Starred):
        last = last.value
    name = node.func.attr if isinstance(node.func, ast.Attribute) else ""
    accesses = name.startswith(("load", "store", "atomic", "gather", "scatter", "device_"))
    return _Node(start, end, (last.lineno, last.col_offset), accesses)


def _in_file(function: _Function, first_line: int, position: Position) -> Position:
    line, column = position
    text = function.lines[line - 1].encode()
    return line + first_line - 1, len(text[: column + function.indent].decode(errors="replace"))
