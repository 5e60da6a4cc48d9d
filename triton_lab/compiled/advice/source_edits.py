"""Edits of a kernel's text: masks that can go, an order that coalesces, loops over elements, groups of programs.

They are guesses from the text and the record; whether the results stay equal is checked afterwards.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from triton_lab.backend.source.access_source import accesses, mask_of
from triton_lab.compiled.advice.launch_edit import LaunchEdit
from triton_lab.compiled.advice.launch_scope import LaunchScope, is_program_id
from triton_lab.interpreter.mask_box import MaskBox
from triton_lab.ir.access_masks import mask_operand
from triton_lab.localization import _

_GROUP = 8  # rows of tiles whose programs follow each other


@dataclass(frozen=True)
class _Place:
    """A stretch of the text: lines from 1, columns in bytes."""

    line: int
    column: int
    last: int
    end: int

    @classmethod
    def of(cls, node: ast.expr | ast.stmt | ast.keyword) -> _Place:
        assert node.end_lineno is not None and node.end_col_offset is not None
        return cls(node.lineno, node.col_offset, node.end_lineno, node.end_col_offset)


def source_edits(scope: LaunchScope) -> Iterator[tuple[str, LaunchEdit]]:
    """The edits of the kernel's text, each with its kind: ``order``, ``vector``, ``mask``, ``swizzle``."""
    yield from (("order", one) for one in _contiguous(scope))
    yield from (("vector", one) for one in _vectors(scope))
    yield from (("mask", one) for one in _unmasked(scope))
    yield from (("split", one) for one in _split_loops(scope))
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
                size = _arange_size(lanes)
                if size is not None and not isinstance(step, ast.Constant):
                    words = f"{ast.unparse(pid)} * {ast.unparse(size)} + {ast.unparse(lanes)}"
                    yield _edited(scope, node, words, _("neighbouring lanes take neighbouring elements"))


def _is_pid(scope: LaunchScope, node: ast.expr) -> bool:
    if isinstance(node, ast.Name):
        given = [one.value for one in ast.walk(scope.tree) if isinstance(one, ast.Assign) and _is_target(one, node.id)]
        return len(given) == 1 and is_program_id(given[0])
    return is_program_id(node)


def _is_target(node: ast.Assign, name: str) -> bool:
    return len(node.targets) == 1 and isinstance(node.targets[0], ast.Name) and node.targets[0].id == name


def _arange_size(node: ast.expr) -> ast.expr | None:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "arange":
        return node.args[-1] if len(node.args) == 2 and ast.unparse(node.args[0]) == "0" else None
    return None


# --- Loops over elements --------------------------------------------------------------------------


def _vectors(scope: LaunchScope) -> Iterator[LaunchEdit]:
    """``for k in range(COUNT):`` over single elements becomes ``k = tl.arange(0, COUNT)``, for all of them at once."""
    module = _module_name(scope)
    for node in ast.walk(scope.tree):
        if not isinstance(node, ast.For) or not isinstance(node.target, ast.Name) or node.orelse:
            continue
        count = _range_count(node)
        known = scope.constants.get(ast.unparse(count)) if count is not None else None
        known = count.value if isinstance(count, ast.Constant) and type(count.value) is int else known
        if known is None or known < 2 or known & (known - 1) or _has_blocks(node):
            continue
        lines = scope.text.split("\n")
        assert node.end_lineno is not None
        head, first = node.lineno - 1, node.body[0].lineno - 1
        indent = " " * node.col_offset
        inner = node.body[0].col_offset - node.col_offset
        body = [line[inner:] if line.strip() else line for line in lines[first : node.end_lineno]]
        start = f"{indent}{node.target.id} = {module}.arange(0, {ast.unparse(count)})" if count is not None else ""
        text = "\n".join([*lines[:head], start, *body, *lines[node.end_lineno :]])
        yield LaunchEdit().with_text(text, _("all rounds of the loop at once"), scope.line_of(node))


def _range_count(node: ast.For) -> ast.expr | None:
    call = node.iter
    named = isinstance(call, ast.Call) and ast.unparse(call.func).split(".")[-1] in ("range", "static_range")
    return call.args[0] if isinstance(call, ast.Call) and named and len(call.args) == 1 else None


def _has_blocks(node: ast.For) -> bool:
    """Whether the loop has blocks of its own, other loops, or values that it carries from round to round."""
    inner = [one for each in node.body for one in ast.walk(each)]
    carried = any(isinstance(one, (ast.AugAssign, ast.For, ast.While, ast.If)) for one in inner)
    return carried or any(_arange_size(one) is not None for one in inner if isinstance(one, ast.expr))


def _module_name(scope: LaunchScope) -> str:
    """The name under which the kernel has ``triton.language``."""
    found = [
        ast.unparse(node.func.value)
        for node in ast.walk(scope.tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "program_id"
    ]
    return found[0] if found else "tl"


# --- Masks ----------------------------------------------------------------------------------------


def _unmasked(scope: LaunchScope) -> Iterator[LaunchEdit]:
    """The kernel without all masks that turned off no lane of the launch."""
    full = _full_masks(scope)
    nodes = [one for one in accesses(scope.tree) if mask_of(one) is not None and scope.line_of(one) in full]
    removed = [(place, "") for one in nodes for place in _mask_places(one)]
    if removed:
        yield LaunchEdit().with_text(
            _replaced(scope.text, removed), _("no mask, as it is true for these sizes"), scope.line_of(nodes[0])
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


def _mask_places(call: ast.Call) -> list[_Place]:
    """The ``mask=`` and ``other=`` of a call, each with the comma before it; positional ones are left alone."""
    words = {one.arg: one for one in call.keywords}
    if "mask" not in words:
        return []
    before: list[ast.expr | ast.keyword] = [*call.args, *call.keywords]
    found = []
    for name in ("mask", "other"):
        if name in words:
            place = _Place.of(words[name])
            left = _Place.of(before[before.index(words[name]) - 1])
            found.append(_Place(left.last, left.end, place.last, place.end))
    return found


def _split_loops(scope: LaunchScope) -> Iterator[LaunchEdit]:
    """A loop whose masks are needed in its last round alone becomes two: whole blocks without masks, and the rest."""
    for node in ast.walk(scope.tree):
        call = node.iter if isinstance(node, ast.For) else None
        if not (isinstance(node, ast.For) and isinstance(call, ast.Call) and len(call.args) == 3 and not node.orelse):
            continue
        if ast.unparse(call.func) not in ("range", f"{_module_name(scope)}.range") or call.keywords:
            continue
        masked = [one for each in node.body for one in _calls(each) if mask_of(one) is not None]
        places = [place for one in masked for place in _mask_places(one)]
        if not places:
            continue
        low, high, step = map(ast.unparse, call.args)
        whole = f"{low} + ({high} - {low}) // {step} * {step}" if low != "0" else f"{high} // {step} * {step}"
        lines = scope.text.split("\n")
        assert node.end_lineno is not None
        indent = " " * node.col_offset
        first = node.body[0].lineno - 1
        bare = _replaced(scope.text, [(place, "") for place in places]).split("\n")
        grown = len(bare) - len(lines)
        text = "\n".join(
            [
                *lines[: node.lineno - 1],
                f"{indent}{_head(node, low, whole)}",
                *bare[first : node.end_lineno + grown],
                f"{indent}{_head(node, whole, high)}",
                *lines[first:],
            ]
        )
        yield LaunchEdit().with_text(
            text, _("one loop over whole blocks without masks, and one for the rest"), scope.line_of(node)
        )


def _head(loop: ast.For, low: str, high: str) -> str:
    """The first line of a loop with other bounds."""
    assert isinstance(loop.iter, ast.Call)
    bounds = [ast.parse(text, mode="eval").body for text in (low, high)]
    call = ast.Call(loop.iter.func, [*bounds, loop.iter.args[2]], [])
    return ast.unparse(ast.For(loop.target, call, [ast.Pass()], [], lineno=1)).split("\n")[0]


def _calls(node: ast.AST) -> list[ast.Call]:
    return accesses(ast.Module([node], [])) if isinstance(node, ast.stmt) else []


# --- Groups of programs ---------------------------------------------------------------------------


def _grouped(scope: LaunchScope) -> Iterator[LaunchEdit]:
    """Programs in groups of rows of tiles (`tl.swizzle2d`), where a program id is divided into a row and a column."""
    module = _module_name(scope)
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


# --- The text -------------------------------------------------------------------------------------


def _edited(scope: LaunchScope, node: ast.expr, words: str, remark: str) -> LaunchEdit:
    return LaunchEdit().with_text(_replaced(scope.text, [(_Place.of(node), words)]), remark, scope.line_of(node))


def _replaced(text: str, changes: list[tuple[_Place, str]]) -> str:
    """The text with each stretch replaced by other words."""
    lines = [line.encode() for line in text.split("\n")]
    for place, words in sorted(changes, key=lambda one: (one[0].line, one[0].column), reverse=True):
        head, tail = lines[place.line - 1][: place.column], lines[place.last - 1][place.end :]
        lines[place.line - 1 : place.last] = [head + words.encode() + tail]
    return "\n".join(line.decode() for line in lines)
