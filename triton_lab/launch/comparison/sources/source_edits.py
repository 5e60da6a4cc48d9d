"""Switches that write one place of the kernel's text otherwise: what the front end evaluates stands in no operation.

These are types, divisions that change the type, loops that it unrolls, arithmetic of constexprs, and where steps stand.
"""

from __future__ import annotations

import ast
import pickle
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from triton_lab.backend.source.access_source import first_line
from triton_lab.backend.source.kernel_dependencies import as_callable, used
from triton_lab.backend.source.kernel_source import is_tritons
from triton_lab.launch.comparison.mutations.ir_query import on_lines
from triton_lab.launch.comparison.numerics import Switch
from triton_lab.launch.comparison.sources.compile_time import Fixed, is_unrolled
from triton_lab.launch.comparison.sources.edited_source import EditedSource
from triton_lab.launch.comparison.sources.expression_edits import further_conditions, otherwise
from triton_lab.launch.comparison.sources.nested_index import reordered
from triton_lab.localization import _

if TYPE_CHECKING:
    from triton_lab.launch.launch import Launch

# What a type is replaced by: of the same kind and wider, or of another kind.
_WIDER = ("float32", "int32", "int64", "float16")
# Functions whose arguments are shapes: another one is another program.
_SHAPES = frozenset({"arange", "zeros", "full", "reshape", "view", "broadcast_to", "static_assert"})


class _Slot(NamedTuple):
    """Where a node stands in the tree: a field of its parent, or an element of that."""

    parent: ast.AST
    field: str
    position: int | None

    def put(self, node: ast.AST) -> None:
        if self.position is None:
            setattr(self.parent, self.field, node)
        else:
            getattr(self.parent, self.field)[self.position] = node


def source_edits(launch: Launch) -> Iterator[Switch]:
    """The changes of what the front end evaluates, in the kernel and in the functions that it calls."""
    for text in _texts(launch):
        yield from text.edits()


def repeated_edits(launch: Launch) -> Iterator[Switch]:
    """Those of code that is compiled several times: the body of an unrolled loop, and functions of several calls.

    The plan has several operations for one place of such code.
    """
    for text in _texts(launch):
        yield from text.repeated()


def _texts(launch: Launch) -> Iterator[_Text]:
    """The kernel and the functions that it calls; none where only a plan is known."""
    source = launch.compiled[0]
    kernel = None if source is None else source.fn
    if kernel is None or kernel.fn is None:
        return
    parts = [("", kernel)]
    for name, value in used(kernel):
        if as_callable(value) is not None and not is_tritons(value.fn.__code__.co_filename):
            parts.append((name, value))
    for name, part in parts:
        if "." not in name:
            calls = len(re.findall(rf"\b{re.escape(name)}\(", kernel.src)) if name else 1
            yield _Text(name, part, ast.parse(part.src), calls > 1)


@dataclass(frozen=True)
class _Text:
    """The ``tree`` of a ``function``, which is the kernel or, with a ``helper`` name, one that it calls ``often``."""

    helper: str
    function: Any
    tree: ast.Module
    often: bool

    @cached_property
    def fixed(self) -> Fixed:
        """What is known when the kernel is compiled."""
        return Fixed.of(self.tree)

    def edits(self) -> Iterator[Switch]:
        """All changes, the likeliest kinds first."""
        slots = list(_slots(self.tree, ()))
        for kind in (self._types, self._loops, self._divisions, self._indices, self._constants):
            for slot, node, around in slots:
                for new, cause in kind(node, around):
                    yield self._switch(slot, node, new, cause)
        for block in [node for node in ast.walk(self.tree) if isinstance(node, (ast.FunctionDef, ast.For, ast.While))]:
            yield from self._moves(block)

    def repeated(self) -> Iterator[Switch]:
        """Other operators, conditions, numbers and names in what is compiled several times."""
        names = [node.id for node in ast.walk(self.tree) if isinstance(node, ast.Name) and not _is_read(node)]
        names += [node.arg for node in ast.walk(self.tree) if isinstance(node, ast.arg)]
        scalars = [node.arg for node in ast.walk(self.tree) if isinstance(node, ast.arg) and "ptr" not in node.arg]
        places = [
            (slot, node)
            for slot, node, around in _slots(self.tree, ())
            if (self.often or any(is_unrolled(each) and slot.parent is not each for each in around))
            and isinstance(node, ast.expr)
            and not any(isinstance(each, ast.arguments) for each in around)
            and not self.fixed.knows(node)
        ]
        for slot, node in places:
            for new, cause in otherwise(node, names=(), numbers=True):
                yield self._switch(slot, node, new, cause)
        for slot, node in places:
            for new, cause in further_conditions(node, scalars):
                yield self._switch(slot, node, new, cause)
        for slot, node in places:
            for new, cause in otherwise(node, names=tuple(dict.fromkeys(names)), numbers=False):
                if isinstance(node, ast.Name):
                    yield self._switch(slot, node, new, cause)

    def _types(self, node: ast.AST, around: Sequence[ast.AST]) -> Iterator[tuple[ast.AST, str]]:
        """Other types: as ``tl.float32`` for ``tl.float16``."""
        from triton.language import dtype

        if not isinstance(node, ast.Attribute):
            return
        if node.attr == "element_ty":
            yield _parsed(f"{_triton_language(self.function)}.float32"), _("the type of an accumulator")
        owner = node.value
        module = self.function.__globals__.get(owner.id) if isinstance(owner, ast.Name) else None
        if not isinstance(getattr(module, node.attr, None), dtype) or ast.unparse(node).count(".") != 1:
            return
        for name in _WIDER:
            if name != node.attr:
                yield ast.Attribute(owner, name, ast.Load()), _("a wrong type")

    def _divisions(self, node: ast.AST, around: Sequence[ast.AST]) -> Iterator[tuple[ast.AST, str]]:
        """``/`` for ``//`` and the other way round."""
        if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Div, ast.FloorDiv)) and not self.fixed.knows(node):
            other = ast.FloorDiv() if isinstance(node.op, ast.Div) else ast.Div()
            yield ast.BinOp(node.left, other, node.right), _("a wrong operator")

    def _indices(self, node: ast.AST, around: Sequence[ast.AST]) -> Iterator[tuple[ast.AST, str]]:
        """Nested indices in another order: ``(row * n + column) * m + k`` with two of them exchanged."""
        outer = around[-1] if around else None
        if isinstance(outer, ast.BinOp) and isinstance(outer.op, (ast.Add, ast.Mult)):
            return
        if isinstance(node, ast.BinOp):
            for new in reordered(node):
                yield new, _("the order of nested indices")

    def _loops(self, node: ast.AST, around: Sequence[ast.AST]) -> Iterator[tuple[ast.AST, str]]:
        """Other bounds of loops that are unrolled."""
        loop = around[-1] if around else None
        if not isinstance(loop, ast.For) or loop.iter is not node or not is_unrolled(loop):
            return
        assert isinstance(node, ast.Call)
        begin, end, *step = node.args if len(node.args) > 1 else (ast.Constant(0), *node.args)
        for first, last in (
            (begin, _plus(end, 1)), (begin, _plus(end, -1)), (_plus(begin, 1), end), (_plus(begin, -1), end),
            (_plus(begin, 1), _plus(end, 1)), (ast.Constant(0), end),
        ):  # fmt: skip
            yield ast.Call(node.func, [first, last, *step], node.keywords), _("where a loop begins or ends")

    def _constants(self, node: ast.AST, around: Sequence[ast.AST]) -> Iterator[tuple[ast.AST, str]]:
        """Other numbers, names and operators of what is known when the kernel is compiled."""
        outer = self._outermost(node, around)
        if outer is None:
            return
        named = any(isinstance(each, ast.Name) for each in ast.walk(outer))
        unrolled = any(is_unrolled(each) for each in around)
        yield from otherwise(node, names=self.fixed.names, numbers=named or unrolled)
        if isinstance(node, ast.expr) and node is outer and named:
            if around and isinstance(around[-1], ast.If) and around[-1].test is node:
                yield ast.UnaryOp(ast.Not(), node), _("a wrong condition")
            elif not isinstance(node, ast.Compare):
                yield _plus(node, 1), _("a wrong number")
                yield _plus(node, -1), _("a wrong number")

    def _outermost(self, node: ast.AST, around: Sequence[ast.AST]) -> ast.AST | None:
        """The largest part of an expression that is known and contains the node; None for shapes, and if it is not."""
        if not isinstance(node, ast.expr) or not self.fixed.knows(node):
            return None
        outer: ast.AST = node
        for each in reversed(around):
            if isinstance(each, ast.Call) and isinstance(each.func, ast.Attribute) and each.func.attr in _SHAPES:
                return None
            if outer is not None and isinstance(each, ast.expr) and self.fixed.knows(each):
                outer = each
            elif isinstance(each, (ast.FunctionDef, ast.arg)) or (isinstance(each, ast.For) and each.target is outer):
                break
        return None if any(isinstance(each, (ast.arguments, ast.arg)) for each in around) else outer

    def _moves(self, block: ast.FunctionDef | ast.For | ast.While) -> Iterator[Switch]:
        """Steps that stand before or after the loop that they are in, or in the loop that they stand beside."""
        body = block.body
        for k, loop in enumerate(body):
            if not isinstance(loop, (ast.For, ast.While)):
                continue
            inner, before, after = loop.body, body[:k], body[k + 1 :]
            for n, one in enumerate(inner):
                if len(inner) == 1 or not isinstance(one, (ast.Assign, ast.AugAssign, ast.Expr)):
                    continue
                rest = [*inner[:n], *inner[n + 1 :]]
                if isinstance(one, ast.Assign):
                    yield self._moved(block, [*before, one, loop, *after], loop, rest, one, _("before the loop"))
                yield self._moved(block, [*before, loop, one, *after], loop, rest, one, _("after the loop"))
            for one in after[:1]:
                if isinstance(one, (ast.Assign, ast.AugAssign, ast.Expr)):
                    yield self._moved(block, [*before, loop, *after[1:]], loop, [*inner, one], one, _("in the loop"))
            for one in before:
                if isinstance(one, ast.Assign):
                    rest = [each for each in before if each is not one]
                    yield self._moved(block, [*rest, loop, *after], loop, [one, *inner], one, _("in the loop"))

    def _moved(
        self, block: Any, body: list[ast.stmt], loop: Any, inner: list[ast.stmt], one: ast.stmt, where: str
    ) -> Switch:
        """The switch with other statements in a block and in a loop of it."""
        kept, kept_inner = block.body, loop.body
        block.body, loop.body = body, inner
        try:
            title = _("{step} {where}{lines_of}").format(step=_written(one), where=where, lines_of=self._lines(one))
            return self._made(title, _("whether a step stands in a loop"))
        finally:
            block.body, loop.body = kept, kept_inner

    def _switch(self, slot: _Slot, node: ast.AST, new: ast.AST, cause: str) -> Switch:
        """The switch with ``new`` in place of a node."""
        title = _("{other} instead of {name}{lines_of}").format(
            other=_written(new), name=_written(node), lines_of=self._lines(node)
        )
        ast.fix_missing_locations(ast.copy_location(new, node)) if not hasattr(new, "lineno") else None
        with _put(slot, node, new):
            return self._made(title, cause)

    def _made(self, title: str, cause: str) -> Switch:
        edited = EditedSource(pickle.dumps(ast.fix_missing_locations(self.tree)), title, self.helper)
        return Switch(title, cause, source=edited)

    def _lines(self, node: Any) -> str:
        return on_lines([node.lineno + first_line(self.function) - 1])


@contextmanager
def _put(slot: _Slot, node: ast.AST, new: ast.AST) -> Iterator[None]:
    """Inside, ``new`` stands in place of the node."""
    slot.put(new)
    try:
        yield
    finally:
        slot.put(node)


def _slots(parent: ast.AST, around: tuple[ast.AST, ...]) -> Iterator[tuple[_Slot, ast.AST, tuple[ast.AST, ...]]]:
    """Each node of the tree with its place and what is around it, from the outermost."""
    around = (*around, parent)
    for field, value in ast.iter_fields(parent):
        for position, node in enumerate(value) if isinstance(value, list) else ((None, value),):
            if isinstance(node, ast.AST) and not isinstance(node, (ast.operator, ast.cmpop, ast.expr_context)):
                yield _Slot(parent, field, position), node, around
                yield from _slots(node, around)


def _is_read(node: ast.Name) -> bool:
    return isinstance(node.ctx, ast.Load)


def _plus(node: ast.expr, number: int) -> ast.expr:
    """The expression and a number, which is added to the number that stands there."""
    if isinstance(node, ast.Constant) and isinstance(node.value, int):
        return ast.Constant(node.value + number)
    if isinstance(node, ast.BinOp) and isinstance(node.right, ast.Constant) and isinstance(node.right.value, int):
        held = {ast.Add: node.right.value, ast.Sub: -node.right.value}.get(type(node.op))
        if held is not None:
            return node.left if held == -number else _plus(node.left, held + number)
    return ast.BinOp(node, ast.Add() if number > 0 else ast.Sub(), ast.Constant(abs(number)))


def _written(node: ast.AST) -> str:
    return ast.unparse(ast.fix_missing_locations(node) if isinstance(node, ast.expr) else node)


def _parsed(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


def _triton_language(function: Any) -> str:
    """What the function's module calls `triton.language`."""
    import triton.language

    return next((name for name, value in function.__globals__.items() if value is triton.language), "tl")
