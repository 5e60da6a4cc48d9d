"""The import graph of the package, read from its files: `python -m tests.imports` prints it.

An import is of one of three kinds: when the module is imported, for types alone, or when a function is called.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from tests.sources import PACKAGE, source

Kind = Literal["module", "type", "call"]


@dataclass(frozen=True)
class Import:
    """One module's import of another, both by their path in the package without suffix (``launch/record``)."""

    by: str
    of: str
    kind: Kind

    def __str__(self) -> str:
        return f"{self.by} -> {self.of} ({self.kind})"


def modules() -> dict[str, Path]:
    """All modules of the package; a package itself is its folder (``launch``), the door is ``.``."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        name = path.relative_to(PACKAGE).with_suffix("")
        found[(name.parent if name.name == "__init__" else name).as_posix()] = path
    return found


def folder_of(module: str) -> str:
    """The folder that a module lies in, ``launch/checks``; a package lies in itself, and so does a file of the top."""
    parent = Path(module).parent.as_posix()
    return module if (PACKAGE / module).is_dir() or parent == "." else parent


def imports(module: str, path: Path, known: Iterable[str]) -> Iterator[Import]:
    """What a module imports from the package, relative imports included."""
    return _imports(source(path).tree.body, module, frozenset(known), "module")


def _imports(body: list[ast.stmt], module: str, known: frozenset[str], kind: Kind) -> Iterator[Import]:
    for node in body:
        if isinstance(node, ast.Import):
            names = [name.name for name in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [f"{_absolute(node, module)}.{name.name}" for name in node.names]
        else:
            names = []
        for name in names:
            parts = name.split(".")
            if parts[0] == PACKAGE.name:
                yield Import(module, _module(parts[1:], known), kind)
        for part in ("body", "orelse", "finalbody", "handlers", "cases"):
            inner = getattr(node, part, [])
            if inner:
                yield from _imports(inner, module, known, _kind(node, part, kind))


def _kind(node: ast.AST, part: str, kind: Kind) -> Kind:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return "call"
    if isinstance(node, ast.If) and part == "body" and "TYPE_CHECKING" in ast.dump(node.test):
        return "type"
    return kind


def _absolute(node: ast.ImportFrom, module: str) -> str:
    """The full name of the module that is imported from."""
    if not node.level:
        return node.module or ""
    folder = module if (PACKAGE / module).is_dir() else Path(module).parent.as_posix()
    package = [PACKAGE.name, *(part for part in folder.split("/") if part != ".")]
    return ".".join([*package[: len(package) + 1 - node.level], *([node.module] if node.module else [])])


def _module(parts: list[str], known: frozenset[str]) -> str:
    """The module that a dotted name lies in: the longest beginning that is one."""
    for end in range(len(parts), 0, -1):
        if "/".join(parts[:end]) in known:
            return "/".join(parts[:end])
    return "."


def every_import() -> list[Import]:
    """All imports within the package, each once, none of a module of itself."""
    known = modules()
    found = {each for module, path in known.items() for each in imports(module, path, known) if each.of != module}
    return sorted(found, key=lambda each: (each.by, each.of, each.kind))


def circles(edges: Iterable[Import]) -> list[list[str]]:
    """Modules that import one another in a circle: the strongly connected parts of the graph, by Tarjan's algorithm."""
    graph: dict[str, list[str]] = defaultdict(list)
    for edge in edges:
        graph[edge.by].append(edge.of)
    number: dict[str, int] = {}
    lowest: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(module: str) -> None:
        number[module] = lowest[module] = len(number)
        stack.append(module)
        for other in graph.get(module, ()):
            if other not in number:
                visit(other)
                lowest[module] = min(lowest[module], lowest[other])
            elif other in stack:
                lowest[module] = min(lowest[module], number[other])
        if lowest[module] == number[module]:
            at = stack.index(module)
            part, stack[at:] = stack[at:], []
            if len(part) > 1:
                found.append(sorted(part))

    for module in sorted(graph):
        if module not in number:
            visit(module)
    return found


def table() -> str:
    """The import graph of the folders, a line each, with the kinds of imports; then the circles."""
    kinds: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    edges = every_import()
    for edge in edges:
        by, of = folder_of(edge.by), folder_of(edge.of)
        if by != of:
            kinds[by][of].add(edge.kind)
    lines = []
    for by, others in sorted(kinds.items()):
        told = [of if "module" in found else f"({of}: {', '.join(sorted(found))})" for of, found in others.items()]
        lines.append(f"{by} -> {', '.join(sorted(told))}")
    lines += [f"circle: {', '.join(circle)}" for circle in circles(e for e in edges if e.kind != "call")]
    return "\n".join(lines)


if __name__ == "__main__":
    print(table())
