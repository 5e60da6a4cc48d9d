"""`repeated`: operands that one expression of the source gives, though the plan has several values for it.

An unrolled loop has each operation of its body once for each iteration; a scalar that blocks take is spread anew on
each line. What is wrong in such an expression is wrong in all its copies.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator

from triton_lab.ir import Op
from triton_lab.launch.comparison.mutations.kernel_scope import KernelScope

Use = tuple[Op, int]


def repeated(scope: KernelScope) -> Iterator[list[Use]]:
    """The groups of operands, those of one type and place in the source, or those that are spread from one scalar."""
    groups: dict[object, list[Use]] = defaultdict(list)
    copies = _copies(scope)
    for op, k in scope.uses():
        maker = scope.made.get(op.operands[k])
        type = scope.type(op.operands[k])
        if op.index in copies:
            groups[copies[op.index], k, type].append((op, k))
        if maker is not None and maker.name == "tt.splat":
            groups[maker.operands[0], type].append((op, k))
    for group in groups.values():
        if len({op.operands[k] for op, k in group}) > 1:
            yield sorted(group, key=lambda use: scope.place[use[0].index])


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
