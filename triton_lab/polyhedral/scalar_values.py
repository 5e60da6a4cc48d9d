"""The values of scalars that are known before the nest runs: ``c = n + 1; ... A[i + c]``."""

from __future__ import annotations

from dataclasses import replace

from triton_lab.localization import _
from triton_lab.polyhedral.core import affine_conditions
from triton_lab.polyhedral.core.affine_expr import AffineExpr
from triton_lab.polyhedral.core.loop_nest import Assign, Binary, Choose, Expr, substitute, walk
from triton_lab.polyhedral.core.source_text import NotAScop
from triton_lab.polyhedral.nest_scope import NestNames, NestScope

# Parts of a scalar's known value; a longer one is forgotten, and the scalar is memory.
_LONGEST_VALUE = 100


def known_value(node: Assign, scope: NestScope, names: NestNames) -> Expr | None:
    """The affine value that an assignment gives an integer."""
    name = node.target.array
    if names.types.get(name, "int32") not in ("int32", "int64"):
        return None
    value = substitute(node.value, scope.aliases)
    if node.op:
        if name not in scope.aliases:
            return None
        value = Binary(node.op, scope.aliases[name], value, node.span)
    try:
        read = names.reader(scope).value(value, _("a value"))
    except NotAScop:
        return None
    if isinstance(read, AffineExpr) and not _is_short(value):
        value = read.as_expression()
    return value if _is_short(value) else None


def joined(
    condition: Expr | None, scope: NestScope, starts: tuple[NestScope, NestScope], ends: tuple[NestScope, NestScope]
) -> NestScope:
    """The scope after both sides of an if; ``condition`` chooses, or is None where data does."""
    formula = scope.formula
    if any(start.formula != end.formula for start, end in zip(starts, ends, strict=True)):
        formula = affine_conditions.disjunction(*(end.formula for end in ends))
    yes, no = (end.aliases for end in ends)
    aliases = {k: v for k, v in yes.items() if no.get(k) == v}
    chosen = None if condition is None else substitute(condition, scope.aliases)
    for name in (yes.keys() & no.keys()) - aliases.keys() if chosen is not None else ():
        assert chosen is not None
        value = Choose(chosen, yes[name], no[name], chosen.span)
        if _is_short(value):
            aliases[name] = value
    return replace(scope, formula=formula, aliases=aliases)


def _is_short(expression: Expr) -> bool:
    return sum(1 for _part in zip(walk(expression), range(_LONGEST_VALUE + 1), strict=False)) <= _LONGEST_VALUE
