"""The assignments in a kernel, read from its source: where its names get their values."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence


def bindings(node: ast.AST, name: str = "") -> Iterator[ast.stmt]:
    """The statements in ``node`` that give ``name`` a value, in order; without a name, those that bind any name."""
    for each in ast.walk(node):
        if isinstance(each, ast.stmt) and any(not name or bound == name for bound in _bound(each)):
            yield each


def bound_names(node: ast.AST) -> set[str]:
    """All names that ``node`` binds."""
    return {name for each in ast.walk(node) if isinstance(each, ast.stmt) for name in _bound(each)}


def _bound(statement: ast.stmt) -> Iterator[str]:
    """The names that ``statement`` itself binds, without those in its body."""
    targets: list[ast.expr] = []
    if isinstance(statement, ast.Assign):
        targets = statement.targets
    elif isinstance(statement, (ast.AugAssign, ast.For)) or (isinstance(statement, ast.AnnAssign) and statement.value):
        targets = [statement.target]
    for target in targets:
        yield from (each.id for each in ast.walk(target) if isinstance(each, ast.Name))


def last(node: ast.AST | Sequence[ast.stmt], name: str) -> ast.stmt | None:
    """The last statement in ``node`` that gives ``name`` a value."""
    found = [s for part in (node if isinstance(node, Sequence) else [node]) for s in bindings(part, name)]
    return max(found, key=lambda statement: statement.lineno, default=None)


def reaching(body: Sequence[ast.stmt], name: str, node: ast.AST, found: ast.stmt | None = None) -> ast.stmt | None:
    """The statement of ``body`` whose value ``name`` has at ``node``; None for an argument, or a name without a value.

    In a loop's body only statements before ``node`` count: this is the first iteration.
    """
    for statement in body:
        if not holds(statement, node):
            found = last(statement, name) or found
            continue
        if isinstance(statement, ast.For) and name in _bound(statement):
            found = statement
        inner = next((block for block in blocks(statement) if any(holds(each, node) for each in block)), None)
        return found if inner is None else reaching(inner, name, node, found)
    return found


def holds(outer: ast.AST, node: ast.AST) -> bool:
    """Whether ``node`` lies in ``outer``, by line numbers: it may come from another parse of the same text."""
    first, line, end = (getattr(*pair, 0) for pair in ((outer, "lineno"), (node, "lineno"), (outer, "end_lineno")))
    return bool(first <= line <= (end or first))


def blocks(statement: ast.stmt) -> Iterator[list[ast.stmt]]:
    """The bodies of a compound statement."""
    for part in ("body", "orelse", "finalbody"):
        if block := getattr(statement, part, None):
            yield block


def around(body: Sequence[ast.stmt], node: ast.AST) -> Iterator[ast.stmt]:
    """The compound statements around ``node``, the outermost first."""
    for statement in body:
        if holds(statement, node) and any(blocks(statement)):
            yield statement
            for block in blocks(statement):
                yield from around(block, node)
