"""What may stand in place of an expression of a kernel's text: other operators, numbers and names."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations

from triton_lab.localization import _

Change = tuple[ast.expr, str]
"""What is written, and what kind of cause that is."""

_SIBLINGS: dict[type[ast.operator], tuple[type[ast.operator], ...]] = {
    ast.Add: (ast.Sub, ast.Mult),
    ast.Sub: (ast.Add,),
    ast.Mult: (ast.Add, ast.Div, ast.FloorDiv),
    ast.Div: (ast.Mult,),
    ast.FloorDiv: (ast.Mult, ast.Mod),
    ast.Mod: (ast.FloorDiv,),
    ast.BitAnd: (ast.BitOr, ast.BitXor),
    ast.BitOr: (ast.BitAnd, ast.BitXor),
    ast.BitXor: (ast.BitAnd, ast.BitOr),
    ast.LShift: (ast.RShift,),
    ast.RShift: (ast.LShift,),
}
_COMPARED: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
}

# How tightly an operator binds.
_BINDS: dict[type[ast.operator], int] = {
    ast.BitOr: 1, ast.BitXor: 2, ast.BitAnd: 3, ast.LShift: 4, ast.RShift: 4, ast.Add: 5, ast.Sub: 5,
    ast.Mult: 6, ast.Div: 6, ast.FloorDiv: 6, ast.Mod: 6, ast.MatMult: 6, ast.Pow: 8,
}  # fmt: skip
_ATOM = 9
_NO_STEPS = frozenset(
    {"load", "store", "arange", "zeros", "full", "program_id", "num_programs", "range", "static_range"}
)
_ANY_ORDER = frozenset("+*&|^")


def otherwise(node: ast.AST, names: Sequence[str], numbers: bool) -> Iterator[Change]:
    """What may stand in place of a node: one of ``names`` for a name, and other numbers if ``numbers``."""
    if isinstance(node, ast.BinOp):
        for kind in _SIBLINGS.get(type(node.op), ()):
            yield ast.BinOp(node.left, kind(), node.right), _("a wrong operator")
        if not isinstance(node.op, (ast.Add, ast.Mult, ast.BitAnd, ast.BitOr, ast.BitXor)):
            yield ast.BinOp(node.right, node.op, node.left), _("the order of operands")
        yield node.left, _("a superfluous operation")
        yield node.right, _("a superfluous operation")
    elif isinstance(node, ast.UnaryOp) and not isinstance(node.operand, ast.Constant):
        yield node.operand, _("a wrong operator")
    elif isinstance(node, ast.Compare) and len(node.ops) == 1:
        for other in _COMPARED.get(type(node.ops[0]), ()):
            yield ast.Compare(node.left, [other()], node.comparators), _("a condition")
    elif isinstance(node, ast.Constant) and numbers and type(node.value) is int:
        for value in dict.fromkeys((node.value + 1, node.value - 1, 2 * node.value, 0, 1)):
            if value != node.value:
                yield ast.Constant(value), _("a wrong number")
    elif isinstance(node, ast.Name):
        for name in names:
            if name != node.id:
                yield ast.Name(name, ast.Load()), _("a wrong value")


def further_conditions(node: ast.AST, scalars: Sequence[str]) -> Iterator[Change]:
    """A comparison and one more of the same index: with 0, and with each of ``scalars``."""
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        more = [ast.Compare(node.left, [ast.GtE()], [ast.Constant(0)])]
        more += [ast.Compare(node.left, [ast.Lt()], [ast.Name(name, ast.Load())]) for name in scalars]
        for one in more:
            yield ast.BinOp(node, ast.BitAnd(), one), _("a missing condition")


def regrouped(node: ast.AST) -> Iterator[ast.expr]:
    """The same steps in another order: with parentheses around a part of them, or without those that stand there.

    And a function of a sum in place of a sum with the function's result.
    """
    if not isinstance(node, ast.BinOp):
        return
    written, seen = _flat(node), {ast.dump(node)}
    texts = []
    for first in range(0, len(written), 2):
        for last in (first + 2, first + 4):
            signs = {*written[first + 1 : last : 2], *written[max(first - 1, 0) : first]}
            alike = len(signs) == 1 and signs <= _ANY_ORDER
            if last < len(written) and (first or last < len(written) - 1) and not alike:
                inner = " ".join(written[first : last + 1])
                texts.append(" ".join([*written[:first], f"({inner})", *written[last + 1 :]]))
        if isinstance(ast.parse(written[first], mode="eval").body, ast.BinOp):
            texts.append(" ".join([*written[:first], written[first][1:-1], *written[first + 1 :]]))
    for text in texts:
        made = ast.parse(text, mode="eval").body
        if ast.dump(made) not in seen:
            seen.add(ast.dump(made))
            yield made
    for call, other, first_one in ((node.left, node.right, True), (node.right, node.left, False)):
        if isinstance(call, ast.Call) and _is_step(call):
            parts = (call.args[0], other) if first_one else (other, call.args[0])
            yield ast.Call(call.func, [ast.BinOp(parts[0], node.op, parts[1]), *call.args[1:]], call.keywords)


def _is_step(call: ast.Call) -> bool:
    """Whether a call computes a number from its first argument: it neither accesses memory nor makes a block."""
    name = ast.unparse(call.func).rpartition(".")[2]
    return bool(call.args) and not (name in _NO_STEPS or name.startswith(("atomic", "make")))


def _flat(node: ast.expr) -> list[str]:
    """An expression as it is written: its operands and operators in turn, those in parentheses as one."""
    if not isinstance(node, ast.BinOp):
        return [ast.unparse(node)]
    own = _BINDS.get(type(node.op), 0)

    def part(inner: ast.expr, least: int) -> list[str]:
        binds = _BINDS.get(type(inner.op), 0) if isinstance(inner, ast.BinOp) else _ATOM
        if isinstance(inner, ast.Compare | ast.BoolOp | ast.IfExp | ast.Lambda):
            binds = 0
        return _flat(inner) if binds >= least else [f"({ast.unparse(inner)})"]

    sign = ast.unparse(ast.BinOp(ast.Name("a"), node.op, ast.Name("b"))).removeprefix("a ").removesuffix(" b")
    return [*part(node.left, own), sign, *part(node.right, own + 1)]


def handed_out(node: ast.AST) -> Iterator[ast.expr]:
    """A sum with a function's result in place of the function of a sum: ``f(a) + b`` for ``f(a + b)``."""
    if isinstance(node, ast.Call) and _is_step(node) and isinstance(node.args[0], ast.BinOp):
        inner, rest = node.args[0], node.args[1:]
        yield ast.BinOp(ast.Call(node.func, [inner.left, *rest], node.keywords), inner.op, inner.right)
        yield ast.BinOp(inner.left, inner.op, ast.Call(node.func, [inner.right, *rest], node.keywords))


def exchanged_arguments(node: ast.AST) -> Iterator[ast.expr]:
    """A call with two of its arguments exchanged."""
    if isinstance(node, ast.Call):
        for one, two in combinations(range(len(node.args)), 2):
            args = list(node.args)
            args[one], args[two] = args[two], args[one]
            yield ast.Call(node.func, args, node.keywords)


def summands(node: ast.expr, sign: int = 1) -> list[tuple[int, ast.expr]]:
    """The terms of a sum, each with its sign."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub)):
        last = sign if isinstance(node.op, ast.Add) else -sign
        return [*summands(node.left, sign), *summands(node.right, last)]
    return [(sign, node)]


def sum_of(terms: Sequence[tuple[int, ast.expr]]) -> ast.expr:
    """The sum of terms, of which the first is taken as it is."""
    (_sign, made), *others = terms
    for sign, term in others:
        made = ast.BinOp(made, ast.Add() if sign > 0 else ast.Sub(), term)
    return made


def plus(node: ast.expr, number: int) -> ast.expr:
    """The expression and a number, which is added to the number that stands there."""
    if isinstance(node, ast.Constant) and isinstance(node.value, int):
        return ast.Constant(node.value + number)
    if isinstance(node, ast.BinOp) and isinstance(node.right, ast.Constant) and isinstance(node.right.value, int):
        held = {ast.Add: node.right.value, ast.Sub: -node.right.value}.get(type(node.op))
        if held is not None:
            return node.left if held == -number else plus(node.left, held + number)
    return ast.BinOp(node, ast.Add() if number > 0 else ast.Sub(), ast.Constant(abs(number)))


def counted_down(node: ast.AST, loop: ast.For, knows: Callable[[ast.expr], bool]) -> Iterator[ast.expr]:
    """A sum with the counter of an unrolled loop that goes the other way round."""
    terms = summands(node) if isinstance(node, ast.expr) else []
    counter, call = loop.target, loop.iter
    if not isinstance(counter, ast.Name) or not isinstance(call, ast.Call):
        return
    signs = [sign for sign, term in terms if isinstance(term, ast.Name) and term.id == counter.id]
    rest = [(sign, term) for sign, term in terms if not knows(term)]
    if len(signs) == 1 and rest and rest[0][0] > 0:
        up = ast.Name(counter.id, ast.Load())
        end = call.args[0] if len(call.args) == 1 else call.args[1]
        down = [(1, end), (-1, ast.Constant(1)), (-1, up)]
        yield sum_of([*rest, *([(1, up)] if signs[0] < 0 else down)])


def other_bounds(call: ast.Call) -> Iterator[ast.expr]:
    """A range that begins or ends one earlier or later, or begins with 0."""
    begin, end, *step = call.args if len(call.args) > 1 else (ast.Constant(0), *call.args)
    for first, last in (
        (begin, plus(end, 1)), (begin, plus(end, -1)), (plus(begin, 1), end), (plus(begin, -1), end),
        (plus(begin, 1), plus(end, 1)), (ast.Constant(0), end),
    ):  # fmt: skip
        yield ast.Call(call.func, [first, last, *step], call.keywords)
