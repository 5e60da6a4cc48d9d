"""Puts one bug into a right Gluon kernel: a wait, fence, arrival or commit less, or another phase, count or size.

``python -m tests.gluon.plant`` plants all of them and prints what became of each: named, silent, or the same result.
"""

from __future__ import annotations

import ast
import collections
import importlib.util
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from tests.gluon.cases import Case, cases, launch, right
from triton_lab.interpreter.kernel_errors import KernelError

# Calls that are dropped, each with the kind of bug that this makes.
DROPPED = {
    "wait": "wait",
    "wait_group": "wait",
    "store_wait": "wait",
    "warpgroup_mma_wait": "wait",
    "commit_group": "commit",
    "tcgen05_commit": "commit",
    "fence_async_shared": "fence",
    "arrive": "arrival",
    "mbarrier_arrive": "arrival",
    "expect": "bytes",
    "init": "init",
}


@dataclass(frozen=True)
class Bug:
    """A change of one call of a kernel's module: what ``kind`` it is of, on which ``line``, and the changed source."""

    kind: str
    line: int
    change: str
    source: str


def called(node: ast.AST) -> str:
    """The name of what a node calls; "" if it calls nothing."""
    if not isinstance(node, ast.Call):
        return ""
    function = node.func
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def reached(tree: ast.Module, kernel: str) -> set[str]:
    """The functions of a module that a kernel calls or hands on, and itself."""
    functions = {one.name: one for one in ast.walk(tree) if isinstance(one, ast.FunctionDef)}
    found, todo = {kernel}, [kernel]
    while todo:
        for node in ast.walk(functions[todo.pop()]):
            if isinstance(node, ast.Name) and node.id in functions and node.id not in found:
                found.add(node.id)
                todo.append(node.id)
    return found


def bugs(path: Path, kernel: str) -> Iterator[Bug]:
    """All bugs that can be put into a kernel of a file."""
    text = path.read_text()
    tree = ast.parse(text)
    functions = reached(tree, kernel)
    for function in tree.body:
        if isinstance(function, ast.FunctionDef) and function.name in functions:
            for node in ast.walk(function):
                yield from (bug for bug in _changes(text, node) if bug.source != text)


def _changes(text: str, node: ast.AST) -> Iterator[Bug]:
    if isinstance(node, ast.Expr) and called(node.value) in DROPPED:
        name = called(node.value)
        yield _bug(text, node, "pass", DROPPED[name], f"without {name}")
    name = called(node)
    if not isinstance(node, ast.Call):
        return
    if name == "wait" and len(node.args) == 2:
        phase = node.args[1]
        yield _bug(text, phase, f"({ast.unparse(phase)}) ^ 1", "phase", "the other phase")
    if name in ("wait_group", "store_wait"):
        yield _bug(text, node.args[0], f"{ast.unparse(node.args[0])} + 1", "count", f"{name} leaves one more")
    if name == "warpgroup_mma_wait":
        left = next(one.value for one in node.keywords if one.arg == "num_outstanding")
        yield _bug(text, left, "1", "count", "one product is left")
    if name == "SliceLayout" and isinstance(node.args[0], ast.Constant):
        yield _bug(text, node.args[0], str(1 - node.args[0].value), "parent", "a slice of the other dimension")
    if name == "allocate_shared_memory" and len(node.args) > 2 and "MBarrier" not in ast.unparse(node.args[2]):
        bits = f"({ast.unparse(node.args[0])}).primitive_bitwidth"
        yield _bug(text, node.args[2], f"gl.NVMMASharedLayout(32, {bits}, 2)", "swizzle", "lines of 32 bytes")
        yield _bug(text, node.args[2], "gl.SwizzledSharedLayout(1, 1, 1, [1, 0])", "swizzle", "no swizzle")
    if name == "load" and len(node.args) == 1 and isinstance(node.args[0], ast.Name):
        yield _bug(text, node.args[0], "gl.BlockedLayout([1, 1], [32, 1], [1, 4], [0, 1])", "layout", "another layout")
    for keyword in node.keywords:
        if keyword.arg == "count" and name in ("init", "arrive"):
            yield _bug(text, keyword.value, "2", "count", f"{name} counts 2")
    if name == "expect":
        size = node.args[1]
        yield _bug(text, size, f"2 * ({ast.unparse(size)})", "bytes", "twice the bytes")
        yield _bug(text, size, f"({ast.unparse(size)}) // 2", "bytes", "half of the bytes")


def _bug(text: str, node: ast.AST, instead: str, kind: str, change: str) -> Bug:
    lines = text.splitlines(keepends=True)
    first = sum(map(len, lines[: node.lineno - 1])) + node.col_offset  # type: ignore[attr-defined]
    last = sum(map(len, lines[: node.end_lineno - 1])) + node.end_col_offset  # type: ignore[attr-defined]
    return Bug(kind, node.lineno, change, text[:first] + instead + text[last:])  # type: ignore[attr-defined]


def module_of(source: str, folder: Path, number: int) -> ModuleType:
    """A module with this source, in a file of its own: Triton reads kernels from their files."""
    path = folder / f"planted_{number}.py"
    path.write_text(source)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@dataclass(frozen=True)
class Outcome:
    """What became of a bug: the ``rule`` that named it at ``line``; "same" and "wrong" if nothing did and the result
    was right, or not; "refused" by Triton's front end; "other" for an error without a rule."""

    rule: str
    line: int = 0
    message: str = ""


def outcome(case: Case, bug: Bug, folder: Path, number: int) -> Outcome:
    """Run a kernel with a bug in it."""
    module = module_of(bug.source, folder, number)
    try:
        result = launch(case, module)
    except KernelError as error:
        line = 0 if error.op is None or error.op.location is None else error.op.location.line
        return Outcome(error.rule or "other", line, str(error))
    except Exception as error:  # Triton's own
        return Outcome("refused", 0, f"{type(error).__name__}: {error}")
    return Outcome("same" if right(result) else "wrong")


def main(wanted: str = "") -> None:
    """Print what becomes of every bug in the kernels whose name contains ``wanted``."""
    counts: collections.Counter[str] = collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        number = 0
        for case in cases(2):
            if wanted not in str(case):
                continue
            for bug in bugs(Path(str(case.module.__file__)), case.kernel):
                number += 1
                found = outcome(case, bug, Path(folder), number)
                named = found.rule not in ("same", "wrong", "refused", "other")
                counts["named" if named else found.rule] += 1
                counts[f"{bug.kind}: {'named' if named else found.rule}"] += 1
                print(f"{case!s:26} {bug.line:4} {bug.kind:8} {bug.change:28} {found.rule} {found.line or ''}")
                if found.rule == "other":
                    print(found.message)
    for name, count in sorted(counts.items()):
        print(f"{name:24} {count}")


if __name__ == "__main__":
    main(*sys.argv[1:])
