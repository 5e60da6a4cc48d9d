"""Expressions over the blocks of a program, for conditions and watches: a small language that is read, never executed.

Its words are numbers, the kernel's variables, ``pid``, the operators of Python, indices, and a few functions:
``acc.max() > 1e4``, ``pid == 3``, ``isnan(x)``, ``x[0:4]``.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.launch.maps.value_histogram import as_float
from triton_lab.localization import _

Array = NDArray[Any]
MOST_TEXT = 500
MOST_NODES = 200
MOST_ELEMENTS = 1 << 24
_DEEPEST = 40

_BINARY: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: np.add,
    ast.Sub: np.subtract,
    ast.Mult: np.multiply,
    ast.Div: np.true_divide,
    ast.FloorDiv: np.floor_divide,
    ast.Mod: np.mod,
    ast.BitAnd: np.bitwise_and,
    ast.BitOr: np.bitwise_or,
    ast.BitXor: np.bitwise_xor,
}
_UNARY: Mapping[type[ast.unaryop], Callable[[Any], Any]] = {
    ast.USub: np.negative,
    ast.UAdd: np.positive,
    ast.Invert: np.invert,
    ast.Not: lambda value: np.asarray(not holds(value)),
}
_COMPARED: Mapping[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
_FUNCTIONS: Mapping[str, Callable[[Array], Any]] = {
    "abs": np.abs,
    "all": np.all,
    "any": np.any,
    "argmax": np.argmax,
    "argmin": np.argmin,
    "isfinite": np.isfinite,
    "isinf": np.isinf,
    "isnan": np.isnan,
    "max": np.max,
    "mean": np.mean,
    "min": np.min,
    "std": np.std,
    "sum": np.sum,
}


class ConditionError(ValueError):
    """An expression cannot be read or computed; the message says why, and what there is."""


@dataclass(frozen=True, eq=False)
class BlockExpression:
    """An expression that was read; ``names`` are the variables in it."""

    text: str
    names: frozenset[str]
    tree: ast.expr

    def value(self, variables: Mapping[str, Any]) -> Array:
        """Its value with these variables: blocks, numbers. Raises ConditionError."""
        try:
            with np.errstate(all="ignore"):
                found = np.asarray(_computed(self.tree, variables))
        except (TypeError, ValueError, IndexError, OverflowError, ZeroDivisionError) as error:
            if isinstance(error, ConditionError):
                raise
            raise ConditionError(f"{self.text}: {error}") from None
        return found


def holds(value: Any) -> bool:
    """Whether a condition is true in any lane."""
    return bool(np.any(value))


def read_expression(text: str) -> BlockExpression:
    """Read an expression. Raises ConditionError.

    >>> from triton_lab.launch.debugging.block_expression import read_expression
    >>> read_expression("acc.max() > 3").names
    frozenset({'acc'})
    """
    if len(text) > MOST_TEXT:
        raise ConditionError(_("an expression has at most {most} characters").format(most=MOST_TEXT))
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise ConditionError(
            _("{text} is no expression: write one such as acc.max() > 1e4, pid == 3 or x[0]").format(text=repr(text))
        ) from None
    nodes = list(ast.walk(tree))
    if len(nodes) > MOST_NODES or _depth(tree) > _DEEPEST:
        raise ConditionError(_("{text} is too long an expression").format(text=repr(text[:60])))
    _check(tree)
    called = {id(node.func) for node in nodes if isinstance(node, ast.Call)}
    names = {node.id for node in nodes if isinstance(node, ast.Name) and id(node) not in called}
    return BlockExpression(text.strip(), frozenset(names - {"nan", "inf"}), tree)


def _depth(tree: ast.AST) -> int:
    deepest, todo = 0, [(tree, 1)]
    while todo:
        node, depth = todo.pop()
        deepest = max(deepest, depth)
        todo.extend((child, depth + 1) for child in ast.iter_child_nodes(node))
    return deepest


def _check(node: ast.AST) -> None:
    """Refuse what is not in the language, by name."""
    if isinstance(node, ast.Call):
        _function(node)
        if node.keywords or any(isinstance(one, ast.Starred) for one in node.args):
            raise ConditionError(_("{text}: functions here take one value").format(text=ast.unparse(node)))
        for each in [node.func.value] if isinstance(node.func, ast.Attribute) else node.args:
            _check(each)
        return
    allowed = (
        *(ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.Name, ast.Constant, ast.Subscript, ast.Slice, ast.Tuple),
        *(ast.operator, ast.unaryop, ast.boolop, ast.cmpop, ast.expr_context),
    )
    refused = (
        not isinstance(node, allowed)
        or (isinstance(node, ast.operator) and type(node) not in _BINARY)
        or (isinstance(node, ast.cmpop) and type(node) not in _COMPARED)
        or (isinstance(node, ast.Constant) and not isinstance(node.value, (bool, int, float, type(None))))
    )
    if refused:
        said = ast.unparse(node) if isinstance(node, ast.expr) else type(node).__name__.lower()
        raise ConditionError(
            _(
                "{said} is not known here: use numbers, the kernel's variables, operators, indices and {functions}"
            ).format(said=repr(said), functions=", ".join(_FUNCTIONS))
        )
    for child in ast.iter_child_nodes(node):
        _check(child)


def _function(node: ast.Call) -> tuple[Callable[[Array], Any], ast.expr]:
    """The function of a call, ``max(x)`` or ``x.max()``, and its operand."""
    callee = node.func
    if isinstance(callee, ast.Attribute) and not node.args and callee.attr in _FUNCTIONS:
        return _FUNCTIONS[callee.attr], callee.value
    if isinstance(callee, ast.Name) and len(node.args) == 1 and callee.id in _FUNCTIONS:
        return _FUNCTIONS[callee.id], node.args[0]
    raise ConditionError(
        _("{said} cannot be called here: there are {functions}, as max(x) or x.max()").format(
            said=ast.unparse(callee), functions=", ".join(_FUNCTIONS)
        )
    )


def _computed(node: ast.expr, variables: Mapping[str, Any]) -> Any:
    if isinstance(node, ast.Constant):
        value = node.value
        if isinstance(value, int) and not isinstance(value, bool) and not -(2**63) <= value < 2**64:
            raise ConditionError(_("{value} has more than 64 bits").format(value=repr(value)[:30]))
        return value
    if isinstance(node, ast.Name):
        return _variable(node.id, variables)
    if isinstance(node, ast.BinOp):
        left, right = _computed(node.left, variables), _computed(node.right, variables)
        _bounded(left, right)
        return _BINARY[type(node.op)](np.asarray(left)[()], np.asarray(right)[()])
    if isinstance(node, ast.UnaryOp):
        return _UNARY[type(node.op)](np.asarray(_computed(node.operand, variables))[()])
    if isinstance(node, ast.BoolOp):
        truths = (holds(_computed(one, variables)) for one in node.values)
        return all(truths) if isinstance(node.op, ast.And) else any(truths)
    if isinstance(node, ast.Compare):
        sides = [_computed(one, variables) for one in (node.left, *node.comparators)]
        result: Any = True
        for left, op, right in zip(sides, node.ops, sides[1:], strict=False):
            _bounded(left, right)
            result = np.logical_and(result, _COMPARED[type(op)](left, right))
        return result
    if isinstance(node, ast.Subscript):
        return np.asarray(_computed(node.value, variables))[_index(node.slice, variables)]
    if isinstance(node, ast.Call):
        function, operand = _function(node)
        return function(np.asarray(_computed(operand, variables)))
    raise ConditionError(_("{said} is no value").format(said=ast.unparse(node)))


def _variable(name: str, variables: Mapping[str, Any]) -> Any:
    if name in variables:
        value = variables[name]
        if not isinstance(value, (np.ndarray, np.generic, bool, int, float)):
            raise ConditionError(_("{name} is {value}, not a number").format(name=name, value=str(value)[:60]))
        return plain_numbers(np.asarray(value))[()]
    if name in ("nan", "inf"):
        return float(name)
    raise unknown_name(name, variables)


def unknown_name(name: str, known: Sequence[str] | Mapping[str, Any]) -> ConditionError:
    """The error for a name that the kernel does not have here."""
    return ConditionError(
        _("there is no {name} here; there are {known}").format(name=repr(name), known=", ".join(sorted(known)) or "-")
    )


def plain_numbers(value: Array) -> Array:
    """Floats that NumPy does not compute with (bf16, fp8) as float64."""
    return value if value.dtype.kind in "biuf" else as_float(value)


def _bounded(left: Any, right: Any) -> None:
    shape = np.broadcast_shapes(np.shape(left), np.shape(right))
    if int(np.prod(shape, dtype=np.float64)) > MOST_ELEMENTS:
        raise ConditionError(_("a block of {shape} has too many elements").format(shape=shape))


def _index(node: ast.expr, variables: Mapping[str, Any]) -> Any:
    if isinstance(node, ast.Tuple):
        return tuple(_index(one, variables) for one in node.elts)
    if isinstance(node, ast.Slice):
        bounds = (None if one is None else _whole(one, variables) for one in (node.lower, node.upper, node.step))
        return slice(*bounds)
    if isinstance(node, ast.Constant) and node.value is None:
        return None
    return _whole(node, variables)


def _whole(node: ast.expr, variables: Mapping[str, Any]) -> int:
    value = np.asarray(_computed(node, variables))
    if value.shape or value.dtype.kind not in "iu":
        raise ConditionError(_("{said} is no index: write a number or a slice").format(said=ast.unparse(node)))
    return int(value)
