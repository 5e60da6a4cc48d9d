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

from triton_lab.backend.source.access_source import called_name
from triton_lab.launch.assumption import is_quantity
from triton_lab.polyhedral.proofs.size_fit import is_stride

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
    rename = _renamed(launch, node, function)
    grid: ast.expr = node.func.slice
    if isinstance(grid, ast.Name):
        grid = rename.assigned.get(grid.id, grid)
    if isinstance(grid, ast.Lambda):
        grid = grid.body
    extents = list(grid.elts) if isinstance(grid, (ast.Tuple, ast.List)) else [grid]
    texts: list[str | None] = [rename.text(one) for one in extents[:3]]
    return texts + ["1"] * (3 - len(texts))


def passed_sizes(launch: Launch) -> dict[str, str]:
    """The extents and strides that the launching line passes: ``{"x.stride(0)": "stride"}`` for ``stride=x.stride(0)``.

    Each quantity has the kernel's parameter that it is passed for.
    """
    call = _call_of(launch)
    if call is None:
        return {}
    rename = _renamed(launch, *call)
    found: dict[str, str] = {}
    for text, name in rename.parameters.items():
        quantity = rename.text(ast.parse(text, mode="eval").body, passed=True)
        if quantity is None or quantity == name or (is_stride(name) and not is_stride(quantity)):
            continue
        if is_quantity(ast.parse(quantity, mode="eval").body):
            found.setdefault(quantity, name)
    return found


def _renamed(launch: Launch, node: ast.Call, function: ast.AST) -> _Renamed:
    ranks = {a.name: len(a.shape) for a in launch.arguments if a.kind in ("tensor", "descriptor")}
    missing = frozenset(a.name for a in launch.arguments if a.kind == "constexpr" and a.value is None)
    parameters = _parameters(launch, node)
    return _Renamed(parameters, _assigned(function, node, parameters, ranks), ranks, missing)


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


def _assigned(
    function: ast.AST, before: ast.Call, parameters: Mapping[str, str], ranks: Mapping[str, int]
) -> dict[str, ast.expr]:
    """What is assigned to each variable of the function, above the call; a variable that is assigned twice is out.

    A function that only returns something counts as a lambda. ``ranks`` are those of the kernel's tensors.
    """
    found: dict[str, ast.expr] = {}
    twice: set[str] = set()
    for node in ast.walk(function):
        if isinstance(node, (ast.AugAssign, ast.For)) and isinstance(node.target, ast.Name):
            twice.add(node.target.id)
        given: list[tuple[ast.expr, ast.expr]] = []
        if isinstance(node, ast.FunctionDef) and node is not function and node.lineno <= before.lineno:
            ends = [one.value for one in node.body if isinstance(one, ast.Return) and one.value is not None]
            if len(node.body) == len(ends) == 1:
                given = [(ast.Name(node.name), ends[0])]
        elif isinstance(node, ast.Assign) and node.lineno <= before.lineno:
            given = [(target, node.value) for target in node.targets]
        elif isinstance(node, ast.AnnAssign) and node.value is not None and node.lineno <= before.lineno:
            given = [(node.target, node.value)]
        for target, whole in given:
            for name, value in _parts(target, _unpacked(whole, parameters, ranks)):
                if name in found:
                    twice.add(name)
                found[name] = value
    return {name: value for name, value in found.items() if name not in twice}


def _unpacked(value: ast.expr, parameters: Mapping[str, str], ranks: Mapping[str, int]) -> ast.expr:
    """A tuple with ``*x.shape`` written out."""
    if not isinstance(value, ast.Tuple):
        return value
    items: list[ast.expr] = []
    for one in value.elts:
        of = one.value if isinstance(one, ast.Starred) else None
        if isinstance(of, ast.Attribute) and of.attr == "shape":
            rank = ranks.get(parameters.get(ast.unparse(of.value), ""))
            if rank is None:
                return value
            items += [ast.Subscript(of, ast.Constant(axis), ast.Load()) for axis in range(rank)]
        else:
            items.append(one)
    return ast.Tuple(items, ast.Load())


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
    return found | {text: text for text in found if text in names and text in _passed_as(call, names)}


def _passed_as(call: ast.Call, names: Sequence[str]) -> set[str]:
    """The parameters that a variable of their own name is passed for."""
    given = [*zip(names, call.args, strict=False), *((keyword.arg, keyword.value) for keyword in call.keywords)]
    return {name for name, value in given if name is not None and isinstance(value, ast.Name) and value.id == name}


class _Renamed:
    """Writes the launching code's expressions in the kernel's names.

    ``ranks`` are those of the kernel's tensors, ``missing`` its arguments that are None.
    """

    def __init__(
        self,
        parameters: Mapping[str, str],
        assigned: Mapping[str, ast.expr],
        ranks: Mapping[str, int],
        missing: frozenset[str],
    ) -> None:
        self.parameters = parameters
        self.assigned = assigned
        self.ranks = ranks
        self.missing = missing

    def text(self, node: ast.expr, steps: int = 0, passed: bool = False) -> str | None:
        """The expression; None if it has what the kernel does not get.

        ``passed``: not the name of the parameter that it is passed for.
        """
        known = None if passed else self.parameters.get(ast.unparse(node))
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
        if isinstance(node, ast.IfExp):
            side = self._side(node)
            return None if side is None else self.text(side, steps)
        if isinstance(node, ast.Call):
            return self._call(node, steps)
        if isinstance(node, ast.Subscript):
            return self._item(node)
        return None

    def _side(self, node: ast.IfExp) -> ast.expr | None:
        """The side that is taken of ``a if x is None else b``, where the kernel gets x."""
        test = node.test
        if not isinstance(test, ast.Compare) or not isinstance(test.ops[0], (ast.Is, ast.IsNot)):
            return None
        name = self.parameters.get(ast.unparse(test.left))
        other = test.comparators[0]
        if name is None or not isinstance(other, ast.Constant) or other.value is not None:
            return None
        return node.body if (name in self.missing) == isinstance(test.ops[0], ast.Is) else node.orelse

    def _call(self, node: ast.Call, steps: int) -> str | None:
        name = called_name(node)
        if name == "cdiv" and len(node.args) == 2:
            sides = [self.text(side, steps) for side in node.args]
            return None if None in sides else f"cdiv({sides[0]}, {sides[1]})"
        if isinstance(node.func, ast.Attribute):
            tensor = self.parameters.get(ast.unparse(node.func.value))
            axis = self._axis(tensor, node.args[0]) if len(node.args) == 1 else None
            if tensor in self.ranks and name == "numel" and not node.args:
                return f"{tensor}.numel()"
            if axis is not None and name in ("size", "stride"):
                return f"{tensor}.shape[{axis}]" if name == "size" else f"{tensor}.stride({axis})"
        return None

    def _item(self, node: ast.Subscript) -> str | None:
        """``x.shape[axis]`` of a tensor that the kernel gets, or ``meta["BLOCK"]``."""
        if isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str):
            return node.slice.value
        if not isinstance(node.value, ast.Attribute) or node.value.attr != "shape":
            return None
        tensor = self.parameters.get(ast.unparse(node.value.value))
        axis = self._axis(tensor, node.slice)
        return None if axis is None else f"{tensor}.shape[{axis}]"

    def _axis(self, tensor: str | None, node: ast.expr) -> int | None:
        """The axis of a tensor from its number, which may be negative."""
        try:
            axis = ast.literal_eval(node)
        except ValueError:
            return None
        rank = self.ranks.get(tensor or "", 0)
        return axis % rank if type(axis) is int and -rank <= axis < rank else None
