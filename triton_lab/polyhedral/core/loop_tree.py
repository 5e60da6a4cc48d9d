"""Schedules as trees of loops: how loops and statements are nested, and in which textual order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from triton_lab.polyhedral.core.affine_expr import AffineExpr, isl_name

Mark: TypeAlias = Literal["", "parallel", "vectorize", "unroll"]


@dataclass(frozen=True)
class Leaf:
    """The instances that the loops around select; several statements in one leaf have no order among them."""

    statements: tuple[str, ...]


@dataclass(frozen=True)
class Loop:
    """Runs its body in increasing order of an affine expression; each statement inside has its own expression."""

    name: str
    expressions: Mapping[str, AffineExpr]
    body: Tree
    mark: Mark = ""


@dataclass(frozen=True)
class Sequence:
    """Its children one after the other."""

    children: tuple[Tree, ...]


Tree: TypeAlias = "Leaf | Loop | Sequence"


def sequence(children: tuple[Tree, ...]) -> Tree:
    """``children`` in order, without needless nesting."""
    flat = tuple(g for c in children for g in (c.children if isinstance(c, Sequence) else (c,)))
    return flat[0] if len(flat) == 1 else Sequence(flat)


def statements(tree: Tree) -> tuple[str, ...]:
    """The statements in ``tree``, in textual order, each once."""
    match tree:
        case Leaf():
            return tree.statements
        case Loop():
            return statements(tree.body)
        case Sequence():
            return tuple(dict.fromkeys(name for child in tree.children for name in statements(child)))


def every_loop(tree: Tree) -> Iterator[Loop]:
    """All loops, outer before inner."""
    match tree:
        case Loop():
            yield tree
            yield from every_loop(tree.body)
        case Sequence():
            for child in tree.children:
                yield from every_loop(child)


@dataclass(frozen=True)
class TimeStep:
    """One time dimension on the path from the root to a statement: a loop, or a place in a sequence."""

    loop: Loop | None
    expression: AffineExpr


def path(tree: Tree, statement: str) -> tuple[TimeStep, ...]:
    """The time dimensions of ``statement``, outermost first."""
    match tree:
        case Leaf():
            return ()
        case Loop():
            return (TimeStep(tree, tree.expressions[statement]), *path(tree.body, statement))
        case Sequence():
            for position, child in enumerate(tree.children):
                if statement in statements(child):
                    return (TimeStep(None, AffineExpr((), position)), *path(child, statement))
    raise KeyError(statement)


def replace_loop(tree: Tree, old: Loop, new: Tree) -> Tree:
    """``tree`` with the loop ``old`` (compared by identity) replaced by ``new``."""
    if tree is old:
        return new
    match tree:
        case Loop():
            return replace(tree, body=replace_loop(tree.body, old, new))
        case Sequence():
            return sequence(tuple(replace_loop(child, old, new) for child in tree.children))
    return tree


def times(tree: Tree, statement: str) -> tuple[AffineExpr, ...]:
    """The time at which an instance of ``statement`` runs, padded so that all statements have as many dimensions."""
    own = tuple(step.expression for step in path(tree, statement))
    longest = max(_depths(tree).values())
    return own + (AffineExpr(),) * (longest - len(own))


def _depths(tree: Tree) -> dict[str, int]:
    """How many time dimensions each statement has on its `path`."""
    match tree:
        case Leaf():
            return dict.fromkeys(tree.statements, 0)
        case Loop():
            return {name: depth + 1 for name, depth in _depths(tree.body).items()}
        case Sequence():
            found: dict[str, int] = {}
            for child in tree.children:
                for name, depth in _depths(child).items():
                    found.setdefault(name, depth + 1)
            return found


def time_text(tree: Tree, statement: str, iterators: tuple[str, ...], parameters: tuple[str, ...]) -> str:
    """The schedule of one statement as an isl map, in isl's language."""
    source = f"{statement}[{', '.join(isl_name(i) for i in iterators)}]"
    target = ", ".join(e.isl for e in times(tree, statement))
    return f"[{', '.join(isl_name(p) for p in parameters)}] -> {{ {source} -> [{target}] }}"
