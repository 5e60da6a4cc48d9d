"""Edits of loops: all rounds at once, masks only in the last round, loads that do not depend on the round."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from triton_lab.backend.source.access_source import accesses, kind, mask_of
from triton_lab.compiled.advice.launch_edit import LaunchEdit
from triton_lab.compiled.advice.launch_scope import LaunchScope
from triton_lab.compiled.advice.text_replacement import arange_size, mask_places, module_name, replaced
from triton_lab.localization import _


def vectors(scope: LaunchScope) -> Iterator[LaunchEdit]:
    """``for k in range(COUNT):`` over single elements becomes ``k = tl.arange(0, COUNT)``, for all of them at once."""
    module = module_name(scope)
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
    return carried or any(arange_size(one) is not None for one in inner if isinstance(one, ast.expr))


def split_loops(scope: LaunchScope) -> Iterator[LaunchEdit]:
    """A loop whose masks are needed in its last round alone becomes two: whole blocks without masks, and the rest."""
    for node in ast.walk(scope.tree):
        call = node.iter if isinstance(node, ast.For) else None
        if not (isinstance(node, ast.For) and isinstance(call, ast.Call) and len(call.args) == 3 and not node.orelse):
            continue
        if ast.unparse(call.func) not in ("range", f"{module_name(scope)}.range") or call.keywords:
            continue
        masked = [one for each in node.body for one in _calls(each) if mask_of(one) is not None]
        places = [place for one in masked for place in mask_places(one)]
        if not places:
            continue
        low, high, step = map(ast.unparse, call.args)
        whole = f"{low} + ({high} - {low}) // {step} * {step}" if low != "0" else f"{high} // {step} * {step}"
        lines = scope.text.split("\n")
        assert node.end_lineno is not None
        indent = " " * node.col_offset
        first = node.body[0].lineno - 1
        bare = replaced(scope.text, [(place, "") for place in places]).split("\n")
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


# --- Loads that do not depend on the round --------------------------------------------------------


def hoisted_loads(scope: LaunchScope) -> Iterator[LaunchEdit]:
    """Assignments with loads that give the same in each round of a loop stand before it."""
    stored = {name for one in accesses(scope.tree) if kind(one) != "load" for name in _used(one.args[0])}
    for loop in ast.walk(scope.tree):
        if not isinstance(loop, ast.For):
            continue
        fixed = _fixed(loop)
        loads = [one for each in fixed for one in _calls(each)]
        # What a store of the kernel may change is loaded anew. Its other results are compared afterwards.
        if not loads or any(kind(one) != "load" or _used(one.args[0]) & stored & scope.pointers for one in loads):
            continue
        lines = scope.text.split("\n")
        moved = [lines[each.lineno - 1 : each.end_lineno] for each in fixed]
        gone = {number for each in fixed for number in range(each.lineno, (each.end_lineno or each.lineno) + 1)}
        inner = fixed[0].col_offset - loop.col_offset
        before = [line[inner:] if line.strip() else line for each in moved for line in each]
        rest = [line for number, line in enumerate(lines, 1) if number >= loop.lineno and number not in gone]
        text = "\n".join([*lines[: loop.lineno - 1], *before, *rest])
        yield LaunchEdit().with_text(
            text, _("loads that are the same in each round stand before the loop"), scope.line_of(loop)
        )


def _fixed(loop: ast.For) -> list[ast.Assign]:
    """The assignments of a loop's own level that give the same in each round, if any of them loads."""
    changed = [one.id for one in ast.walk(loop) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)]
    found: list[ast.Assign] = []
    for one in loop.body:
        if not isinstance(one, ast.Assign) or not isinstance(one.targets[0], ast.Name) or len(one.targets) > 1:
            continue
        name = one.targets[0].id
        if not _used(one.value) & set(changed) and changed.count(name) == 1:
            changed.remove(name)
            found.append(one)
    needed: set[str] = set()
    kept = []
    for one in reversed(found):
        assert isinstance(one.targets[0], ast.Name)
        if one.targets[0].id in needed or _calls(one):
            kept.append(one)
            needed |= _used(one.value)
    return kept[::-1]


def _used(node: ast.AST) -> set[str]:
    """The names that an expression reads."""
    return {one.id for one in ast.walk(node) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load)}
