"""The order of a kernel's accesses as a tree of loops: programs in any order, lanes in parallel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from triton_lab.polyhedral.core.affine_expr import AffineExpr
from triton_lab.polyhedral.core.loop_tree import Leaf, Loop, Mark, Tree, sequence, statements
from triton_lab.polyhedral.kernels.access_domain import path_of
from triton_lab.polyhedral.kernels.access_statement import KernelStatement
from triton_lab.polyhedral.kernels.symbolic.control_path import Round


def kernel_tree(found: Sequence[KernelStatement], programs: Sequence[str], loops: Mapping[str, str]) -> Tree:
    """The order of one program's accesses, inside loops over ``programs`` in any order.

    ``loops`` names loops by the symbol of their iterations.
    """
    body: Tree = _level(found, 0, loops)
    for name in reversed(programs):
        body = _around(name, body, "parallel")
    return body


def _level(found: Sequence[KernelStatement], depth: int, loops: Mapping[str, str]) -> Tree:
    children: list[Tree] = []
    position = 0
    while position < len(found):
        rounds = _rounds(found[position])
        if len(rounds) == depth:
            tree: Tree = Leaf((found[position].name,))
            for name in reversed(found[position].lanes):
                tree = _around(name, tree, "vectorize")
            children.append(tree)
            position += 1
            continue
        loop = rounds[depth].op
        end = position
        while end < len(found) and len(_rounds(found[end])) > depth and _rounds(found[end])[depth].op == loop:
            end += 1
        name = loops[rounds[depth].symbol]
        children.append(_around(name, _level(found[position:end], depth + 1, loops), ""))
        position = end
    return sequence(tuple(children)) if children else Leaf(())


def _around(name: str, body: Tree, mark: Mark) -> Tree:
    return Loop(name, dict.fromkeys(statements(body), AffineExpr.of(name)), body, mark)


def _rounds(statement: KernelStatement) -> tuple[Round, ...]:
    assert statement.touch is not None
    return path_of(statement.touch).rounds
