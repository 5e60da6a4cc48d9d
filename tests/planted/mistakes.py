"""The mistakes that are planted into the examples: where each can be made in a function, and what it replaces.

A mistake reads the source alone, and knows nothing of the checks and of the experiments that are measured with it.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass

# The text from the first to the last of two places, and what stands there instead.
Edit = tuple[int, int, str]
_SIBLINGS = {
    "exp": "exp2",
    "exp2": "exp",
    "log": "log2",
    "sqrt": "rsqrt",
    "rsqrt": "sqrt",
    "maximum": "minimum",
    "minimum": "maximum",
    "max": "sum",
    "sum": "max",
}
_OPERATORS = {ast.Add: ("+", "-"), ast.Sub: ("-", "+"), ast.Mult: ("*", "+"), ast.Div: ("/", "*")}
_WHOLE = {ast.Mod: ("%", "//"), ast.FloorDiv: ("//", "%")}


@dataclass(frozen=True)
class Source:
    """A function of a page, and where its nodes stand in the page's text."""

    text: str
    function: ast.FunctionDef
    begins: list[int]  # of each line of the page

    def start(self, node: ast.expr | ast.stmt | ast.keyword) -> int:
        return self.begins[node.lineno - 1] + node.col_offset

    def end(self, node: ast.expr | ast.stmt | ast.keyword) -> int:
        assert node.end_lineno is not None and node.end_col_offset is not None
        return self.begins[node.end_lineno - 1] + node.end_col_offset

    def of(self, node: ast.expr | ast.stmt) -> str:
        return self.text[self.start(node) : self.end(node)]

    def replaced(self, node: ast.expr | ast.stmt, text: str) -> Edit:
        """Another text for a node. As many lines follow it as before, so that all lines stay where they were."""
        lines = self.of(node).count("\n") - text.count("\n")
        return self.start(node), self.end(node), text[:-1] + "\n" * lines + text[-1:]

    def removed(self, first: int, last: int) -> Edit:
        """Nothing for a text inside of parentheses, but for its ends of lines."""
        return first, last, "\n" * self.text.count("\n", first, last)

    def between(self, left: ast.expr, right: ast.expr, old: str, new: str) -> Iterator[Edit]:
        """An operator between two operands, which may stand in parentheses."""
        first, last = self.end(left), self.start(right)
        if old in self.text[first:last]:
            yield first, last, self.text[first:last].replace(old, new)

    @property
    def is_kernel(self) -> bool:
        return any(ast.unparse(each) == "triton.jit" for each in self.function.decorator_list)

    @property
    def parameters(self) -> list[str]:
        return [each.arg for each in self.function.args.args]


def _called(node: ast.AST, *names: str) -> bool:
    return isinstance(node, ast.Call) and ast.unparse(node.func) in names


def _mask_dropped(node: ast.AST, source: Source) -> Iterator[Edit]:
    if isinstance(node, ast.Call):
        # `other` means nothing without a mask, and follows it wherever it is given.
        masking = [each.value for each in node.keywords if each.arg in ("mask", "other")]
        if masking:
            yield source.removed(source.end(node.args[-1]), source.end(masking[-1]))


def _other_dropped(node: ast.AST, source: Source) -> Iterator[Edit]:
    if isinstance(node, ast.Call) and {"mask", "other"} <= {each.arg for each in node.keywords}:
        others = [(k, each.value) for k, each in enumerate(node.keywords) if each.arg == "other"]
        for place, value in others:
            before = node.keywords[place - 1].value if place else node.args[-1]
            yield source.removed(source.end(before), source.end(value))


def _condition_dropped(node: ast.AST, source: Source) -> Iterator[Edit]:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitAnd):
        yield source.replaced(node, source.of(node.left))
        yield source.replaced(node, source.of(node.right))


def _bound_off(node: ast.AST, source: Source) -> Iterator[Edit]:
    if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Lt):
        yield from source.between(node.left, node.comparators[0], "<", "<=")


def _comparison_turned(node: ast.AST, source: Source) -> Iterator[Edit]:
    if isinstance(node, ast.Compare):
        turned = {ast.Lt: ("<", ">"), ast.Gt: (">", "<"), ast.GtE: (">=", "<="), ast.LtE: ("<=", ">=")}
        if (pair := turned.get(type(node.ops[0]))) is not None:
            yield from source.between(node.left, node.comparators[0], *pair)


def _barrier_removed(node: ast.AST, source: Source) -> Iterator[Edit]:
    if isinstance(node, ast.Expr) and ast.unparse(node) == "tl.debug_barrier()":
        yield source.start(node), source.end(node), "pass"


def _block_forgotten(node: ast.AST, source: Source) -> Iterator[Edit]:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        for kept, other in ((node.left, node.right), (node.right, node.left)):
            is_program = _called(kept, "tl.program_id") or (isinstance(kept, ast.Name) and "pid" in kept.id)
            if is_program and ast.unparse(other).isupper():
                yield source.replaced(node, source.of(kept))


def _program_axis(node: ast.AST, source: Source) -> Iterator[Edit]:
    if _called(node, "tl.program_id"):
        used = {ast.unparse(each.args[0]) for each in ast.walk(source.function) if _called(each, "tl.program_id")}  # type: ignore[attr-defined]
        axis = node.args[0]  # type: ignore[attr-defined]
        yield from (source.replaced(axis, other) for other in sorted(used - {ast.unparse(axis)}))


def _atomic_made_a_store(node: ast.AST, source: Source) -> Iterator[Edit]:
    if isinstance(node, ast.Expr) and _called(node.value, "tl.atomic_add"):
        assert isinstance(node.value, ast.Call)
        kept = [ast.unparse(each) for each in node.value.keywords if each.arg == "mask"]
        given = [source.of(each) for each in node.value.args]
        yield source.replaced(node, f"tl.store({', '.join(given + kept)})")


def _stride_exchanged(node: ast.AST, source: Source) -> Iterator[Edit]:
    strides = [each for each in source.parameters if "stride" in each]
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in strides and len(strides) > 1:
        yield source.replaced(node, strides[(strides.index(node.id) + 1) % len(strides)])


def _narrow_accumulator(node: ast.AST, source: Source) -> Iterator[Edit]:
    if _called(node, "tl.zeros", "tl.full"):
        for each in ast.walk(node):
            if isinstance(each, ast.Attribute) and ast.unparse(each) == "tl.float32":
                yield source.replaced(each, "tl.float16")


def _cast_dropped(node: ast.AST, source: Source) -> Iterator[Edit]:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "to":
        yield source.replaced(node, source.of(node.func.value))


def _reduced_along(node: ast.AST, source: Source) -> Iterator[Edit]:
    if isinstance(node, ast.Call) and ast.unparse(node.func).startswith("tl."):
        for each in node.keywords:
            if each.arg == "axis" and isinstance(each.value, ast.Constant):
                yield source.replaced(each.value, str(1 - int(str(each.value.value))))


def _operands_exchanged(node: ast.AST, source: Source) -> Iterator[Edit]:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub | ast.Div | ast.Mod | ast.FloorDiv):
        first, last = source.end(node.left), source.start(node.right)
        left, right = source.of(node.left), source.of(node.right)
        if "(" not in source.text[first:last] and ")" not in source.text[first:last]:
            yield source.start(node), source.end(node), right + source.text[first:last] + left


def _operator(node: ast.AST, source: Source) -> Iterator[Edit]:
    if isinstance(node, ast.BinOp) and (pair := (_OPERATORS | _WHOLE).get(type(node.op))) is not None:
        yield from source.between(node.left, node.right, *pair)


def _function(node: ast.AST, source: Source) -> Iterator[Edit]:
    if isinstance(node, ast.Call) and ast.unparse(node.func).startswith("tl."):
        other = _SIBLINGS.get(ast.unparse(node.func).removeprefix("tl."))
        if other is not None:
            yield source.replaced(node.func, f"tl.{other}")


def _constant(node: ast.AST, source: Source) -> Iterator[Edit]:
    if isinstance(node, ast.Constant) and isinstance(node.value, float) and 0 < abs(node.value) < 1e300:
        yield source.replaced(node, repr(node.value * 2))
    elif isinstance(node, ast.BinOp | ast.Compare):
        for each in (node.left, node.right if isinstance(node, ast.BinOp) else node.comparators[0]):
            if isinstance(each, ast.Constant) and type(each.value) is int:
                yield source.replaced(each, str(each.value + 1))


def _update_left_out(node: ast.AST, source: Source) -> Iterator[Edit]:
    if isinstance(node, ast.AugAssign):
        yield source.replaced(node, "pass")


def _update_made_an_assignment(node: ast.AST, source: Source) -> Iterator[Edit]:
    if isinstance(node, ast.AugAssign):
        first, last = source.end(node.target), source.start(node.value)
        yield first, last, " = "


def _loop_short(node: ast.AST, source: Source) -> Iterator[Edit]:
    if isinstance(node, ast.For) and _called(node.iter, "range", "tl.range"):
        assert isinstance(node.iter, ast.Call)
        given = node.iter.args
        end = given[1] if len(given) > 1 else given[0]
        yield source.replaced(end, f"{source.of(end)} - {source.of(given[2]) if len(given) > 2 else 1}")
        if len(given) > 1:
            yield source.replaced(given[0], f"{source.of(given[0])} + {source.of(given[2]) if len(given) > 2 else 1}")


def _strides_swapped(node: ast.AST, source: Source) -> Iterator[Edit]:
    if isinstance(node, ast.Starred) and ast.unparse(node).endswith(".stride()"):
        yield source.end(node), source.end(node), "[::-1]"  # type: ignore[arg-type]


def _not_zeroed(node: ast.AST, source: Source) -> Iterator[Edit]:
    if _called(node, "torch.zeros", "torch.zeros_like"):
        assert isinstance(node, ast.Call)
        yield source.replaced(node.func, ast.unparse(node.func).replace("zeros", "empty"))


def _grids(function: ast.FunctionDef) -> Iterator[ast.Tuple]:
    for node in ast.walk(function):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Subscript):
            if isinstance(node.func.slice, ast.Tuple):
                yield node.func.slice


def _grid_small(node: ast.AST, source: Source) -> Iterator[Edit]:
    if _called(node, "triton.cdiv") and any(node in ast.walk(grid) for grid in _grids(source.function)):
        assert isinstance(node, ast.Call)
        yield source.replaced(node, "(" + " // ".join(source.of(each) for each in node.args) + ")")


def _grid_axis_dropped(node: ast.AST, source: Source) -> Iterator[Edit]:
    if isinstance(node, ast.Tuple) and len(node.elts) > 1 and any(node is grid for grid in _grids(source.function)):
        last = node.elts[-1]
        yield source.end(node.elts[-2]), source.end(last), "," if len(node.elts) == 2 else ""


def _not_contiguous(node: ast.AST, source: Source) -> Iterator[Edit]:
    if isinstance(node, ast.Call) and ast.unparse(node).endswith(".contiguous()"):
        assert isinstance(node.func, ast.Attribute)
        yield source.replaced(node, source.of(node.func.value))


def _arguments_exchanged(node: ast.AST, source: Source) -> Iterator[Edit]:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Subscript):
        for one, two in itertools.pairwise(node.args):
            if isinstance(one, ast.Name) and isinstance(two, ast.Name) and one.id != two.id:
                between = source.text[source.end(one) : source.start(two)]
                yield source.start(one), source.end(two), two.id + between + one.id


Mistake = Callable[[ast.AST, Source], Iterator[Edit]]
# Of addresses, masks and the order of programs: checks can see them.
IN_KERNELS: dict[str, Mistake] = {
    "mask dropped": _mask_dropped,
    "other dropped": _other_dropped,
    "condition of a mask dropped": _condition_dropped,
    "bound off by one": _bound_off,
    "comparison turned": _comparison_turned,
    "barrier removed": _barrier_removed,
    "block forgotten": _block_forgotten,
    "axis of a program": _program_axis,
    "atomic made a store": _atomic_made_a_store,
    "stride exchanged": _stride_exchanged,
    # Of values: the numbers are wrong.
    "narrow accumulator": _narrow_accumulator,
    "cast dropped": _cast_dropped,
    "axis of a reduction": _reduced_along,
    "operands exchanged": _operands_exchanged,
    "operator": _operator,
    "function": _function,
    "constant": _constant,
    "update left out": _update_left_out,
    "update made an assignment": _update_made_an_assignment,
    "loop one step short": _loop_short,
}
IN_LAUNCHERS: dict[str, Mistake] = {
    "strides swapped": _strides_swapped,
    "not zeroed": _not_zeroed,
    "grid too small": _grid_small,
    "axis of a grid dropped": _grid_axis_dropped,
    "not contiguous": _not_contiguous,
    "arguments exchanged": _arguments_exchanged,
}


def edits(source: Source) -> Iterator[tuple[str, Edit]]:
    """Each mistake that can be made in a function, by name."""
    nodes = ast.walk(source.function)
    launches = any(isinstance(node, ast.Call) and isinstance(node.func, ast.Subscript) for node in nodes)
    for name, mistake in (IN_KERNELS if source.is_kernel else IN_LAUNCHERS if launches else {}).items():
        for node in ast.walk(source.function):
            for edit in mistake(node, source):
                yield name, edit
