"""Another version of a file's functions, put into the functions that are there: with a change, or with probes.

A probe stands before a statement and says when it is run. Decorated, cached and nested functions keep what is around
them: only their code is another. What runs when the module is imported cannot be put in so, nor what is read and not
run (the source of a kernel).
"""

from __future__ import annotations

import ast
import builtins
import gc
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, FunctionType

from tests.mutation.changes import Change

_PROBE = "__mutation_probe__"
_Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class _Place:
    """A statement: the ``number``-th of a ``block``, which is in a ``function`` unless it is run by the import."""

    block: list[ast.stmt]
    number: int
    function: _Function | None


def probed(source: str, changes: Mapping[int, Change]) -> tuple[ast.Module, set[int]]:
    """The file with probes at what is changed, which say the change's number; and the numbers that have one."""
    tree = ast.parse(source)
    lines = source.splitlines()
    places: dict[int, _Place] = {}
    for number, change in changes.items():
        at = change.line, len(lines[change.line - 1][: change.column].encode())  # the tree counts bytes
        *_, place = _around(tree, at, None)
        if place.function and not _is_kernel(place.function):
            places[number] = place
    # From the back, so that the numbers of statements before stay right.
    for number, place in sorted(places.items(), key=lambda each: -each[1].number):
        statement = place.block[place.number]
        call = ast.Call(ast.Name(_PROBE, ast.Load()), [ast.Constant(number)], [])
        place.block.insert(place.number, ast.copy_location(ast.Expr(call), statement))
    return ast.fix_missing_locations(tree), set(places)


def _around(node: ast.AST, at: tuple[int, int], function: _Function | None) -> Iterator[_Place]:
    """The statements around a place (line from 1, byte from 0), from the outermost on."""
    for _, value in ast.iter_fields(node):
        for number, child in enumerate(value if isinstance(value, list) else [value]):
            if isinstance(child, ast.stmt):
                if (child.lineno, child.col_offset) <= at < (child.end_lineno or 0, child.end_col_offset or 0):
                    yield _Place(value, number, function)
                    # Defaults belong to what is around the function.
                    inside = isinstance(child, _Function) and at[0] >= child.body[0].lineno
                    yield from _around(child, at, child if inside else function)  # type: ignore[arg-type]
            elif isinstance(child, ast.AST):
                yield from _around(child, at, function)


def _is_kernel(function: _Function) -> bool:
    return any("jit" in ast.unparse(decorator) for decorator in function.decorator_list)


def listen(said: Callable[[int], object]) -> None:
    """``said`` is called with the number of each probe that is run."""
    setattr(builtins, _PROBE, said)


@dataclass
class Functions:
    """The functions of the package in ``root`` that are there, file by file."""

    root: Path
    found: dict[str, list[FunctionType]] = field(default_factory=lambda: defaultdict(list))

    def look(self) -> None:
        """Finds them all, those behind decorators too."""
        self.found.clear()
        for each in gc.get_objects():
            if type(each) is FunctionType:
                self.found[each.__code__.co_filename].append(each)

    def become(self, path: str, version: str | ast.Module) -> None:
        """The functions of a file run what ``version`` of it says."""
        name = str(self.root / path)
        codes = defaultdict(list)
        for code in _codes(compile(version, name, "exec", dont_inherit=True)):
            codes[_name(code)].append(code)
        for function in self.found[name]:
            # Two lambdas of one line have one name, and are left as they are.
            code, *others = codes.get(_name(function.__code__), [None])
            if code and not others and code.co_freevars == function.__code__.co_freevars:
                function.__code__ = code


def _name(code: CodeType) -> tuple[str, int]:
    return getattr(code, "co_qualname", code.co_name), code.co_firstlineno  # from Python 3.11 on


def _codes(code: CodeType) -> Iterable[CodeType]:
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield each
            yield from _codes(each)
