"""What the operands of a piece of a kernel are, in words, and how the function that it calls is called."""

from __future__ import annotations

import ast
import contextlib
import inspect
import re
from collections.abc import Sequence
from typing import Any

from triton_lab.localization import _
from triton_lab.messages import count
from triton_lab.notebook.mistakes.assignments import reaching
from triton_lab.notebook.mistakes.front_end_error import KernelText, Operand, Refusal, written
from triton_lab.notebook.mistakes.type_names import is_runtime, shape_of, shape_told, value_told

_MOST = 4  # operands that are named


def operands_told(refusal: Refusal) -> str:
    """The operands of the piece and what they are, without plain constants; "" if there are none."""
    told = [_told(each) for each in _single(refusal.operands) if not isinstance(each.node, ast.Constant)]
    if not refusal.operands and refusal.node is not None:
        names = dict.fromkeys(each.id for each in ast.walk(refusal.node) if isinstance(each, ast.Name))
        known = ((name, refusal.scope[name]) for name in names if name in refusal.scope)
        told = [
            _("`{name}` is {what}").format(name=name, what=value_told(value))
            for name, value in known
            if is_runtime(value)
        ]
    return ", ".join(list(dict.fromkeys(told))[:_MOST])


def _single(operands: Sequence[Operand]) -> Sequence[Operand]:
    """The operands, and in place of a list of the user's its members that are known only at run time."""
    found: list[Operand] = []
    for each in operands:
        if isinstance(each.node, (ast.List, ast.Tuple)):
            inner = zip(each.node.elts, members(each.value), strict=False)
            found += [Operand("", node, value) for node, value in inner if is_runtime(value)]
        elif type(each.value).__name__ not in ("dtype", "pointer_type"):
            found.append(each)
    return found


def _told(operand: Operand) -> str:
    values = members(operand.value)
    if isinstance(operand.node, ast.Call) and values:
        return _("`{node}` gives {values}").format(node=written(operand.node, 40), values=count(len(values), "value"))
    return _("`{name}` is {what}").format(name=written(operand.node, 40), what=value_told(operand.value))


def members(value: Any) -> Sequence[Any]:
    """The values in a tuple of Triton's, which a kernel also writes as a list; empty for any other value."""
    from triton.language import tuple as triton_tuple

    return list(value.values) if isinstance(value, triton_tuple) else []


def resolved(node: ast.expr, kernel: KernelText) -> tuple[Any, bool]:
    """The value of a dotted name among the kernel's globals, and whether it has one."""
    from triton.compiler.code_generator import CodeGenerator

    if isinstance(node, ast.Name):
        if node.id in kernel.globals:
            return kernel.globals[node.id], True
        return CodeGenerator.builtin_namespace.get(node.id), node.id in CodeGenerator.builtin_namespace
    if isinstance(node, ast.Attribute):
        value, known = resolved(node.value, kernel)
        return getattr(value, node.attr, None), known and hasattr(value, node.attr)
    return None, False


def parameters(function: ast.expr, refusal: Refusal) -> list[str]:
    """The names of the parameters of a function called in a kernel, without those that Triton fills."""
    value, known = resolved(function, refusal.kernel)
    bound = False
    if not known and isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name):
        value = getattr(refusal.scope.get(function.value.id), function.attr, None)
        bound = True
    with contextlib.suppress(TypeError, ValueError):
        names = list(inspect.signature(getattr(value, "fn", value)).parameters)
        return [name for name in names if name[0] != "_" and not (bound and name == "self")]
    return []


def meaning(refusal: Refusal, parameter: str) -> str:
    """What the manual of Triton says of a required parameter of the called function; "" if it says nothing."""
    if not isinstance(refusal.node, ast.Call):
        return ""
    value, _known = resolved(refusal.node.func, refusal.kernel)
    found = re.search(rf":param {parameter}: *(.*?)(?=\n\s*(?::|\n)|\Z)", inspect.getdoc(value) or "", re.DOTALL)
    if found is None:
        return ""
    words = " ".join(re.sub(r":\w+:(?=`)", "", found[1]).split())
    # The manual gives some of them a default that they do not have.
    return " ".join(one for one in re.split(r"(?<=\.) (?=[A-Z])", words) if not one.startswith("If None"))


def usage(refusal: Refusal) -> str:
    """How the called function of Triton's is called: ``tl.gather takes src, index, axis.``; "" if it is not one."""
    if not isinstance(refusal.node, ast.Call):
        return ""
    function = refusal.node.func
    known = parameters(function, refusal)
    return _("{function} takes {known}.").format(function=written(function), known=", ".join(known)) if known else ""


def side_told(refusal: Refusal, side: Operand) -> str:
    """An operand and the origins of its names: ```x[:, None]` is 64 × 1 (`x` is 64 since line 7)``."""
    shape = shape_of(side.value)
    what = shape_told(shape) if shape else value_told(side.value)
    said = _("`{name}` is {what}").format(name=written(side.node, 40), what=what)
    if isinstance(side.node, ast.Name):
        born = _born(refusal, side.node.id)
        since = "" if born is None else _(" since line {line}").format(line=refusal.kernel.line(born))
        return f"{said}{since}"
    inner = []
    for name in _names(side.node):
        size, born = shape_of(refusal.scope.get(name)), _born(refusal, name)
        if size and born is not None:
            inner.append(
                _("`{name}` is {size} since line {line}").format(
                    name=name, size=shape_told(size), line=refusal.kernel.line(born)
                )
            )
    return said + (f" ({', '.join(inner[:3])})" if inner else "")


def births(refusal: Refusal, sides: Sequence[Operand]) -> list[ast.stmt]:
    """The statements that gave the names in ``sides`` their blocks, each once."""
    found: dict[int, ast.stmt] = {}
    for side in sides:
        for name in _names(side.node):
            born = _born(refusal, name)
            # In an expression only blocks count, since they have a shape; a name by itself counts with any runtime
            # value.
            counts = is_runtime if isinstance(side.node, ast.Name) else shape_of
            if born is not None and counts(refusal.scope.get(name)):
                found.setdefault(born.lineno, born)
    return list(found.values())[:3]


def _born(refusal: Refusal, name: str) -> ast.stmt | None:
    node = refusal.node
    return None if node is None else reaching(refusal.kernel.tree.body, name, node)


def _names(node: ast.AST) -> list[str]:
    return list(dict.fromkeys(each.id for each in ast.walk(node) if isinstance(each, ast.Name)))
