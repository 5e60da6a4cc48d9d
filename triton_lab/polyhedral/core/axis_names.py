"""Names loops after the source's iterators, where they have no names: loops of a matrix, and those that isl found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from triton_lab.polyhedral.core.affine_expr import AffineExpr, Symbol
from triton_lab.polyhedral.core.loop_tree import Loop, Tree, every_loop, path, statements
from triton_lab.polyhedral.core.loop_tree import Sequence as Several

# The loops of one statement, outermost first, each with the expression that orders it.
_Rows = Sequence[tuple[Loop, AffineExpr]]


def named_by_axes(tree: Tree, iterators: Mapping[str, tuple[str, ...]]) -> Tree:
    """``tree`` with each loop named after an iterator of the statements in it.

    A loop ordered by one iterator takes its name. Another loop, such as ``i + j``, takes a free iterator that occurs
    in it, as after `skew`: around ``i`` it is ``j``. Without a free iterator a loop keeps its name; in one statement
    that happens only to loops with a single iteration. ``iterators``: those of each statement.
    """
    names: dict[int, str] = {}
    # Deep statements come first: they have all the loops around shallow ones.
    for statement in sorted(statements(tree), key=lambda name: -len(iterators[name])):
        steps = path(tree, statement)
        around = [(step.loop, step.expression) for step in steps if step.loop is not None]
        new = [row for row in _independent(around) if id(row[0]) not in names]
        near = [loop for loop, _ in around] + [inner for loop, _ in new for inner in every_loop(loop)]
        taken = {names[id(loop)] for loop in near if id(loop) in names}
        free = [name for name in iterators[statement] if name not in taken]
        names.update({id(new[k][0]): name for name, k in _matched([e for _, e in new], free).items()})
    return _renamed(tree, names)


def _independent(rows: _Rows) -> _Rows:
    """The loops that the outer loops do not determine: only these have more than one iteration."""
    symbols: list[Symbol] = list(dict.fromkeys(symbol for _, e in rows for symbol, _ in e.terms))
    found: list[tuple[Loop, AffineExpr]] = []
    matrix = np.zeros((0, len(symbols)))
    for loop, expression in rows:
        more = np.vstack([matrix, [expression.coefficients.get(symbol, 0) for symbol in symbols]])
        if np.linalg.matrix_rank(more) > len(matrix):
            matrix = more
            found.append((loop, expression))
    return found


def _matched(rows: Sequence[AffineExpr], free: Sequence[str]) -> dict[str, int]:
    """Assigns names of ``free`` to rows, each to at most one row, and as many as possible (augmenting paths)."""
    found: dict[str, int] = {}
    occur = [[name for name in reversed(free) if name in row.names] for row in rows]

    def place(row: int, tried: set[str]) -> bool:
        for name in occur[row]:
            if name in tried:
                continue
            tried.add(name)
            if name not in found or place(found[name], tried):
                found[name] = row
                return True
        return False

    for row in sorted(range(len(rows)), key=lambda k: len(occur[k])):
        place(row, set())
    return found


def _renamed(tree: Tree, names: Mapping[int, str]) -> Tree:
    match tree:
        case Loop():
            return replace(tree, name=names.get(id(tree), tree.name), body=_renamed(tree.body, names))
        case Several():
            return Several(tuple(_renamed(child, names) for child in tree.children))
    return tree
