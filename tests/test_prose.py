"""Tests that assert sentences: the fewer, the easier it is to improve a sentence.

A test asserts kinds, lines, lanes and counts. Where the wording itself is tested, it stands once in `tests/wordings/`
(see `tests/wordings.py`). This audit counts the test functions that still have four words or more in an `assert`, in
``match=`` or in their cases; source code of Python's is no prose. The numbers may only become smaller.
"""

from __future__ import annotations

import ast
import contextlib
import re
import textwrap
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from tests import sources

TESTS = Path(__file__).parent
PROSE = re.compile(r"(?:[A-Za-z][\w'-]*[,:;]? +){3}[A-Za-z]")
# Names side by side are a list, and no prose: "count, program, iteration".
LIST = re.compile(r"[\w']+(?:, [\w']+){2,}")
# How many test functions of a folder assert prose.
BOUNDS = {
    ".": 2,
    "compiled": 2,
    "gpu": 3,
    "notebook": 2,
    "polyhedral": 5,
    "views": 1,
    "views/launch": 1,
}  # fmt: skip


def is_code(text: str) -> bool:
    """Whether Python reads a text as statements, the first of which is more than words with operators between."""
    for each in (text, f"{text.rstrip()} pass"):
        with contextlib.suppress(SyntaxError, ValueError):
            body = ast.parse(textwrap.dedent(each)).body
            return bool(body) and not isinstance(body[0], ast.Expr) and "#" not in text
    return False


def strings(node: ast.AST) -> Iterator[str]:
    for each in ast.walk(node):
        if isinstance(each, ast.JoinedStr):
            yield "".join(str(part.value) if isinstance(part, ast.Constant) else "x" for part in each.values)
        elif isinstance(each, ast.Constant) and isinstance(each.value, str):
            yield each.value


def asserted(function: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[str]:
    """The sentences that a test asserts."""
    parts: list[ast.AST] = [
        case
        for mark in function.decorator_list
        if isinstance(mark, ast.Call) and ast.unparse(mark.func).endswith("parametrize")
        for case in mark.args[1:2]
    ]
    for node in ast.walk(function):
        if isinstance(node, ast.Assert):
            parts.append(node.test)
        elif isinstance(node, ast.Call):
            parts += [keyword.value for keyword in node.keywords if keyword.arg == "match"]
    return (
        text for part in parts for text in strings(part) if PROSE.search(LIST.sub("names", text)) and not is_code(text)
    )


def folder(path: Path) -> str:
    """The folder of tests, with the part of the views that draws launches by itself."""
    parts = path.relative_to(TESTS).parts
    return "/".join(parts[:2]) if parts[:2] == ("views", "launch") else parts[0] if len(parts) > 1 else "."


def functions() -> Iterator[tuple[Path, ast.FunctionDef | ast.AsyncFunctionDef]]:
    """Each test function that asserts prose, with its file."""
    for file in sources.python(TESTS):
        for node in file.nodes:
            kind = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
            if kind and node.name.startswith("test_") and any(asserted(node)):
                yield file.path, node


def test_fewer_and_fewer_tests_assert_prose() -> None:
    found: dict[str, list[str]] = {}
    for path, node in functions():
        found.setdefault(folder(path), []).append(f"{path.relative_to(TESTS)}:{node.lineno}: {node.name}")
    for name, each in found.items():
        assert len(each) <= BOUNDS.get(name, 0), "assert structure, or use `wording`:\n" + "\n".join(each)


def test_the_bounds_are_today_s() -> None:
    counts = Counter(folder(path) for path, _ in functions())
    assert {name: counts[name] for name, bound in BOUNDS.items() if counts[name] < bound} == {}, "write these numbers"


def test_prose_is_four_words_in_an_assert_or_a_case() -> None:
    tree = ast.parse(
        "def test_a():\n    assert f(x), 'a message of many words'\n"
        "def test_b():\n    assert 'this is a sentence' in f(x)\n"
        "def test_c():\n    assert f'{x} has no element' == y\n"
        "@pytest.mark.parametrize('text', ['no four words here'])\ndef test_d(text):\n    pass\n"
        "@pytest.mark.skipif(x, reason='there is no such thing')\ndef test_f():\n    pass\n"
        "def test_e():\n    with raises(E, match='the grid has no axis'):\n        pass\n"
        "def test_g():\n    with raises(E, match='there are x, y, z, w'):\n        pass\n"
        "def test_h():\n    assert 'for i in range(n):' in text and 'from a import b as c' in text\n"
        "def test_i():\n    assert 'there is not one' in text\n"
    )
    found = [node.name for node in tree.body if isinstance(node, ast.FunctionDef) and any(asserted(node))]
    assert found == ["test_b", "test_c", "test_d", "test_e", "test_i"]
