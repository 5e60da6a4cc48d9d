"""Neighbouring programs become one: each takes several of their program ids, as the rows of blocks of two axes.

It is for kernels whose programs have blocks of one axis and treat them element by element, or reduce them: a row, a
column or one element for each program.
"""

from __future__ import annotations

import ast
import copy
import inspect
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import triton.language as tl

from triton_lab import messages
from triton_lab.backend.source.access_source import called_name
from triton_lab.compiled.advice.launch_edit import LaunchEdit
from triton_lab.compiled.advice.launch_scope import LaunchScope, is_program_id
from triton_lab.compiled.advice.text_replacement import arange_size, edited, module_name
from triton_lab.ir import traits
from triton_lab.ir.traits import Kind
from triton_lab.localization import _

_PROGRAMS = (16, 64, 4)  # that become one
_LARGEST = 1 << 14  # elements of a block
_LEAST = 16  # elements of a step of a loop


def batches(scope: LaunchScope) -> Iterator[LaunchEdit]:
    """The kernel with several programs of an axis in one, for each axis and several numbers of programs."""
    widest = _widest(scope)
    if not widest:
        return
    for axis, programs in enumerate(scope.launch.grid):
        if scope.axis_blocks.get(axis) or not any(is_program_id(node, axis) for node in ast.walk(scope.tree)):
            continue
        for count in _PROGRAMS:
            if programs % count:
                continue
            grid = [n // count if k == axis else n for k, n in enumerate(scope.launch.grid)]
            remark = _("{programs} in one").format(programs=messages.count(count, "program"))
            edit = edited(scope, _changes(scope, axis, count), remark)
            edit = replace(edit, grid=(grid[0], grid[1], grid[2]))
            if count * widest <= _LARGEST:
                yield edit
            for name in scope.stepped & set(scope.blocks):
                if scope.constants[name] // count >= _LEAST:
                    # As many elements as before: the loop takes smaller steps.
                    yield replace(edit, constants={name: scope.constants[name] // count})


def _widest(scope: LaunchScope) -> int:
    """The elements of the kernel's largest block; 0 if a block has two axes or its elements change places."""
    widest = 1
    for function in scope.launch.executable.plan.functions.values():
        for op in function.walk():
            if not traits.known(op.name) or traits.of(op.name).kind in (Kind.PERMUTES, Kind.CONTRACTS):
                return 0
            for shape in (function.types[value].shape for value in op.results):
                if len(shape) > 1:
                    return 0
                widest = max([widest, *shape])
    return widest


def _changes(scope: LaunchScope, axis: int, count: int) -> dict[ast.expr, str]:
    """The outermost expressions that change, and what is written for them."""
    batch = _Batch(scope, module_name(scope), axis, count, _carried(scope.tree))
    found: dict[ast.expr, str] = {}

    def look(node: ast.AST) -> None:
        if isinstance(node, ast.expr) and batch.replaces(node):
            found[node] = ast.unparse(batch.visit(copy.deepcopy(node)))
            return
        for one in ast.iter_child_nodes(node):
            look(one)

    for value, kind in batch.carried.items():
        found[value] = f"{batch.module}.full(({count}, 1), {ast.unparse(value)}, {batch.module}.{kind})"
    look(scope.tree)
    return found


def _carried(tree: ast.Module) -> Mapping[ast.expr, str]:
    """The numbers that variables have before the loops that change them, and their types."""
    changed = {
        one.id
        for loop in ast.walk(tree) if isinstance(loop, (ast.For, ast.While))
        for one in ast.walk(loop) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)
    }  # fmt: skip
    found = {}
    for node in ast.walk(tree):
        target = node.targets[0] if isinstance(node, ast.Assign) else None
        if isinstance(node, ast.Assign) and isinstance(target, ast.Name) and target.id in changed:
            kind = _number_type(node.value)
            if kind:
                found[node.value] = kind
    return found


def _number_type(node: ast.expr) -> str:
    """Triton's type of a number that stands in the text; "" for all else."""
    node = node.operand if isinstance(node, ast.UnaryOp) else node
    if isinstance(node, ast.Call) and called_name(node) == "float":
        return "float32"
    return {int: "int32", float: "float32"}.get(type(node.value), "") if isinstance(node, ast.Constant) else ""


def _parameters(node: ast.AST) -> list[str]:
    """The parameters of the function of Triton's language that is called; none for all else."""
    is_named = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
    function = getattr(tl, called_name(node), None) if is_named else None  # type: ignore[arg-type]
    try:
        return list(inspect.signature(getattr(function, "fn", function)).parameters)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return []


def _indexed(block: str, index: str) -> ast.expr:
    """A block with another axis."""
    return ast.parse(block + index, mode="eval").body


def _over_axis(
    function: ast.expr, values: list[ast.expr], axis: int, keeps: bool = True, others: Sequence[ast.keyword] = ()
) -> ast.Call:
    """A call of a reduction or scan over an axis, which a reduction keeps."""
    given = [ast.keyword("axis", ast.Constant(axis))]
    given += [ast.keyword("keep_dims", ast.Constant(True))] if keeps else []
    return ast.Call(function, values, [*given, *others])


class _Batch(ast.NodeTransformer):
    """Rewrites expressions so that blocks have a first axis of ``count`` program ids."""

    def __init__(self, scope: LaunchScope, module: str, axis: int, count: int, carried: Mapping[ast.expr, str]) -> None:
        self.scope, self.module, self.axis, self.count, self.carried = scope, module, axis, count, carried

    def replaces(self, node: ast.expr) -> bool:
        """Whether the node itself is written anew, not only what stands in it."""
        names = _parameters(node)
        return (
            is_program_id(node, self.axis)
            or arange_size(node) is not None
            or bool({"shape"} & set(names[:1]))
            or ("axis" in names[1:])
            or self._adds_rows(node)
        )

    def _adds_rows(self, node: ast.expr) -> bool:
        """Whether all programs add to the same elements."""
        adds = isinstance(node, ast.Call) and called_name(node) == "atomic_add" and len(node.args) > 1
        return adds and not self.scope.depends(node.args[0], self.axis)  # type: ignore[attr-defined]

    def visit_Call(self, node: ast.Call) -> Any:
        if is_program_id(node, self.axis):
            ids = f"({ast.unparse(node)} * {self.count} + {self.module}.arange(0, {self.count}))"
            return _indexed(ids, "[:, None]")
        if arange_size(node) is not None:
            return _indexed(ast.unparse(node), "[None, :]")
        adds_rows = self._adds_rows(node)
        self.generic_visit(node)
        names = _parameters(node)
        if adds_rows:
            node.args[1] = _over_axis(ast.parse(f"{self.module}.sum", mode="eval").body, [node.args[1]], 0)
        elif "shape" in names[:1] and node.args and isinstance(node.args[0], (ast.Tuple, ast.List)):
            node.args[0].elts.insert(0, ast.Constant(self.count))
        elif "axis" in names[1:]:
            at = names.index("axis")
            others = [*map(ast.keyword, names[at + 1 :], node.args[at + 1 :]), *node.keywords]
            kept = [one for one in others if one.arg not in ("axis", "keep_dims")]
            return _over_axis(node.func, node.args[:at], 1, "keep_dims" in names, kept)
        return node
