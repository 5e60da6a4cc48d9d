"""Prints expressions as Triton code: subscripts and bounds, which are integers, and the values of statements.

Values have the meaning that `Schedule.run` gives them with NumPy, for any types of the arrays. Where integers and
floats differ (C's ``/``, functions, a product with ``2.5``) and the type is unknown here, the text calls one of the
`HELPERS`, which Triton resolves by the types that it compiles for.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping
from typing import ClassVar, Literal, TypeAlias

from triton_lab.localization import _
from triton_lab.polyhedral.blocks.triton_kernel import NotABlockProgram
from triton_lab.polyhedral.core.loop_nest import (
    BITWISE,
    Binary,
    Call,
    Choose,
    Compare,
    Expr,
    Load,
    Logic,
    Name,
    Number,
    Unary,
    walk,
)
from triton_lab.polyhedral.core.nest_printer import Printer

Kind: TypeAlias = Literal["integer", "real", "either"]

HELPERS = {
    "floor_divide": """\
@triton.jit
def floor_divide(left, right):  # rounds down, where Triton's // rounds to zero; right > 0
    return (left - (left % right + right) % right) // right
""",
    "divide": """\
@triton.jit
def divide(left, right):  # as in C: that of integers truncates
    if left.dtype.is_int() and right.dtype.is_int():
        quotient = left // right
    else:
        quotient = left / right
    return quotient
""",
    "real": """\
@triton.jit
def real(value):  # integers as float64, floats as they are
    if value.dtype.is_int():
        result = value.to(tl.float64)
    else:
        result = value
    return result
""",
    "tanh": """\
@triton.jit
def tanh(value):
    wide = tl.exp(-2 * tl.abs(value.to(tl.float64)))
    size = (1 - wide) / (1 + wide)
    return tl.where(value < 0, -size, size).to(value.dtype)
""",
}
_FUNCTIONS = {"exp": "tl.exp", "log": "tl.log", "sqrt": "tl.sqrt", "sin": "tl.sin", "cos": "tl.cos", "tanh": "tanh"}
_KNOWN: dict[str, Callable[[float], float]] = {
    "exp": math.exp, "log": math.log, "sqrt": math.sqrt, "sin": math.sin, "cos": math.cos, "tanh": math.tanh,
}  # fmt: skip
_CASTS = {"float32", "float64", "int32", "int64"}
_MULTIPLIED_OUT = 8


class IndexPrinter(Printer):
    """Prints integers and conditions on them: subscripts, bounds, masks."""

    def __init__(self, language: str) -> None:
        self.language = language

    words: ClassVar[dict[str, str]] = {"and": "&", "or": "|"}

    def pieces(self, expression: Expr) -> tuple[str, int]:
        expression = self.folded(expression)
        match expression:
            case Logic():
                return f" {self.words[expression.op]} ".join(f"({self.text(e)})" for e in expression.operands), 0
            case Choose(condition=condition, yes=yes, no=no):
                return f"tl.where({self.text(condition)}, {self.text(yes)}, {self.text(no)})", 9
        return super().pieces(expression)

    def binary(self, expression: Binary) -> tuple[str, int]:
        left, right = expression.left, expression.right
        match expression.op:
            case "//":
                return f"floor_divide({self.text(left)}, {self.text(right)})", 9
            case "%" if self.language == "python":
                # Python's remainder is never negative here: the affine reader accepts only positive divisors.
                once = f"{self.text(left, 6)} % {self.text(right, 7)}"
                return f"({once} + {self.text(right, 6)}) % {self.text(right, 7)}", 6
            case "/":
                return f"{self.text(left, 6)} // {self.text(right, 7)}", 6
        return super().binary(expression)

    def folded(self, expression: Expr) -> Expr:
        """``expression`` as a number, if constant: in the text, Python, not Triton, would divide -7 by 2."""
        match expression:
            case Unary(op="-", operand=operand) if isinstance(number := self.folded(operand), Number):
                return Number(-number.value)
            case Binary(op=op, left=left, right=right) if op != "**":
                one, other = self.folded(left), self.folded(right)
                if isinstance(one, Number) and isinstance(other, Number):
                    return Number(_calculated(op, one.value, other.value, self.language))
        return expression

    def call(self, call: Call) -> str:
        arguments = [self.text(a) for a in call.arguments]
        match call.function:
            case "min" | "max":
                return nested(f"tl.{call.function}imum", arguments)
            case "floord":
                return f"floor_divide({arguments[0]}, {arguments[1]})"
            case "ceild":
                return f"(-floor_divide(-({arguments[0]}), {arguments[1]}))"
        raise NotABlockProgram(
            _("the function {function} in a subscript is not supported").format(function=call.function)
        )

    def negation(self, expression: Unary) -> tuple[str, int]:
        return f"~({self.text(expression.operand)})", 7

    def load(self, load: Load) -> str:
        raise NotABlockProgram(_("{array} is read by a subscript").format(array=load.array))


class ValuePrinter(IndexPrinter):
    """Prints the right side of a statement.

    ``loaded`` has the variable of each loaded array element; ``dtypes`` are the types that the program declares.
    """

    def __init__(self, language: str, loaded: Mapping[Load, str], dtypes: Mapping[str, str | None]) -> None:
        super().__init__(language)
        self.loaded = loaded
        self.dtypes = dtypes

    def load(self, load: Load) -> str:
        return self.loaded[load]

    def kind(self, expression: Expr) -> Kind:
        match expression:
            case Number(value=value):
                return "real" if isinstance(value, float) else "integer"
            case Load(array=array):
                dtype = self.dtypes.get(array)
                return "either" if dtype is None else "integer" if dtype.startswith("int") else "real"
            case Name() | Compare() | Logic() | Unary(op="not"):
                return "integer"
            case Unary(operand=operand):
                return self.kind(operand)
            case Call(function=function) if function in _CASTS:
                return "integer" if function.startswith("int") else "real"
            case Call(function=function) if function in _FUNCTIONS:
                return "real"
            case Binary(op="/") if self.language == "python":
                return "real"
            case Choose(yes=one, no=other) | Binary(left=one, right=other):
                return _common(self.kind(one), self.kind(other))
            case Call(arguments=arguments):
                kinds = [self.kind(a) for a in arguments]
                return kinds[0] if len(kinds) == 1 else _common(*kinds[:2])
        return "either"

    def pieces(self, expression: Expr) -> tuple[str, int]:
        match self.folded(expression):
            case Unary(op="-", operand=operand):
                return f"-{self.operand(operand, 7)}", 7
        return super().pieces(expression)

    def operand(self, expression: Expr, around: int) -> str:
        """``expression`` as a number: a condition counts as 0 or 1."""
        if isinstance(expression, Compare | Logic) or (isinstance(expression, Unary) and expression.op == "not"):
            return f"tl.cast({self.text(expression)}, tl.int32)"
        return self.text(expression, around)

    def binary(self, expression: Binary) -> tuple[str, int]:
        op, left, right = expression.op, expression.left, expression.right
        kinds = self.kind(left), self.kind(right)
        if op == "**":
            return self._power(left, right)
        if op in BITWISE:
            if "real" in kinds:
                raise NotABlockProgram(_("the operation {op} takes no floats").format(op=op))
            return f"{self.operand(left, 9)} {op} {self.operand(right, 9)}", 0
        if op == "//" or (op == "%" and self.language == "python"):
            if kinds != ("integer", "integer"):
                raise NotABlockProgram(_("the operation {op} means something else on Triton's blocks").format(op=op))
            return super().binary(expression)
        if op == "/" and self.language == "c":
            if kinds == ("integer", "integer"):
                return super().binary(expression)
            if "real" not in kinds:
                return f"divide({self._tensor(left)}, {self._tensor(right)})", 9
        level = 5 if op in "+-" else 6
        if op == "/" or "real" in kinds:
            return f"{self.real(left, level)} {op} {self.real(right, level + 1)}", level
        return f"{self.operand(left, level)} {op} {self.operand(right, level + 1)}", level

    def real(self, expression: Expr, around: int = 0) -> str:
        """``expression`` as a float: a possible integer becomes a float64, as in NumPy (and C)."""
        if isinstance(number := self.folded(expression), Number):
            value = float(number.value)
            return repr(value) if value >= 0 else f"({value!r})"
        if self.kind(expression) == "real":
            return self.operand(expression, around)
        return f"real({self._tensor(expression)})"

    def _tensor(self, expression: Expr) -> str:
        """``expression`` with a type: Triton takes a constant's type from the other operand."""
        text = self.operand(expression, 0)
        constant = not any(isinstance(part, Load | Name) for part in walk(expression))
        return (
            f"tl.cast({text}, {'tl.int32' if self.kind(expression) == 'integer' else 'tl.float64'})"
            if constant
            else text
        )

    def _power(self, base: Expr, exponent: Expr) -> tuple[str, int]:
        match exponent:
            case Number(value=int() as times) if 1 <= times <= _MULTIPLIED_OUT:
                return " * ".join([self.operand(base, 7)] * times), 6 if times > 1 else 0
        raise NotABlockProgram(_("the operation ** is supported only with small integer exponents"))

    def call(self, call: Call) -> str:
        function, arguments = call.function, call.arguments
        if function in _CASTS:
            return f"tl.cast({self._tensor(arguments[0])}, tl.{function})"
        if function in _FUNCTIONS:
            match self.folded(arguments[0]):
                case Number(value=value):
                    return f"tl.full((), {_KNOWN[function](value)!r}, tl.float64)"
            return f"{_FUNCTIONS[function]}({self.real(arguments[0])})"
        if function == "abs":
            return f"tl.abs({self._tensor(arguments[0])})"
        if function in ("min", "max"):
            real = any(self.kind(a) == "real" for a in arguments)
            texts = [self.real(a) if real else self.operand(a, 0) for a in arguments]
            # NumPy's functions propagate NaN.
            return nested(f"tl.{function}imum", texts, ", propagate_nan=tl.PropagateNan.ALL")
        if function in ("floord", "ceild") and all(self.kind(a) == "integer" for a in arguments):
            return super().call(call)
        raise NotABlockProgram(_("the function {function} is not supported").format(function=function))


def _calculated(op: str, left: float, right: float, language: str) -> int | float:
    """``left op right`` with the meaning of ``language``."""
    if op in ("/", "//", "%") and right == 0:
        raise NotABlockProgram(
            _("{left} {op} {right} divides by zero").format(left=repr(left), op=op, right=repr(right))
        )
    if language == "c" and op in ("/", "%") and isinstance(left, int) and isinstance(right, int):
        quotient = abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)
        return quotient if op == "/" else left - quotient * right
    if language == "c" and op == "%":
        return math.fmod(left, right)
    return _OPERATORS[op](left, right)


_OPERATORS: dict[str, Callable[[float, float], float]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "//": operator.floordiv,
    "%": operator.mod, "&": operator.and_, "|": operator.or_, "^": operator.xor, "<<": operator.lshift,
    ">>": operator.rshift,
}  # fmt: skip


def _common(one: Kind, other: Kind) -> Kind:
    if "real" in (one, other):
        return "real"
    return one if one == other else "either"


def nested(function: str, arguments: list[str], more: str = "") -> str:
    """A function of two arguments, nested for several."""
    total = arguments[0]
    for argument in arguments[1:]:
        total = f"{function}({total}, {argument}{more})"
    return total


def names_in(expression: Expr) -> set[str]:
    """The iterators and parameters in ``expression``."""
    return {part.id for part in walk(expression) if isinstance(part, Name)}
