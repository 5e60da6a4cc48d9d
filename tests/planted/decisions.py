"""What a piece of an example's source decides: where memory is touched, or which values are computed there.

Checks know the memory of a launch, and nobody tells them what the values should be. A mistake in a value alone is for
`lab.compare`, which is given the right ones.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

PLACES, VALUES = "places", "values"
_ACCESSES = ("load", "store", "atomic_add", "atomic_max", "atomic_min", "atomic_cas", "atomic_xchg", "debug_barrier")
# What is decided by these, wherever they are made. Those not named here depend on the expression that they change.
_BY_MISTAKE = {
    **dict.fromkeys(("cast dropped", "axis of a reduction", "narrow accumulator"), VALUES),
    **dict.fromkeys(
        (
            *("mask dropped", "other dropped", "condition of a mask dropped", "barrier removed", "block forgotten"),
            *("axis of a program", "atomic made a store", "stride exchanged", "loop one step short"),
            *("strides swapped", "not zeroed", "grid too small", "axis of a grid dropped", "not contiguous"),
        ),
        PLACES,
    ),
}
Name = tuple[str, str]  # of a function, and of a variable in it
Span = tuple[int, int]  # the first place in the page's text, and that behind the last


class Decisions:
    """The expressions of a page that decide places: addresses, masks, numbers of steps, branches, and what they need.

    The values that a kernel computes from what it loads decide none, unless an address or a mask is made of them.
    """

    def __init__(self, text: str) -> None:
        self._begins = [0]
        for line in text.splitlines(keepends=True):
            self._begins.append(self._begins[-1] + len(line))
        self._functions = {each.name: each for each in ast.parse(text).body if isinstance(each, ast.FunctionDef)}
        self._names: set[Name] = set()
        self._spans: set[Span] = set()
        known = -1
        while known != len(self._spans):
            known = len(self._spans)
            for function in self._functions.values():
                for node in ast.walk(function):
                    for decisive in self._decisive(function.name, node):
                        self._add(function.name, decisive)

    def of(self, mistake: str, start: int, end: int) -> str:
        """`PLACES` or `VALUES`, for a mistake from ``start`` to ``end`` of the page's text."""
        if mistake in _BY_MISTAKE:
            return _BY_MISTAKE[mistake]
        if mistake == "arguments exchanged":
            return VALUES if self._are_inputs(start, end) else PLACES
        return PLACES if any(first <= start and end <= last for first, last in self._spans) else VALUES

    def _span(self, node: ast.expr | ast.stmt) -> Span:
        assert node.end_lineno is not None and node.end_col_offset is not None
        return (
            self._begins[node.lineno - 1] + node.col_offset,
            self._begins[node.end_lineno - 1] + node.end_col_offset,
        )

    def _add(self, function: str, node: ast.expr) -> None:
        self._spans.add(self._span(node))
        self._names |= {(function, each.id) for each in ast.walk(node) if isinstance(each, ast.Name)}

    def _decisive(self, function: str, node: ast.AST) -> Iterator[ast.expr]:
        """The expressions of a node that decide places, as far as is known by now."""
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id="tl"), attr=name)) if name in _ACCESSES:
                yield from node.args[:1]
                yield from (each.value for each in node.keywords if each.arg == "mask")
            case ast.Call(func=ast.Name(id=name)) if name in self._functions:
                parameters = [each.arg for each in self._functions[name].args.args]
                for parameter, argument in zip(parameters, node.args, strict=False):
                    if (name, parameter) in self._names:
                        yield argument
            case ast.Call(func=ast.Subscript()) | ast.IfExp():
                yield node.func.slice if isinstance(node, ast.Call) else node.test  # type: ignore[attr-defined]
            case ast.For() if self._touches(node):
                yield node.iter
            case ast.While() | ast.If() if self._touches(node):
                yield node.test
            case ast.Assign(targets=[target], value=value) | ast.AugAssign(target=target, value=value):
                given = {each.id for each in ast.walk(target) if isinstance(each, ast.Name)}
                if any((function, each) in self._names for each in given):
                    yield value
                    self._spans.add(self._span(node))
                    if isinstance(value, ast.Call) and isinstance(value.func, ast.Name):
                        yield from self._results(value.func.id)

    def _touches(self, node: ast.AST) -> bool:
        """Whether there is an access in a loop or a branch, or in its condition, or a call of another function."""
        for each in ast.walk(node):
            match each:
                case ast.Call(func=ast.Attribute(value=ast.Name(id="tl"), attr=name)) if name in _ACCESSES:
                    return True
                case ast.Call(func=ast.Name(id=name)) if name in self._functions:
                    return True
                case ast.Call(func=ast.Subscript()):
                    return True
        return False

    def _results(self, name: str) -> Iterator[ast.expr]:
        for node in ast.walk(self._functions[name]) if name in self._functions else ():
            if isinstance(node, ast.Return) and node.value is not None:
                self._add(name, node.value)
        yield from ()

    def _are_inputs(self, start: int, end: int) -> bool:
        """Whether the arguments of a launch from ``start`` to ``end`` are tensors that its kernel only loads from."""
        for function in self._functions.values():
            for call in ast.walk(function):
                if isinstance(call, ast.Call) and isinstance(call.func, ast.Subscript):
                    first, last = self._span(call)
                    if first <= start and end <= last:
                        kernel = self._functions[ast.unparse(call.func.value)]
                        pairs = zip(call.args, kernel.args.args, strict=False)
                        exchanged = {
                            parameter.arg for argument, parameter in pairs if start <= self._span(argument)[0] < end
                        }
                        pointers = all(each.endswith("_ptr") for each in exchanged)
                        return pointers and not exchanged & self._written(kernel)
        return False

    def _written(self, kernel: ast.FunctionDef) -> set[str]:
        """The variables that lead to what a kernel writes."""
        found: set[str] = set()
        for node in ast.walk(kernel):
            match node:
                case ast.Call(func=ast.Attribute(value=ast.Name(id="tl"), attr=name)) if name in _ACCESSES[1:-1]:
                    found |= {each.id for each in ast.walk(node.args[0]) if isinstance(each, ast.Name)}
        for node in ast.walk(kernel):
            match node:
                case ast.Assign(targets=[ast.Name(id=name)], value=value) if name in found and "ptr" in name:
                    found |= {each.id for each in ast.walk(value) if isinstance(each, ast.Name)}
        return found
