"""Accesses as the kernel's author wrote them: their offsets and masks, in the kernel's own names."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

from triton_lab.access_fault_message import AccessGuard
from triton_lab.backend.source.operator_precedence import misread

# The position of the mask among the arguments of a memory operation.
MASK = {"load": 1, "store": 2} | {f"atomic_{name}": 2 for name in ("add", "max", "min", "and", "or", "xor", "xchg")}


def kind(node: ast.AST) -> str:
    """``load``, ``store``, ``atomic_add``, ...; "" for anything else."""
    found = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args
    return node.func.attr if found and node.func.attr in MASK else ""  # type: ignore[attr-defined]


def called_name(call: ast.Call) -> str:
    """The name that is called, without what stands before its dot; "" for other expressions."""
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def accesses(tree: ast.Module) -> list[ast.Call]:
    return [node for node in ast.walk(tree) if isinstance(node, ast.Call) and kind(node)]


def access_at(tree: ast.Module, kernel: Any, line: int | None, column: int | None) -> ast.Call | None:
    """The access at a place of the kernel's file, if the kernel itself contains it; ``tree`` is that of its source."""
    number = (line or 0) - first_line(kernel) + 1
    there = [one for one in accesses(tree) if one.lineno == number]
    raw = kernel.raw_src[0]
    indent = len(raw) - len(raw.lstrip())
    exact = [one for one in there if column is not None and one.col_offset + indent == column]
    chosen = exact or there
    return chosen[0] if len(chosen) == 1 else None


def first_line(kernel: Any) -> int:
    """The line of the kernel's ``def`` in its file; decorators stand above it."""
    above = next((k for k, line in enumerate(kernel.raw_src) if line.lstrip().startswith("def ")), 0)
    return int(kernel.starting_line_number + above)


def mask_of(access: ast.Call) -> ast.expr | None:
    """The mask in the source; None if there is none."""
    for one in access.keywords:
        if one.arg == "mask":
            return None if isinstance(one.value, ast.Constant) else one.value
    position = MASK[kind(access)]
    found = access.args[position] if len(access.args) > position else None
    return None if isinstance(found, ast.Constant) else found


def written(tree: ast.Module, mask: ast.expr, access: ast.Call) -> ast.expr:
    """The mask; if it is a name, what was last assigned to that name above the access."""
    if not isinstance(mask, ast.Name):
        return mask
    given = [
        one.value
        for one in ast.walk(tree)
        if isinstance(one, ast.Assign) and [text_of(t) for t in one.targets] == [mask.id] and one.lineno < access.lineno
    ]
    return given[-1] if given else mask


def offset_of(pointer: ast.expr, name: str | None = None) -> ast.expr | None:
    """What is added to the argument ``name`` (or to any name): ``offsets`` for ``x_ptr + offsets``; None if unknown."""
    if not isinstance(pointer, ast.BinOp) or not isinstance(pointer.op, (ast.Add, ast.Sub)):
        return None
    left = pointer.left
    if isinstance(left, ast.Name) and (name is None or left.id == name):
        return pointer.right if isinstance(pointer.op, ast.Add) else None
    inner = offset_of(left, name)
    return None if inner is None else ast.BinOp(inner, pointer.op, pointer.right)


def side(node: ast.expr) -> str:
    """One side of a comparison as text, in parentheses if it binds less tightly."""
    tight = isinstance(node, (ast.Name, ast.Constant, ast.Subscript, ast.Call, ast.Attribute, ast.BinOp))
    return ast.unparse(node) if tight else f"({ast.unparse(node)})"


def text_of(node: ast.expr | None) -> str | None:
    return None if node is None else ast.unparse(node)


def guard_at(
    kernel: Any, line: int, column: int, argument: str, elements: int, arguments: Mapping[str, Any], kind: str
) -> AccessGuard:
    """What keeps the lanes of an access of ``kernel`` within bounds, in the kernel's own names.

    ``line`` and ``column`` are the access's place in the file. ``argument`` is the tensor that it should access, with
    ``elements`` elements. ``arguments`` are those of the launch, by name.
    """
    tree = ast.parse(kernel.src)
    access = access_at(tree, kernel, line, column)
    offset = None if access is None else offset_of(access.args[0], argument)
    mask = None if access is None else mask_of(access)
    made = [] if access is None or mask is None else _made_of(tree, mask, access)
    wrong = next((str(one) for one in misread(tree, kernel.src) if one.node in made), "")
    remainder, divided = ("", ("", "")) if access is None else _remainder(tree, access)
    if access is None or offset is None:
        return AccessGuard(kind, misread=wrong, remainder=remainder, divided=divided)
    count = next((name for name, value in arguments.items() if type(value) is int and value == elements), "")
    asked = "" if mask is None else _bound(written(tree, mask, access), offset)
    size = count if count.isidentifier() else ""
    return AccessGuard(kind, side(offset), asked, size, wrong, remainder, divided)


def _remainder(tree: ast.Module, access: ast.Call) -> tuple[str, tuple[str, str]]:
    """A remainder of a difference in the access's address, as text, and its two sides; "" if there is none."""
    for node in _made_of(tree, access.args[0], access):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod):
            inner = _made_of(tree, node.left, access)
            subtracts = (ast.Sub, ast.USub)
            if any(isinstance(each, (ast.BinOp, ast.UnaryOp)) and isinstance(each.op, subtracts) for each in inner):
                left = ast.unparse(node.left)
                return ast.unparse(node), (left, side(node.right))
    return "", ("", "")


def _made_of(tree: ast.Module, mask: ast.expr, access: ast.Call) -> list[ast.AST]:
    """All nodes of a mask, and of what was assigned to the names in it."""
    found: list[ast.AST] = []
    todo, seen = [mask], set[str]()
    while todo:
        inner = list(ast.walk(todo.pop()))
        found += inner
        for name in (one for one in inner if isinstance(one, ast.Name) and one.id not in seen):
            seen.add(name.id)
            todo.append(written(tree, name, access))
    return found


def _bound(mask: ast.expr, offset: ast.expr) -> str:
    """The comparison in a mask that limits the offset, as text."""
    for one in ast.walk(mask):
        if not isinstance(one, ast.Compare) or len(one.ops) != 1 or not isinstance(one.ops[0], (ast.Lt, ast.LtE)):
            continue
        if text_of(one.left) == text_of(offset):
            return ast.unparse(one)
    return ""
