"""The grid as the user's code computes it, in the kernel's own names: ``cdiv(n, BLOCK)``.

The line that launched the kernel is parsed, and what it passes gives names to the sizes: with
``kernel[(triton.cdiv(x.numel(), 128),)](x, x.numel(), BLOCK=128)``, `x.numel()` is the kernel's second parameter.
Nothing is executed; an expression counts only if it gives the recorded grid (`suggested_assumptions`).
"""

from __future__ import annotations

import ast
import linecache
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from triton_lab.launch.launch import Launch

# Longer sources are not read.
_MOST_CHARACTERS = 2_000_000
# A variable is replaced by what was assigned to it at most so often.
_MOST_STEPS = 4


def grid_texts(launch: Launch) -> list[str | None]:
    """The extent along each axis as text; None where it was not found."""
    call = _call_of(launch)
    if call is None:
        return [None] * 3
    node, function = call
    assert isinstance(node.func, ast.Subscript)
    assigned = _assigned(function, node)
    grid: ast.expr = node.func.slice
    if isinstance(grid, ast.Name):
        grid = assigned.get(grid.id, grid)
    if isinstance(grid, ast.Lambda):
        grid = grid.body
    extents = list(grid.elts) if isinstance(grid, (ast.Tuple, ast.List)) else [grid]
    rename = _Renamed(_parameters(launch, node), assigned)
    texts: list[str | None] = [rename.text(one) for one in extents[:3]]
    return texts + ["1"] * (3 - len(texts))


def _call_of(launch: Launch) -> tuple[ast.Call, ast.AST] | None:
    """The call that launched the kernel, and the function or module around it."""
    if launch.site is None:
        return None
    file, line = launch.site
    tree = _tree("".join(linecache.getlines(file)))
    found: tuple[ast.Call, ast.AST] | None = None
    for around, node in _calls(tree, tree):
        if isinstance(node.func, ast.Subscript) and node.lineno <= line <= (node.end_lineno or node.lineno):
            found = node, around  # the innermost comes last
    return found


@lru_cache(maxsize=16)
def _tree(text: str) -> ast.AST:
    try:
        return ast.parse(text if len(text) <= _MOST_CHARACTERS else "")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ast.Module([], [])


def _calls(node: ast.AST, around: ast.AST) -> Iterator[tuple[ast.AST, ast.Call]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Call):
            yield around, child
        inner = isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef))
        yield from _calls(child, child if inner else around)


def _assigned(function: ast.AST, before: ast.Call) -> dict[str, ast.expr]:
    """What is assigned to each variable of the function, above the call; a variable that is assigned twice is out."""
    found: dict[str, ast.expr] = {}
    twice: set[str] = set()
    for node in ast.walk(function):
        if isinstance(node, (ast.AugAssign, ast.For)) and isinstance(node.target, ast.Name):
            twice.add(node.target.id)
        if not isinstance(node, ast.Assign) or node.lineno > before.lineno:
            continue
        for target in node.targets:
            for name, value in _parts(target, node.value):
                if name in found:
                    twice.add(name)
                found[name] = value
    return {name: value for name, value in found.items() if name not in twice}


def _parts(target: ast.expr, value: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    """The names that an assignment sets: ``rows, columns = x.shape`` sets two."""
    if isinstance(target, ast.Name):
        yield target.id, value
    elif isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        for one, part in zip(target.elts, value.elts, strict=False):
            yield from _parts(one, part)
    elif isinstance(target, ast.Tuple):
        for position, one in enumerate(target.elts):
            yield from _parts(one, ast.Subscript(value, ast.Constant(position), ast.Load()))


def _parameters(launch: Launch, call: ast.Call) -> dict[str, str]:
    """The kernel's parameters by the text of what is passed for them."""
    source = launch.compiled[0]
    names: Sequence[str] = [] if source is None else source.fn.arg_names
    found: dict[str, str] = {}
    for position, one in enumerate(call.args):
        if isinstance(one, ast.Starred) or position >= len(names):
            break
        found.setdefault(ast.unparse(one), names[position])
    for keyword in call.keywords:
        if keyword.arg is not None:
            found.setdefault(ast.unparse(keyword.value), keyword.arg)
    return found


class _Renamed:
    """Writes the launching code's expressions in the kernel's names."""

    def __init__(self, parameters: Mapping[str, str], assigned: Mapping[str, ast.expr]) -> None:
        self.parameters = parameters
        self.assigned = assigned

    def text(self, node: ast.expr, steps: int = 0) -> str | None:
        """The expression; None if it has what the kernel does not get."""
        known = self.parameters.get(ast.unparse(node))
        if known is not None:
            return known
        if isinstance(node, ast.Constant) and type(node.value) is int:
            return str(node.value)
        if isinstance(node, ast.Name) and node.id in self.assigned and steps < _MOST_STEPS:
            return self.text(self.assigned[node.id], steps + 1)
        if isinstance(node, ast.BinOp):
            sides = [self.text(side, steps) for side in (node.left, node.right)]
            sign = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.FloorDiv: "//", ast.Mod: "%"}.get(type(node.op))
            return None if sign is None or None in sides else f"({sides[0]} {sign} {sides[1]})"
        if isinstance(node, ast.Call):
            return self._call(node, steps)
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
            if isinstance(node.slice.value, str):  # meta["BLOCK"]
                return node.slice.value
            return self._shape(node.value, int(node.slice.value) if isinstance(node.slice.value, int) else -1)
        return None

    def _call(self, node: ast.Call, steps: int) -> str | None:
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if name == "cdiv" and len(node.args) == 2:
            sides = [self.text(side, steps) for side in node.args]
            return None if None in sides else f"cdiv({sides[0]}, {sides[1]})"
        if isinstance(node.func, ast.Attribute) and name in ("numel", "size"):
            tensor = self.parameters.get(ast.unparse(node.func.value))
            if tensor is not None and name == "numel" and not node.args:
                return f"{tensor}.numel()"
            if tensor is not None and len(node.args) == 1:
                return f"{tensor}.shape[{ast.unparse(node.args[0])}]"
        return None

    def _shape(self, node: ast.expr, axis: int) -> str | None:
        """``x.shape[axis]`` of a tensor that the kernel gets."""
        if not isinstance(node, ast.Attribute) or node.attr != "shape" or axis < 0:
            return None
        tensor = self.parameters.get(ast.unparse(node.value))
        return None if tensor is None else f"{tensor}.shape[{axis}]"
