"""Index-set splitting: cuts a loop into two loops, below a value and from it on.

A schedule gives each statement one place in the tree. So after a cut, a statement becomes two, ``S0a`` and ``S0b``,
each with its part of the domain; in the order of the source they stand where the statement stood.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from triton_lab.localization import _
from triton_lab.polyhedral.core.affine_conditions import TRUE, Constraint
from triton_lab.polyhedral.core.affine_expr import AffineExpr
from triton_lab.polyhedral.core.iteration_domain import Domain
from triton_lab.polyhedral.core.loop_nest import Assign
from triton_lab.polyhedral.core.loop_tree import Leaf, Loop, Sequence, Tree, replace_loop, sequence, statements
from triton_lab.polyhedral.core.source_text import NotAScop, SourceText
from triton_lab.polyhedral.core.statement import Statement
from triton_lab.polyhedral.core.static_part import StaticPart
from triton_lab.polyhedral.frontends.affine_reader import AffineReader
from triton_lab.polyhedral.frontends.from_python import nest_from_python

# A statement -> the statements that replace it.
_Names = Callable[[str], tuple[str, ...]]


def border(scop: StaticPart, at: int | str) -> AffineExpr:
    """The place of a cut: a number, or an affine expression of the scop's parameters as text."""
    if isinstance(at, int):
        return AffineExpr((), at)
    source = SourceText(f"at = {at}")
    try:
        (node,) = nest_from_python(source).body
        assert isinstance(node, Assign)
        value = AffineReader(source, "python", (), TRUE, ()).value(node.value, "where to cut")
    except NotAScop as refused:
        raise ValueError(f"{at!r}: {refused.reason}") from None
    if not isinstance(value, AffineExpr) or not value.names <= set(scop.parameters):
        known = ", ".join(scop.parameters) or "none"
        raise ValueError(
            _("{at}: a cut is at an integer or an affine expression of the parameters ({known})").format(
                at=repr(at), known=known
            )
        )
    return value


@dataclass(frozen=True)
class Parted:
    """A scop's ``statements`` after a cut, their order in the ``source``, and the new ``order`` with the cut."""

    statements: tuple[Statement, ...]
    source: Tree
    order: Tree


def cut(scop: StaticPart, tree: Tree, loop: Loop, at: AffineExpr) -> Parted:
    """Cut ``loop`` of ``tree`` in two: where its expression is below ``at``, and where it is not."""
    parted = statements(loop)
    taken = {s.name for s in scop.statements}
    for name in parted:
        if {f"{name}a", f"{name}b"} & taken:
            raise ValueError(
                _("there already is a statement {name}a or {name}b, so {name} cannot be cut").format(name=name)
            )

    def both(name: str) -> tuple[str, ...]:
        return (f"{name}a", f"{name}b") if name in parted else (name,)

    found: list[Statement] = []
    for statement in scop.statements:
        if statement.name not in parted:
            found.append(statement)
            continue
        value = loop.expressions[statement.name]
        below = Constraint(at - value - 1, text=f"{loop.name} < {at}")
        beyond = Constraint(value - at, text=f"{loop.name} >= {at}")
        found += [_part(statement, f"{statement.name}a", below), _part(statement, f"{statement.name}b", beyond)]
    halves = tuple(_renamed(loop, lambda name, half=half: (f"{name}{half}",)) for half in "ab")  # type: ignore[misc]
    outside = replace_loop(tree, loop, Leaf(parted))  # a placeholder for the halves
    whole = _filled(_renamed(outside, both), Leaf(tuple(n for name in parted for n in both(name))), sequence(halves))
    return Parted(tuple(found), _renamed(scop.tree, both), whole)


def _part(statement: Statement, name: str, constraint: Constraint) -> Statement:

    def within(domain: Domain) -> Domain:
        return replace(domain, statement=name, pieces=tuple((*piece, constraint) for piece in domain.pieces))

    return replace(
        statement,
        name=name,
        domain=within(statement.domain),
        accesses=tuple(replace(access, domain=within(access.domain)) for access in statement.accesses),
        body=None if statement.body is None else replace(statement.body, name=name),
        part_of=statement.whole,
    )


def _renamed(tree: Tree, names: _Names) -> Tree:
    match tree:
        case Leaf():
            return Leaf(tuple(new for name in tree.statements for new in names(name)))
        case Loop():
            return replace(tree, expressions=_spread(tree.expressions, names), body=_renamed(tree.body, names))
        case Sequence():
            return Sequence(tuple(_renamed(child, names) for child in tree.children))


def _spread(expressions: Mapping[str, AffineExpr], names: _Names) -> dict[str, AffineExpr]:
    return {new: expression for name, expression in expressions.items() for new in names(name)}


def _filled(tree: Tree, place: Leaf, content: Tree) -> Tree:
    match tree:
        case Leaf():
            return content if tree == place else tree
        case Loop():
            return replace(tree, body=_filled(tree.body, place, content))
        case Sequence():
            return sequence(tuple(_filled(child, place, content) for child in tree.children))
