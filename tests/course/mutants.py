"""Wrong answers, made from right ones: each changes one thing that a learner might well get wrong.

`python -m tests.course.mutants [NAME ...]` tries them all, and prints those that a checker takes for right.
"""

from __future__ import annotations

import ast
import copy
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product

Change = Callable[[ast.AST], Iterator[tuple[str, ast.AST]]]
"""Gives the nodes that could stand in the place of one, with the name of the mistake."""

_OTHER_OPERATOR: dict[type[ast.AST], tuple[type[ast.AST], ...]] = {
    ast.Add: (ast.Sub,),
    ast.Sub: (ast.Add,),
    ast.Mult: (ast.Add,),
    ast.Div: (ast.Mult,),
    ast.FloorDiv: (ast.Mod,),
    ast.Mod: (ast.FloorDiv,),
    ast.Lt: (ast.LtE, ast.Gt),
    ast.LtE: (ast.Lt,),
    ast.Gt: (ast.Lt,),
    ast.GtE: (ast.Gt,),
    ast.BitAnd: (ast.BitOr,),
    ast.BitOr: (ast.BitAnd,),
}
_OTHER_FUNCTION = {
    "sum": "max",
    "max": "min",
    "min": "max",
    "maximum": "minimum",
    "minimum": "maximum",
    "argmax": "argmin",
    "exp": "exp2",
    "exp2": "exp",
    "log": "log2",
    "sqrt": "exp",
    "atomic_add": "store",
    "atomic_max": "store",
    "cumsum": "cumprod",
    "zeros_like": "ones_like",
}
_OTHER_TYPE = {"float32": "float16", "int32": "int8", "int64": "int8", "float16": "int8"}


@dataclass(frozen=True)
class Mutant:
    """A wrong answer: the whole text, what was done, in which line, and what the line has become."""

    text: str
    kind: str
    line: int
    became: str


def _masks(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    if isinstance(node, ast.Call):
        for number, keyword in enumerate(node.keywords):
            if keyword.arg in ("mask", "other"):
                other = copy.deepcopy(node)
                del other.keywords[number]
                if keyword.arg == "mask":
                    other.keywords = [one for one in other.keywords if one.arg != "other"]
                yield f"no {keyword.arg}", other
            if keyword.arg == "other":
                other = copy.deepcopy(node)
                other.keywords[number].value = ast.Constant(value=1.0)
                yield "wrong other", other
            if keyword.arg == "axis" and isinstance(keyword.value, ast.Constant) and keyword.value.value in (0, 1):
                other = copy.deepcopy(node)
                other.keywords[number].value = ast.Constant(value=1 - keyword.value.value)
                yield "wrong axis", other


def _operators(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    if isinstance(node, ast.BinOp):
        for kind in _OTHER_OPERATOR.get(type(node.op), ()):
            yield "wrong operator", ast.BinOp(node.left, kind(), node.right)  # type: ignore[arg-type]
        if isinstance(node.op, ast.Mult):
            yield "no factor", node.left
        if isinstance(node.op, ast.BitAnd):
            yield "half a mask", node.left
            yield "half a mask", node.right
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        for kind in _OTHER_OPERATOR.get(type(node.ops[0]), ()):
            yield "wrong comparison", ast.Compare(node.left, [kind()], node.comparators)  # type: ignore[list-item]
        less = ast.BinOp(node.comparators[0], ast.Sub(), ast.Constant(value=1))
        yield "off by one", ast.Compare(node.left, node.ops, [less])
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        yield "wrong sign", node.operand


def _calls(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
        return
    name = node.func.attr
    if name in _OTHER_FUNCTION:
        other = copy.deepcopy(node)
        other.func.attr = _OTHER_FUNCTION[name]  # type: ignore[attr-defined]
        yield f"{_OTHER_FUNCTION[name]} for {name}", other
    if name == "cdiv":
        yield "ignored tail", ast.BinOp(node.args[0], ast.FloorDiv(), node.args[1])
    if name == "program_id":
        yield "every program does the same", ast.Constant(value=0)
        other = copy.deepcopy(node)
        other.args = [ast.Constant(value=1 - int(ast.literal_eval(node.args[0])))]
        yield "wrong program id", other
    if name == "where":
        yield "branches swapped", ast.Call(node.func, [node.args[0], node.args[2], node.args[1]], node.keywords)
    if name == "arange":
        yield "off by one", ast.BinOp(copy.deepcopy(node), ast.Add(), ast.Constant(value=1))
    if name == "trans":
        yield "not transposed", node.args[0]


def _names(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    if isinstance(node, ast.Attribute) and node.attr in _OTHER_TYPE:
        yield "wrong dtype", ast.Attribute(node.value, _OTHER_TYPE[node.attr], ast.Load())
    if isinstance(node, ast.Subscript) and ast.unparse(node.slice) in ("(:, None)", "(None, :)"):
        other = "[None, :]" if ast.unparse(node.slice) == "(:, None)" else "[:, None]"
        yield "transposed", ast.parse(f"({ast.unparse(node.value)}){other}", mode="eval").body
    if isinstance(node, ast.Constant) and type(node.value) in (int, float) and node.value not in (0, 1):
        yield "wrong number", ast.Constant(value=node.value + 1)


def _statements(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    if isinstance(node, ast.AugAssign) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)):
        yield "left out", ast.Pass()
    if isinstance(node, ast.AugAssign):
        yield "not accumulated", ast.Assign([node.target], node.value)


def _loops(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """Of loops over arrays: bounds that are off by one, loops and subscripts in another order."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "range":
        for by in (-1, 1):
            last = ast.BinOp(node.args[-1], ast.Add(), ast.Constant(value=by))
            yield "off by one", ast.Call(node.func, [*node.args[:-1], last], [])
        first = node.args[0] if len(node.args) == 2 else ast.Constant(value=0)
        yield (
            "begins late",
            ast.Call(node.func, [ast.BinOp(first, ast.Add(), ast.Constant(value=1)), node.args[-1]], []),
        )
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("max", "min"):
        yield from (("half a bound", one) for one in node.args)
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Tuple):
        turned = ast.Tuple(node.slice.elts[::-1], ast.Load())
        yield "transposed", ast.Subscript(node.value, turned, node.ctx)


def _orders(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """Of schedules: a step left out, or with its loops the other way round; another loop, other tiles."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        yield "left out", node.func.value
        if len(node.args) == 2:
            yield "the other way round", ast.Call(node.func, node.args[::-1], node.keywords)
        if node.keywords:
            yield "for all", ast.Call(node.func, node.args, [])
        if len(node.args) == 1 and isinstance(node.args[0], ast.Constant):
            yield "another loop", ast.Call(node.func, [ast.Constant(value="j")], [])
        if not (isinstance(node.func.value, ast.Name) or node.keywords):
            yield (
                "the loops run backwards",
                ast.Call(ast.Attribute(node, "reverse", ast.Load()), [ast.Constant("i")], []),
            )
            yield (
                "every loop in parallel",
                ast.Call(ast.Attribute(node, "parallel", ast.Load()), [ast.Constant("j")], []),
            )
    if isinstance(node, ast.Dict) and len(node.values) == 2:
        for number, value in product(range(2), (1, 2, 64)):
            values = list(node.values)
            values[number] = ast.Constant(value=value)
            yield f"tiles of {value}", ast.Dict(node.keys, values)
        yield "tiles the other way round", ast.Dict(node.keys[::-1], node.values)
        yield "one loop only", ast.Dict(node.keys[:1], node.values[:1])
        yield "one loop only", ast.Dict(node.keys[1:], node.values[1:])


CHANGES: tuple[Change, ...] = (_masks, _operators, _calls, _names, _statements)
LOOPS: tuple[Change, ...] = (_operators, _loops)
ORDERS: tuple[Change, ...] = (_orders,)


def mutants(text: str, changes: tuple[Change, ...] = CHANGES) -> Iterator[Mutant]:
    """All of a right answer."""
    inside = _inside(text)
    tree = ast.parse(text)
    places = _places(tree)
    seen = {ast.unparse(tree)}
    for node in [node for node in ast.walk(tree) if getattr(node, "lineno", 0) in inside]:
        for change in changes:
            for kind, other in change(node):
                ast.fix_missing_locations(other)
                # In the tree itself, which is set right again: copies would take most of the time.
                _put(other, places[node])
                made = ast.unparse(tree)
                _put(node, places[node])
                if made not in seen:
                    seen.add(made)
                    yield Mutant(made, kind, node.lineno, ast.unparse(other))


Place = tuple[ast.AST, str, int | None]
"""A node's parent, the field that it is in, and where in a list."""


def _places(tree: ast.AST) -> dict[ast.AST, Place]:
    """Of all nodes that stand in one place only, as those with a line do."""
    found: dict[ast.AST, Place] = {}
    for parent in ast.walk(tree):
        for name, value in ast.iter_fields(parent):
            if isinstance(value, list):
                found.update({child: (parent, name, number) for number, child in enumerate(value)})
            elif isinstance(value, ast.AST):
                found[value] = parent, name, None
    return found


def _put(node: ast.AST, place: Place) -> None:
    parent, name, number = place
    if number is None:
        setattr(parent, name, node)
    else:
        getattr(parent, name)[number] = node


def _inside(text: str) -> set[int]:
    """The lines that are in a solution; all of them, where a solution mends what was given."""
    if "# INSTEAD" in text:
        return set(range(1, text.count("\n") + 2))
    found, begun = set(), False
    for number, line in enumerate(text.split("\n"), start=1):
        if "BEGIN SOLUTION" in line or "END SOLUTION" in line:
            begun = "BEGIN" in line
        elif begun:
            found.add(number)
    return found


def main() -> None:
    from tests.course.chapters import answers
    from tests.course.same import means_the_same
    from tests.course.test_checkers import is_rejected
    from triton_lab.course.exercise_kinds import Task
    from triton_lab.course.exercise_registry import exercises
    from triton_lab.course.nest_exercises import NestExercise, OrderExercise

    kinds: dict[type, tuple[Change, ...]] = {Task: CHANGES, NestExercise: LOOPS, OrderExercise: ORDERS}
    tried = survived = 0
    for one in exercises():
        if type(one) not in kinds or (sys.argv[1:] and one.name not in sys.argv[1:]):
            continue
        made = [
            mutant for mutant in mutants(answers()[one.name], kinds[type(one)]) if not means_the_same(one.name, mutant)
        ]
        left = [mutant for mutant in made if not is_rejected(one, mutant.text)]
        tried, survived = tried + len(made), survived + len(left)
        print(f"{one.name}: {len(made) - len(left)} of {len(made)} rejected", flush=True)
        for mutant in left:
            print(f"    {mutant.kind}, line {mutant.line}: {mutant.became}")
    print(f"{tried - survived} of {tried} rejected")


if __name__ == "__main__":
    main()
