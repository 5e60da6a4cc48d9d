"""The transformations of loop trees. Each takes a tree and returns a new one; `legality` checks it."""

from __future__ import annotations

import re
from collections.abc import Sequence as Several
from dataclasses import replace

from triton_lab.localization import _
from triton_lab.polyhedral.core.affine_expr import AffineExpr
from triton_lab.polyhedral.core.loop_tree import (
    Leaf,
    Loop,
    Mark,
    Sequence,
    Tree,
    every_loop,
    replace_loop,
    sequence,
    statements,
)


def find(tree: Tree, name: str, statement: str | None = None) -> Loop:
    """The loop called ``name``; if several have that name, the one around ``statement``.

    ``t0``, ``t1``, ... are the loops from the outermost on, like the rows of a matrix, unless a loop has that name.
    """
    named = [loop for loop in every_loop(tree) if loop.name == name]
    found = [loop for loop in named if statement is None or statement in statements(loop)]
    if not found and (place := re.fullmatch(r"t(\d+)", name)):
        found = [loop for loop in _at_depth(tree, int(place[1])) if statement is None or statement in statements(loop)]
    if not found:
        there = ", ".join(dict.fromkeys(loop.name for loop in every_loop(tree))) or _("none")
        around = _(" around {statement}").format(statement=statement) if statement else ""
        raise ValueError(
            _("there is no loop {name}{around}; loops: {there}").format(name=name, around=around, there=there)
        )
    if len(found) > 1:
        choices = "; ".join(f"statement={statements(loop)[0]!r}" for loop in found)
        raise ValueError(
            _("{found} loops are called {name}: choose one with {choices}").format(
                found=len(found), name=name, choices=choices
            )
        )
    return found[0]


def _at_depth(tree: Tree, depth: int) -> list[Loop]:
    """The loops with ``depth`` loops around them."""
    match tree:
        case Loop():
            return [tree] if depth == 0 else _at_depth(tree.body, depth - 1)
        case Sequence():
            return [loop for child in tree.children for loop in _at_depth(child, depth)]
    return []


def _unused(tree: Tree, *names: str) -> None:
    taken = {loop.name for loop in every_loop(tree)}
    for name in names:
        if name in taken:
            raise ValueError(_("there already is a loop {name}").format(name=name))


def split(tree: Tree, loop: Loop, factor: int, outer: str, inner: str) -> Tree:
    """Split ``loop`` into a loop over tiles of ``factor`` iterations and a loop within a tile."""
    if factor < 1:
        raise ValueError(_("a factor of {factor}: a tile has at least one iteration").format(factor=factor))
    if outer == inner:
        raise ValueError(_("both loops would have the name {outer}").format(outer=outer))
    _unused(tree, *({outer, inner} - {loop.name}))
    within = Loop(inner, {s: e % factor for s, e in loop.expressions.items()}, loop.body)
    over = Loop(outer, {s: e // factor for s, e in loop.expressions.items()}, within)
    return replace_loop(tree, loop, over)


def reorder(tree: Tree, loops: Several[Loop]) -> Tree:
    """Put loops of one perfect nest into the given order, outermost first, in the places that they hold now."""
    if len(loops) < 2:
        return tree
    if len({id(loop) for loop in loops}) != len(loops):
        raise ValueError(_("the same loop is named twice"))
    outermost = max(loops, key=lambda loop: sum(1 for _unused in every_loop(loop)))
    wanted = {id(loop) for loop in loops}
    chain: list[Loop] = []
    node: Tree = outermost
    while wanted - {id(loop) for loop in chain}:
        if not isinstance(node, Loop):
            reached = {id(loop) for loop in chain}
            missing = ", ".join(loop.name for loop in loops if id(loop) not in reached)
            raise ValueError(
                _("{missing} is not directly inside {name}: other statements are in between. Distribute first").format(
                    missing=missing, name=chain[-1].name
                )
            )
        chain.append(node)
        node = node.body
    order = iter(loops)
    new_chain = [next(order) if id(loop) in wanted else loop for loop in chain]
    for loop in reversed(new_chain):
        node = replace(loop, body=node)
    return replace_loop(tree, outermost, node)


def skew(tree: Tree, loop: Loop, by: Loop, factor: int) -> Tree:
    """Shift ``loop`` by ``factor`` times the loop ``by``."""
    if loop is by:
        raise ValueError(_("{name} cannot be skewed by itself").format(name=loop.name))
    if not set(statements(loop)) <= set(by.expressions):
        raise ValueError(_("{name} is not a loop of every statement in {name2}").format(name=by.name, name2=loop.name))
    return replace_loop(
        tree, loop, replace(loop, expressions={s: e + by.expressions[s] * factor for s, e in loop.expressions.items()})
    )


def reverse(tree: Tree, loop: Loop) -> Tree:
    """Run ``loop`` backwards."""
    return replace_loop(tree, loop, replace(loop, expressions={s: -e for s, e in loop.expressions.items()}))


def shift(tree: Tree, loop: Loop, amount: AffineExpr, chosen: str | None) -> Tree:
    """Delay the iterations of ``chosen`` (or of all statements) in ``loop`` by ``amount``."""
    moved = {s: e + amount if chosen in (None, s) else e for s, e in loop.expressions.items()}
    return replace_loop(tree, loop, replace(loop, expressions=moved))


def collapse(tree: Tree, outer: Loop, inner: Loop, name: str, low: int, extent: int) -> Tree:
    """Join two directly nested loops; the inner one takes values from ``low`` on, at most ``extent``."""
    _unused(tree, *({name} - {outer.name, inner.name}))
    if outer.mark or inner.mark:
        marked = outer if outer.mark else inner
        raise ValueError(
            _("{name} is {mark}: collapse first, then mark {name2}").format(
                name=marked.name, mark=marked.mark, name2=name
            )
        )
    together = {s: e * extent + inner.expressions[s] - low for s, e in outer.expressions.items()}
    return replace_loop(tree, outer, Loop(name, together, inner.body))


def mark(tree: Tree, loop: Loop, kind: Mark) -> Tree:
    if loop.mark:
        raise ValueError(_("{name} is {mark} already").format(name=loop.name, mark=loop.mark))
    if kind == "vectorize" and next(every_loop(loop.body), None) is not None:
        inner = next(every_loop(loop.body)).name
        raise ValueError(
            _("{name} holds the loop {inner}: only an innermost loop can be vectorized; reorder first").format(
                name=loop.name, inner=inner
            )
        )
    return replace_loop(tree, loop, replace(loop, mark=kind))


def distribute(tree: Tree, loop: Loop) -> Tree:
    """Turn ``loop`` around a sequence into a sequence of loops."""
    if not isinstance(loop.body, Sequence):
        raise ValueError(_("{name} cannot be distributed: its body is one statement").format(name=loop.name))
    parts = tuple(
        replace(loop, expressions={s: loop.expressions[s] for s in statements(child)}, body=child)
        for child in loop.body.children
    )
    return replace_loop(tree, loop, Sequence(parts))


def fuse(tree: Tree, first: str, second: str) -> Tree:
    """Fuse the two loops at which the paths to two statements separate, as one loop around both bodies."""
    there = statements(tree)
    for name in (first, second):
        if name not in there:
            raise ValueError(
                _("there is no statement {name}; statements: {there}").format(name=name, there=", ".join(there))
            )
    return _fuse(tree, first, second)


def _fuse(tree: Tree, first: str, second: str) -> Tree:
    match tree:
        case Loop():
            return replace(tree, body=_fuse(tree.body, first, second))
        case Sequence():
            at = [next(k for k, c in enumerate(tree.children) if s in statements(c)) for s in (first, second)]
            if at[0] == at[1]:
                children = (_fuse(c, first, second) if k == at[0] else c for k, c in enumerate(tree.children))
                return sequence(tuple(children))
            return _fuse_children(tree, *sorted(at))
        case Leaf():
            raise ValueError(_("{first} and {second} already share all loops").format(first=first, second=second))


def _fuse_children(tree: Sequence, low: int, high: int) -> Tree:
    one, other = tree.children[low], tree.children[high]
    if high != low + 1:
        raise ValueError(_("only neighbours can be fused: other statements are in between"))
    if not isinstance(one, Loop) or not isinstance(other, Loop):
        raise ValueError(_("a statement outside of all loops cannot be fused with a loop"))
    if one.mark != other.mark:
        raise ValueError(
            _("{name} is {mark} and {name2} is {mark2}").format(
                name=one.name, mark=one.mark or "plain", name2=other.name, mark2=other.mark or "plain"
            )
        )
    together = Loop(one.name, {**one.expressions, **other.expressions}, sequence((one.body, other.body)), one.mark)
    return sequence((*tree.children[:low], together, *tree.children[high + 1 :]))
