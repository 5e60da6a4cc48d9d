"""Lines of a kernel that say the same of two axes, of which one says it otherwise: what it would be like the other.

``iw = ow * stride - pad + kw`` stands below ``ih = oh * stride - pad + kh * dilation``. Each difference is a change,
and all together are one.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, islice, permutations, product

from triton_lab.launch.comparison.sources.tree_alignment import Renaming, laid, letters_between, size_of

_MOST_DIFFERENCES = 4
_LONGEST = 60  # nodes of an expression

Change = tuple[ast.expr, ast.expr, int]
"""A place of the tree, what would stand there, and the line that is like it."""


def changes_by_similar_lines(tree: ast.Module) -> Iterator[Change]:
    """What makes a line like a similar one, and conditions that are asked of one axis alone."""
    names = _names(tree)
    seen: set[str] = set()
    for one, two in permutations(_named_values(tree), 2):
        letters = letters_between(one.name, two.name)
        if letters is not None and one.kind is two.kind:
            renaming = Renaming({one.name: two.name}, {letters}, names)
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


def _alike(model: ast.expr, expression: ast.expr, renaming: Renaming) -> Iterator[tuple[ast.expr, ast.expr]]:
    """The changes that make an expression like its model: all differences, and each of them."""
    renaming.learn(model, expression)
    over = laid(model, expression, renaming)
    found = list(over.differences())
    whole = any(place is expression and not isinstance(new, ast.BinOp) for place, new in found)
    if not 0 < len(found) <= _MOST_DIFFERENCES or whole or over.matched < max(2, (2 * size_of(expression) + 2) // 3):
        return
    if len(found) > 1:
        yield expression, over.built(operators=True)
        if 0 < over.operators() < len(found) - 1:
            yield expression, over.built(operators=False)
    yield from found


def _conditions(tree: ast.Module, names: frozenset[str]) -> Iterator[Change]:
    """Conditions of which one more is asked, of the other axis: ``(y >= 0) & (x >= 0) & (y < H)``."""
    both = [node for node in ast.walk(tree) if _is_and(node)]
    inside = {id(side) for node in both for side in ast.iter_child_nodes(node)}
    found = {letters_between(*pair) for pair in permutations([name for name in names if len(name) > 1], 2)}
    alike = {letters for letters in found if letters is not None and len(letters[0]) == 1}
    for node in [each for each in both if id(each) not in inside]:
        assert isinstance(node, ast.BinOp)
        asked = _asked(node)
        written, axes = {ast.unparse(each) for each in asked}, (_axis(asked, names), _axis(asked[::-1], names))
        for one in asked:
            own = _names_in(one)
            for renaming in (*axes, *_by_letters(own, names, alike)):
                new, images = renaming.applied(one), {renaming.of(name) for name in own}
                if ast.unparse(new) not in written and images != own and not _mixes(own, renaming):
                    written.add(ast.unparse(new))
                    yield node, ast.BinOp(node, ast.BitAnd(), new), one.lineno


def _names_in(node: ast.expr) -> frozenset[str]:
    return frozenset(each.id for each in ast.walk(node) if isinstance(each, ast.Name))


def _mixes(own: frozenset[str], renaming: Renaming) -> bool:
    """Whether a name is renamed to one that stands beside it: what is said of both axes is not said of one."""
    return any(renaming.of(name) != name and renaming.of(name) in own for name in own)


def _by_letters(own: frozenset[str], names: frozenset[str], alike: Collection[tuple[str, str]]) -> Iterator[Renaming]:
    """The renamings of all names by letters in which longer names differ, too: ``W`` to ``H`` where there are ``OW``
    and ``OH``."""
    images = {
        name: [other for other in sorted(names) if (letters := letters_between(name, other)) and letters in alike]
        for name in sorted(own)
    }
    renamed = [name for name, others in images.items() if others]
    if renamed:
        for others in islice(product(*(images[name] for name in renamed)), _MOST_DIFFERENCES):
            yield Renaming(dict(zip(renamed, others, strict=True)), set(), names)


def _axis(asked: Sequence[ast.expr], names: frozenset[str]) -> Renaming:
    """The names of one axis for those of the next, by the conditions that are asked of both."""
    found = Renaming({}, set(), names, words=True)
    for one, other in combinations(asked, 2):
        renaming = Renaming({}, set(), names, words=True)
        renaming.learn(one, other)
        if renaming.known and not laid(one, other, renaming).cost:
            for pair in renaming.known.items():
                found.pair(*pair)
    return found


def _is_and(node: ast.AST) -> bool:
    return isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitAnd)


def _asked(node: ast.expr) -> list[ast.expr]:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitAnd):
        return [*_asked(node.left), *_asked(node.right)]
    return [node]
