"""Blocks that a kernel loads and never uses, by its source: the compiler leaves such loads out."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from functools import lru_cache

from triton_lab.launch.checks.analysis.launch_summary import LaunchSummary
from triton_lab.launch.checks.analysis.source_nodes import nodes_of, place_of
from triton_lab.launch.checks.rule import Concerned, WholeRule
from triton_lab.launch.diagnosis.finding import Finding
from triton_lab.launch.diagnosis.severity import NOTE
from triton_lab.localization import N_, _


class UnusedLoadRule(WholeRule):
    """A block is loaded into a variable that the kernel never uses."""

    kind = "unused-load"
    severity = NOTE
    subject = N_("loads that are not used")
    summary = N_("A block is loaded into a variable that the kernel never uses.")
    why = N_(
        "Probably the result should depend on the value: for example, a bias is not added, or a mask is not applied. "
        "The compiler removes such a load, so no picture shows it."
    )
    remedy = N_("Use the variable, or remove the line.")
    intended = N_("If the line is a rest of an earlier version of the kernel. A name that begins with `_` says so.")
    blind = N_(
        "Only the kernel itself is read, not the functions that it calls. A value that is added to a variable counts "
        "as used."
    )
    concerned = Concerned.ALL

    def check(self, evidence: LaunchSummary, found: Sequence[Finding]) -> Iterator[Finding]:
        """One finding for each variable."""
        launch = evidence.launch
        for node, name in _unused(launch.source):
            yield Finding(
                self.kind,
                _("`{name}` is loaded and never used").format(name=name),
                _("Use it, or remove the line: the compiler removes this load."),
                kernel=launch.kernel,
                op=None,
                **place_of(launch, node),
            )


@lru_cache(maxsize=256)
def _unused(source: str) -> tuple[tuple[ast.stmt, str], ...]:
    """The assignments of loads to names that the function does not use, nor anything that it uses."""
    nodes = nodes_of(source)
    return tuple(_unused_in(nodes[0])) if nodes else ()


def _unused_in(tree: ast.AST) -> Iterator[tuple[ast.stmt, str]]:
    used = _used(tree)
    for each in ast.walk(tree):
        for name in _loaded(each):
            if name not in used and not name.startswith("_"):
                yield each, name  # type: ignore[misc]  # `_loaded` knows statements alone
    for body in _bodies(tree):
        for at, each in enumerate(body):
            for name in _loaded(each):
                if name in used and _is_replaced(name, body[at + 1 :]):
                    yield each, name


def _loaded(node: ast.AST) -> Iterator[str]:
    """The names to which a statement assigns what it loads: of a pointer, or of a descriptor."""
    pairs: list[tuple[ast.expr, ast.expr | None]] = []
    match node:
        case ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.Tuple(elts=values)) if len(names) == len(values):
            pairs = list(zip(names, values, strict=True))
        case ast.Assign(targets=[target], value=value) | ast.AnnAssign(target=target, value=value):
            pairs = [(target, value)]
    for target, value in pairs:
        match target, value:
            case ast.Name(id=name), ast.Call(func=ast.Attribute(attr="load")):
                yield name


def _used(tree: ast.AST) -> set[str]:
    """The names that decide what a function does: all that is read, except for what is only put into unused names."""
    made: dict[str, set[str]] = {}
    used: set[str] = set()
    inside: set[ast.AST] = set()
    for node in ast.walk(tree):
        target = _only_target(node)
        if target is not None:
            made.setdefault(target, set()).update(_read(node))
            inside.update(ast.walk(node))
    used = {one.id for one in ast.walk(tree) if isinstance(one, ast.Name) and one not in inside and _is_read(one)}
    # What is added to is used.
    grown = [one.target for one in ast.walk(tree) if isinstance(one, ast.AugAssign)]
    used |= {one.id for one in grown if isinstance(one, ast.Name)}
    waiting = list(used)
    while waiting:
        more = made.pop(waiting.pop(), set()) - used
        used |= more
        waiting += more
    return used


def _only_target(node: ast.AST) -> str | None:
    """The name to which a statement assigns what it computes, if it does nothing else."""
    match node:
        case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
            calls = [one.func for one in ast.walk(node) if isinstance(one, ast.Call)]
        case _:
            return None
    return name if all(_computes(call) for call in calls) else None


def _computes(function: ast.expr) -> bool:
    """Whether a call only computes: a function of Triton's or a method of a block, which stores nothing."""
    if not isinstance(function, ast.Attribute):
        return False
    return not function.attr.startswith(("atomic", "store", "device", "inline", "debug", "scatter"))


def _read(node: ast.AST) -> set[str]:
    return {one.id for one in ast.walk(node) if isinstance(one, ast.Name) and _is_read(one)}


def _is_read(name: ast.Name) -> bool:
    return isinstance(name.ctx, ast.Load)


def _bodies(tree: ast.AST) -> Iterator[list[ast.stmt]]:
    for node in ast.walk(tree):
        for field in ("body", "orelse"):
            body = getattr(node, field, None)
            if isinstance(body, list):
                yield body


def _is_replaced(name: str, rest: list[ast.stmt]) -> bool:
    """Whether the next statement of a body that has the name gives it another value, without reading it."""
    for each in rest:
        mentioned = [one for one in ast.walk(each) if isinstance(one, ast.Name) and one.id == name]
        if mentioned:
            plain = isinstance(each, (ast.Assign, ast.AnnAssign))
            return plain and not any(_is_read(one) for one in mentioned)
        if any(isinstance(one, (ast.Return, ast.Break, ast.Continue)) for one in ast.walk(each)):
            return False
    return False
