"""Which tests a change reaches, and how near it is to each, from the imports of all files.

`python -m tests.reach triton_lab/ir/parse.py` prints the tests that this file reaches, the nearest first.
"""

from __future__ import annotations

import ast
import re
import sys
from collections import defaultdict, deque
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path, PurePosixPath

import triton_lab
from tests.imports import PACKAGE, Import, imports, modules
from tests.sources import source

ROOT = PACKAGE.parent
# A file of these sets up the machine for all tests, which it concerns less than what they import.
SETTING_UP = ("tests/conftest.py", "tests/machine.py")
# Triton itself imports these when a kernel is defined or launched.
PLUGIN = ("triton_lab/backend/compiler.py", "triton_lab/backend/driver.py")
# What is read as data -> the tests that read it. What a Python file names by its full file name needs no line here.
READERS = (
    ("triton_lab/views/front/", ("tests/views/", "tests/browser/")),
    ("triton_lab/labextension/", ("tests/browser/",)),
    ("labextension/", ("tests/browser/", "tests/test_packaging.py")),
    ("notebooks/", ("tests/notebooks/", "tests/course/", "tests/browser/", "tests/test_documents.py")),
    ("docs/", ("tests/test_documents.py", "tests/browser/test_site.py")),
    *((name, ("tests/",)) for name in ("pyproject.toml", *SETTING_UP)),
)
FAR = 9  # what only `READERS` knows of lies so many steps away
# Audits: tests that read all sources of the package, or the graph of them.
_READS_ALL = re.compile(r"^from tests import .*\b(?:sources|reach)\b|^from tests\.sources import", re.MULTILINE)

_FROM = re.compile(r"\bfrom (triton_lab|tests|bench)((?:\.\w+)*) import (\([^)]*\)|[^\n;\"']*)")
_DOTTED = re.compile(r"(?<![\w/.])(triton_lab|tests|bench)((?:\.\w+)+)")
_PUBLIC = re.compile(r"(?<![\w.])(?:lab|triton_lab)\.([A-Za-z_]\w*)")
_RUN = re.compile(r"[\"']-m[\"'], [\"']([\w.]+)[\"']")
_TRITON = re.compile(r"^\s*(?:import triton(?:\.language as tl)?$|import triton\b|from triton\b)", re.MULTILINE)


def is_test(file: str) -> bool:
    return PurePosixPath(file).name.startswith("test_") and file.startswith("tests/")


def distances(changed: Collection[str], graph: Graph | None = None) -> dict[str, int]:
    """How near a change of these files is to each test file that it reaches.

    0: the file itself, or that of the same name as a changed module. Else the number of imports in between, of which
    one that happens in a call counts too, as long as it leads to a room that the test's own room may know.
    """
    graph = graph or Graph()
    every = sorted(filter(is_test, graph.files))
    found: dict[str, int] = {}
    by_room: dict[str, dict[str, int]] = {}
    for test in every:
        room = room_of(test)
        if room not in by_room:
            by_room[room] = graph.reached_from(changed, room)
        if test in by_room[room]:
            found[test] = by_room[room][test]
    for file in changed:
        if (own := mirror(file)) in found:
            found[own] = 0
        for prefix, readers in READERS:
            if file.startswith(prefix):
                for test in every:
                    if test.startswith(readers):
                        found.setdefault(test, FAR)
    return found


def mirror(file: str) -> str:
    """The test file of a module of the package."""
    path = PurePosixPath(file)
    inner = path.parts[1:-1] if path.parts[0] == PACKAGE.name else path.parts[:-1]
    return PurePosixPath("tests", *inner, f"test_{path.stem}.py").as_posix()


@cache
def _ranks() -> dict[str, int]:
    """Rooms by their row of ARCHITECTURE.md's table."""
    rows = [row for row in (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8").splitlines() if row.startswith("| `")]
    return {
        room: number for number, row in enumerate(rows) for room in re.findall(r"`(\w+)(?:/|\.py)`", row.split("|")[1])
    }


def room_of(file: str) -> str:
    """The room that a file of the package or its tests is in; nothing where it is of none."""
    parts = PurePosixPath(file).with_suffix("").parts[1:]
    room = parts[0] if parts else ""
    return room if room in _ranks() else ""


class Graph:
    """Who imports whom, of the package, its tests and the benchmarks; files by their path."""

    def __init__(self, root: Path = ROOT) -> None:
        self.root = root
        self.files = {
            path.relative_to(root).as_posix(): path
            for folder in ("triton_lab", "tests", "bench")
            for path in sorted((root / folder).rglob("*.py"))
        }
        # File -> those that import it, each with whether that happens only in a call.
        self.importers: dict[str, list[tuple[str, bool]]] = defaultdict(list)
        texts = {name: path.read_text(encoding="utf-8") for name, path in self.files.items()}
        known = modules()
        paths = {module: path.relative_to(root).as_posix() for module, path in known.items()}
        for module, path in known.items():
            self._add_module(paths[module], texts[paths[module]], paths, list(imports(module, path, known)))
        for name, text in texts.items():
            if not name.startswith("triton_lab/"):
                self._add_text(name, text)
        for path in paths.values():
            own = PurePosixPath(path)
            door = own.with_name("__init__.py") if own.name != "__init__.py" else own.parent.with_name("__init__.py")
            if path not in self.importers and len(door.parts) > 2 and door.as_posix() in self.files:
                self._add(door.as_posix(), path, False)  # found by its name in a folder: pages of examples, exercises
            for folder in door.parents:  # what a folder's door does is done before its modules are imported
                self._add(path, f"{folder}/__init__.py", False)
        self._texts = texts
        self._named: dict[str, list[str]] = {}
        self.audits = {name for name, text in texts.items() if is_test(name) and _READS_ALL.search(text)}

    def reached_from(self, changed: Iterable[str], room: str, audits: bool = True) -> dict[str, int]:
        """The files that reach one of these, with the number of imports in between, seen from ``room``: calls that
        lead to rooms below it are not followed from inside the package."""
        rank = _ranks().get(room, len(_ranks()))
        found = dict.fromkeys(changed, 0)
        waiting = deque(found)
        for file in list(found):
            for reader in self._readers(file):
                if reader not in found and (audits or reader not in self.audits):
                    found[reader] = 1
                    waiting.append(reader)
        waiting = deque(sorted(waiting, key=found.__getitem__))
        while waiting:
            file = waiting.popleft()
            for by, in_call in self.importers.get(file, ()):
                if by in found or (in_call and _ranks().get(room_of(file), 0) > rank):
                    continue
                found[by] = found[file] + 1
                waiting.append(by)
        return found

    def _readers(self, file: str) -> Collection[str]:
        """Python files that name a file which is no Python, or whose folder it lies in; all audits of sources."""
        path = PurePosixPath(file)
        if path.suffix == ".py":
            return self.audits if file.startswith("triton_lab/") else ()
        if file not in self._named:
            beside = {name for name in self.files if PurePosixPath(name).parent == path.parent}
            if file.startswith("tests/wordings/") and (self.root / file).exists():  # it names the tests that read it
                beside |= set(re.findall(r"^# (\S+)", (self.root / file).read_text(encoding="utf-8"), re.MULTILINE))
            named = [f"{a}{path.name}{b}" for a in "\"'/" for b in "\"'"]
            found = {name for name, text in self._texts.items() if any(each in text for each in named)}
            self._named[file] = sorted(beside | found)
        return self._named[file]

    def _add_module(self, name: str, text: str, paths: Mapping[str, str], found: Iterable[Import]) -> None:
        for edge in found:
            if edge.kind != "type":
                self._add(name, paths[edge.of], edge.kind == "call")
        if name != "triton_lab/__init__.py":  # the door opens on all: who uses it says which name
            for other in (*self._dotted(_strings(self.files[name])), *self._public(text)):
                self._add(name, other, True)
        if _TRITON.search(text):
            for other in PLUGIN:
                self._add(name, other, True)

    def _add_text(self, name: str, text: str) -> None:
        """Imports of a file of tests, those in the scripts that it starts included."""
        for found in _FROM.finditer(text):
            base = found[1] + found[2]
            for each in re.findall(r"(\w+)(?: as \w+)?", found[3]):
                if name not in SETTING_UP or found[1] != "triton_lab":
                    self._add(name, self._file(f"{base}.{each}") or self._file(base), False)
                    if base == "triton_lab":
                        self._add(name, self._lives(each), False)
        if name in SETTING_UP:
            return
        for other in (*self._dotted(text), *self._public(text), *(PLUGIN if _TRITON.search(text) else ())):
            self._add(name, other, False)
        for found in _RUN.finditer(text):
            self._add(name, f"{found[1].replace('.', '/')}/__main__.py", False)
        folder = PurePosixPath(name).parent
        while folder.parts:
            if (conftest := f"{folder}/conftest.py") not in SETTING_UP:
                self._add(name, conftest, False)
            folder = folder.parent

    def _dotted(self, text: str) -> Iterator[str]:
        for found in _DOTTED.finditer(text):
            if file := self._file(found[0]):
                yield file

    def _public(self, text: str) -> Iterator[str]:
        for found in _PUBLIC.finditer(text):
            if file := self._lives(found[1]):
                yield file

    def _lives(self, name: str) -> str | None:
        """Where a name of the door lives."""
        if name not in triton_lab._PUBLIC:
            return None
        return self._file(triton_lab._PUBLIC[name] or f"triton_lab.{name}")

    def _file(self, dotted: str) -> str | None:
        """The file of the longest beginning that is one."""
        parts = dotted.split(".")
        for end in range(len(parts), 0, -1):
            path = "/".join(parts[:end])
            for file in (f"{path}.py", f"{path}/__init__.py"):
                if file in self.files:
                    return file
        return None

    def _add(self, by: str, of: str | None, in_call: bool) -> None:
        if of is not None and of != by and of in self.files:
            self.importers[of].append((by, in_call))


def _strings(path: Path) -> str:
    """All texts of a module but docstrings: names of modules that are imported later."""
    nodes = source(path).nodes
    alone = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    found = (node for node in nodes if isinstance(node, ast.Constant) and id(node) not in alone)
    return "\n".join(node.value for node in found if isinstance(node.value, str))


def main() -> None:
    for test, far in sorted(distances(sys.argv[1:]).items(), key=lambda each: (each[1], each[0])):
        print(far, test)


if __name__ == "__main__":
    main()
