"""Prints loop nests: as C, as Python, and as the Python that is executed."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from types import CodeType
from typing import ClassVar

from triton_lab.localization import _
from triton_lab.polyhedral.core.isl_effort import TooHard
from triton_lab.polyhedral.core.loop_nest import (
    BITWISE,
    CALLS,
    Assign,
    Assume,
    Binary,
    Call,
    Choose,
    Compare,
    Declare,
    Expr,
    For,
    If,
    Jump,
    Load,
    Logic,
    Name,
    Node,
    Number,
    Opaque,
    Unary,
    Visit,
    left_operands,
)

# A higher number binds tighter.
_PRECEDENCE = {
    "or": 1, "and": 2, "not": 3, "compare": 4, "+": 5, "-": 5, "*": 6, "/": 6, "//": 6, "%": 6, "neg": 7, "**": 8,
}  # fmt: skip
_ATOM = 9
_C_TYPES = {
    "float32": "float", "float64": "double", "int32": "int", "int64": "long", "int8": "signed char", "int16": "short",
    "uint8": "unsigned char", "uint16": "unsigned short", "uint32": "unsigned int", "uint64": "unsigned long",
}  # fmt: skip


class Printer:
    """The common base of the languages' printers."""

    def statement_lines(self, nodes: tuple[Node, ...], indent: int = 0) -> list[str]:
        return [line for node in nodes for line in self.lines(node, indent)]

    def lines(self, node: Node, indent: int) -> list[str]:
        raise NotImplementedError

    def text(self, expression: Expr, around: int = 0) -> str:
        """``expression``, in brackets if it binds less tightly than ``around``."""
        text, precedence = self.pieces(expression)
        return f"({text})" if precedence < around else text

    def pieces(self, expression: Expr) -> tuple[str, int]:
        match expression:
            case Number():
                return self.number(expression), _ATOM if expression.value >= 0 else _PRECEDENCE["neg"]
            case Name():
                return expression.id, _ATOM
            case Load():
                return self.load(expression), _ATOM
            case Call():
                return self.call(expression), _ATOM
            case Unary(op="-"):
                operand = self.text(expression.operand, _PRECEDENCE["neg"])
                # In C, two minus signs in a row are a decrement.
                return f"-({operand})" if operand.startswith("-") else f"-{operand}", _PRECEDENCE["neg"]
            case Unary(op="~"):
                return f"~{self.text(expression.operand, _ATOM)}", _PRECEDENCE["neg"]
            case Unary():
                return self.negation(expression)
            case Binary():
                return self.binary(expression)
            case Compare():
                level = _PRECEDENCE["compare"]
                sides = self.text(expression.left, level + 1), self.text(expression.right, level + 1)
                return f"{sides[0]} {expression.op} {sides[1]}", level
            case Logic():
                level = _PRECEDENCE[expression.op]
                word = self.words[expression.op]
                return f" {word} ".join(self.text(e, level + 1) for e in expression.operands), level
            case Choose():
                return self.choose(expression), 0

    words: ClassVar[dict[str, str]] = {"and": "and", "or": "or"}

    @property
    def functions(self) -> Mapping[str, str]:
        """The operations that the language writes as calls."""
        return {}

    def binary(self, expression: Binary) -> tuple[str, int]:
        chain, first = left_operands(expression)
        text, precedence = self.pieces(self.as_number(first))
        for part in reversed(chain):
            right = self.as_number(part.right)
            if part.op in BITWISE:  # C and Python rank them differently: brackets everywhere
                left = f"({text})" if precedence < _ATOM else text
                text, precedence = f"{left} {part.op} {self.text(right, _ATOM)}", 0
                continue
            level = _PRECEDENCE[part.op]
            if part.op in self.functions:
                text, precedence = f"{self.functions[part.op]}({text}, {self.text(right)})", _ATOM
            else:
                left = f"({text})" if precedence < level else text
                text, precedence = f"{left} {part.op} {self.text(right, level + 1)}", level
        return text, precedence

    def as_number(self, expression: Expr) -> Expr:
        """``expression`` as an operand of arithmetic."""
        return expression

    def number(self, number: Number) -> str:
        return repr(number.value)

    def call(self, call: Call) -> str:
        return f"{call.function}({', '.join(self.text(a) for a in call.arguments)})"

    def load(self, load: Load) -> str:
        raise NotImplementedError

    def negation(self, expression: Unary) -> tuple[str, int]:
        raise NotImplementedError

    def choose(self, expression: Choose) -> str:
        raise NotImplementedError


class CPrinter(Printer):
    """Prints C, with ``parallel`` and other marks as words before the loop."""

    words: ClassVar[dict[str, str]] = {"and": "&&", "or": "||"}

    def lines(self, node: Node, indent: int) -> list[str]:
        space = "  " * indent
        match node:
            case Assign(target=Load(array=name)):
                target = "" if name == CALLS else f"{self.load(node.target)} {node.op}= "
                return [f"{space}{target}{self.text(node.value)};"]
            case Visit():
                return [f"{space}{node.statement}({', '.join(self.text(a) for a in node.arguments)});"]
            case Declare():
                return [f"{space}{node.type} {node.name};"]
            case Jump():
                return [f"{space}{node.kind};"]
            case Assume():
                return []
            case Opaque():
                return [f"{space}// {node.refused.reason}"]
            case For():
                return self._block(f"{space}{self.header(node)}", node.body, indent)
            case If():
                lines = self._block(f"{space}if ({self.text(node.condition)})", node.body, indent)
                return lines + (self._block(f"{space}else", node.orelse, indent) if node.orelse else [])

    def header(self, node: For) -> str:
        mark = f"{node.mark} " if node.mark else ""
        conditions = " && ".join(self.text(c, _PRECEDENCE["compare"]) for c in node.conditions)
        step = {1: f"{node.iterator}++", -1: f"{node.iterator}--"}.get(node.step)
        step = step or f"{node.iterator} {'+' if node.step > 0 else '-'}= {abs(node.step)}"
        return f"{mark}for (int {node.iterator} = {self.text(node.start)}; {conditions}; {step})"

    def _block(self, head: str, body: tuple[Node, ...], indent: int) -> list[str]:
        if len(body) == 1:
            return [head, *self.lines(body[0], indent + 1)]
        return [f"{head} {{", *self.statement_lines(body, indent + 1), f"{'  ' * indent}}}"]

    def load(self, load: Load) -> str:
        return load.array + "".join(f"[{self.text(i)}]" for i in load.indices)

    @property
    def functions(self) -> Mapping[str, str]:
        return {"//": "floord", "**": "pow"}

    def call(self, call: Call) -> str:
        if call.function in _C_TYPES:
            return f"({_C_TYPES[call.function]})({self.text(call.arguments[0])})"
        return super().call(call)

    def negation(self, expression: Unary) -> tuple[str, int]:
        return f"!{self.text(expression.operand, _ATOM)}", _PRECEDENCE["neg"]

    def choose(self, expression: Choose) -> str:
        return f"{self.text(expression.condition, 1)} ? {self.text(expression.yes, 1)} : {self.text(expression.no, 1)}"


class PythonPrinter(Printer):
    def lines(self, node: Node, indent: int) -> list[str]:
        space = "    " * indent
        match node:
            case Assign():
                return [f"{space}{self.load(node.target)} {node.op}= {self.text(node.value)}"]
            case Visit():
                return [f"{space}{node.statement}({', '.join(self.text(a) for a in node.arguments)})"]
            case Declare() | Assume():
                return []
            case Jump():
                return [f"{space}{node.kind}"]
            case Opaque():
                return [f"{space}# {node.refused.reason}"]
            case For():
                return [f"{space}{self.header(node)}", *self.body(node.body, indent)]
            case If():
                lines = [f"{space}if {self.text(node.condition)}:", *self.body(node.body, indent)]
                return lines + ([f"{space}else:", *self.body(node.orelse, indent)] if node.orelse else [])

    def header(self, node: For) -> str:
        mark = f"  # {node.mark}" if node.mark else ""
        return f"for {node.iterator} in {self.range(node)}:{mark}"

    def body(self, nodes: tuple[Node, ...], indent: int) -> list[str]:
        return self.statement_lines(nodes, indent + 1) or [f"{'    ' * (indent + 1)}pass"]

    def range(self, node: For, function: str = "range") -> str:
        """The iterator's values as a range. All conditions bound it on the same side, so the tightest one counts."""
        stops = [self.text(stop) for stop in (_stop(node.iterator, c) for c in node.conditions)]
        nearest = "min" if node.step > 0 else "max"
        stop = stops[0] if len(stops) == 1 else f"{nearest}({', '.join(stops)})"
        start = self.text(node.start)
        if node.step == 1:
            return f"{function}({stop})" if start == "0" else f"{function}({start}, {stop})"
        return f"{function}({start}, {stop}, {node.step})"

    def load(self, load: Load) -> str:
        return f"{load.array}[{', '.join(self.text(i) for i in load.indices)}]" if load.indices else load.array

    def negation(self, expression: Unary) -> tuple[str, int]:
        return f"not {self.text(expression.operand, _PRECEDENCE['not'])}", _PRECEDENCE["not"]

    def choose(self, expression: Choose) -> str:
        yes, condition, no = (self.text(e, 1) for e in (expression.yes, expression.condition, expression.no))
        return f"{yes} if {condition} else {no}"


def _stop(iterator: str, condition: Compare) -> Expr:
    """The first value past the end, for a condition ``iterator op bound``."""
    if condition.left != Name(iterator):
        raise NotImplementedError(
            _("the condition on {iterator} does not have {iterator} alone on the left").format(iterator=iterator)
        )
    if condition.op in ("<", ">"):
        return condition.right
    return shifted(condition.right, 1 if condition.op == "<=" else -1)


def shifted(expression: Expr, amount: int) -> Expr:
    """``expression + amount``, folded into its last constant."""
    match expression:
        case Number(value=int() as value):
            return Number(value + amount)
        case Binary(op=("+" | "-") as op, left=left, right=Number(value=int() as value)):
            total = (value if op == "+" else -value) + amount
            return left if total == 0 else Binary("+" if total > 0 else "-", left, Number(abs(total)))
        case Call(function=("min" | "max") as function, arguments=arguments):
            return Call(function, tuple(shifted(a, amount) for a in arguments))
    return Binary("+" if amount > 0 else "-", expression, Number(abs(amount)))


def compiled(text: str) -> CodeType:
    """``text``, which a printer wrote. Raises `TooHard` for loops or expressions deeper than Python takes."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of what the source says; its reader has no use for it
            return compile(text, "<schedule>", "exec")
    except (MemoryError, RecursionError, SyntaxError) as error:
        reason = getattr(error, "msg", None) or "nested too deep"
        raise TooHard(_("Python cannot run these loops: {reason}").format(reason=reason)) from None
