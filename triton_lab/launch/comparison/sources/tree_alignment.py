"""`laid`: one expression laid over another that says the same of another axis, with the fewest differences.

Names that differ in one letter or word (``oh`` and ``ow``, ``row`` and ``col``) are taken for the same of another axis.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass, field, replace


def letters_between(one: str, other: str) -> tuple[str, str] | None:
    """What two names differ in, if it is one letter or one word of each: ``h`` and ``w``."""
    if one == other:
        return None
    first, second = one.split("_"), other.split("_")
    apart = [pair for pair in zip(first, second, strict=False) if pair[0] != pair[1]]
    if len(first) != len(second) or len(apart) != 1:
        return None
    ((a, b),) = apart
    differing = [(x, y) for x, y in zip(a, b, strict=False) if x != y]
    if len(a) == len(b) and len(differing) == 1:
        return differing[0]
    if a[-1:] == b[-1:] == "s":  # of several
        a, b = a[:-1], b[:-1]
    return (a, b) if a.isalpha() and b.isalpha() and min(len(a), len(b)) > 1 else None


@dataclass
class Renaming:
    """The names of one axis for those of another. With ``words``, also names that differ in a word may be learned."""

    known: dict[str, str]
    letters: set[tuple[str, str]]
    names: frozenset[str]
    words: bool = False

    def of(self, name: str) -> str:
        """The name of the same thing of the other axis; the name itself, if there is none."""
        if name in self.known:
            return self.known[name]
        for one, other in sorted({*self.letters, *((a.upper(), b.upper()) for a, b in self.letters)}):
            for at in range(len(name) - len(one) + 1):
                changed = name[:at] + other + name[at + len(one) :]
                if name.startswith(one, at) and changed in self.names and letters_between(name, changed) is not None:
                    return changed
        return name

    def takes(self, one: str, other: str) -> bool:
        """Whether a name is that of the other axis for ``one``, or may be, since they differ in one letter."""
        if self.of(one) != one or one in self.known:
            return self.of(one) == other
        letters = letters_between(one, other)
        return one == other or (letters is not None and len(letters[0]) == 1)

    def learn(self, model: ast.AST, node: ast.AST) -> None:
        """Take the names that stand at the same place of two expressions for each other, as far as these are alike."""
        if isinstance(model, ast.Name) and isinstance(node, ast.Name):
            self.pair(model.id, node.id)
        elif type(model) is type(node):
            for one, other in zip(ast.iter_child_nodes(model), ast.iter_child_nodes(node), strict=False):
                self.learn(one, other)

    def pair(self, one: str, other: str) -> None:
        """Take two names for each other, if they are alike."""
        letters = letters_between(one, other)
        if letters is None or one in self.known:
            return
        if self.words or len(letters[0]) == 1 or letters in self.letters:
            self.known[one] = other
            self.letters.add(letters)

    def applied(self, node: ast.expr) -> ast.expr:
        """A copy of an expression in the names of the other axis."""
        made = deepcopy(node)
        for each in ast.walk(made):
            if isinstance(each, ast.Name):
                each.id = self.of(each.id)
        return made


@dataclass
class Laid:
    """A node of an expression under one of its model.

    It differs in its operator if there is an ``operator``, and as a whole if ``new`` would stand there; else its
    ``parts`` may. ``matched`` counts the names and numbers that are the same of both axes.
    """

    place: ast.expr
    cost: int = 0
    matched: int = 0
    new: ast.expr | None = None
    operator: ast.operator | None = None
    parts: list[tuple[str, int | None, Laid]] = field(default_factory=list)

    def differences(self) -> Iterator[tuple[ast.expr, ast.expr]]:
        """The places where another expression would stand, with that."""
        for _field, _position, part in self.parts:
            yield from part.differences()
        if self.operator is not None:
            assert isinstance(self.place, ast.BinOp)
            yield self.place, ast.BinOp(self.place.left, self.operator, self.place.right)
        if self.new is not None:
            yield self.place, _filled(self.new, self.place)

    def operators(self) -> int:
        """How many operators differ."""
        return (self.operator is not None) + sum(part.operators() for _field, _position, part in self.parts)

    def built(self, operators: bool) -> ast.expr:
        """The expression with all differences taken over, or all but other ``operators``."""
        made = deepcopy(self.place)
        if operators and self.operator is not None:
            assert isinstance(made, ast.BinOp)
            made.op = self.operator
        for name, position, part in self.parts:
            if position is None:
                setattr(made, name, part.built(operators))
            else:
                getattr(made, name)[position] = part.built(operators)
        return made if self.new is None else _filled(self.new, made)


_HOLE = "the expression itself"


def _filled(new: ast.expr, inner: ast.expr) -> ast.expr:
    made = deepcopy(new)
    if isinstance(made, ast.BinOp):
        for name in ("left", "right"):
            value = getattr(made, name)
            if isinstance(value, ast.Name) and value.id == _HOLE:
                setattr(made, name, inner)
    return made


_Known = dict[tuple[int, int], Laid]
"""What is known of two parts: each pair is met on many ways."""


def laid(model: ast.expr, node: ast.expr, renaming: Renaming) -> Laid:
    """The node under its model with the fewest differences: operations and their other operands are added, or left."""
    return _laid(model, node, renaming, {})


def _laid(model: ast.expr, node: ast.expr, renaming: Renaming, known: _Known) -> Laid:
    pair = id(model), id(node)
    if pair not in known:
        known[pair] = min(_ways(model, node, renaming, known), key=lambda way: (way.cost, -way.matched))
    return known[pair]


def _ways(model: ast.expr, node: ast.expr, renaming: Renaming, known: _Known) -> list[Laid]:
    ways = [_same(model, node, renaming, known)]
    if isinstance(model, ast.BinOp) and ways[0].cost:
        for inner, rest, first in ((model.left, model.right, True), (model.right, model.left, False)):
            if type(inner) is type(node) or isinstance(inner, ast.BinOp):
                way = _laid(inner, node, renaming, known)
                if way.new is None and way.matched:
                    hole, other = ast.Name(_HOLE, ast.Load()), renaming.applied(rest)
                    new = ast.BinOp(hole if first else other, model.op, other if first else hole)
                    ways.append(replace(way, new=new, cost=way.cost + size_of(rest)))
    if isinstance(node, ast.BinOp) and ways[0].cost:
        for kept, left in ((node.left, node.right), (node.right, node.left)):
            if type(model) is type(kept):
                inner_laid = _same(model, kept, renaming, known)
                if inner_laid.matched and not inner_laid.cost:
                    ways.append(Laid(node, size_of(left), inner_laid.matched, kept))
    return ways


def size_of(node: ast.AST) -> int:
    """The names and numbers of an expression, without names of modules and functions."""
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return 0
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        return sum(map(size_of, [*node.args, *node.keywords]))
    own = isinstance(node, (ast.Name, ast.Constant))
    return own + sum(map(size_of, ast.iter_child_nodes(node)))


def _same(model: ast.expr, node: ast.expr, renaming: Renaming, known: _Known) -> Laid:
    """The node under a model of its own kind, part by part."""
    instead = Laid(node, max(1, size_of(node)), 0, renaming.applied(model))
    if type(model) is not type(node):
        return instead
    if isinstance(model, ast.Name) and isinstance(node, ast.Name):
        return Laid(node, 0, 1) if renaming.takes(model.id, node.id) else instead
    if isinstance(model, ast.Constant) and isinstance(node, ast.Constant):
        return Laid(node, 0, 1) if model.value == node.value else instead
    found = Laid(node)
    for (name, one), (_name, other) in zip(ast.iter_fields(model), ast.iter_fields(node), strict=True):
        if isinstance(one, ast.expr) and isinstance(other, ast.expr):
            if isinstance(node, ast.Call) and name == "func" and not isinstance(one, ast.Attribute):
                if not _equal(one, other):
                    return instead
                continue
            found.parts.append((name, None, _laid(one, other, renaming, known)))
        elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
            for k, (a, b) in enumerate(zip(one, other, strict=True)):
                if isinstance(a, ast.expr) and isinstance(b, ast.expr):
                    found.parts.append((name, k, _laid(a, b, renaming, known)))
                elif not _equal(a, b):
                    return instead
        elif isinstance(one, ast.operator) and not _equal(one, other):
            found.operator, found.cost = one, 1
        elif not _equal(one, other):
            return instead
    found.cost += sum(part.cost for _field, _position, part in found.parts)
    found.matched = sum(part.matched for _field, _position, part in found.parts)
    return min(found, instead, key=lambda way: (way.cost, -way.matched))


def _equal(one: object, other: object) -> bool:
    if isinstance(one, ast.AST) and isinstance(other, ast.AST):
        return ast.dump(one) == ast.dump(other)
    return one == other
