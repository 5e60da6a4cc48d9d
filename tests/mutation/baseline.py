"""What the tests do as they are: how long each takes, which lines it runs; and what follows for a change's tests."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

# The likeliest tests of a change together, and a room's tests in one run, take about so long.
SECONDS = 60.0


@dataclass(frozen=True)
class Ran:
    """One file of tests: what `recorder` says of it, and the ``seconds`` of the whole run."""

    path: str
    seconds: float
    tests: Mapping[str, float]
    lines: Mapping[str, Mapping[str, Sequence[int]]]
    failed: Sequence[str]

    def running(self, path: str, lines: Iterable[int]) -> set[str]:
        """The tests that run one of the ``lines`` of a file."""
        known = self.lines.get(path, {})
        names = list(self.tests)
        return {names[number] for line in lines for number in known.get(str(line), ())}


def load(file: Path | None) -> dict[str, Ran]:
    """What was kept in ``file``, by the tests' path."""
    kept = file.read_text(encoding="utf-8").splitlines() if file and file.exists() else []
    return {ran.path: ran for ran in (Ran(**json.loads(line)) for line in kept)}


def keep(ran: Ran, file: Path) -> None:
    """One line more."""
    with file.open("a", encoding="utf-8") as opened:
        opened.write(json.dumps(asdict(ran)) + "\n")


def likely(room: Iterable[Ran], path: str, source: str, line: int) -> dict[str, float]:
    """The quickest of the tests that run a line, and their seconds: file by file, of which those that are sooner done
    come first. Where no test runs the line itself, those that run what says most about it."""
    room = list(room)
    for lines in _reached(ast.parse(source), line):
        seconds = _seconds(room, path, lines)
        if seconds:
            break
    else:
        return {}
    taken: dict[str, float] = {}
    total = 0.0
    for test in sorted(seconds, key=seconds.__getitem__):
        total += seconds[test]
        if taken and total > SECONDS:
            break
        taken[test] = seconds[test]
    return _by_file(room, taken)


def _seconds(room: Sequence[Ran], path: str, lines: Iterable[int]) -> dict[str, float]:
    """Of the tests that run one of the lines."""
    lines = list(lines)
    return {test: each.tests[test] for each in room for test in each.running(path, lines)}


def _by_file(room: Sequence[Ran], taken: Mapping[str, float]) -> dict[str, float]:
    of_files = [{test: taken[test] for test in taken if test in each.tests} for each in room]
    return {test: some[test] for some in sorted(of_files, key=lambda some: sum(some.values())) for test in some}


_Function = ast.FunctionDef | ast.AsyncFunctionDef


def _around(tree: ast.Module, line: int) -> tuple[list[ast.stmt], list[_Function]]:
    """The statements that ``line`` is in, and the functions among them, each from the outermost on."""
    around = [
        node for node in ast.walk(tree)
        if isinstance(node, ast.stmt) and node.lineno <= line <= (node.end_lineno or node.lineno)
    ]  # fmt: skip
    return around, [node for node in around if isinstance(node, _Function)]


def _reached(tree: ast.Module, line: int) -> Iterator[set[int]]:
    """Lines of a file that are run where ``line`` matters, from the likeliest on."""
    around, inside = _around(tree, line)
    if inside and line >= inside[-1].body[0].lineno:
        yield {line}
        yield _own_lines(around[-1])
        yield set(range(inside[-1].body[0].lineno, (inside[-1].end_lineno or line) + 1))
    else:  # run when the module is imported: what counts is who reads what it says
        bound = {name for node in around[-1:] for name in _bound(node)}
        yield (
            {line}
            | {
                node.lineno
                for node in ast.walk(tree)
                if (isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in bound)
                or (isinstance(node, ast.Attribute) and node.attr in bound)
            }
            | {number for node in inside[-1:] for number in _lines(node.body)}
        )
    yield set(range(1, tree.body[-1].end_lineno or 1)) if tree.body else set()


def _own_lines(node: ast.stmt) -> set[int]:
    """A statement's lines without those of the statements in it."""
    return _lines([node]) - _lines([each for each in ast.walk(node) if isinstance(each, ast.stmt) and each is not node])


def _lines(nodes: Iterable[ast.stmt]) -> set[int]:
    return {line for node in nodes for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)}


def _bound(node: ast.stmt) -> Iterator[str]:
    """The names that a statement gives."""
    for part in ast.walk(node):
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
            yield part.id
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        yield node.name


def parts(room: Iterable[Ran]) -> list[list[Ran]]:
    """A room's files of tests in the order given, as many to a run as take about `SECONDS`."""
    found: list[list[Ran]] = []
    for ran in room:
        if not ran.tests:
            continue
        if found and sum(each.seconds for each in found[-1]) + ran.seconds <= SECONDS:
            found[-1].append(ran)
        else:
            found.append([ran])
    return found


def arguments(part: Iterable[Ran]) -> list[str]:
    """pytest's: the files without the tests that fail as they are."""
    part = list(part)
    return [ran.path for ran in part] + [f"--deselect={test}" for ran in part for test in ran.failed]
