"""Replaces stretches of a kernel's text and leaves all else as its author wrote it."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass

from triton_lab.backend.source.access_source import called_name
from triton_lab.compiled.advice.launch_edit import LaunchEdit
from triton_lab.compiled.advice.launch_scope import LaunchScope


@dataclass(frozen=True)
class Stretch:
    """A stretch of the text: lines from 1, columns in bytes."""

    line: int
    column: int
    last: int
    end: int

    @classmethod
    def of(cls, node: ast.expr | ast.stmt | ast.keyword) -> Stretch:
        """Where a node stands."""
        assert node.end_lineno is not None and node.end_col_offset is not None
        return cls(node.lineno, node.col_offset, node.end_lineno, node.end_col_offset)


def replaced(text: str, changes: Iterable[tuple[Stretch, str]]) -> str:
    """The text with each stretch replaced by other words; none of the stretches lies in another."""
    lines = [line.encode() for line in text.split("\n")]
    for place, words in sorted(changes, key=lambda one: (one[0].line, one[0].column), reverse=True):
        head, tail = lines[place.line - 1][: place.column], lines[place.last - 1][place.end :]
        lines[place.line - 1 : place.last] = [head + words.encode() + tail]
    return "\n".join(line.decode() for line in lines)


def edited(scope: LaunchScope, changes: dict[ast.expr, str], remark: str) -> LaunchEdit:
    """The edit that writes other words for some expressions."""
    first = min(changes, key=lambda node: (node.lineno, node.col_offset))
    text = replaced(scope.text, [(Stretch.of(node), words) for node, words in changes.items()])
    return LaunchEdit().with_text(text, remark, scope.line_of(first))


def module_name(scope: LaunchScope) -> str:
    """The name under which the kernel has ``triton.language``."""
    found = [
        ast.unparse(node.func.value)
        for node in ast.walk(scope.tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "program_id"
    ]
    return found[0] if found else "tl"


def arange_size(node: ast.AST) -> ast.expr | None:
    """The size of ``tl.arange(0, size)``; None for other expressions."""
    if isinstance(node, ast.Call) and called_name(node) == "arange" and len(node.args) == 2:
        return node.args[-1] if ast.unparse(node.args[0]) == "0" else None
    return None


def mask_places(call: ast.Call) -> list[Stretch]:
    """The ``mask=`` and ``other=`` of a call, each with the comma before it; positional ones are left alone."""
    words = {one.arg: one for one in call.keywords}
    if "mask" not in words:
        return []
    before: list[ast.expr | ast.keyword] = [*call.args, *call.keywords]
    found = []
    for name in ("mask", "other"):
        if name in words:
            place = Stretch.of(words[name])
            left = Stretch.of(before[before.index(words[name]) - 1])
            found.append(Stretch(left.last, left.end, place.last, place.end))
    return found
