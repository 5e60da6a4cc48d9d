"""Parses C text into a loop nest."""

from __future__ import annotations

from typing import Any, NoReturn

from pycparser import c_ast

from triton_lab.localization import N_, _, translated
from triton_lab.messages import count as counted
from triton_lab.polyhedral.core.loop_nest import (
    MATHEMATICS,
    Assign,
    Binary,
    Call,
    Choose,
    Compare,
    Declare,
    Expr,
    For,
    If,
    Load,
    Logic,
    Name,
    Nest,
    Node,
    Number,
    Opaque,
    Unary,
)
from triton_lab.polyhedral.core.source_text import NotAScop, SourceText, Span
from triton_lab.polyhedral.frontends.c_parser import Parsed, dtype, number, parse

# C's name -> our name.
FUNCTIONS = {
    "min": "min", "max": "max", "fmin": "min", "fmax": "max", "fminf": "min", "fmaxf": "max",
    "fabs": "abs", "fabsf": "abs", "abs": "abs", "labs": "abs", "floord": "floord", "ceild": "ceild",
    **{spelled: name for name in MATHEMATICS for spelled in (name, f"{name}f")},
}  # fmt: skip
_REFUSED = {
    "Break": N_("break leaves the loop early, so the bounds would not give the iterations"),
    "Continue": N_("continue skips the rest of an iteration: write the condition as an affine if"),
    "Goto": N_("goto: use only loops and affine conditions"),
    "Label": N_("a label: use only loops and affine conditions"),
    "Return": N_("return leaves the nest early, so the bounds would not give the iterations"),
    "While": N_("the bounds of while are not known before it runs: write a for with affine bounds"),
    "DoWhile": N_("the bounds of do-while are not known before it runs: write a for with affine bounds"),
    "Switch": N_("switch: write affine conditions with if"),
}


def nest_from_c(source: SourceText, lenient: bool = False) -> Nest:
    """The loop nest (or the one function) in ``source``. Raises `NotAScop`.

    If ``lenient``, it raises only for text that is no C; all else that it refuses becomes an `Opaque` node.
    """
    parsed = parse(source)
    return _Reader(parsed, lenient).nest()


class _Reader:
    def __init__(self, parsed: Parsed, lenient: bool) -> None:
        self.parsed = parsed
        self.lenient = lenient

    def nest(self) -> Nest:
        declaration = self.parsed.function.decl.type
        arguments = declaration.args.params if declaration.args else []
        types = tuple((a.name, self._element_type(a)) for a in arguments if getattr(a, "name", None))
        return Nest(self._block(self.parsed.function.body), "c", types)

    def _element_type(self, argument: Any) -> str:
        kind = argument.type
        while isinstance(kind, (c_ast.ArrayDecl, c_ast.PtrDecl)):
            kind = kind.type
        return self._dtype(kind.type, argument)

    def _dtype(self, kind: Any, where: Any) -> str:
        try:
            return dtype(getattr(kind, "names", ()))
        except ValueError as refused:
            self._refuse(str(refused), where)

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
            return (Opaque(refused, body, iterators, self._span(node)),)

    def _statement(self, node: Any) -> tuple[Node, ...]:
        match node:
            case c_ast.Compound():
                return self._block(node)
            case c_ast.EmptyStatement() | c_ast.Pragma() | None:
                return ()
            case c_ast.For():
                return (self._for(node),)
            case c_ast.If():
                orelse = self._block(node.iffalse) if node.iffalse else ()
                return (If(self._expression(node.cond), self._block(node.iftrue), orelse, self._span(node)),)
            case c_ast.Assignment():
                return self._assignment(node)
            case c_ast.UnaryOp() if node.op in ("p++", "++", "p--", "--"):
                one = Number(1, self._span(node))
                return (Assign(self._target(node.expr), one, node.op.strip("p")[0], self._span(node)),)
            case c_ast.Decl():
                return self._declaration(node)
            case c_ast.FuncCall():
                self._refuse(_("a call may change anything: write an assignment"), node)
        kind = type(node).__name__
        self._refuse(
            translated(_REFUSED.get(kind, ""))
            or _("{kind}: a statement must be a loop, an if or an assignment").format(kind=kind),
            node,
        )

    def _assignment(self, node: Any) -> tuple[Assign, ...]:
        """``a = b = c`` as ``b = c``, then ``a = b``: an assignment's value is its target's new value."""
        op = node.op[:-1]
        if op not in ("", "+", "-", "*", "/"):
            self._refuse(_("the assignment {op} is not supported; = += -= *= /= are").format(op=node.op), node)
        before, value = self._chained(node.rvalue)
        return (*before, Assign(self._target(node.lvalue), value, op, self._span(node)))

    def _chained(self, value: Any) -> tuple[tuple[Assign, ...], Expr]:
        """The assignments inside ``value``, which run first, and its value."""
        if not isinstance(value, c_ast.Assignment):
            return (), self._expression(value)
        before = self._assignment(value)
        return before, before[-1].target if before[-1].target.indices else self._expression(value.lvalue)

    def _declaration(self, node: Any) -> tuple[Node, ...]:
        if not isinstance(node.type, c_ast.TypeDecl):
            self._refuse(_("a nest cannot declare an array: only scalars may be local"), node)
        span = self._span(node)
        declared = Declare(node.name, self._dtype(node.type.type, node), span)
        if node.init is None:
            return (declared,)
        before, value = self._chained(node.init)
        span = self._span(c_ast.Assignment("=", c_ast.ID(node.name), node.init, node.coord))
        return *before, declared, Assign(Load(node.name, (), span), value, "", span)

    def _for(self, node: Any) -> For:
        iterator, start = self._start(node)
        if node.cond is None:
            self._refuse(_("the loop over {iterator} has no bound").format(iterator=iterator), node)
        conditions = tuple(self._conditions(node.cond))
        return For(iterator, start, conditions, self._step(node, iterator), self._block(node.stmt), self._span(node))

    def _start(self, node: Any) -> tuple[str, Expr]:
        match node.init:
            case c_ast.DeclList(decls=[c_ast.Decl() as declared]) if declared.init is not None:
                if not self._dtype(declared.type.type, declared).startswith("int"):
                    self._refuse(_("the iterator {name} must be an integer").format(name=declared.name), declared)
                return declared.name, self._expression(declared.init)
            case c_ast.Assignment(op="=", lvalue=c_ast.ID() as name):
                return name.name, self._expression(node.init.rvalue)
        self._refuse(_("a loop must start by assigning its first value to one iterator"), node.init or node)

    def _conditions(self, node: Any) -> list[Compare]:
        if isinstance(node, c_ast.BinaryOp) and node.op == "&&":
            return self._conditions(node.left) + self._conditions(node.right)
        condition = self._expression(node)
        if not isinstance(condition, Compare) or condition.op in ("!=", "=="):
            self._refuse(_("a loop's condition must be <, <=, > or >= (or several, joined with &&)"), node)
        return [condition]

    def _step(self, node: Any, iterator: str) -> int:
        change = node.next
        match change:
            case c_ast.UnaryOp(op=("p++" | "++"), expr=c_ast.ID(name=name)) if name == iterator:
                return 1
            case c_ast.UnaryOp(op=("p--" | "--"), expr=c_ast.ID(name=name)) if name == iterator:
                return -1
            case c_ast.Assignment(op=("+=" | "-="), lvalue=c_ast.ID(name=name)) if name == iterator:
                step = self._integer(change.rvalue)
                return self._nonzero(step if change.op == "+=" else -step, change)
            case c_ast.Assignment(
                op="=", lvalue=c_ast.ID(name=name), rvalue=c_ast.BinaryOp(op=("+" | "-"), left=c_ast.ID(name=again))
            ) if name == again == iterator:
                step = self._integer(change.rvalue.right)
                return self._nonzero(step if change.rvalue.op == "+" else -step, change)
        self._refuse(
            _("the loop must advance its own iterator {iterator} by a constant").format(iterator=iterator),
            change or node,
        )

    def _integer(self, node: Any) -> int:
        value = self._expression(node)
        if isinstance(value, Unary) and value.op == "-" and isinstance(value.operand, Number):
            value = Number(-value.operand.value)
        if not isinstance(value, Number) or not isinstance(value.value, int):
            self._refuse(_("a step must be an integer constant"), node)
        return value.value

    def _nonzero(self, step: int, node: Any) -> int:
        if step == 0:
            self._refuse(_("a loop with step 0 never ends"), node)
        return step

    def _target(self, node: Any) -> Load:
        if isinstance(node, c_ast.ID):
            return Load(node.name, (), self._span(node))
        target = self._expression(node)
        if not isinstance(target, Load):
            self._refuse(_("only array elements and scalars can be assigned"), node)
        return target

    # Expressions.

    def _expression(self, node: Any) -> Expr:
        if isinstance(node, c_ast.BinaryOp):
            return self._operations(node)
        span = self._span(node)
        match node:
            case c_ast.Constant():
                return Number(self._number(node), span)
            case c_ast.ID():
                return Name(node.name, span)
            case c_ast.ArrayRef():
                return self._load(node)
            case c_ast.UnaryOp(op="-"):
                return Unary("-", self._expression(node.expr), span)
            case c_ast.UnaryOp(op="+"):
                return self._expression(node.expr)
            case c_ast.UnaryOp(op="!"):
                return Unary("not", self._expression(node.expr), span)
            case c_ast.TernaryOp():
                condition, yes, no = (self._expression(e) for e in (node.cond, node.iftrue, node.iffalse))
                return Choose(condition, yes, no, span)
            case c_ast.FuncCall(name=c_ast.ID(name=name)) if name in FUNCTIONS:
                arguments = tuple(self._expression(e) for e in (node.args.exprs if node.args else ()))
                wanted = MATHEMATICS.get(FUNCTIONS[name], len(arguments))
                if len(arguments) != wanted or not arguments:
                    takes = counted(wanted, "argument") if wanted else "some arguments"
                    self._refuse(f"{name} takes {takes}", node)
                return Call(FUNCTIONS[name], arguments, span)
            case c_ast.FuncCall():
                self._refuse(_("a call of an unknown function may change anything"), node)
            case c_ast.Cast():
                return Call(self._dtype(node.to_type.type.type, node), (self._expression(node.expr),), span)
            case c_ast.UnaryOp(op=("*" | "&")):
                self._refuse(_("pointers may alias: use array subscripts"), node)
            case c_ast.UnaryOp(op=("p++" | "++" | "p--" | "--")) | c_ast.Assignment():
                self._refuse(_("an expression must not change a variable: write this as its own statement"), node)
        self._refuse(_("this expression is not allowed in a loop nest"), node)

    def _operations(self, node: Any) -> Expr:
        """A chain of operations of any length: ``a + b + c``."""
        chain: list[Any] = []
        while isinstance(node, c_ast.BinaryOp):
            chain.append(node)
            node = node.left
        value = self._expression(node)
        spans = self.parsed.spans([node, *reversed(chain)])[1:]
        for part, span in zip(reversed(chain), spans, strict=True):
            value = self._binary(part, value, self._expression(part.right), span)
        return value

    def _binary(self, node: Any, left: Expr, right: Expr, span: Span) -> Expr:
        if node.op in ("<", "<=", ">", ">=", "==", "!="):
            return Compare(node.op, left, right, span)
        if node.op in ("&&", "||"):
            return Logic({"&&": "and", "||": "or"}[node.op], (left, right), span)
        if node.op in ("+", "-", "*", "/", "%"):
            return Binary(node.op, left, right, span)
        self._refuse(_("the operator {op} is not supported; + - * / % and comparisons are").format(op=node.op), node)

    def _load(self, node: Any) -> Load:
        indices: list[Expr] = []
        base = node
        while isinstance(base, c_ast.ArrayRef):
            # A[i, j] means two subscripts here.
            subscripts = base.subscript.exprs if isinstance(base.subscript, c_ast.ExprList) else [base.subscript]
            indices = [self._expression(e) for e in subscripts] + indices
            base = base.name
        if not isinstance(base, c_ast.ID):
            self._refuse(_("pointers may alias: subscript an array by its name"), node)
        return Load(base.name, tuple(indices), self._span(node))

    def _number(self, node: Any) -> int | float:
        try:
            return number(node.type, node.value)
        except ValueError as refused:
            self._refuse(str(refused), node)

    def _span(self, node: Any) -> Span:
        return self.parsed.span(node)

    def _refuse(self, reason: str, node: Any) -> NoReturn:
        raise NotAScop(reason, self.parsed.source, self._span(node))
