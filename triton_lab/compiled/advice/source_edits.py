"""Edits of a kernel's text: an order that coalesces, masks that can go, narrower types, groups of programs.

Those of loops are in `loop_rewrites`, those of programs that become one in `program_batches`. They are guesses from the
text and the record; whether the results stay equal is checked afterwards.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from triton_lab.backend.source.access_source import accesses, called_name, mask_of
from triton_lab.compiled.advice.launch_edit import LaunchEdit
from triton_lab.compiled.advice.launch_scope import LaunchScope, is_program_id
from triton_lab.compiled.advice.loop_rewrites import hoisted_loads, split_loops, vectors
from triton_lab.compiled.advice.program_batches import batches
from triton_lab.compiled.advice.text_replacement import (
    Stretch,
    arange_size,
    edited,
    mask_places,
    module_name,
    replaced,
)
from triton_lab.interpreter.mask_box import MaskBox
from triton_lab.ir.access_masks import mask_operand
from triton_lab.localization import _

_GROUP = 8  # rows of tiles whose programs follow each other


def source_edits(scope: LaunchScope) -> Iterator[tuple[str, LaunchEdit]]:
    """The edits of the kernel's text, each with its kind."""
    yield from (("order", one) for one in _contiguous(scope))
    yield from (("vector", one) for one in vectors(scope))
    yield from (("rows", one) for one in batches(scope))
    yield from (("hoist", one) for one in hoisted_loads(scope))
    yield from (("types", one) for one in _narrower(scope))
    yield from (("mask", one) for one in _unmasked(scope))
    yield from (("split", one) for one in split_loops(scope))
    yield from (("swizzle", one) for one in _grouped(scope))


# --- An order that coalesces ----------------------------------------------------------------------


def _contiguous(scope: LaunchScope) -> Iterator[LaunchEdit]:
    """``pid + tl.arange(0, BLOCK) * programs`` becomes ``pid * BLOCK + tl.arange(0, BLOCK)``."""
    for node in ast.walk(scope.tree):
        if not (isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add)):
            continue
        for pid, strided in ((node.left, node.right), (node.right, node.left)):
            if not (isinstance(strided, ast.BinOp) and isinstance(strided.op, ast.Mult) and _is_pid(scope, pid)):
                continue
            for lanes, step in ((strided.left, strided.right), (strided.right, strided.left)):
                size = arange_size(lanes)
                if size is not None and not isinstance(step, ast.Constant):
                    words = f"{ast.unparse(pid)} * {ast.unparse(size)} + {ast.unparse(lanes)}"
                    yield edited(scope, {node: words}, _("neighbouring lanes take neighbouring elements"))


def _is_pid(scope: LaunchScope, node: ast.expr) -> bool:
    if isinstance(node, ast.Name):
        given = [one.value for one in ast.walk(scope.tree) if isinstance(one, ast.Assign) and _is_target(one, node.id)]
        return len(given) == 1 and is_program_id(given[0])
    return is_program_id(node)


def _is_target(node: ast.Assign, name: str) -> bool:
    return len(node.targets) == 1 and isinstance(node.targets[0], ast.Name) and node.targets[0].id == name


# --- Masks ----------------------------------------------------------------------------------------


def _unmasked(scope: LaunchScope) -> Iterator[LaunchEdit]:
    """The kernel without all masks that turned off no lane of the launch."""
    full = _full_masks(scope)
    nodes = [one for one in accesses(scope.tree) if mask_of(one) is not None and scope.line_of(one) in full]
    removed = [(place, "") for one in nodes for place in mask_places(one)]
    if removed:
        yield LaunchEdit().with_text(
            replaced(scope.text, removed), _("no mask, as it is true for these sizes"), scope.line_of(nodes[0])
        )


def _full_masks(scope: LaunchScope) -> set[int]:
    """The lines on which every mask was true in all lanes."""
    launch, lines, partial = scope.launch, set[int](), set[int]()
    if launch.tape is None or launch.tape.dropped:
        return set()
    for op in launch.executable.plan.walk():
        line = launch.lines.get(op.index)
        if line is None or op.index not in launch.events:
            continue
        events = launch.events[op.index]
        held = all(
            event.mask is None or (event.mask.is_full() if isinstance(event.mask, MaskBox) else bool(event.mask.all()))
            for event in events
        )
        if mask_operand(op) is not None or held:
            (lines if held else partial).add(line.line)
    return lines - partial


# --- Narrower types -------------------------------------------------------------------------------


def _narrower(scope: LaunchScope) -> Iterator[LaunchEdit]:
    """Integers stay in 32 bits; tiles are multiplied in the type in which they were loaded."""
    casts = {node: _cast_to(node) for node in ast.walk(scope.tree) if isinstance(node, ast.Call)}
    wide = [node for node, type in casts.items() if type == "int64"]
    if wide:
        yield _without(scope, wide, _("integers of 32 bits, which suffice for these sizes"))
    dots = [node for node in casts if called_name(node) == "dot"]
    names = {one.id for dot in dots for one in dot.args[:2] if isinstance(one, ast.Name)}
    operands = {one for dot in dots for one in dot.args[:2]} | {
        node.value
        for node in ast.walk(scope.tree)
        if isinstance(node, ast.Assign) and any(_is_target(node, name) for name in names)
    }
    single = [node for node, type in casts.items() if type == "float32" and node in operands]
    if single:
        yield _without(scope, single, _("tiles are multiplied in the type in which they were loaded"))


def _cast_to(node: ast.Call) -> str:
    """The name of the type in ``value.to(tl.type)``; "" for other calls."""
    if called_name(node) != "to" or len(node.args) != 1 or not isinstance(node.func, ast.Attribute):
        return ""
    return ast.unparse(node.args[0]).split(".")[-1]


def _without(scope: LaunchScope, casts: Iterable[ast.Call], remark: str) -> LaunchEdit:
    """The kernel without these ``.to(type)``."""
    casts = sorted(casts, key=lambda one: one.lineno)
    places = []
    for one in casts:
        name = one.func
        assert isinstance(name, ast.Attribute) and name.end_lineno is not None and name.end_col_offset is not None
        end = Stretch.of(one)
        places.append(Stretch(name.end_lineno, name.end_col_offset - len(f".{name.attr}"), end.last, end.end))
    text = replaced(scope.text, [(place, "") for place in places])
    return LaunchEdit().with_text(text, remark, scope.line_of(casts[0]))


# --- Groups of programs ---------------------------------------------------------------------------


def _grouped(scope: LaunchScope) -> Iterator[LaunchEdit]:
    """Programs in groups of rows of tiles (`tl.swizzle2d`), where a program id is divided into a row and a column."""
    module = module_name(scope)
    parts: dict[tuple[str, str], list[ast.BinOp]] = {}
    for node in ast.walk(scope.tree):
        if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.FloorDiv, ast.Mod)) and _is_pid(scope, node.left):
            parts.setdefault((ast.unparse(node.left), ast.unparse(node.right)), []).append(node)
    for (pid, across), nodes in parts.items():
        if {type(one.op) for one in nodes} != {ast.FloorDiv, ast.Mod} or not pid.isidentifier():
            continue
        before = min((_statement(scope.tree, one) for one in nodes), key=lambda one: one.lineno)
        indent = " " * before.col_offset
        rows = f"{module}.num_programs(0) // {across}"
        given = ", ".join([f"{pid} // {across}", f"{pid} % {across}", rows, across, str(_GROUP)])
        added = [
            f"{indent}tile_row, tile_column = {module}.swizzle2d(",
            f"{indent}    {given}",
            f"{indent})",
            f"{indent}{pid} = tile_row * {across} + tile_column",
        ]
        lines = scope.text.split("\n")
        text = "\n".join([*lines[: before.lineno - 1], *added, *lines[before.lineno - 1 :]])
        yield LaunchEdit().with_text(text, _("programs in groups of rows"), scope.line_of(before))


def _statement(tree: ast.Module, node: ast.expr) -> ast.stmt:
    """The innermost statement that a node stands in."""
    holding = [one for one in ast.walk(tree) if isinstance(one, ast.stmt) and node in ast.walk(one)]
    return max(holding, key=lambda one: (one.lineno, one.col_offset))
