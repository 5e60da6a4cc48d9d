"""The import graph of the package, read from its files: `python -m tests.imports` prints it.

An import is one of three kinds: with the module itself, for types alone, or deferred, when a function is called. A
module that a string names, as in a table of what is loaded later, counts as a deferred import.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from tests.sources import PACKAGE, source

_NAMED = re.compile(rf"{PACKAGE.name}\.(\w+(?:\.\w+)*)(?::\w+)?")
Kind = Literal["module", "type", "call"]

# ARCHITECTURE.md's table of rooms, from the top.
TABLE = (PACKAGE.parent / "ARCHITECTURE.md").read_text(encoding="utf-8").splitlines()
ROOMS = [re.findall(r"`(\w+)(?:/|\.py)`", row.split("|")[1]) for row in TABLE if row.startswith("| `")]
RANK = {room: number for number, rooms in enumerate(ROOMS) for room in rooms}


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


def room_of(module: str) -> str:
    """The room that a module lies in, ``launch``."""
    return module.split("/")[0]


def folder_of(module: str) -> str:
    """The folder that a module lies in, ``launch/checks``; a package lies in itself, and so does a file of the top."""
    parent = Path(module).parent.as_posix()
    return module if (PACKAGE / module).is_dir() or parent == "." else parent


def imports(module: str, path: Path, known: Iterable[str]) -> Iterator[Import]:
    """What a module imports from the package, relative imports and modules that strings name included."""
    read, names = source(path), frozenset(known)
    yield from _imports(read.tree.body, module, names, "module")
    for node in read.nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and (found := _NAMED.fullmatch(node.value)):
            name = found[1].replace(".", "/")
            if name in names and not (PACKAGE / name).is_dir():  # a package's name alone is a prefix that is looked for
                yield Import(module, name, "call")


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


def goes_down(edge: Import) -> bool:
    """Whether it is an import of a room further down the table. The package's own door opens on all rooms."""
    return "." not in (edge.by, edge.of) and RANK[room_of(edge.of)] > RANK[room_of(edge.by)]


def deferred(edges: Iterable[Import]) -> dict[str, list[Import]]:
    """The deferred imports by their direction in the table of rooms."""
    found: dict[str, list[Import]] = {"of a room above": [], "inside a room": [], "of a room below": []}
    for edge in edges:
        if edge.kind == "call" and "." not in (edge.by, edge.of):
            inside = room_of(edge.by) == room_of(edge.of)
            where = "inside a room" if inside else "of a room below" if goes_down(edge) else "of a room above"
            found[where].append(edge)
    return found


def at_run_time(edges: Iterable[Import]) -> Iterator[Import]:
    """The imports that happen, with a module or deferred, without those of the package's own door, and without those of
    a room below, which `deferred` lists."""
    return (edge for edge in edges if edge.kind != "type" and "." not in (edge.by, edge.of) and not goes_down(edge))


def when_read(edges: Iterable[Import]) -> Iterator[Import]:
    """The imports with a module and those for types, without the types of rooms below that methods return."""
    return (edge for edge in edges if edge.kind == "module" or (edge.kind == "type" and not goes_down(edge)))


def table() -> str:
    """The import graph of the folders, a line each, with the kinds of imports; then how many imports are deferred, and
    the circles, without deferred imports and with them."""
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
    for where, found in deferred(edges).items():
        lines.append(f"deferred imports {where}: {len(found)}")
    lines += [f"  {edge.by} -> {edge.of}" for edge in deferred(edges)["of a room below"]]
    lines += [f"circle: {', '.join(circle)}" for circle in circles(when_read(edges))]
    lines += [f"circle of deferred imports: {', '.join(circle)}" for circle in circles(at_run_time(edges))]
    return "\n".join(lines)


if __name__ == "__main__":
    print(table())
