"""Affine expressions, conditions and values as a block program writes them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from .access import Access
from .affine import Affine, Symbol
from .block_shape import Axis, NotABlockProgram
from .conditions import Constraint
from .nest import Binary, Call, Choose, Expr, Load, Logic, Name, Number, Unary
from .printer import CPrinter, Printer


@dataclass(frozen=True)
class View:
    """How iterators stand in a block whose dimensions are ``block``: ``y[:, None]`` and ``x[None, :]``."""

    block: tuple[str, ...]

    def __call__(self, symbol: Symbol) -> str:
        if isinstance(symbol, str) and symbol in self.block and len(self.block) > 1:
            index = ", ".join(":" if name == symbol else "None" for name in self.block)
            return f"{symbol}[{index}]"
        return str(symbol)

    def affine(self, expression: Affine) -> str:
        return expression.written(self, " * ")

    def pointer(self, access: Access) -> str:
        """``A + y[:, None] * stride_A_0 + ...``."""
        parts = [access.array]
        for k, subscript in enumerate(access.expressions):
            if subscript != Affine():
                text = self.affine(subscript)
                parts.append(f"{f'({text})' if subscript.is_sum else text} * stride_{access.array}_{k}")
        return " + ".join(parts)

    def mask(self, constraints: Sequence[Constraint], iterators: Collection[str], within: Collection[str]) -> str:
        """The conditions that concern iterators, all of them in ``within``. Blocks start at 0: no ``i >= 0``."""
        parts = [
            self._condition(constraint, iterators)
            for constraint in constraints
            if set() < constraint.expression.names & set(iterators) <= set(within)
            and not (
                constraint.expression.terms[0][0] in iterators
                and constraint.expression == Affine.of(constraint.expression.terms[0][0])
            )
        ]
        return " & ".join(f"({part})" for part in parts) if len(parts) > 1 else "".join(parts)

    def _condition(self, constraint: Constraint, iterators: Collection[str]) -> str:
        expression = constraint.expression
        subject = next(s for s, _ in expression.terms if s in iterators)
        coefficient = expression.coefficients[subject]
        alone = Affine.make({subject: coefficient})
        rest = expression - alone
        if constraint.equality:
            return f"{self.affine(alone)} == {self.affine(-rest)}"
        if coefficient > 0:
            return f"{self.affine(alone)} >= {self.affine(-rest)}"
        # y <= n - 1 reads better as y < n.
        strict = rest.constant == -1 or rest.is_constant
        return f"{self.affine(-alone)} {'<' if strict else '<='} {self.affine(rest + 1 if strict else rest)}"


_FUNCTIONS = {
    "min": "tl.minimum", "max": "tl.maximum", "exp": "tl.exp", "log": "tl.log", "sqrt": "tl.sqrt", "sin": "tl.sin",
    "cos": "tl.cos", "abs": "tl.abs",
}  # fmt: skip
_CASTS = {"float32", "float64", "int32", "int64"}


class ValuePrinter(CPrinter):
    """The right side of a statement, over blocks; ``loaded`` names what each array element was loaded into."""

    def __init__(self, view: View, loaded: dict[Load, str], language: str) -> None:
        self.view = view
        self.loaded = loaded
        self.language = language

    def load(self, load: Load) -> str:
        return self.loaded[load]

    def pieces(self, expression: Expr) -> tuple[str, int]:
        match expression:
            case Name(id=name):
                return self.view(name), 9
            case Logic():
                word = {"and": " & ", "or": " | "}[expression.op]
                return word.join(f"({self.text(e)})" for e in expression.operands), 0
            case Unary(op="not"):
                return f"~({self.text(expression.operand)})", 7
            case Choose(condition=condition, yes=yes, no=no):
                return f"tl.where({self.text(condition)}, {self.text(yes)}, {self.text(no)})", 9
            case Binary(op=("/" | "%" | "//" | "**") as op) if not (op == "/" and self._is_real(expression)):
                return self._whole(expression)
        return super().pieces(expression)

    def binary(self, expression: Binary) -> tuple[str, int]:
        return Printer.binary(self, expression)

    def call(self, call: Call) -> str:
        arguments = [self.text(a) for a in call.arguments]
        if call.function in _CASTS:
            return f"({arguments[0]}).to(tl.{call.function})"
        if call.function not in _FUNCTIONS:
            raise NotABlockProgram(f"the function {call.function} is not written")
        return f"{_FUNCTIONS[call.function]}({', '.join(arguments)})"

    def _is_real(self, expression: Expr) -> bool:
        """Whether a value is a float: array elements are taken to be."""
        match expression:
            case Number(value=value):
                return isinstance(value, float)
            case Load() | Call():
                return True
            case Binary(op="/") if self.language == "python":
                return True
            case Binary(left=left, right=right):
                return self._is_real(left) or self._is_real(right)
            case Unary(operand=operand):
                return self._is_real(operand)
        return False

    def _whole(self, expression: Binary) -> tuple[str, int]:
        """C's integer division truncates and so does Triton's."""
        if self.language != "c" or expression.op not in ("/", "%") or self._is_real(expression):
            raise NotABlockProgram(f"the operation {expression.op} means something else on Triton's blocks")
        op = {"/": "//", "%": "%"}[expression.op]
        return f"{self.text(expression.left, 6)} {op} {self.text(expression.right, 7)}", 6


def position(axis: Axis, start: str) -> str:
    """The values of ``axis`` in one program: a number, or a block of them."""
    if axis.block == 1:
        return start
    return f"{start} * {axis.size} + tl.arange(0, {axis.size})"


def shape(axes: Sequence[Axis]) -> str:
    """The shape of a block over ``axes``, as a tuple's text."""
    return f"({', '.join(a.size for a in axes)}{',' if len(axes) == 1 else ''})"
