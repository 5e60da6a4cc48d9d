"""Switches that write one place of the kernel's text otherwise: what the front end evaluates stands in no operation.

These are types, divisions that change the type, loops that it unrolls, arithmetic of constexprs, and where steps stand.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import Any

from triton_lab.backend.source.access_source import first_line
from triton_lab.backend.source.kernel_dependencies import as_callable, used
from triton_lab.backend.source.kernel_source import is_tritons
from triton_lab.launch.comparison.mutations.ir_query import on_lines, sound_alike
from triton_lab.launch.comparison.mutations.kernel_scope import KernelScope
from triton_lab.launch.comparison.numerics import Switch
from triton_lab.launch.comparison.sources.edited_source import EditedSource
from triton_lab.launch.comparison.sources.expression_edits import (
    counted_down,
    exchanged_arguments,
    further_conditions,
    handed_out,
    other_bounds,
    otherwise,
    plus,
    regrouped,
)
from triton_lab.launch.comparison.sources.fixed_names import Fixed, is_unrolled, triton_language
from triton_lab.launch.comparison.sources.launch_facts import LaunchFacts
from triton_lab.launch.comparison.sources.nested_index import reordered
from triton_lab.launch.comparison.sources.similar_lines import changes_by_similar_lines
from triton_lab.launch.comparison.sources.syntax_tree import Slot, moved_steps, put, slots_of
from triton_lab.launch.replay.instrumented_copy import copies_of
from triton_lab.localization import _

# What a type is replaced by: of the same kind and wider, or of another kind.
_WIDER = ("float32", "int32", "int64", "float16")
_FOR_KNOWN = 1.6  # what it costs to change arithmetic of constexprs


def text_edits(scope: KernelScope) -> tuple[Iterator[Switch], ...]:
    """The changes of what the front end evaluates, in the kernel and in the functions that it calls.

    They come in three groups, the likeliest one first: what is likely, the order of nested indices, and what is not.
    """
    groups = zip(*(text.edits() for text in _texts(scope)), strict=True)
    return tuple(map(chain.from_iterable, groups))


def similar_edits(scope: KernelScope) -> Iterator[Switch]:
    """Changes that make a line like another one of the kernel, which says the same of another axis."""
    for text in _texts(scope):
        yield from text.similar()


def repeated_edits(scope: KernelScope) -> Iterator[Switch]:
    """Those of what is compiled several times, with an operation each time: unrolled loops, functions of many calls."""
    for text in _texts(scope):
        yield from text.repeated()


def _texts(scope: KernelScope) -> Iterator[_Text]:
    """The kernel and the functions that it calls; none where only a plan is known."""
    source = scope.launch.compiled[0]
    kernel = None if source is None else source.fn
    if kernel is None or kernel.fn is None:
        return
    yield _Text("", kernel, ast.parse(kernel.src), False, LaunchFacts.of(scope))
    for name, value in used(kernel):
        function = _users_own(value)
        # Those of a closure stand in no globals, and cannot be replaced there.
        if function is not None and name in kernel.__globals__:
            calls = len(re.findall(rf"\b{re.escape(name)}\(", kernel.src))
            yield _Text(name, function, ast.parse(function.src), calls > 1, LaunchFacts())


def _users_own(value: Any) -> Any:
    """The function of the user's that kernels call, if ``value`` is one; else None."""
    function = as_callable(value)
    own = function is not None and function.fn is not None and not is_tritons(function.fn.__code__.co_filename)
    return function if own else None


@dataclass(frozen=True)
class _Text:
    """The ``tree`` of a ``function``, which is the kernel or, with a ``helper`` name, one that it calls ``often``."""

    helper: str
    function: Any
    tree: ast.Module
    often: bool
    known: LaunchFacts

    @cached_property
    def fixed(self) -> Fixed:
        """What is known when the kernel is compiled."""
        return Fixed.of(self.tree)

    def edits(self) -> tuple[Iterator[Switch], ...]:
        """All changes in the groups of `text_edits`."""
        kinds = (self._ones, self._types, self._loops, self._divisions, self._calls, self._orders, self._turned)
        return self._of(*kinds), self._of(self._indices), chain(self._moved(), self._of(self._constants, self._spread))

    @cached_property
    def _slots(self) -> list[tuple[Slot, Any, Sequence[ast.AST]]]:
        """The places of the text, the last ones first, but for lines of which nothing wrong is computed."""
        shift = first_line(self.function) - 1
        places = reversed(list(slots_of(self.tree, ())))
        return [each for each in places if getattr(each[1], "lineno", -shift) + shift not in self.known.idle]

    def _of(self, *kinds: Callable[[Any, Sequence[ast.AST]], Iterator[tuple[ast.AST, str]]]) -> Iterator[Switch]:
        for kind in kinds:
            for slot, node, around in self._slots:
                for new, cause in kind(node, around):
                    switch = self._switch(slot, node, new, cause)
                    if kind in (self._constants, self._spread):  # what is known is seldom what was mistaken
                        switch = replace(switch, unusual=True, cost=_FOR_KNOWN)
                    yield replace(switch, whole=kind == self._indices)

    def _moved(self) -> Iterator[Switch]:
        for step, where in moved_steps(self.tree):
            lines = self._lines(step)
            title = _("{step} {where}{lines_of}").format(step=ast.unparse(step), where=where, lines_of=lines)
            yield self._made(title, _("whether a step stands in a loop"))

    def similar(self) -> Iterator[Switch]:
        """A line like a similar one, which the title names."""
        slots = {id(node): slot for slot, node, _around in self._slots}
        for node, new, line in changes_by_similar_lines(self.tree):
            title = self._title(node, new)
            if isinstance(new, ast.BinOp) and new.left is node and isinstance(new.right, ast.Compare):
                title = _("{other} as a further condition").format(other=ast.unparse(new.right)) + self._lines(node)
            if line != node.lineno:
                like = line + first_line(self.function) - 1
                title = _("{change}, as in line {line}").format(change=title, line=like)
            if id(node) in slots:
                yield self._switch(slots[id(node)], node, new, _("a line that differs from a similar one"), title)

    def repeated(self) -> Iterator[Switch]:
        """Other operators, conditions, numbers and names in what is compiled several times."""
        names = [node.id for node in ast.walk(self.tree) if isinstance(node, ast.Name) and not _is_read(node)]
        passed = [node.arg for node in ast.walk(self.tree) if isinstance(node, ast.arg)]
        names += passed
        scalars = passed if self.helper else [*self.known.scalars, *self.fixed.names]
        places = [
            (slot, node)
            for slot, node, around in slots_of(self.tree, ())
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

    def _ones(self, node: ast.AST, around: Sequence[ast.AST]) -> Iterator[tuple[ast.AST, str]]:
        """Another argument in place of one that is 1: ``stride_bk`` for ``stride_bn``."""
        if isinstance(node, ast.Name) and _is_read(node) and node.id in self.known.ones:
            for name in self.known.scalars:
                if name != node.id and sound_alike(name, node.id):
                    yield ast.Name(name, ast.Load()), _("a wrong value")

    def _types(self, node: ast.AST, around: Sequence[ast.AST]) -> Iterator[tuple[ast.AST, str]]:
        """Other types: as ``tl.float32`` for ``tl.float16``."""
        from triton.language import dtype

        if not isinstance(node, ast.Attribute):
            return
        if node.attr == "element_ty":
            language = ast.Name(triton_language(self.function), ast.Load())
            yield ast.Attribute(language, "float32", ast.Load()), _("a wrong type")
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
        if not isinstance(node, ast.BinOp) or (
            isinstance(outer, ast.BinOp) and isinstance(outer.op, (ast.Add, ast.Sub))
        ):
            return
        for new in reordered(node, self.known.counts, self.known.sizes):
            yield new, _("the order of nested indices")

    def _calls(self, node: ast.AST, around: Sequence[ast.AST]) -> Iterator[tuple[ast.AST, str]]:
        """Calls of the user's own functions, with two arguments exchanged."""
        name = node.func.id if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else ""
        if _users_own(self.function.__globals__.get(name)) is not None:
            for new in exchanged_arguments(node):
                yield new, _("the order of the arguments")

    def _orders(self, node: ast.AST, around: Sequence[ast.AST]) -> Iterator[tuple[ast.AST, str]]:
        """The steps of an expression in another order."""
        if not self.fixed.knows(node):
            inner = bool(around) and isinstance(around[-1], ast.BinOp)
            for new in (*(() if inner else regrouped(node)), *handed_out(node)):
                yield new, _("the order of steps")

    def _spread(self, node: ast.AST, around: Sequence[ast.AST]) -> Iterator[tuple[ast.AST, str]]:
        """A block of whole numbers in place of one: ``column[:, None]`` for ``row``."""
        if not isinstance(node, ast.Name) or not _is_read(node) or self.known.ranks.get(node.id) != 0:
            return
        if self.fixed.knows(node) or isinstance(around[-1], ast.Call):
            return
        for name in [name for name, rank in self.known.ranks.items() if rank == 1]:
            if self._assigned.get(name, node.lineno) < node.lineno:
                for form in ("own", "own[:, None]", "own[None, :]"):
                    made = ast.parse(form, mode="eval").body
                    next(each for each in ast.walk(made) if isinstance(each, ast.Name)).id = name
                    yield made, _("a wrong value")

    @cached_property
    def _assigned(self) -> dict[str, int]:
        """The first line on which each name gets a value."""
        names = [each for each in ast.walk(self.tree) if isinstance(each, ast.Name) and not _is_read(each)]
        return {each.id: each.lineno for each in sorted(names, key=lambda each: -each.lineno)}

    def _turned(self, node: ast.AST, around: Sequence[ast.AST]) -> Iterator[tuple[ast.AST, str]]:
        """A sum with the counter of an unrolled loop that goes the other way round."""
        outer = around[-1] if around else None
        is_sum = isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub))
        if not is_sum or (isinstance(outer, ast.BinOp) and isinstance(outer.op, (ast.Add, ast.Sub))):
            return
        for loop in (each for each in around if isinstance(each, ast.For) and is_unrolled(each)):
            for new in counted_down(node, loop, self.fixed.knows):
                yield new, _("the direction of an index")

    def _loops(self, node: ast.AST, around: Sequence[ast.AST]) -> Iterator[tuple[ast.AST, str]]:
        """Other bounds of loops that are unrolled."""
        loop = around[-1] if around else None
        if not isinstance(loop, ast.For) or loop.iter is not node or not is_unrolled(loop):
            return
        assert isinstance(node, ast.Call)
        for new in other_bounds(node):
            yield new, _("where a loop begins or ends")

    def _constants(self, node: ast.AST, around: Sequence[ast.AST]) -> Iterator[tuple[ast.AST, str]]:
        """Other numbers, names and operators of what is known when the kernel is compiled."""
        outer = self.fixed.outermost(node, around)
        if outer is None:
            return
        named = any(isinstance(each, ast.Name) for each in ast.walk(outer))
        unrolled = any(is_unrolled(each) for each in around)
        names = [name for name in self.fixed.names if isinstance(node, ast.Name) and sound_alike(name, node.id)]
        yield from otherwise(node, names, numbers=named or unrolled)
        if isinstance(node, ast.expr) and node is outer and named:
            if around and isinstance(around[-1], ast.If) and around[-1].test is node:
                yield ast.UnaryOp(ast.Not(), node), _("a wrong condition")
            elif not isinstance(node, ast.Compare):
                yield plus(node, 1), _("a wrong number")
                yield plus(node, -1), _("a wrong number")

    def _title(self, node: ast.AST, new: ast.AST) -> str:
        return _("{other} instead of {name}{lines_of}").format(
            other=ast.unparse(new), name=ast.unparse(node), lines_of=self._lines(node)
        )

    def _switch(self, slot: Slot, node: ast.AST, new: ast.AST, cause: str, title: str = "") -> Switch:
        """The switch with ``new`` in place of a node."""
        if not hasattr(new, "lineno"):
            ast.copy_location(new, node)
        with put(slot, node, new):
            return self._made(title or self._title(node, new), cause)

    def _made(self, title: str, cause: str) -> Switch:
        edited = EditedSource(copies_of(ast.fix_missing_locations(self.tree)), self.helper)
        return Switch(title, cause, source=edited)

    def _lines(self, node: Any) -> str:
        return on_lines([node.lineno + first_line(self.function) - 1])


def _is_read(node: ast.Name) -> bool:
    return isinstance(node.ctx, ast.Load)
