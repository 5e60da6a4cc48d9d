"""Assumptions on the arguments of a launch: ``x_ptr.numel() == n``, ``n >= 1``, ``index_ptr in [0, n)``.

A text enters and a `Condition` leaves. Nothing is executed: the text is parsed, and holds numbers, arguments, `cdiv`,
`min`, `max` and the operators + - * // %.
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from triton_lab.launch.argument import Argument
from triton_lab.localization import _

V = TypeVar("V")

RELATIONS: Mapping[type[ast.cmpop], str] = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
}
_COMPARE: Mapping[str, Callable[[Any, Any], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_OPERATORS: Mapping[type[ast.operator], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.FloorDiv: "//",
    ast.Mod: "%",
}
# idx_ptr in [0, n)
_RANGE = re.compile(r"(?P<name>.+?)\s+in\s+\[(?P<low>.*),(?P<high>[^,]*)(?P<end>[\])])")
# The longest text, and the deepest expression, that is read.
MOST_CHARACTERS = 500
MOST_DEPTH = 30


@dataclass(frozen=True)
class Condition:
    """``left relation right``, or with relation ``in`` the bounds of what the tensor ``left`` holds.

    ``right`` has one expression, for ``in`` the least and the greatest value. ``text`` is in the usual spacing.
    """

    text: str
    left: ast.expr
    relation: str
    right: tuple[ast.expr, ...]

    @property
    def subject(self) -> str:
        """The left side as text."""
        return ast.unparse(self.left)


def parsed(text: str) -> Condition:
    """The condition of a text. Raises ValueError, which says what such a text may hold."""
    if len(text) > MOST_CHARACTERS:
        raise ValueError(_("an assumption has at most {most} characters").format(most=MOST_CHARACTERS))
    ranged = _RANGE.fullmatch(text.strip())
    try:
        if ranged is not None:
            left, low, high = (ast.parse(ranged[key].strip(), mode="eval").body for key in ("name", "low", "high"))
            shown = f"{ast.unparse(left)} in [{ast.unparse(low)}, {ast.unparse(high)}{ranged['end']}"
            if ranged["end"] == ")":
                high = ast.BinOp(high, ast.Sub(), ast.Constant(1))
            found = Condition(shown, left, "in", (low, high))
        else:
            body = ast.parse(text.strip(), mode="eval").body
            if not isinstance(body, ast.Compare) or len(body.ops) != 1 or type(body.ops[0]) not in RELATIONS:
                raise ValueError
            found = Condition(ast.unparse(body), body.left, RELATIONS[type(body.ops[0])], tuple(body.comparators))
        for side in (found.left, *found.right):
            _check(side, 0)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise ValueError(
            _(
                "{text} is not an assumption. Write a comparison of sizes, such as 'n >= 1', 'x.numel() == n', "
                "'x.stride(0) == columns', 'grid[0] == cdiv(n, BLOCK)', or what a tensor holds: 'index in [0, n)'"
            ).format(text=repr(text))
        ) from None
    return found


def _check(node: ast.expr, depth: int) -> None:
    if depth > MOST_DEPTH:
        raise ValueError
    if isinstance(node, ast.Constant):
        if type(node.value) not in (int, bool):
            raise ValueError
    elif isinstance(node, ast.BinOp):
        if type(node.op) not in _OPERATORS:
            raise ValueError
        _check(node.left, depth + 1)
        _check(node.right, depth + 1)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        _check(node.operand, depth + 1)
    elif isinstance(node, ast.Call) and _function(node) is not None:
        for one in node.args:
            _check(one, depth + 1)
    elif not is_quantity(node):
        raise ValueError


def is_quantity(node: ast.expr) -> bool:
    """Whether it names a scalar, an extent of the grid, or a tensor's shape, stride or number of elements."""
    if isinstance(node, ast.Name):
        return True
    if isinstance(node, ast.Call):
        method = node.func
        numbers = all(isinstance(one, ast.Constant) and type(one.value) is int for one in node.args)
        counts = {"numel": 0, "stride": 1}
        return (
            isinstance(method, ast.Attribute)
            and counts.get(method.attr) == len(node.args)
            and numbers
            and not node.keywords
            and _is_argument(method.value)
        )
    if not isinstance(node, ast.Subscript) or not isinstance(node.slice, ast.Constant):
        return False
    of = node.value
    return _is_argument(of.value) and of.attr == "shape" if isinstance(of, ast.Attribute) else _is_argument(node)


def _is_argument(node: ast.expr) -> bool:
    """An argument's name: ``x``, or ``t[0]`` for an item of a tuple."""
    inner = node.value if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant) else node
    return isinstance(inner, ast.Name)


def _function(node: ast.Call) -> str | None:
    """``cdiv``, ``min`` or ``max``, if the node calls it."""
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", None)
    if isinstance(node.func, ast.Attribute) and getattr(node.func.value, "id", None) not in ("triton", "tl"):
        return None
    if node.keywords or name not in ("cdiv", "min", "max") or len(node.args) != 2:
        return None
    return str(name)


@dataclass(frozen=True)
class Arithmetic(Generic[V]):
    """How expressions are computed: ``number`` and ``quantity`` give leaves, ``apply`` an operator by its name."""

    number: Callable[[int], V]
    quantity: Callable[[str], V]
    apply: Callable[[str, V, V], V]

    def of(self, node: ast.expr) -> V:
        """The value of a checked expression."""
        if isinstance(node, ast.Constant):
            return self.number(int(node.value))  # type: ignore[arg-type]  # `parsed` lets no other constant through
        if isinstance(node, ast.BinOp):
            return self.apply(_OPERATORS[type(node.op)], self.of(node.left), self.of(node.right))
        if isinstance(node, ast.UnaryOp):
            return self.apply("-", self.number(0), self.of(node.operand))
        if isinstance(node, ast.Call) and (name := _function(node)) is not None:
            return self.apply(name, self.of(node.args[0]), self.of(node.args[1]))
        return self.quantity(ast.unparse(node))


def _on_numbers(name: str, a: int, b: int) -> int:
    if name in ("//", "%", "cdiv") and b == 0:
        raise LookupError(_("a division by 0"))
    return {
        "+": lambda: a + b,
        "-": lambda: a - b,
        "*": lambda: a * b,
        "//": lambda: a // b,
        "%": lambda: a % b,
        "cdiv": lambda: -(-a // b),
        "min": lambda: min(a, b),
        "max": lambda: max(a, b),
    }[name]()


def quantities(arguments: Sequence[Argument], grid: Sequence[int]) -> dict[str, int]:
    """The numbers that an assumption may name, by their text."""
    return dict(_quantities(arguments, grid))


def _quantities(arguments: Sequence[Argument], grid: Sequence[int]) -> Iterator[tuple[str, int]]:
    for axis, extent in enumerate(grid):
        yield f"grid[{axis}]", extent
    for argument in arguments:
        if argument.kind in ("tensor", "descriptor"):
            elements = 1
            for axis, (extent, stride) in enumerate(zip(argument.shape, argument.strides, strict=True)):
                elements *= extent
                yield f"{argument.name}.shape[{axis}]", extent
                yield f"{argument.name}.stride({axis})", stride
            yield f"{argument.name}.numel()", elements
        elif isinstance(argument.value, int):
            yield argument.name, int(argument.value)


def on_numbers(known: Mapping[str, int]) -> Arithmetic[int]:
    """Arithmetic with known quantities; an unknown one is a LookupError, which names it."""

    def quantity(name: str) -> int:
        if name not in known:
            raise LookupError(name)
        return known[name]

    return Arithmetic(int, quantity, _on_numbers)


def holds(
    condition: Condition,
    arguments: Sequence[Argument],
    grid: Sequence[int],
    contents: Callable[[str], tuple[int, int] | None] = lambda name: None,
) -> bool | None:
    """Whether the condition holds of these arguments; None if they do not decide it.

    ``contents`` gives the least and the greatest value that a tensor holds; None if they are not known.
    """
    arithmetic = on_numbers(quantities(arguments, grid))
    try:
        if condition.relation == "in":
            found = contents(condition.subject)
            low, high = (arithmetic.of(side) for side in condition.right)
            return None if found is None else found[0] > found[1] or (low <= found[0] and found[1] <= high)
        return _COMPARE[condition.relation](arithmetic.of(condition.left), arithmetic.of(condition.right[0]))
    except LookupError:
        return None


def names_of(condition: Condition) -> frozenset[str]:
    """The arguments that the condition names, and ``grid``."""
    found = (node for side in (condition.left, *condition.right) for node in ast.walk(side))
    return frozenset(node.id for node in found if isinstance(node, ast.Name)) - {"cdiv", "min", "max", "triton", "tl"}
