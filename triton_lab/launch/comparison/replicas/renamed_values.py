"""`renamed`: the uses of a value under a further name, where a line gives it one without computing anything.

``both = p1`` computes nothing, so the plan has one value for both names. What is wrong there is wrong in the uses under
the new name alone, and only the source tells which these are.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence

from triton_lab.ir import Op
from triton_lab.launch.checks.analysis.source_nodes import further_names, nodes_of
from triton_lab.launch.comparison.mutations.kernel_scope import KernelScope

Use = tuple[Op, int]
_AROUND = (ast.For, ast.While, ast.If)


def renamed(scope: KernelScope) -> Iterator[tuple[int, Sequence[Use], int]]:
    """The values that a line gives a further name: the number, the uses under that name, and the line."""
    launch = scope.launch
    nodes = nodes_of(launch.source)
    above = launch.first_line - 1
    loaded: dict[int, list[str]] = defaultdict(list)
    names = [node for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)]
    for name in sorted(names, key=lambda one: (one.lineno, one.col_offset)):
        loaded[above + name.lineno].append(name.id)
    for new, old, at in further_names(launch.source):
        line = above + at
        heads = {above + one.lineno for one in nodes if isinstance(one, _AROUND) and at in _lines_of(one)}
        for number, uses in _uses_of(scope, (old, new)).items():
            left = [use for use in scope.users[number] if _leaves_as(scope, use, new, heads)]
            under = [*_under(scope, uses, loaded, (old, new), line), *left]
            if under and _is_made_before(scope, number, line):
                yield number, under, line


def _lines_of(node: ast.stmt) -> range:
    return range(node.lineno, (node.end_lineno or node.lineno) + 1)


def _leaves_as(scope: KernelScope, use: Use, name: str, heads: Collection[int]) -> bool:
    """Whether a loop or a condition that begins on one of the lines ``heads`` hands a value on as ``name``."""
    op, k = use
    line = scope.line(op)
    if line is None or line.line not in heads:
        return False
    if op.name == "arith.select":
        return k > 0 and scope.names.get(op.results[0]) == name
    outer = scope.enclosing.get(op.index)
    if op.name != "scf.yield" or outer is None:
        return False
    values = outer.regions[0].blocks[0].arguments[1:] if outer.name == "scf.for" else outer.results
    return len(values) == len(op.operands) and scope.names.get(values[k]) == name


def _uses_of(scope: KernelScope, names: Sequence[str]) -> dict[int, list[Use]]:
    """The uses of each value that has one of these names, in the order of the program."""
    found: dict[int, list[Use]] = defaultdict(list)
    for op, k in scope.uses():
        if scope.names.get(op.operands[k]) in names:
            found[op.operands[k]].append((op, k))
    return {number: sorted(uses, key=lambda use: (scope.place[use[0].index], use[1])) for number, uses in found.items()}


def _under(
    scope: KernelScope, uses: Sequence[Use], loaded: dict[int, list[str]], names: tuple[str, str], line: int
) -> Iterator[Use]:
    """Those of ``uses`` that stand below ``line`` as the second of ``names``.

    On a line with both names the uses are taken in its order. If they are not as many as the names there, none is.
    """
    by_line: dict[int, list[Use]] = defaultdict(list)
    for use in uses:
        at = scope.line(use[0])
        if at is not None and at.line > line:
            by_line[at.line].append(use)
    for below, own in by_line.items():
        written = [name for name in loaded[below] if name in names]
        if set(written) == {names[1]}:
            yield from own
        elif len(written) == len(own):
            yield from (use for use, name in zip(own, written, strict=True) if name == names[1])


def _is_made_before(scope: KernelScope, number: int, line: int) -> bool:
    maker = scope.made.get(number)
    at = None if maker is None else scope.line(maker)
    return at is None or at.line <= line
