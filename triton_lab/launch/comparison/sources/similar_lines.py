"""Lines of a kernel that say the same of two axes, of which one says it otherwise: what it would be like the other.

``iw = ow * stride - pad + kw`` stands below ``ih = oh * stride - pad + kh * dilation``. Names that differ in one place
(``oh`` and ``ow``, ``row`` and ``col``) are taken for the same of another axis. The two trees are laid one over the
other, with as few differences as can be; each difference is a change, and all together are one.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from itertools import combinations, permutations

_MOST_DIFFERENCES = 4
_LONGEST = 60  # nodes of an expression

Change = tuple[ast.expr, ast.expr, int]
"""A place of the tree, what would stand there, and the line that is like it."""


def changes_by_similar_lines(tree: ast.Module) -> Iterator[Change]:
    """What makes a line like a similar one, and conditions that are asked of one axis alone."""
    names = _names(tree)
    seen: set[str] = set()
    for one, two in permutations(_named_values(tree), 2):
        letters = _letters(one.name, two.name)
        if letters is not None and one.kind is two.kind:
            renaming = _Renaming({one.name: two.name}, {letters}, names)
            for place, new in _alike(one.value, two.value, renaming):
                key = f"{place.lineno} {place.col_offset} {ast.unparse(place)} {ast.unparse(new)}"
                if key not in seen:
                    seen.add(key)
                    yield place, new, one.value.lineno
    yield from _conditions(tree, names)


@dataclass(frozen=True)
class _Named:
    """An expression that gets a ``name``, by a statement of a ``kind``."""

    name: str
    value: ast.expr
    kind: type[ast.AST]


def _names(tree: ast.Module) -> frozenset[str]:
    passed = {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    return frozenset(passed | {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)})


def _named_values(tree: ast.Module) -> list[_Named]:
    """The expressions that get a name: also what a loop counts through."""
    found = []
    for node in ast.walk(tree):
        target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
        value = node.iter if isinstance(node, ast.For) else getattr(node, "value", None)
        if isinstance(target, ast.Name) and isinstance(value, ast.expr) and len(list(ast.walk(value))) <= _LONGEST:
            found.append(_Named(target.id, value, type(node)))
    return found


def _letters(one: str, other: str) -> tuple[str, str] | None:
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
    return (a, b) if a.isalpha() and b.isalpha() and min(len(a), len(b)) > 1 else None


@dataclass
class _Renaming:
    """The names of one axis for those of another."""

    known: dict[str, str]
    letters: set[tuple[str, str]]
    names: frozenset[str]

    def of(self, name: str) -> str:
        """The name of the same thing of the other axis; the name itself, if there is none."""
        if name in self.known:
            return self.known[name]
        for one, other in sorted({*self.letters, *((a.upper(), b.upper()) for a, b in self.letters)}):
            for at in range(len(name) - len(one) + 1):
                changed = name[:at] + other + name[at + len(one) :]
                if name.startswith(one, at) and changed in self.names and _letters(name, changed) is not None:
                    return changed
        return name

    def takes(self, one: str, other: str) -> bool:
        """Whether a name is that of the other axis for ``one``, or may be, since they differ in one letter."""
        if self.of(one) != one or one in self.known:
            return self.of(one) == other
        letters = _letters(one, other)
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
        letters = _letters(one, other)
        if letters is not None and one not in self.known:
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
class _Laid:
    """A node of an expression under one of its model.

    It differs in its operator if there is an ``operator``, and as a whole if ``new`` would stand there; else its
    ``parts`` may. ``matched`` counts the names and numbers that are the same of both axes.
    """

    place: ast.expr
    cost: int = 0
    matched: int = 0
    new: ast.expr | None = None
    operator: ast.operator | None = None
    parts: list[tuple[str, int | None, _Laid]] = field(default_factory=list)

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


def _alike(model: ast.expr, expression: ast.expr, renaming: _Renaming) -> Iterator[tuple[ast.expr, ast.expr]]:
    """The changes that make an expression like its model: all differences, and each of them."""
    renaming.learn(model, expression)
    laid = _laid(model, expression, renaming)
    found = list(laid.differences())
    whole = any(place is expression and isinstance(new, ast.BinOp) is False for place, new in found)
    if not 0 < len(found) <= _MOST_DIFFERENCES or whole or laid.matched < max(2, (2 * _size(expression) + 2) // 3):
        return
    if len(found) > 1:
        yield expression, laid.built(operators=True)
        if 0 < laid.operators() < len(found) - 1:
            yield expression, laid.built(operators=False)
    yield from found


def _laid(model: ast.expr, node: ast.expr, renaming: _Renaming) -> _Laid:
    """The node under its model with the fewest differences: operations and their other operands are added, or left."""
    ways = [_same(model, node, renaming)]
    if isinstance(model, ast.BinOp) and ways[0].cost:
        for inner, rest, first in ((model.left, model.right, True), (model.right, model.left, False)):
            if type(inner) is type(node) or isinstance(inner, ast.BinOp):
                laid = _laid(inner, node, renaming)
                if laid.new is None and laid.matched:
                    hole, other = ast.Name(_HOLE, ast.Load()), renaming.applied(rest)
                    laid.new = ast.BinOp(hole if first else other, model.op, other if first else hole)
                    laid.cost += _size(rest)
                    ways.append(laid)
    if isinstance(node, ast.BinOp) and ways[0].cost:
        for kept, left in ((node.left, node.right), (node.right, node.left)):
            if type(model) is type(kept):
                inner_laid = _same(model, kept, renaming)
                if inner_laid.matched and not inner_laid.cost:
                    ways.append(_Laid(node, _size(left), inner_laid.matched, kept))
    return min(ways, key=lambda way: (way.cost, -way.matched))


def _size(node: ast.AST) -> int:
    """The names and numbers of an expression, without names of modules and functions."""
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return 0
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        return sum(map(_size, [*node.args, *node.keywords]))
    own = isinstance(node, (ast.Name, ast.Constant))
    return own + sum(map(_size, ast.iter_child_nodes(node)))


def _same(model: ast.expr, node: ast.expr, renaming: _Renaming) -> _Laid:
    """The node under a model of its own kind, part by part."""
    instead = _Laid(node, max(1, _size(node)), 0, renaming.applied(model))
    if type(model) is not type(node):
        return instead
    if isinstance(model, ast.Name) and isinstance(node, ast.Name):
        return _Laid(node, 0, 1) if renaming.takes(model.id, node.id) else instead
    if isinstance(model, ast.Constant) and isinstance(node, ast.Constant):
        return _Laid(node, 0, 1) if model.value == node.value else instead
    laid = _Laid(node)
    for (name, one), (_name, other) in zip(ast.iter_fields(model), ast.iter_fields(node), strict=True):
        if isinstance(one, ast.expr) and isinstance(other, ast.expr):
            if isinstance(node, ast.Call) and name == "func" and not isinstance(one, ast.Attribute):
                if not _equal(one, other):
                    return instead
                continue
            laid.parts.append((name, None, _laid(one, other, renaming)))
        elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
            for k, (a, b) in enumerate(zip(one, other, strict=True)):
                if isinstance(a, ast.expr) and isinstance(b, ast.expr):
                    laid.parts.append((name, k, _laid(a, b, renaming)))
                elif not _equal(a, b):
                    return instead
        elif isinstance(one, ast.operator) and not _equal(one, other):
            laid.operator, laid.cost = one, 1
        elif not _equal(one, other):
            return instead
    laid.cost += sum(part.cost for _field, _position, part in laid.parts)
    laid.matched = sum(part.matched for _field, _position, part in laid.parts)
    return min(laid, instead, key=lambda way: (way.cost, -way.matched))


def _equal(one: object, other: object) -> bool:
    if isinstance(one, ast.AST) and isinstance(other, ast.AST):
        return ast.dump(one) == ast.dump(other)
    return one == other


def _conditions(tree: ast.Module, names: frozenset[str]) -> Iterator[Change]:
    """Conditions of which one more is asked, of the other axis: ``(y >= 0) & (x >= 0) & (y < H)``."""
    both = [node for node in ast.walk(tree) if _is_and(node)]
    inside = {id(side) for node in both for side in ast.iter_child_nodes(node)}
    for node in both:
        if id(node) not in inside:
            assert isinstance(node, ast.BinOp)
            asked = _asked(node)
            written = {ast.unparse(each) for each in asked}
            for way in (asked, asked[::-1]):
                renaming = _axis(way, names)
                for one in way:
                    new = renaming.applied(one)
                    own = {each.id for each in ast.walk(one) if isinstance(each, ast.Name)}
                    others = {each.id for each in ast.walk(new) if isinstance(each, ast.Name)} - own
                    kept = {renaming.of(name) for name in own} & own - {
                        name for name in own if renaming.of(name) == name
                    }
                    if others and not kept and ast.unparse(new) not in written:
                        written.add(ast.unparse(new))
                        yield node, ast.BinOp(node, ast.BitAnd(), new), one.lineno


def _axis(asked: Sequence[ast.expr], names: frozenset[str]) -> _Renaming:
    """The names of one axis for those of the next, by the conditions that are asked of both."""
    found = _Renaming({}, set(), names)
    for one, other in combinations(asked, 2):
        renaming = _Renaming({}, set(), names)
        renaming.learn(one, other)
        if renaming.known and not _laid(one, other, renaming).cost:
            for pair in renaming.known.items():
                found.pair(*pair)
    return found


def _is_and(node: ast.AST) -> bool:
    return isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitAnd)


def _asked(node: ast.expr) -> list[ast.expr]:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitAnd):
        return [*_asked(node.left), *_asked(node.right)]
    return [node]
