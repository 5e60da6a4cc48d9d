"""Schedules given as matrices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from triton_lab.localization import _
from triton_lab.messages import count as counted
from triton_lab.polyhedral.core.affine_expr import AffineExpr
from triton_lab.polyhedral.core.axis_names import named_by_axes
from triton_lab.polyhedral.core.loop_tree import Leaf, Loop, Tree
from triton_lab.polyhedral.core.static_part import StaticPart

Rows: TypeAlias = "Sequence[Sequence[int]]"


def tree_of_rows(scop: StaticPart, rows: Rows | Mapping[str, Rows]) -> Tree:
    """The tree with one loop per row, around all statements. Raises ValueError where rows do not fit."""
    names = [s.name for s in scop.statements]
    given: Mapping[str, Rows]
    if isinstance(rows, Mapping):
        given = rows
    elif len(names) == 1:
        given = {names[0]: rows}
    else:
        raise ValueError(
            _("several statements: give a matrix for each, {{{names}: [[...]], ...}}").format(names=repr(names[0]))
        )
    if set(given) != set(names):
        raise ValueError(
            _("matrices for {given}, statements {names}").format(given=", ".join(sorted(given)), names=", ".join(names))
        )
    expressions = {name: _expressions(scop, name, given[name]) for name in names}
    depth = max(len(e) for e in expressions.values())
    tree: Tree = Leaf(tuple(names))
    for k in reversed(range(depth)):
        row = {name: e[k] if k < len(e) else AffineExpr() for name, e in expressions.items()}
        tree = Loop(f"t{k}", row, tree)
    return named_by_axes(tree, {s.name: s.iterators for s in scop.statements})


def _expressions(scop: StaticPart, name: str, rows: Any) -> list[AffineExpr]:
    columns = (*scop[name].iterators, *scop.parameters)
    matrix = np.asarray(rows)
    if matrix.ndim != 2 or not np.issubdtype(matrix.dtype, np.integer):
        raise ValueError(_("{name}: a schedule is a matrix of integers").format(name=name))
    if not len(scop[name].iterators) <= matrix.shape[1] <= len(columns) + 1:
        shown = ", ".join((*columns, "1"))
        raise ValueError(
            _("{name}: rows of {numbers}, the columns are {shown}").format(
                name=name, numbers=counted(matrix.shape[1], "number"), shown=shown
            )
        )
    padded = np.zeros((len(matrix), len(columns) + 1), dtype=np.int64)
    padded[:, : matrix.shape[1]] = matrix
    return [AffineExpr.make(dict(zip(columns, map(int, row[:-1]), strict=True)), int(row[-1])) for row in padded]
