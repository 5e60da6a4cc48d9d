"""Operands that one expression of the source gives, though the plan has several of them.

An unrolled loop has each operation of its body once for each iteration; a scalar that blocks take is spread anew on
each line. What is wrong in such an expression is wrong in all its copies.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable

from triton_lab.ir import Op
from triton_lab.launch.comparison.mutations.ir_query import constant
from triton_lab.launch.comparison.mutations.kernel_scope import KernelScope

Use = tuple[Op, int]


def unrolled(scope: KernelScope) -> list[list[Use]]:
    """The operands of the copies of an expression in the body of an unrolled loop."""
    copies = _copies(scope)

    def written(op: Op, k: int) -> object:
        number = op.operands[k]
        maker = scope.made.get(number)
        # By what gives it, and not by its place: the compiler moves constants, such as the start of a sum.
        given = number if maker is None else copies.get(maker.index, number)
        if isinstance(given, int) and constant(scope.made, number) is not None:
            given = k
        return (copies.get(op.index, op.index), given, scope.type(number))

    return _groups(scope, written)


def spread(scope: KernelScope) -> list[list[Use]]:
    """The operands that are spread from one scalar, anew for each."""

    def scalar(op: Op, k: int) -> object:
        maker = scope.made.get(op.operands[k])
        spreads = maker is not None and maker.name == "tt.splat"
        return (maker.operands[0], scope.type(op.operands[k])) if maker is not None and spreads else (op.index, k)

    return [group for group in _groups(scope, scalar) if len({op.operands[k] for op, k in group}) > 1]


def _groups(scope: KernelScope, key: Callable[[Op, int], object]) -> list[list[Use]]:
    groups: dict[object, list[Use]] = defaultdict(list)
    for op, k in scope.uses():
        groups[key(op, k)].append((op, k))
    return [sorted(group, key=lambda use: scope.place[use[0].index]) for group in groups.values() if len(group) > 1]


def _copies(scope: KernelScope) -> dict[int, object]:
    """What tells the copies of an operation of an unrolled loop from other operations, by index.

    The lines of the program go back where such a loop begins its next iteration.
    """
    found: dict[int, object] = {}
    seen: Counter[object] = Counter()
    last = 0
    for op in scope.function.walk():
        line = scope.line(op)
        if line is None or op.location is None:
            continue
        if line.line < last:
            seen.clear()
        last = line.line
        where = op.location
        key = (op.name, where.file, where.line, where.column, where.caller)
        found[op.index] = (*key, seen[key])
        seen[key] += 1
    return found
