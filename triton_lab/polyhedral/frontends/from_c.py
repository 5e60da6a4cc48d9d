"""Parses C text into a loop nest."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from pycparser import c_ast

from triton_lab.localization import N_, _, translated
from triton_lab.polyhedral.core.loop_nest import (
    CALLS,
    Assign,
    Assume,
    Compare,
    Declare,
    Expr,
    For,
    If,
    Jump,
    Load,
    Name,
    Nest,
    Node,
    Number,
    Opaque,
    leave_unless,
    substitute,
    walk,
)
from triton_lab.polyhedral.core.nest_maps import assignments, map_expressions
from triton_lab.polyhedral.core.source_text import NotAScop, SourceText
from triton_lab.polyhedral.frontends.c_loop_heads import LoopHeadReader, along
from triton_lab.polyhedral.frontends.c_parser import Parsed, parse
from triton_lab.polyhedral.frontends.c_structs import array_name, unwrapped

_REFUSED = {
    "Goto": N_("goto: use only loops and affine conditions"),
    "Return": N_("return leaves the nest early, so the bounds would not give the iterations"),
    "While": N_("the bounds of while are not known before it runs: write a for with affine bounds"),
    "DoWhile": N_("the bounds of do-while are not known before it runs: write a for with affine bounds"),
    "Switch": N_("switch: write affine conditions with if"),
}
_ASSUMPTIONS = frozenset({"__pencil_assume", "__builtin_assume"})
# Of what they say, nothing is needed: without a kill, there are more dependences, and all orders stay right.
_REMARKS = frozenset({"__pencil_kill", "__pencil_use", "__pencil_def"})
_COMPOUND = frozenset({"", "+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>"})


def nest_from_c(source: SourceText, lenient: bool = False) -> Nest:
    """The loop nest in ``source``: all of it, the one function, or what stands between ``#pragma scop`` and
    ``#pragma endscop``. Raises `NotAScop`.

    If ``lenient``, it raises only for text that is no C; all else that it refuses becomes an `Opaque` node.
    """
    parsed = parse(source)
    return _Reader(parsed, lenient).nest()


class _Reader(LoopHeadReader):
    def __init__(self, parsed: Parsed, lenient: bool) -> None:
        super().__init__(parsed)
        self.lenient = lenient
        self.labels: set[str] = set()
        self.rounds = 0  # how many loops "while" there are

    def nest(self) -> Nest:
        declaration = self.parsed.function.decl.type
        for node in self.parsed.around:
            self.note(node)
        arguments = declaration.args.params if declaration.args else []
        for argument in arguments:
            if isinstance(argument, c_ast.Decl):
                self.note(argument)
        body = self._marked(self.parsed.function.body.block_items or [])
        nodes = tuple(out for item in body for out in self._item(item))
        return Nest(nodes, "c", tuple(self.declared.types.items()))

    def _marked(self, items: list[Any]) -> list[Any]:
        """The items between the pragmas, if there are any; what stands before them declares types."""
        marks = [k for k, item in enumerate(items) if isinstance(item, c_ast.Pragma)]
        if not marks:
            inside = [(k, block) for k, item in enumerate(items) for block in _blocks(item) if self._has_mark(block)]
            if len(inside) != 1:
                return items
            place, block = inside[0]
            self._note_before(items[:place])
            return self._marked(block.block_items)
        self._note_before(items[: marks[0]])
        return items[marks[0] + 1 : marks[1] if len(marks) > 1 else len(items)]

    def _has_mark(self, block: Any) -> bool:
        return any(
            isinstance(i, c_ast.Pragma) or any(self._has_mark(inner) for inner in _blocks(i))
            for i in block.block_items or []
        )

    def _note_before(self, items: list[Any]) -> None:
        for item in items:
            if isinstance(item, (c_ast.Decl, c_ast.Typedef)):
                self.note(item)

    # Statements.

    def _block(self, node: Any) -> tuple[Node, ...]:
        items = (node.block_items or []) if isinstance(node, c_ast.Compound) else [node]
        return tuple(out for item in items for out in self._item(item))

    def _item(self, node: Any) -> tuple[Node, ...]:
        try:
            return self._statement(node)
        except NotAScop as refused:
            if not self.lenient:
                raise
            inside = [getattr(node, name, None) for name in ("stmt", "iftrue", "iffalse")]
            body = tuple(out for part in inside if part is not None for out in self._block(part))
            start = getattr(node, "init", None)
            iterators = tuple(d.name for d in start.decls) if isinstance(start, c_ast.DeclList) else ()
            return (Opaque(refused, body, iterators, self.span(node)),)

    def _statement(self, node: Any) -> tuple[Node, ...]:
        match node:
            case c_ast.Compound():
                return self._block(node)
            case c_ast.EmptyStatement() | c_ast.Pragma() | None:
                return ()
            case c_ast.For():
                return self._for(node)
            case c_ast.While() if not self.lenient:
                return (self._while(node),)
            case c_ast.If():
                orelse = self._block(node.iffalse) if node.iffalse else ()
                return (If(self.expression(node.cond), self._block(node.iftrue), orelse, self.span(node)),)
            case c_ast.Assignment():
                return self._assignment(node)
            case c_ast.UnaryOp() if node.op in ("p++", "++", "p--", "--"):
                one = Number(1, self.span(node))
                return (Assign(self._target(node.expr), one, node.op.strip("p")[0], self.span(node)),)
            case c_ast.Decl() | c_ast.Typedef():
                return self._declaration(node)
            case c_ast.DeclList(decls=declarations):
                return tuple(out for one in declarations for out in self._declaration(one))
            case c_ast.ExprList(exprs=parts):
                return tuple(out for part in parts for out in self._statement(part))
            case c_ast.Label():
                return self._labelled(node)
            case c_ast.Break() | c_ast.Continue():
                return (Jump(type(node).__name__.lower(), self.span(node)),)
            case c_ast.Cast(expr=expression) if getattr(node.to_type.type.type, "names", ()) == ["void"]:
                return self._statement(expression)
            case c_ast.FuncCall():
                return self._called(node)
        kind = type(node).__name__
        self.refuse(
            translated(_REFUSED.get(kind, ""))
            or _("{kind}: a statement must be a loop, an if or an assignment").format(kind=kind),
            node,
        )

    def _labelled(self, node: Any) -> tuple[Node, ...]:
        """A label names the assignment behind it."""
        if node.name in self.labels:
            self.refuse(_("the label {name} is used twice").format(name=node.name), node)
        self.labels.add(node.name)
        found = self._statement(node.stmt)
        if found and isinstance(found[-1], Assign) and not isinstance(node.stmt, c_ast.Compound):
            return (*found[:-1], replace(found[-1], name=node.name))
        return found

    def _called(self, node: Any) -> tuple[Node, ...]:
        """A call as a statement: its value is left out, and the order of such calls is kept."""
        name = node.name.name if isinstance(node.name, c_ast.ID) else ""
        if name in _REMARKS:
            return ()
        if name in _ASSUMPTIONS and node.args and len(node.args.exprs) == 1:
            return (Assume(self.expression(node.args.exprs[0]), self.span(node)),)
        if name not in self.declared.functions:
            self.refuse(_("a call may change anything: write an assignment"), node)
        span = self.span(node)
        return (Assign(Load(CALLS, (), span), self.expression(node), "", span),)

    def _assignment(self, node: Any) -> tuple[Assign, ...]:
        """``a = b = c`` as ``b = c``, then ``a = b``: an assignment's value is its target's new value."""
        op = node.op[:-1]
        if op not in _COMPOUND:
            self.refuse(_("the assignment {op} is not supported; = += -= *= /= are").format(op=node.op), node)
        before, value = self._chained(node.rvalue)
        return (*before, Assign(self._target(node.lvalue), value, op, self.span(node)))

    def _chained(self, value: Any) -> tuple[tuple[Assign, ...], Expr]:
        """The assignments inside ``value``, which run first, and its value."""
        if not isinstance(value, c_ast.Assignment):
            return (), self.expression(value)
        before = self._assignment(value)
        return before, before[-1].target if before[-1].target.indices else self.expression(value.lvalue)

    def _declaration(self, node: Any) -> tuple[Node, ...]:
        if isinstance(node, c_ast.Typedef) or isinstance(node.type, (c_ast.FuncDecl, c_ast.Enum, c_ast.Struct)):
            self.note(node)
            return ()
        span = self.span(node)
        fields = self.note_struct(node) if node.init is None else None
        if fields is not None:
            return tuple(Declare(array_name(node.name, one.path), one.type, span, one.ndim) for one in fields)
        kind, ndim = unwrapped(node.type)
        if not isinstance(kind, c_ast.TypeDecl) or (ndim and node.init is not None):
            self.refuse(_("a nest cannot declare a pointer, nor an array with its values"), node)
        declared = Declare(node.name, self.element_type(node), span, ndim)
        if node.init is None:
            return (declared,)
        before, value = self._chained(node.init)
        span = self.span(c_ast.Assignment("=", c_ast.ID(node.name), node.init, node.coord))
        return *before, declared, Assign(Load(node.name, (), span), value, "", span, initial=True)

    def _target(self, node: Any) -> Load:
        if isinstance(node, c_ast.ID):
            self.refuse_record(node.name, node)
            return Load(node.name, (), self.span(node))
        target = self.expression(node)
        if isinstance(target, Name) and isinstance(node, c_ast.StructRef):
            return Load(target.id, (), target.span)
        if not isinstance(target, Load):
            self.refuse(_("only array elements and scalars can be assigned"), node)
        return target

    # Loops.

    def _while(self, node: Any) -> For:
        """``while`` as a loop over its rounds, which its condition leaves."""
        span = self.span(node)
        self.rounds += 1
        condition = self.expression(node.cond)
        leave = () if isinstance(condition, Number) and condition.value else (leave_unless(condition),)
        return For(
            f"round_{self.rounds}", Number(0, span), (), 1, (*leave, *self._block(node.stmt)), span, endless=True
        )

    def _for(self, node: Any) -> tuple[Node, ...]:
        span = self.span(node)
        starts = self.starts(node)
        if not starts and node.next is None:
            self.refuse(_("a loop must start by assigning its first value to one iterator"), node)
        steps = self.steps(node, next(iter(starts), ""))
        if starts and not steps.keys() & starts.keys():
            self.refuse_step(next(iter(starts)), node.next or node)
        before = tuple(
            Assign(Load(n, (), span), first, "", span) for n, (first, _t) in starts.items() if n not in steps
        )
        conditions = self.conditions(node.cond) if node.cond else []
        named = {part.id for c in conditions for part in walk(c) if isinstance(part, Name)}
        iterator = next((name for name in steps if name in named), next(iter(steps)))
        firsts = {name: starts[name][0] if name in starts else Name(name, span) for name in steps}
        start, step = firsts[iterator], steps[iterator]
        body = self._block(node.stmt)
        others = {name: along(iterator, start, step, firsts[name], steps[name]) for name in steps if name != iterator}
        if any(assign.target.array in others for assign in assignments(body)):
            self.refuse(_("the loop's iterator {array} is changed").format(array=", ".join(others)), node)
        if others:
            body = map_expressions(body, lambda e: substitute(e, others))
            conditions = [substitute(c, others) for c in conditions]
        bounds = tuple(c for c in conditions if isinstance(c, Compare))
        leave = tuple(leave_unless(c) for c in conditions if not isinstance(c, Compare))
        kind = starts[iterator][1] if iterator in starts else ""
        return (*before, For(iterator, start, bounds, step, (*leave, *body), span, type=kind))


def _blocks(node: Any) -> Iterator[Any]:
    """The blocks in braces that a statement is, or has as its body."""
    if isinstance(node, c_ast.Compound):
        yield node
    elif isinstance(node, (c_ast.For, c_ast.While, c_ast.DoWhile, c_ast.If, c_ast.Label)):
        for name in ("stmt", "iftrue", "iffalse"):
            if getattr(node, name, None) is not None:
                yield from _blocks(getattr(node, name))
