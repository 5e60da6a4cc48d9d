"""Places of a syntax tree: each node where it stands, another one there for a while, and steps in and out of loops."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from triton_lab.localization import _


class Slot(NamedTuple):
    """Where a node stands in the tree: a field of its parent, or an element of that."""

    parent: ast.AST
    field: str
    position: int | None

    def put(self, node: ast.AST) -> None:
        if self.position is None:
            setattr(self.parent, self.field, node)
        else:
            getattr(self.parent, self.field)[self.position] = node


@contextmanager
def put(slot: Slot, node: ast.AST, new: ast.AST) -> Iterator[None]:
    """Inside, ``new`` stands in place of the node."""
    slot.put(new)
    try:
        yield
    finally:
        slot.put(node)


def slots_of(parent: ast.AST, around: tuple[ast.AST, ...]) -> Iterator[tuple[Slot, ast.AST, tuple[ast.AST, ...]]]:
    """Each node of the tree with its place and what is around it, from the outermost."""
    around = (*around, parent)
    for name, value in ast.iter_fields(parent):
        for position, node in enumerate(value) if isinstance(value, list) else ((None, value),):
            if isinstance(node, ast.AST) and not isinstance(node, (ast.operator, ast.cmpop, ast.expr_context)):
                yield Slot(parent, name, position), node, around
                yield from slots_of(node, around)


def moved_steps(tree: ast.Module) -> Iterator[tuple[ast.stmt, str]]:
    """Each step, and where else it stands in the tree meanwhile: out of the loop that it is in, or in one beside it."""
    for block in ast.walk(tree):
        if not isinstance(block, (ast.FunctionDef, ast.For, ast.While)):
            continue
        for k, loop in enumerate(block.body):
            if isinstance(loop, (ast.For, ast.While)):
                yield from _moved(block, loop, block.body[:k], block.body[k + 1 :])


def _moved(
    block: ast.FunctionDef | ast.For | ast.While,
    loop: ast.For | ast.While,
    before: list[ast.stmt],
    after: list[ast.stmt],
) -> Iterator[tuple[ast.stmt, str]]:
    inner, outer = loop.body, block.body
    ways: list[tuple[list[ast.stmt], list[ast.stmt], ast.stmt, str]] = []
    for n, one in enumerate(inner):
        if len(inner) > 1 and isinstance(one, _STEPS):
            rest = [*inner[:n], *inner[n + 1 :]]
            if isinstance(one, ast.Assign):
                ways.append(([*before, one, loop, *after], rest, one, _("before the loop")))
            ways.append(([*before, loop, one, *after], rest, one, _("after the loop")))
    for one in after[:1]:
        if isinstance(one, _STEPS):
            ways.append(([*before, loop, *after[1:]], [*inner, one], one, _("in the loop")))
    for one in before:
        if isinstance(one, ast.Assign):
            rest = [each for each in before if each is not one]
            ways.append(([*rest, loop, *after], [one, *inner], one, _("in the loop")))
    for block.body, loop.body, one, where in ways:
        yield one, where
    block.body, loop.body = outer, inner


_STEPS = (ast.Assign, ast.AugAssign, ast.Expr)
