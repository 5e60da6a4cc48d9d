"""Places of a kernel's source as its syntax tree has them, for findings that no operation leads to."""

from __future__ import annotations

import ast
import textwrap
from functools import lru_cache
from typing import TYPE_CHECKING, TypedDict

from triton_lab.backend.source.access_source import called_name

if TYPE_CHECKING:
    from triton_lab.launch.recording.launch_record import Recorded


class Place(TypedDict):
    """Fields of a `Finding`: where a piece of the source is, and its first line, marked."""

    line: int
    column: int
    excerpt: tuple[str, ...]


def place_of(launch: Recorded, node: ast.expr | ast.stmt) -> Place:
    """The place of a node of the kernel's dedented source."""
    lines = launch.source.split("\n")
    indent = len(lines[0]) - len(lines[0].lstrip())
    text = lines[node.lineno - 1]
    begin = indent + node.col_offset
    end = indent + (node.end_col_offset or 0) if node.end_lineno == node.lineno else len(text)
    excerpt = (text, " " * begin + "^" * max(1, end - begin))
    return {"line": launch.first_line + node.lineno - 1, "column": begin, "excerpt": excerpt}


def calls_of(launch: Recorded, name: str) -> list[ast.Call]:
    """The calls of ``name``, or of a module's attribute of that name, in the order of the kernel's source."""
    calls = [each for each in nodes_of(launch.source) if isinstance(each, ast.Call) and called_name(each) == name]
    return sorted(calls, key=lambda call: (call.lineno, call.col_offset))


def undeclared(launch: Recorded) -> set[str]:
    """The parameters of the kernel without an annotation: Triton makes some constants, those that are 1 or None."""
    defined = next((node for node in nodes_of(launch.source) if isinstance(node, ast.FunctionDef)), None)
    if defined is None:
        return set()
    every = [*defined.args.posonlyargs, *defined.args.args, *defined.args.kwonlyargs]
    return {one.arg for one in every if one.annotation is None}


# A kernel is launched, and so checked, many times.
@lru_cache(maxsize=256)
def nodes_of(source: str) -> tuple[ast.AST, ...]:
    """The nodes of a kernel's dedented source, the tree first, which callers share; none where it does not parse."""
    try:
        return tuple(ast.walk(ast.parse(textwrap.dedent(source))))
    except SyntaxError:
        return ()


def further_names(source: str) -> list[tuple[str, str, int]]:
    """``new = old`` in a kernel's dedented source: both names, and the line, which computes nothing."""
    found = []
    for node in nodes_of(source):
        match node:
            case ast.Assign(targets=[ast.Name(id=new)], value=ast.Name(id=old)):
                found.append((new, old, node.lineno))
            case _:
                pass
    return found
